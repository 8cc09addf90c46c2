"""When a server that was lost is tried again. Pure: the randomness is handed in."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class BackOff:
    """Growing pauses between attempts, up to a limit.

    `steady_s`: a server that was up for that long is taken as sound again: counting begins anew.
    `slow_s`: the pause after the last attempt for a server that somebody else starts (HTTP, SSE); a local one
    stays down.
    """

    first_s: float = 0.5
    factor: float = 2.0
    longest_s: float = 30.0
    attempts: int = 8
    steady_s: float = 60.0
    slow_s: float | None = 300.0

    def pause(self, attempt: int, random: Random, *, remote: bool) -> float | None:
        """Seconds before attempt number `attempt` (from 1); nothing when it is not made unasked."""
        if attempt <= self.attempts:
            longest = min(self.first_s * self.factor ** (attempt - 1), self.longest_s)
        elif remote and self.attempts and self.slow_s is not None:
            longest = self.slow_s
        else:
            return None
        # Half fixed, half by chance: servers that died together do not come back in step.
        return longest * random.uniform(0.5, 1.0)

    def counted(self, attempt: int, up_s: float) -> int:
        """The number of the attempt from which counting goes on after a server was up for `up_s`."""
        return 0 if up_s >= self.steady_s else attempt

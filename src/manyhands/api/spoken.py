"""What a client has heard of a run's words: each once and none missing, however slowly it reads.

Words on their way live in memory only and may be dropped for a slow reader; the message that they end in is
stored. What was missed is taken from there.
"""

from __future__ import annotations

GAP = "\n\n"
"""Between what is said before and after calls, and where an answer began anew."""


class Spoken:
    """Turns deltas and whole messages into the text to pass on next."""

    def __init__(self) -> None:
        self._heard = ""
        self._iteration: int | None = None
        self._whole: set[int] = set()
        self._has_lost = False
        self._anything = False

    def delta(self, iteration: int, offset: int, text: str) -> str:
        """More of an answer; nothing is passed on while words before it are missing."""
        if iteration in self._whole:
            return ""
        self._turn_to(iteration)
        if offset == 0 and self._heard:  # the model was asked again: what was said no longer counts
            self._heard, self._has_lost = "", False
            return self._passed_on(text, apart=True)
        self._has_lost = self._has_lost or offset > len(self._heard)
        return "" if self._has_lost else self._passed_on(text[len(self._heard) - offset :])

    def message(self, iteration: int, content: str) -> str:
        """The whole of an answer, as it was stored: what of it was not heard yet."""
        if iteration in self._whole:
            return ""
        self._turn_to(iteration)
        self._whole.add(iteration)
        if content.startswith(self._heard):
            return self._passed_on(content[len(self._heard) :])
        # What was heard was of an attempt whose end was missed.
        return self._passed_on(content, apart=True) if self._has_lost else ""

    def _turn_to(self, iteration: int) -> None:
        if self._iteration != iteration:
            self._iteration, self._heard, self._has_lost = iteration, "", False

    def _passed_on(self, text: str, *, apart: bool = False) -> str:
        if not text:
            return ""
        lead = GAP if self._anything and (apart or not self._heard) else ""
        self._heard += text
        self._anything = True
        return lead + text

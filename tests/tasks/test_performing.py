from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from manyhands.tasks.performing import ended_workflow

pytestmark = pytest.mark.anyio

TIME_S = 0.05


@dataclass(frozen=True)
class Run:
    status: str
    id: str = "wfr"
    error: str | None = None


class Workflows:
    """One run, as it stands each time that somebody looks; at the end of the list it goes on for ever."""

    def __init__(self, *stands: str) -> None:
        self._stands = list(stands)

    async def wait(self, run_id: str, *, until_paused: bool = False) -> Run:
        if not self._stands:
            await anyio.sleep_forever()
        return Run(self._stands.pop(0))

    async def wait_for_answer(self, run_id: str) -> Run:
        await anyio.sleep(2 * TIME_S)
        return Run("running")

    async def check(self, *given: Any, **more: Any) -> None: ...

    async def start(self, *given: Any, **more: Any) -> Run:
        return Run("running")

    async def conversations(self, run_id: str) -> Sequence[tuple[str, float | None]]:
        return []

    async def cancel(self, run_id: str) -> None: ...


async def nobody_looks(paused: bool) -> None: ...


async def test_the_time_of_a_workflow_stands_still_while_it_waits_for_a_person() -> None:
    waits = Workflows("paused", "paused", "completed")
    assert (await ended_workflow(waits, "wfr", TIME_S, nobody_looks)).status == "completed"


async def test_a_workflow_that_takes_too_long_after_the_answer_is_out_of_time() -> None:
    with pytest.raises(TimeoutError):
        await ended_workflow(Workflows("paused"), "wfr", TIME_S, nobody_looks)

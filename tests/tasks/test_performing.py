from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from manyhands.tasks import performing
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

    async def get(self, run_id: str) -> Run:
        return Run(self._stands.pop(0))

    async def wait(self, run_id: str, *, until_paused: bool = False) -> Run:
        if not self._stands:
            await anyio.sleep_forever()
        return await self.get(run_id)

    async def check(self, *given: Any, **more: Any) -> None: ...

    async def start(self, *given: Any, **more: Any) -> Run:
        return Run("running")

    async def cancel(self, run_id: str) -> None: ...


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performing, "LOOK_S", TIME_S)


async def test_the_time_of_a_workflow_stands_still_while_it_waits_for_a_person() -> None:
    waits = Workflows("paused", "paused", "paused", "running", "completed")
    assert (await ended_workflow(waits, "wfr", TIME_S)).status == "completed"


async def test_a_workflow_that_takes_too_long_after_the_answer_is_out_of_time() -> None:
    with pytest.raises(TimeoutError):
        await ended_workflow(Workflows("paused", "running"), "wfr", TIME_S)

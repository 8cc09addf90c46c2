"""What runs may cost: at a cap the run pauses and a person is asked.

A yes raises the cap by its own amount; that is stored with the run or the channel. Only models whose price is
known cost anything here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from manyhands.approvals.types import Question
from manyhands.chat import run_store
from manyhands.chat.loop import RunEnds
from manyhands.chat.record import RunRecord
from manyhands.chat.types import Run, RunStatus
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store
from manyhands.tools.types import Asking


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit in US dollars, of a run or of a channel."""

    of: run_store.CapOf
    id: str
    amount: float
    setting: str
    """What is to be raised."""


@dataclass
class Budget:
    """Checks caps and asks the person when one is reached."""

    store: Store
    settings: CurrentSettings
    ask: Asking

    async def check(self, record: RunRecord) -> None:
        """Before the model is asked: return when it may be, else end the run."""
        for cap in self._caps(record.run):
            raised = await self.store.read(partial(run_store.cost_raised, of=cap.of, id=cap.id))
            while (spent := await self._spent(cap, record.run)) >= cap.amount + raised:
                raised = await self._raise_cap(cap, raised, spent, record.run)
                await self.store.write(partial(run_store.raise_cost, of=cap.of, id=cap.id, raised=raised))

    def _caps(self, run: Run) -> Iterator[Cap]:
        settings = self.settings.current
        if own := run.options.cost_cap:
            yield Cap("run", run.id, own, "its budget")
        elif amount := settings.run_cost_cap:
            yield Cap("run", run.id, amount, "run_cost_cap")
        if amount := settings.channel_cost_cap:
            yield Cap("channel", run.channel_id, amount, "channel_cost_cap")

    async def _spent(self, cap: Cap, run: Run) -> float:
        if cap.of == "run":
            return run.cost or 0.0
        return await self.store.read(lambda conn: run_store.cost_of_channel(conn, cap.id))

    async def _raise_cap(self, cap: Cap, raised: float, spent: float, run: Run) -> float:
        """Ask; by how much the cap is raised after a yes, all in all."""
        allowed = cap.amount + raised
        said = f"This {cap.of} has cost ${spent:.4f}; its cap is ${allowed:.4f}."
        if not run.options.attended:
            raise RunEnds(
                RunStatus.FAILED,
                f"{said} Nobody could be asked, so the run ended. Raise {cap.setting} and start it again.",
            )
        answer = await self.ask(self._question(cap, allowed, spent, run, said))
        if not answer.approved:
            reason = f" {answer.reason}" if answer.reason else ""
            raise RunEnds(RunStatus.FAILED, f"{said} It was not raised, so the run ended.{reason}")
        return raised + cap.amount if answer.scope == "once" else float("inf")

    def _question(self, cap: Cap, allowed: float, spent: float, run: Run, said: str) -> Question:
        detail = {
            "of": cap.of,
            "spent": spent,
            "cap": allowed,
            "raise_by": cap.amount,
            "currency": "USD",
            "why": said,
        }
        title = f"Go on for another ${cap.amount:.2f}? {said}"
        return Question("budget", title, detail, channel_id=run.channel_id, run_id=run.id)

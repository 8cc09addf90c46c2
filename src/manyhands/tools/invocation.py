"""One call while it runs: its progress, its questions, its time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import anyio

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.tools.deadline import Race
from manyhands.tools.types import Asking, CallContext

Publish = Callable[[str, dict[str, Any]], object]

FREE_REPORTS = 20
REPORT_PAUSE_S = 0.1
MESSAGE_LIMIT = 1000


class RunningCall:
    """`Invocation` for the tool that runs."""

    def __init__(
        self, call_id: str, context: CallContext, race: Race, asking: Asking, publish: Publish
    ) -> None:
        self.call_id = call_id
        self.context = context
        self._race = race
        self._asking = asking
        self._publish = publish
        self._reports = 0
        self._last_report = 0.0

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        now = anyio.current_time()
        self._race.progressed(now)
        self._reports += 1
        # A tool may report a thousand times a second; whoever watches need not hear of all of them.
        if self._reports > FREE_REPORTS and now - self._last_report < REPORT_PAUSE_S and progress != total:
            return
        self._last_report = now
        self._publish(
            "tool.progress",
            {
                "id": self.call_id,
                "run_id": self.context.run_id,
                "progress": progress,
                "total": total,
                "message": message[:MESSAGE_LIMIT] if message else None,
                "elapsed_ms": round((now - self._race.began) * 1000),
            },
        )

    async def ask(self, question: Question) -> Answer:
        if not self.context.attended:
            reason = "nobody can be asked: the call is unattended"
            return Answer(ApprovalState.REJECTED, reason=reason)
        mine = replace(
            question,
            channel_id=self.context.channel_id,
            run_id=self.context.run_id,
            call_id=self.call_id,
        )
        with self.pause():
            return await self._asking(mine)

    def pause(self) -> AbstractContextManager[None]:
        return self._race.pause()

"""Follows a run to its end: shows it, asks the person what it wants to know, stops it when told to."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import click

from manyhands.cli.client import Api, Json, segment
from manyhands.cli.feed import LOOK_S, Feed, Interrupts
from manyhands.cli.run_view import RunView
from manyhands.errors import ManyhandsError, UnavailableError

FRAME_S = 0.1
PATIENCE_S = 20.0
"""How long a run that was told to stop may take for it."""
SETTLING_S = 2.0


class Attendant:
    """Attends one run after the other. `asks`: there is a person who can be asked."""

    def __init__(
        self,
        api: Api,
        feed: Feed,
        view: RunView,
        interrupts: Interrupts,
        *,
        asks: bool,
        aside: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._api = api
        self._feed = feed
        self._view = view
        self._interrupts = interrupts
        self._asks = asks
        self.aside = aside
        self._questions: dict[str, Json] = {}
        self._held_by: str | None = None
        """The call whose answer may settle other questions, until it starts."""
        self._held_until = 0.0
        self._stop_by: float | None = None
        self.run_id = ""

    @property
    def is_stopping(self) -> bool:
        return self._stop_by is not None

    def attend(self, run_id: str) -> Json:
        """Wait for the end of it; the answer is the run. Whoever leaves before stops it."""
        self.run_id, self._stop_by, self._interrupts.count = run_id, None, 0
        self._questions.clear()
        self._view.begin()
        try:
            return self._until_finished()
        except (KeyboardInterrupt, SystemExit):
            with suppress(ManyhandsError):
                self.stop()
            raise

    def _until_finished(self) -> Json:
        while True:
            news = self._feed.get(self._patience())
            if news is None:
                self._idle()
            elif news[0] == "event":
                if run := self.event(news[1]):
                    return run
            else:
                self.other(*news)

    def other(self, kind: str, what: Any) -> None:
        """News that are no event."""
        if kind == "interrupt":
            self.stop()
        elif kind in ("lost", "found"):
            self._view.lost(kind == "lost")

    def stop(self) -> None:
        """Stop the run; how it ended comes as an event."""
        if not self.is_stopping:
            self._stop_by = time.monotonic() + PATIENCE_S
            self._questions.clear()
            self._api.request("POST", f"/runs/{segment(self.run_id)}/cancel")

    def _patience(self) -> float:
        if self._can_ask():
            return 0
        return FRAME_S if self._view.page.is_live or self._questions or self.is_stopping else LOOK_S

    def _idle(self) -> None:
        if self._stop_by is not None and time.monotonic() > self._stop_by:
            raise UnavailableError(
                "The run does not stop.", hint=f"`manyhands runs show {self.run_id}` tells how it is."
            )
        if self._can_ask():
            self._ask(self._questions.pop(next(iter(self._questions))))
        self._view.tick()

    def event(self, event: Json) -> Json | None:
        """Show it; the run when this was its end."""
        kind, data = event["type"], event["data"]
        if kind == "gap":
            return self._ended_unheard()
        if self.run_id not in (data.get("run_id"), data.get("id")):
            return None
        if kind == "run.finished":
            return dict(data)
        self._view.event(kind, data)
        if kind == "approval.requested" and self._asks and not self.is_stopping:
            self._questions[data["id"]] = data
        elif kind == "approval.resolved":
            self._questions.pop(data["id"], None)
        elif kind in ("tool.started", "tool.finished") and data["id"] == self._held_by:
            self._held_by = None
        return None

    def _ended_unheard(self) -> Json | None:
        run: Json = self._api.request("GET", f"/runs/{segment(self.run_id)}")
        return run if run.get("ended_at") else None

    def _can_ask(self) -> bool:
        held = self._held_by is not None and time.monotonic() < self._held_until
        return bool(self._questions) and not held

    def _ask(self, approval: Json) -> None:
        from manyhands.cli.asking import answer_here

        self._view.hide()
        self._interrupts.raises = True
        try:
            with self.aside():
                answer = answer_here(self._api, approval)
        except (click.Abort, KeyboardInterrupt):
            self.stop()
            return
        finally:
            self._interrupts.raises = False
        self._hold(approval, answer)

    def _hold(self, approval: Json, answer: Json | None) -> None:
        """“Always” settles other questions as well; that is known when the call goes on."""
        if answer and answer["state"] == "approved" and answer.get("scope") != "once":
            self._held_by, self._held_until = approval.get("call_id"), time.monotonic() + SETTLING_S

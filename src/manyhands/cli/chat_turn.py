"""What comes of a message in `manyhands chat`: its run is shown, and keys are heard meanwhile."""

from __future__ import annotations

import time
from typing import Any

from manyhands.cli.attending import Attendant
from manyhands.cli.chat_commands import Commands, Quit
from manyhands.cli.chat_line import SIGN, DraftLine
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, segment
from manyhands.cli.feed import Feed, Interrupts
from manyhands.cli.run_view import RunView
from manyhands.cli.terminal import fit, one_line, paint
from manyhands.errors import ManyhandsError

ADOPTION_S = 5.0
"""How long it may take until a message that came too late for a run has one of its own."""


class ChatTurn(Attendant):
    """Attends the runs that a message starts. `types`: the person's keys come as news."""

    def __init__(
        self,
        api: Api,
        feed: Feed,
        view: RunView,
        interrupts: Interrupts,
        commands: Commands,
        *,
        asks: bool,
        types: bool,
    ) -> None:
        super().__init__(api, feed, view, interrupts, asks=asks)
        self.draft = DraftLine()
        self.leaves = False
        self._commands = commands
        self._types = types
        self._waiting: list[Json] = []
        """Messages that were sent during the run and that the model has not read yet."""
        self._next_run: str | None = None
        view.below = self._rows

    def take(self, text: str) -> Json:
        """Until everything that was said is worked on; the last run."""
        commands = self._commands
        body = {
            "prompt": text,
            "attachments": commands.take_files(),
            "model": commands.model,
            "attended": self._asks,
        }
        path = f"/channels/{segment(commands.channel_id)}/runs"
        started = self._api.request("POST", path, body, timeout=LONG_TIMEOUT_S)
        self._next_run = str(started["run_id"])
        while run_id := self._following_run():
            ended = self.attend(run_id)
            self._view.finish(ended)
            if ended["status"] == "failed":
                self._complain(str(ended["error"]))
                self._view.hide()
        return ended

    def event(self, event: Json) -> Json | None:
        data = event["data"]
        if event["type"] == "message.updated" and data.get("run_id") == self.run_id:
            self._was_read(data)
        return super().event(event)

    def other(self, kind: str, what: Any) -> None:
        if kind == "key":
            self._press(*what)
            self._view.tick()
        else:
            super().other(kind, what)

    # --- keys

    def _press(self, key: str, text: str) -> None:
        match key:
            case "escape":
                self.stop()
            case "end":
                self.leaves = not self.draft.text
                if self.leaves:
                    self.stop()
            case "up":
                self._take_back()
            case "resumed":
                self._view.page.renew()
            case _:
                if message := self.draft.press(key, text):
                    self._say(message)

    def _say(self, message: str) -> None:
        """A command is obeyed; all else joins the run."""
        commands = self._commands
        try:
            if answer := commands.run(message):
                self._view.say(answer)
                return
            body = {
                "channel_id": commands.channel_id,
                "content": message,
                "attachments": commands.take_files(),
            }
            sent = self._api.request("POST", "/messages", body, timeout=LONG_TIMEOUT_S)
        except Quit:
            self.leaves = True
            self.stop()
        except ManyhandsError as error:
            self._complain(str(error))
        except OSError as error:
            self._complain(f"{error.filename}: {error.strerror}")
        else:
            self._was_sent(sent)

    def _was_sent(self, message: Json) -> None:
        if message["state"] == "queued":
            self._waiting.append(message)
        else:  # the run had ended meanwhile, and this began another one
            self._next_run = message["run_id"]
            self._show(message)

    def _was_read(self, message: Json) -> None:
        """The hub gives a message that it hands to the model another id, at its place in the conversation."""
        same = [one for one in self._waiting if one["content"] == message["content"]]
        if same:
            self._waiting.remove(same[0])
        self._show(message)

    def _take_back(self) -> None:
        if not self._waiting:
            return
        try:
            self._api.request("DELETE", f"/messages/{segment(self._waiting[-1]['id'])}")
        except ManyhandsError as error:
            self._complain(str(error))
        else:
            self.draft.text = str(self._waiting.pop()["content"])

    # --- what is shown

    def _show(self, message: Json) -> None:
        self._view.say(f"{paint(SIGN, 'cyan')} {one_line(str(message['content']))}")

    def _complain(self, text: str) -> None:
        self._view.say(f"{paint('error:', 'red', 'bold')} {one_line(text)}")

    def _rows(self) -> list[str]:
        if not self._types:
            return []
        width = self._view.page.width or 80
        waiting = [
            paint(
                fit(f"{SIGN} {one_line(message['content'])}", width - 25) + "  (to be read, ↑ edits)", "dim"
            )
            for message in self._waiting
        ]
        return [*waiting, self.draft.row(width)]

    # --- the next run

    def _following_run(self) -> str | None:
        """The run that goes on with what was said; nothing when all has been read."""
        run_id, self._next_run = self._next_run, None
        if run_id is None and self._waiting and not self.leaves:
            run_id = self._adopted()
        return run_id

    def _adopted(self) -> str | None:
        """Messages that a run did not read any more get one of their own."""
        deadline = time.monotonic() + ADOPTION_S
        while (left := deadline - time.monotonic()) > 0:
            kind, what = self._feed.get(left) or ("", {})
            if kind == "event" and _is_new_run(what, self._commands.channel_id):
                for message in self._waiting:
                    self._show(message)
                self._waiting.clear()
                self._view.hide()
                return str(what["data"]["id"])
        return None


def _is_new_run(event: Json, channel_id: str) -> bool:
    return event["type"] == "run.queued" and event.get("channel_id") == channel_id

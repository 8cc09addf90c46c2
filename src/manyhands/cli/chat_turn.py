"""What comes of a message in `manyhands chat`: its run is shown, and keys are heard meanwhile.

Keys write the next message, answer questions, stop the run.
"""

from __future__ import annotations

import time
from typing import Any

from manyhands.cli.asking import card_lines, send_answer
from manyhands.cli.attending import Attendant
from manyhands.cli.chat_commands import Commands, Quit
from manyhands.cli.chat_line import SIGN, ChatLine
from manyhands.cli.chat_question import Question, can_be_asked_here
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, segment
from manyhands.cli.feed import Feed, Interrupts
from manyhands.cli.page import Rows
from manyhands.cli.run_view import RunView
from manyhands.cli.terminal import fit, many_lines, one_line, paint
from manyhands.cli.wrapping import wrapped
from manyhands.errors import ConflictError, ManyhandsError

ADOPTION_S = 5.0
"""How long it may take until a message that came too late for a run has one of its own."""
ROOMY = 50
"""Columns from which on there is room for hints."""


class ChatTurn(Attendant):
    """Attends the runs that a message starts. `line`: what the person writes meanwhile, if keys are news."""

    def __init__(
        self,
        api: Api,
        feed: Feed,
        view: RunView,
        interrupts: Interrupts,
        commands: Commands,
        *,
        asks: bool,
        line: ChatLine | None = None,
    ) -> None:
        super().__init__(api, feed, view, interrupts, asks=asks)
        self.leaves = False
        self._line = line
        self._commands = commands
        self._question: Question | None = None
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
                self._view.complain(str(ended["error"]))
                self._view.hide()
        return ended

    def event(self, event: Json) -> Json | None:
        kind, data = event["type"], event["data"]
        if kind == "message.updated" and data.get("run_id") == self.run_id:
            self._was_read(data)
        ended = super().event(event)
        question = self._question
        if question and (ended or (kind == "approval.resolved" and data["id"] == question.approval["id"])):
            self._question = None
        return ended

    def other(self, kind: str, what: Any) -> None:
        if kind == "key":
            self._press(*what)
            self._view.tick()
        else:
            super().other(kind, what)

    def stop(self) -> None:
        self._question = None
        super().stop()

    # --- questions

    def _can_ask(self) -> bool:
        return self._question is None and super()._can_ask()

    def _ask(self, approval: Json) -> None:
        if self._line is None or not can_be_asked_here(approval):
            super()._ask(approval)
            return
        self._view.say("\n".join(card_lines(approval)))
        self._question = Question(approval)

    def _answer(self, question: Question, answer: Json) -> None:
        self._question = None
        try:
            self._hold(question.approval, send_answer(self._api, question.approval["id"], answer))
        except ConflictError as error:  # somebody else was faster
            self._view.say(paint(str(error), "dim"))
        except ManyhandsError as error:
            self._view.complain(str(error))

    # --- keys

    def _press(self, key: str, text: str) -> None:
        match key:
            case "escape":
                self.stop()
            case "resumed" | "redraw":
                self._view.page.renew()
            case _ if self._question:
                if answer := self._question.press(key, text):
                    self._answer(self._question, answer)
            case _ if self._line:
                self._write(self._line, key, text)

    def _write(self, line: ChatLine, key: str, text: str) -> None:
        if key == "end" and not line.text:
            self.leaves = True
            self.stop()
        elif key == "up" and not line.text and self._waiting:
            self._take_back(line)
        elif message := line.press(key, text):
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
            self._view.complain(str(error))
        except OSError as error:
            self._view.complain(f"{error.filename}: {error.strerror}")
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

    def _take_back(self, line: ChatLine) -> None:
        try:
            self._api.request("DELETE", f"/messages/{segment(self._waiting[-1]['id'])}")
        except ManyhandsError as error:
            self._view.complain(str(error))
        else:
            line.put(str(self._waiting.pop()["content"]))

    # --- what is shown

    def _show(self, message: Json) -> None:
        self._view.say(said_lines(str(message["content"]), self._view.page.width))

    def _rows(self) -> Rows:
        if self._line is None:
            return Rows()
        width = self._view.page.width or 80
        written = self._question.rows(width) if self._question else self._line.rows(width)
        return written.under([self._waiting_row(message, width) for message in self._waiting])

    def _waiting_row(self, message: Json, width: int) -> str:
        hint = "  (to be read, ↑ edits)" if width >= ROOMY else "  (↑ edits)"
        return paint(fit(f"{SIGN} {one_line(message['content'])}", width - len(hint)) + hint, "dim")

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


def said_lines(text: str, width: int | None) -> str:
    """What a person said, as it stays on the page."""
    first, *others = wrapped(many_lines(text), (width or 10_000) - 2)
    rows = [f"{paint(SIGN, 'cyan')} {paint(first, 'bold')}", *(f"  {paint(row, 'bold')}" for row in others)]
    return "\n".join(rows)

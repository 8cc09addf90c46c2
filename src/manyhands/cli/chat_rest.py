"""The time between two runs of `manyhands chat`: the person writes, nothing else happens."""

from __future__ import annotations

from manyhands.cli.chat_line import ChatLine
from manyhands.cli.chat_turn import said_lines
from manyhands.cli.feed import LOOK_S, Interrupts, News
from manyhands.cli.run_view import RunView
from manyhands.cli.terminal import paint

INTERRUPT, LEAVE = ("interrupt", None), ("key", ("end", ""))
LEAVING = "Ctrl-C again leaves; so do Ctrl-D and /quit"


class Resting:
    """Waits for the next message."""

    def __init__(self, news: News, view: RunView, line: ChatLine, interrupts: Interrupts) -> None:
        self._news = news
        self._view = view
        self._line = line
        self._interrupts = interrupts
        self._may_leave = False
        """Ctrl-C was pressed once."""

    def next_message(self) -> str | None:
        """What the person says; nothing when they leave."""
        self._view.rest()
        self._may_leave = False
        while True:
            self._view.page.show(self._line.rows(self._view.page.width or 80))
            told = self._news.get(LOOK_S)
            if told == INTERRUPT:
                self._interrupted()
            elif told == LEAVE and not self._line.text:
                self._view.hide()
                return None
            elif told and told[0] == "key" and (message := self._press(*told[1])):
                self._view.said(said_lines(message, self._view.page.width))
                self._view.hide()
                return message

    def _press(self, key: str, text: str) -> str | None:
        self._may_leave = False
        if key in ("resumed", "redraw"):
            self._view.page.renew()
            return None
        return self._line.press(key, text)

    def _interrupted(self) -> None:
        self._interrupts.count = 0
        if self._may_leave:
            self._view.hide()
            raise KeyboardInterrupt
        self._may_leave = True
        self._line.put("")
        self._view.say(paint(LEAVING, "dim"))
        self._view.rest()

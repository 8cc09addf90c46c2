"""`manyhands chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress

import click

from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.chat_commands import Commands, Quit, last_answer, model_name
from manyhands.cli.chat_history import History
from manyhands.cli.chat_line import SIGN, ChatLine
from manyhands.cli.chat_rest import Resting
from manyhands.cli.chat_turn import ChatTurn
from manyhands.cli.client import Api, pages, segment
from manyhands.cli.command import HubCommand, pass_session
from manyhands.cli.completion import complete_model
from manyhands.cli.feed import Feed, Interrupts, News, unwinding
from manyhands.cli.output import say
from manyhands.cli.page import Page, new_page
from manyhands.cli.run import can_be_asked, here
from manyhands.cli.run_view import RunView
from manyhands.cli.session import Session
from manyhands.cli.terminal import columns, fit, is_terminal, one_line, paint, paint_error, width_of
from manyhands.errors import ManyhandsError
from manyhands.home import Home

HISTORY = "chat_history"
LEAST = 8
"""Columns from which on a name says something."""


@click.command(
    "chat", cls=HubCommand, examples=["manyhands chat", "manyhands chat --dir ~/project --model demo"]
)
@channel_options
@click.option(
    "--model", metavar="ID", shell_complete=complete_model, help="Ask this model (the default one)."
)
@pass_session
def chat(session: Session, channel: str | None, directory: str | None, model: str | None) -> int:
    """Talk with a model that uses your tools, in the conversation of the current directory unless told.

    Esc or Ctrl-C stops it while it works; what you send meanwhile joins in. /help shows what else there is.
    """
    api = session.api
    api.start_servers()
    channel_id = chosen_channel(api, channel, directory) or here(api)
    with unwinding():
        return Chat(api, Commands(api, channel_id, model), session.home).talk()


class Chat:
    """The conversation: what the person says, what comes of it, what they say next."""

    def __init__(self, api: Api, commands: Commands, home: Home) -> None:
        self._api = api
        self._commands = commands
        self._news = News()
        self._page = new_page()
        self._types = self._page.is_live and is_terminal(sys.stdin)
        self._view = RunView(self._page, stop_hint="Esc stops" if self._types else "Ctrl-C stops")
        self._line = ChatLine(History(home.path / HISTORY if self._types else None), commands.complete)
        self._aside: Callable[[], AbstractContextManager[None]] = nullcontext
        self._failed = False

    def talk(self) -> int:
        """Until the person leaves; the exit code."""
        is_seen = is_terminal(sys.stdin)
        if is_seen:
            greet(self._api, self._commands, self._page)
        with suppress(Quit):
            if self._types:
                self._at_keyboard()
            else:
                self._line_by_line(asks=is_seen)
        return 1 if self._failed and not is_seen else 0

    def _line_by_line(self, *, asks: bool) -> None:
        """From a pipe, or where the cursor cannot be moved."""
        for line in _typed() if asks else sys.stdin:
            with Interrupts(self._news) as interrupts:
                self._take(line.strip(), interrupts)

    def _at_keyboard(self) -> None:
        from manyhands.cli.keyboard import Keyboard
        from manyhands.cli.markdown import warm

        warm()
        keyboard = Keyboard(lambda *key: self._news.put("key", key))
        with Interrupts(self._news) as interrupts, keyboard:
            self._aside = keyboard.aside
            resting = Resting(self._news, self._view, self._line, interrupts)
            while (message := resting.next_message()) is not None:
                self._take(message, interrupts)

    def _take(self, message: str, interrupts: Interrupts) -> None:
        """Obey or send it; what goes wrong is told, and the conversation goes on."""
        if not message:
            return
        try:
            answer = self._commands.run(message)
            if answer is None:
                self._send(message, interrupts)
            else:
                self._view.say(answer)
        except ManyhandsError as error:
            self._complain(str(error))
        except OSError as error:
            self._complain(f"{error.filename}: {error.strerror}")

    def _complain(self, text: str) -> None:
        self._failed = True
        self._view.break_off()
        if self._types:
            self._view.complain(text)
        else:
            sys.stderr.write(f"{paint_error('error:', 'red', 'bold')} {one_line(text)}\n")

    def _send(self, message: str, interrupts: Interrupts) -> None:
        line = self._line if self._types else None
        with Feed(self._api, self._news) as feed:
            turn = ChatTurn(
                self._api, feed, self._view, interrupts, self._commands, asks=can_be_asked(), line=line
            )
            turn.aside = self._aside
            ended = turn.take(message)
        self._failed = self._failed or ended["status"] != "completed"
        if turn.leaves:
            raise Quit


def _typed() -> Iterator[str]:
    """Lines of a terminal that can do no more."""
    while True:
        try:
            yield input(f"\n{SIGN} ")
        except EOFError:
            say()
            return


def greet(api: Api, commands: Commands, page: Page) -> None:
    """Where this conversation takes place, with whom, and how far it got."""
    channel = api.request("GET", f"/channels/{segment(commands.channel_id)}")
    model = commands.model or channel.get("model") or _default_model(api)
    width = (columns() or 80) - 1
    model = fit(one_line(str(model)), max(width - width_of("Manyhands ·  · /help"), LEAST))
    room = width - width_of(f"Manyhands ·  · {model} · /help")
    place = [_end_of(channel.get("dir_path") or channel["name"], room)] if room >= LEAST else []
    page.line(" · ".join([paint("Manyhands", "bold"), *place, model, "/help"]))
    if last := last_answer(api, commands.channel_id):
        page.line(paint(fit(f"goes on after: {one_line(last)}", width), "dim"))


def _end_of(place: str, width: int) -> str:
    """The end of a path tells more than its beginning."""
    shown = one_line(place)
    return shown if width_of(shown) <= width else "…" + shown[-(width - 1) :]


def _default_model(api: Api) -> str:
    found = next((model for model in pages(api, "/models") if model["default"]), None)
    return "no model" if found is None else model_name(found)

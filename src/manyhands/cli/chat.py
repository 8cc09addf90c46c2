"""`manyhands chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack

import click

from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.chat_commands import Commands, Quit, model_name
from manyhands.cli.chat_line import PromptLine
from manyhands.cli.chat_turn import ChatTurn
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubCommand, pass_session
from manyhands.cli.completion import complete_model
from manyhands.cli.feed import Feed, Interrupts, unwinding
from manyhands.cli.output import note, say
from manyhands.cli.page import new_page
from manyhands.cli.run import can_be_asked, here
from manyhands.cli.run_view import RunView
from manyhands.cli.session import Session
from manyhands.cli.terminal import columns, fit, is_terminal, one_line, paint, paint_error, width_of
from manyhands.errors import ManyhandsError
from manyhands.home import Home

HISTORY = "chat_history"


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
    """The conversation: a line of the person, what comes of it, the next line."""

    def __init__(self, api: Api, commands: Commands, home: Home) -> None:
        self._api = api
        self._commands = commands
        self._home = home
        self._draft = ""
        self._failed = False

    def talk(self) -> int:
        """Until the person leaves; the exit code."""
        at_terminal = is_terminal(sys.stdin)
        if at_terminal:
            greet(self._api, self._commands)
        try:
            for line in self._typed() if at_terminal else sys.stdin:
                if line.strip():
                    self._take(line.strip())
        except Quit:
            pass
        return 1 if self._failed and not at_terminal else 0

    def _take(self, line: str) -> None:
        """Obey or send it; what goes wrong is told, and the conversation goes on."""
        try:
            answer = self._commands.run(line)
            if answer is None:
                self._send(line)
            else:
                say(answer)
        except ManyhandsError as error:
            self._complain(str(error))
        except OSError as error:
            self._complain(f"{error.filename}: {error.strerror}")

    def _complain(self, text: str) -> None:
        self._failed = True
        sys.stderr.write(f"{paint_error('error:', 'red', 'bold')} {one_line(text)}\n")

    def _send(self, line: str) -> None:
        page = new_page()
        types = page.is_live and is_terminal(sys.stdin)
        with ExitStack() as stack:
            feed = stack.enter_context(Feed(self._api))
            interrupts = stack.enter_context(Interrupts(feed))
            view = RunView(page, stop_hint="Esc stops" if types else "Ctrl-C stops")
            turn = ChatTurn(
                self._api, feed, view, interrupts, self._commands, asks=can_be_asked(), types=types
            )
            if types:
                from manyhands.cli.keyboard import Keyboard

                keyboard = stack.enter_context(Keyboard(lambda *key: feed.put("key", key)))
                turn.aside = keyboard.aside
            ended = turn.take(line)
        self._failed = self._failed or ended["status"] != "completed"
        self._draft = turn.draft.text
        if turn.leaves:
            raise Quit

    def _typed(self) -> Iterator[str]:
        """The lines that a person types, until Ctrl-D or a second Ctrl-C."""
        prompt = PromptLine(self._home.path / HISTORY, self._commands.complete)
        prompt.open()
        was_interrupted = False
        try:
            while True:
                try:
                    say()
                    line = prompt.ask(self._draft)
                except EOFError:
                    say()
                    return
                except KeyboardInterrupt:
                    say()
                    if was_interrupted:
                        raise
                    was_interrupted, self._draft = True, ""
                    note("Ctrl-C again leaves; so do Ctrl-D and /quit")
                    continue
                was_interrupted, self._draft = False, ""
                yield line
        finally:
            prompt.close()


def greet(api: Api, commands: Commands) -> None:
    """Where this conversation takes place, with whom, and how far it got."""
    channel = api.request("GET", f"/channels/{segment(commands.channel_id)}")
    model = commands.model or channel.get("model") or _default_model(api)
    width = (columns() or 80) - 1
    rest = f" · {one_line(str(model))} · /help"
    place = _end_of(channel.get("dir_path") or channel["name"], width - width_of("Manyhands · " + rest))
    say(f"{paint('Manyhands', 'bold')} · {place}{rest}")
    if last := _last_answer(api, commands.channel_id):
        say(paint(fit(f"goes on after: {one_line(last)}", width), "dim"))


def _end_of(place: str, width: int) -> str:
    """The end of a path tells more than its beginning."""
    shown = one_line(place)
    return shown if width_of(shown) <= width else "…" + shown[-max(width - 1, 10) :]


def _default_model(api: Api) -> str:
    found = next((model for model in pages(api, "/models") if model["default"]), None)
    return "no model" if found is None else model_name(found)


def _last_answer(api: Api, channel_id: str) -> str | None:
    path = f"/channels/{segment(channel_id)}/messages"
    found: list[Json] = api.request("GET", path, query={"limit": 20})["items"]
    return next((one["content"] for one in found if one["role"] == "assistant" and one["content"]), None)

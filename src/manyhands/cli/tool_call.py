"""`manyhands tools call`: calls a tool, shows how it goes, asks the person what the server wants to know.

One thread waits for the answer and one follows the events; this one draws and talks to the person.
"""

from __future__ import annotations

import queue
import sys
import threading
from contextlib import ExitStack
from typing import Any

import click

from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_tool
from manyhands.cli.json_input import read_object
from manyhands.cli.output import print_json
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal


@click.command(
    "call",
    cls=HubCommand,
    examples=[
        """manyhands tools call mcp__time__get_current_time '{"timezone":"Asia/Tokyo"}'""",
        """manyhands tools call read_file '{"path":"README.md"}' --dir .""",
    ],
)
@click.argument("name", shell_complete=complete_tool)
@click.argument("arguments", default="{}")
@channel_options
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Save images, audio and files of the result here.",
)
@json_option
@pass_session
def call(
    session: Session,
    name: str,
    arguments: str,
    channel: str | None,
    directory: str | None,
    save: str | None,
    as_json: bool,
) -> int:
    """Call a tool. ARGUMENTS is a JSON object, @FILE, or - for standard input.

    Calling it yourself is its own approval. What the server asks meanwhile is asked here, on a terminal.
    """
    from manyhands.cli.tool_result import print_record

    given = read_object(arguments)
    api = session.api
    body = {"name": name, "arguments": given, "channel_id": chosen_channel(api, channel, directory)}
    record = Call(api, {key: value for key, value in body.items() if value is not None}).run()
    if as_json:
        print_json(record)
        return 1 if record["isError"] else 0
    return print_record(record, save)


class Call:
    """One call, from being sent to its record."""

    def __init__(self, api: Api, body: Json) -> None:
        self._api = api
        self._body = body
        self._news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._call_id: str | None = None
        self._progress = Progress(f"calling {body['name']}")

    def run(self) -> Json:
        """Wait for the end of it; progress and questions are told meanwhile."""
        with ExitStack() as stack:
            stack.enter_context(self._api.follow(lambda event: self._news.put(("event", event))))
            stack.enter_context(self._progress)
            threading.Thread(target=self._ask, name="call", daemon=True).start()
            return self._attend()

    def _ask(self) -> None:
        try:
            answer = self._api.request("POST", "/tools/call", self._body, timeout=LONG_TIMEOUT_S)
            self._news.put(("record", answer))
        except BaseException as error:  # noqa: BLE001 (raised again in the thread that waits)
            self._news.put(("failed", error))

    def _attend(self) -> Json:
        while True:
            kind, news = self._news.get()
            if kind == "record":
                record: Json = news
                return record
            if kind == "failed":
                raise news
            self._notice(news["type"], news["data"])

    def _notice(self, type: str, data: Json) -> None:
        if type == "tool.started" and self._call_id is None and self._is_ours(data):
            self._call_id = data["id"]
        elif type == "tool.progress" and data.get("id") == self._call_id:
            self._progress.detail(progress_text(data))
        elif type == "approval.requested" and data.get("call_id") == self._call_id and self._call_id:
            self._answer(data)

    def _is_ours(self, data: Json) -> bool:
        """By name and arguments; a name that was too long keeps only the head of the tool's own."""
        name, tool = str(self._body["name"]), str(data["tool"])
        is_named = name == tool or (name.startswith("mcp__") and tool[:8] in name)
        return is_named and bool(data.get("arguments") == self._body["arguments"])

    def _answer(self, approval: Json) -> None:
        from manyhands.cli.asking import answer_here

        if not is_terminal(sys.stdin):
            self._progress.detail(f"waiting for an answer: manyhands approvals answer {approval['id']}")
            return
        self._progress.pause()
        answer_here(self._api, approval)
        self._progress.resume()


def progress_text(data: Json) -> str:
    """`3 of 10: reading pages`."""
    done, total = data.get("progress"), data.get("total")
    parts = [f"{done:g} of {total:g}" if total else f"{done:g}"] if isinstance(done, int | float) else []
    return ": ".join(filter(None, [*parts, str(data.get("message") or "")]))

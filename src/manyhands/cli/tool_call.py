"""`manyhands tools call`: calls a tool, shows how it goes, asks the person what the server wants to know.

One thread waits for the answer and one follows the events; this one draws and talks to the person.
"""

from __future__ import annotations

import queue
import re
import sys
import threading
from contextlib import ExitStack
from json import dumps
from typing import Any

import click

from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_tool
from manyhands.cli.json_input import read_object
from manyhands.cli.output import print_json, report, warn
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, one_line

NOBODY = "there is neither a terminal to ask in nor a daemon whose inbox it could wait in"


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
        elif type == "approval.requested" and self._asks_about_ours(data):
            self._call_id = data["call_id"]
            self._answer(data)

    def _is_ours(self, data: Json) -> bool:
        """By name and arguments."""
        given, told = self._body["arguments"], data.get("arguments") or {}
        is_given = given.keys() == told.keys() and all(is_told(given[key], told[key]) for key in given)
        return is_given and self._is_alike(data, str(data["tool"]))

    def _asks_about_ours(self, approval: Json) -> bool:
        """Whether it may run is asked before the call is told to have started: then by name and arguments."""
        if self._call_id is not None:
            return bool(approval.get("call_id") == self._call_id)
        from manyhands.approvals.visible import show_arguments

        detail = approval.get("detail") or {}
        asks = bool(approval.get("call_id")) and "arguments_text" in detail
        is_alike = asks and self._is_alike(approval, str(detail["tool"]), str(detail["full_name"]))
        return is_alike and bool(detail["arguments_text"] == show_arguments(self._body["arguments"]).text)

    def _is_alike(self, data: Json, tool: str, full_name: str = "") -> bool:
        """Whether it is of no run, in our channel and of our tool.

        A name that was too long keeps only the head of the tool's own.
        """
        name = str(self._body["name"])
        is_named = name in (tool, full_name) or (name.startswith("mcp__") and tool[:8] in name)
        return is_named and not data.get("run_id") and data.get("channel_id") == self._body.get("channel_id")

    def _answer(self, approval: Json) -> None:
        from manyhands.cli.asking import answer_here, send_answer

        title = one_line(approval["title"])
        with self._progress.aside():
            if is_terminal(sys.stdin) and is_terminal(sys.stderr):
                answer_here(self._api, approval)
            elif self._api.is_daemon:
                command = f"`manyhands approvals answer {approval['id']}`"
                report("waiting:", f"{title} Answer with {command}, or in the web UI.", "yellow")
            else:  # the inbox is in this process, where no other one can answer
                warn(f"{title} Nobody can be asked here: it is refused.")
                send_answer(self._api, approval["id"], {"decision": "reject", "reason": NOBODY})


def is_told(given: Any, told: Any) -> bool:
    """Whether an event may tell this argument so: a long one is cut, what looks like a secret is masked."""
    from manyhands.secrets.redaction import MASK

    if told == given:
        return True
    text, whole = (one if isinstance(one, str) else dumps(one, ensure_ascii=False) for one in (told, given))
    altered = re.search(rf"{MASK}|… \(\d+ characters\)$", text)
    return altered is not None and whole.startswith(text[: altered.start()])


def progress_text(data: Json) -> str:
    """`3 of 10: reading pages`."""
    done, total = data.get("progress"), data.get("total")
    parts = [f"{done:g} of {total:g}" if total else f"{done:g}"] if isinstance(done, int | float) else []
    return ": ".join(filter(None, [*parts, str(data.get("message") or "")]))

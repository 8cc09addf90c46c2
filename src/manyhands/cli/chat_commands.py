"""What a line that begins with a slash does in `manyhands chat`; all else is said to the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from manyhands.cli.attachments import read_attachment
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.output import human_size, plural
from manyhands.cli.terminal import columns, fit, one_line, paint
from manyhands.errors import ManyhandsError, NotFoundError

HELP = {
    "/model [ID]": "show the models, or ask this one from now on",
    "/tools": "the tools that the model is offered",
    "/attach FILE": "send a file or picture with the next message",
    "/SERVER:PROMPT …": "say a server's prompt; arguments in order, or NAME=VALUE",
    "@SERVER:URI": "anywhere in a message: attach a server's resource",
    "/quit": "leave (Ctrl-D, too)",
}
KEYS = "While it works: Esc or Ctrl-C stops it, a message that you send joins it, ↑ takes that back."
WORDS = ("/help", "/model", "/tools", "/attach", "/quit")
COMMAND = re.compile(r"/(\w+)(?:\s+(.*))?$", re.DOTALL)


class Quit(Exception):
    """The person leaves."""


@dataclass
class Commands:
    """What commands change: the model that is asked, files for the next message."""

    api: Api
    channel_id: str
    model: str | None = None
    files: list[Json] = field(default_factory=list)
    _prompts: Sequence[str] | None = None

    def run(self, line: str) -> str | None:
        """What a command has to say; nothing when the line is a message."""
        found = COMMAND.match(line.strip())
        if found is None:
            return None
        match found[1], (found[2] or "").strip():
            case "help", _:
                return self._help()
            case "quit" | "exit", _:
                raise Quit
            case "model", "":
                return self._models()
            case "model", wanted:
                return self._choose(wanted)
            case "tools", _:
                return self._tools()
            case "attach", "":
                return "Give the file: /attach FILE"
            case "attach", name:
                return self._attach(name)
            case "tool", _:  # the demo model's own
                return None
        raise NotFoundError(f"There is no command /{found[1]}.", hint="/help shows them all.")

    def take_files(self) -> list[Json]:
        """The files that go with the message that is sent now."""
        files, self.files = self.files, []
        return files

    def complete(self, text: str) -> list[str]:
        """Commands and prompts that begin so."""
        if not text.startswith("/"):
            return []
        if self._prompts is None:
            self._prompts = ()
            with suppress(ManyhandsError):
                self._prompts = _prompt_commands(self.api)
        return [word for word in (*WORDS, *self._prompts) if word.startswith(text)]

    def _help(self) -> str:
        wide = max(map(len, HELP))
        lines = [f"{paint(name.ljust(wide), 'bold')}  {meaning}" for name, meaning in HELP.items()]
        return "\n".join([*lines, paint(KEYS, "dim")])

    def _models(self) -> str:
        found = pages(self.api, "/models")
        lines = []
        for model in found:
            chosen = model["id"] == self.model if self.model else model["default"]
            lines.append(f"{paint('*', 'green') if chosen else ' '} {one_line(model_name(model))}")
        return "\n".join(lines)

    def _choose(self, wanted: str) -> str:
        found = self.api.request("GET", f"/models/{segment(wanted)}")
        self.model = str(found["id"])
        return f"Asking {one_line(model_name(found))} from now on."

    def _tools(self) -> str:
        found = pages(self.api, "/tools", query={"channel_id": self.channel_id})
        offered = [tool for tool in found if tool["offered"]]
        width = (columns() or 100) - 1
        lines = [fit(f"{tool['fullName']}  {one_line(tool['description'])}", width) for tool in offered]
        counted = f"{plural(len(offered), 'tool')} offered, {len(found) - len(offered)} not"
        return "\n".join([*lines, paint(f"{counted}; `manyhands tools why NAME` says why", "dim")])

    def _attach(self, name: str) -> str:
        file = read_attachment(name.strip("'\""))
        self.files.append(file)
        size = human_size(len(file["data"]) * 3 // 4)
        return f"{file['name']} ({file['mime']}, {size}) goes with your next message."


def model_name(model: Json) -> str:
    """What a person calls it: the name of one that was saved, else its id."""
    return str(model["name"] if model["source"] == "saved" else model["id"])


def _prompt_commands(api: Api) -> list[str]:
    """The prompts of the connected servers, as they are called."""
    return [
        str(prompt["command"])
        for server in pages(api, "/servers")
        if server["status"] == "connected"
        for prompt in pages(api, f"/servers/{server['id']}/prompts")
    ]

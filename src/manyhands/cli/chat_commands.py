"""What a line that begins with a slash does in `manyhands chat`; all else is said to the model."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from manyhands.cli.attachments import read_attachment
from manyhands.cli.channels import find_channel
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.output import human_size, plural, state_style
from manyhands.cli.terminal import columns, fit, one_line, paint, width_of
from manyhands.cli.wrapping import wrapped
from manyhands.errors import ManyhandsError, NotFoundError

HELP = {
    "/model [ID]": "show the models, or ask this one from now on",
    "/tools": "the tools that the model is offered",
    "/servers": "the MCP servers and how they are",
    "/new [NAME]": "begin a new conversation in this directory",
    "/channel [NAME]": "show the conversations of this directory, or go to that one",
    "/attach FILE": "send a file or picture with the next message",
    "/SERVER:PROMPT …": "say a server's prompt; arguments in order, or NAME=VALUE",
    "@SERVER:URI": "anywhere in a message: attach a server's resource",
    "/quit": "leave (Ctrl-D, too)",
}
KEYS = (
    "While it works: Esc or Ctrl-C stops it, a message that you send joins it, ↑ takes that back.",
    "Alt-Enter begins a new row, Tab completes, ↑ brings back what you said before, Ctrl-D leaves.",
)
WORDS = ("/help", "/model", "/tools", "/servers", "/new", "/channel", "/attach", "/quit")
ROOMY = 70
"""Columns from which on two fit beside each other."""
MARKS = re.compile(r"^#+ |\*\*|`+", re.MULTILINE)
"""What Markdown has and a single line does not need."""
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
            case "servers", _:
                return self._servers()
            case "new", name:
                return self._begin(name)
            case "channel", "":
                return self._channels()
            case "channel", name:
                return self._go_to(find_channel(self.api, name))
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
        """Lines that begin so: commands, prompts, and what may follow a command."""
        word, space, begun = text.partition(" ")
        if not text.startswith("/"):
            return []
        try:
            if not space:
                return [one for one in (*WORDS, *self._known_prompts()) if one.startswith(text)]
            found = self._arguments(word, begun)
        except ManyhandsError:
            return []
        return [f"{word} {one}" for one in found if one.startswith(begun)]

    def _arguments(self, command: str, begun: str) -> list[str]:
        match command:
            case "/model":
                return [model_name(model) for model in pages(self.api, "/models")]
            case "/channel":
                return [str(channel["name"]) for channel in self._here()]
            case "/attach":
                return _paths(begun)
        return []

    def _known_prompts(self) -> Sequence[str]:
        if self._prompts is None:
            self._prompts = _prompt_commands(self.api)
        return self._prompts

    def _help(self) -> str:
        wide, room = max(map(len, HELP)), columns() or 100
        lines = []
        for name, meaning in HELP.items():
            if room < ROOMY:
                lines += [paint(name, "bold"), *(f"  {row}" for row in wrapped(meaning, room - 3))]
            else:
                lines.append(f"{paint(name.ljust(wide), 'bold')}  {meaning}")
        keys = [row for text in KEYS for row in wrapped(text, room - 1)]
        return "\n".join([*lines, "", *(paint(row, "dim") for row in keys)])

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
        lines = [_tool_line(tool, width) for tool in offered]
        counted = f"{plural(len(offered), 'tool')} offered, {len(found) - len(offered)} not"
        return "\n".join([*lines, paint(f"{counted}; `manyhands tools why NAME` says why", "dim")])

    def _servers(self) -> str:
        found = pages(self.api, "/servers")
        if not found:
            return "No servers yet: `manyhands servers add NAME -- COMMAND` adds one."
        wide = max(width_of(one_line(server["name"])) for server in found)
        lines = []
        for server in found:
            status = str(server["status"])
            name = one_line(server["name"]).ljust(wide)
            lines.append(f"{name}  {paint(status, *state_style(status))}  {_known_of(server)}".rstrip())
        return "\n".join(lines)

    # --- conversations

    def _begin(self, name: str) -> str:
        now = self.api.request("GET", f"/channels/{segment(self.channel_id)}")
        root = now.get("parent_id") or now["id"]
        body = {"channel_id": root, "name": name or f"{now['name'].partition(' · ')[0]} · {_moment()}"}
        made = self.api.request("POST", "/threads", body)
        self.channel_id = str(made["id"])
        return f"A new conversation, {one_line(made['name'])}: nothing said before is known in it."

    def _here(self) -> list[Json]:
        """The conversations of the directory."""
        now = self.api.request("GET", f"/channels/{segment(self.channel_id)}")
        if not now.get("dir_path"):
            return [now]
        found = pages(self.api, "/channels", query={"query": now["dir_path"]})
        return [channel for channel in found if channel["dir_path"] == now["dir_path"]]

    def _channels(self) -> str:
        lines = [
            f"{paint('*', 'green') if channel['id'] == self.channel_id else ' '} {one_line(channel['name'])}"
            for channel in self._here()
        ]
        return "\n".join(lines)

    def _go_to(self, channel: Json) -> str:
        self.channel_id = str(channel["id"])
        last = last_answer(self.api, self.channel_id)
        after = f" It goes on after: {one_line(last)}" if last else ""
        return fit(f"Now in {one_line(channel['name'])}.{after}", (columns() or 10_000) - 1)

    def _attach(self, name: str) -> str:
        file = read_attachment(name.strip("'\""))
        self.files.append(file)
        size = human_size(len(file["data"]) * 3 // 4)
        return f"{file['name']} ({file['mime']}, {size}) goes with your next message."


def last_answer(api: Api, channel_id: str) -> str | None:
    """The end of a conversation."""
    path = f"/channels/{segment(channel_id)}/messages"
    found: list[Json] = api.request("GET", path, query={"limit": 20})["items"]
    said = (one["content"] for one in found if one["role"] == "assistant" and one["content"])
    return next((MARKS.sub("", text) for text in said), None)


def _tool_line(tool: Json, width: int) -> str:
    name = fit(str(tool["fullName"]), width)
    room = width - width_of(name) - 2
    return f"{paint(name, 'bold')}  {fit(one_line(tool['description']), room)}" if room > 1 else name


def _known_of(server: Json) -> str:
    if server.get("error"):
        return one_line(str(server["error"]))
    count = server.get("tool_count")
    return "" if count is None else plural(int(count), "tool")


def _moment() -> str:
    from datetime import datetime

    return datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _paths(begun: str) -> list[str]:
    """Files and directories whose path begins so."""
    import glob

    found = sorted(glob.glob(glob.escape(os.path.expanduser(begun)) + "*"))
    return [f"{path}/" if os.path.isdir(path) else path for path in found]


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

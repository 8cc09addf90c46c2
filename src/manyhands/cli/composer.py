"""What a person writes, made ready: files attached, `@server:uri` read, `/server:prompt` filled in."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, pages
from manyhands.errors import InvalidError, NotFoundError

MENTION = re.compile(r"(?<![\w@])@([\w.-]+):(\S+)")
COMMAND = re.compile(r"/([^\s/:]+):(\S+)(?:\s+(.*))?$", re.DOTALL)
TRAILING = ".,;:!?)]}\"'"


@dataclass(frozen=True)
class Composed:
    """A message with what belongs to it."""

    text: str
    attachments: Sequence[Json] = field(default=())


def compose(api: Api, channel_id: str, text: str, files: Sequence[Json] = ()) -> Composed:
    """The message as it is sent."""
    command = COMMAND.match(text)
    if command is not None and "://" not in command[0].split()[0]:
        filled = fill_prompt(api, channel_id, command[1], command[2], command[3] or "")
        return Composed(filled.text, [*filled.attachments, *files])
    return Composed(text, [*files, *_mentioned(api, channel_id, text)])


def read_attachment(name: str) -> Json:
    """A file of this machine."""
    path = Path(name).expanduser()
    return attachment(path.name, path.read_bytes(), _kind_of(path.name))


def attachment(name: str, data: bytes, mime: str | None) -> Json:
    """Bytes as the API takes them."""
    return {"name": name, "mime": mime or _guess(data), "data": base64.b64encode(data).decode()}


def _kind_of(name: str) -> str | None:
    import mimetypes

    return mimetypes.guess_type(name)[0]


def _guess(data: bytes) -> str:
    try:
        data[:4096].decode()
    except UnicodeDecodeError as error:
        # A character that the cut went through is no sign of a binary file.
        if len(data) <= 4096 or error.start < 4090:
            return "application/octet-stream"
    return "text/plain"


# --- resources


def _mentioned(api: Api, channel_id: str, text: str) -> list[Json]:
    """The resources that a text names as `@server:uri`; what names no server is just text."""
    found = MENTION.findall(text)
    if not found:
        return []
    servers = {server["name"]: server for server in pages(api, "/servers")}
    wanted = dict.fromkeys((name, uri.rstrip(TRAILING)) for name, uri in found if name in servers)
    return [part for name, uri in wanted for part in _read(api, channel_id, servers[name], uri)]


def _read(api: Api, channel_id: str, server: Json, uri: str) -> list[Json]:
    body = {"uri": uri, "channel_id": channel_id}
    answer = api.request("POST", f"/servers/{server['id']}/resources/read", body, timeout=LONG_TIMEOUT_S)
    return [_resource(content, uri) for content in answer.get("contents") or ()]


def _resource(content: Mapping[str, Any], uri: str) -> Json:
    name = str(content.get("uri") or uri)[-255:]
    if "blob" in content:
        mime = str(content.get("mimeType") or "application/octet-stream")
        return {"name": name, "mime": mime, "data": content["blob"]}
    return attachment(name, str(content.get("text", "")).encode(), content.get("mimeType") or "text/plain")


# --- prompts


def prompt_commands(api: Api) -> list[Json]:
    """Every prompt of every server, with `command` and `server_id`."""
    servers = [server for server in pages(api, "/servers") if server["status"] == "connected"]
    return [
        {**prompt, "server_id": server["id"]}
        for server in servers
        for prompt in pages(api, f"/servers/{server['id']}/prompts")
    ]


def fill_prompt(api: Api, channel_id: str, server: str, name: str, given: str) -> Composed:
    """The text of a server's prompt with these arguments."""
    command = f"/{server}:{name}"
    prompts = prompt_commands(api)
    prompt = next((prompt for prompt in prompts if prompt["command"] == command), None)
    if prompt is None:
        known = ", ".join(sorted(str(prompt["command"]) for prompt in prompts))
        raise NotFoundError(f"There is no prompt {command}.", hint=f"There are: {known or 'none'}.")
    body = {
        "name": prompt["name"],
        "arguments": prompt_arguments(prompt, given),
        "channel_id": channel_id,
    }
    path = f"/servers/{prompt['server_id']}/prompts/get"
    answer = api.request("POST", path, body, timeout=LONG_TIMEOUT_S)
    return _spoken(answer.get("messages") or ())


def prompt_arguments(prompt: Mapping[str, Any], given: str) -> dict[str, str]:
    """`name=value` pairs, or values in the order of the prompt; the last one takes what is left."""
    names = [str(argument["name"]) for argument in prompt.get("arguments") or ()]
    required = [str(one["name"]) for one in prompt.get("arguments") or () if one.get("required")]
    found, loose = {}, []
    for word in _words(given):
        name, sign, value = word.partition("=")
        if sign and name in names:
            found[name] = value
        else:
            loose.append(word)
    free = [name for name in names if name not in found]
    if loose and free:
        placed = (
            [*loose[: len(free) - 1], " ".join(loose[len(free) - 1 :])] if len(loose) > len(free) else loose
        )
        found |= dict(zip(free, placed, strict=False))
    if missing := [name for name in required if name not in found]:
        usage = " ".join(f"{name}=…" for name in names)
        raise InvalidError(
            f"{prompt['command']} needs {', '.join(missing)}.", hint=f"Write {prompt['command']} {usage}"
        )
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe is no quotation mark
        return text.split()


def _spoken(messages: Sequence[Mapping[str, Any]]) -> Composed:
    """A prompt's messages as one of ours; who says what is told where it is not the person alone."""
    roles = {message.get("role") for message in messages}
    texts: list[str] = []
    files: list[Json] = []
    for message in messages:
        content = message.get("content") or {}
        text = _part_text(content, files)
        if text:
            texts.append(text if roles == {"user"} else f"{message.get('role')}: {text}")
    if not texts:
        raise InvalidError("The prompt is empty.", hint="Ask the server's author.")
    return Composed("\n\n".join(texts), files)


def _part_text(content: Mapping[str, Any], files: list[Json]) -> str:
    match content.get("type"):
        case "text":
            return str(content.get("text", ""))
        case "image" | "audio" as kind:
            mime = str(content.get("mimeType") or "application/octet-stream")
            files.append({"name": f"{kind} of the prompt", "mime": mime, "data": str(content.get("data"))})
            return f"(see the attached {kind})"
        case "resource":
            resource = content.get("resource") or {}
            files.append(_resource(resource, "resource"))
            return f"(see the attached {resource.get('uri')})"
        case _:
            return ""

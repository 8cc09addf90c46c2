"""What a person writes in short: `/server:prompt key=value` for a prompt, `@server:uri` for a resource.

What no server knows stays the plain text that it is.
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from manyhands.chat.types import Channel
from manyhands.errors import InvalidError, NotFoundError
from manyhands.models.types import Attachment
from manyhands.servers.types import Server

_RESOURCE = re.compile(r"(?<!\S)@([A-Za-z0-9_-]+):(\S+)")
_TRAILING = ".,;!?)"
MOST_RESOURCES = 20


class KnownServer(Protocol):
    """A server as its service shows it."""

    @property
    def server(self) -> Server: ...


class Offers(Protocol):
    """What servers offer beside tools."""

    async def commands(self, channel: Channel | None) -> Sequence[Mapping[str, Any]]: ...

    async def get_prompt(
        self,
        server_id: int,
        name: str,
        arguments: Mapping[str, str] | None = None,
        channel: Channel | None = None,
    ) -> Mapping[str, Any]: ...

    async def by_name(self, name: str, project: str | None = None) -> KnownServer: ...

    async def read_resource(
        self, server_id: int, uri: str, channel: Channel | None = None
    ) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Expanded:
    """A message as the model gets it."""

    text: str
    attachments: Sequence[Attachment] = ()


async def expand(text: str, channel: Channel, offers: Offers) -> Expanded:
    """The message with its prompt written out and its resources attached."""
    if text.startswith("/"):
        found = await _prompt(text, channel, offers)
        if found is not None:
            return found
    return Expanded(text, await _resources(text, channel, offers))


async def _prompt(text: str, channel: Channel, offers: Offers) -> Expanded | None:
    word, _, rest = text.partition(" ")
    for command in await offers.commands(channel):
        if command["command"] == word.strip():
            arguments = read_arguments(rest, command)
            got = await offers.get_prompt(command["server_id"], str(command["name"]), arguments, channel)
            blocks = [message.get("content") or {} for message in got.get("messages", ())]
            written = "\n\n".join(part for part in (_text(block) for block in blocks) if part)
            return Expanded(written or text, [one for block in blocks for one in _pictures(block)])
    return None


def read_arguments(text: str, command: Mapping[str, Any]) -> dict[str, str]:
    """`key=value` words; words without a key belong to the arguments that have none yet, in their order."""
    declared = [str(argument["name"]) for argument in command.get("arguments") or ()]
    given: dict[str, str] = {}
    loose: list[str] = []
    for word in _split(text):
        key, separator, value = word.partition("=")
        if separator and key in declared:
            given[key] = value
        else:
            loose.append(word)
    missing = [name for name in declared if name not in given]
    if loose and not missing:
        raise InvalidError(
            f"{command['command']} takes no {loose[0]!r}.",
            hint=f"It takes {', '.join(declared) or 'nothing'}.",
        )
    given |= dict(zip(missing, loose[: len(missing) - 1], strict=False))
    if rest := loose[len(missing) - 1 :] if missing else []:
        given[missing[-1]] = " ".join(rest)
    return given


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


async def _resources(text: str, channel: Channel, offers: Offers) -> list[Attachment]:
    found: list[Attachment] = []
    for name, written in list(dict.fromkeys(_RESOURCE.findall(text)))[:MOST_RESOURCES]:
        try:
            server = (await offers.by_name(name, channel.dir_path)).server
        except NotFoundError:
            continue
        got = await offers.read_resource(server.id, written.rstrip(_TRAILING), channel)
        found += [_attachment(content) for content in got.get("contents", ())]
    return found


def _attachment(content: Mapping[str, Any]) -> Attachment:
    name, mime = str(content.get("uri", "resource")), str(content.get("mimeType") or "text/plain")
    if "text" in content:
        return Attachment(name, mime, str(content["text"]).encode())
    try:
        return Attachment(name, mime, base64.b64decode(str(content.get("blob", ""))))
    except binascii.Error:
        raise InvalidError(f"The resource {name} is not valid base64.", hint="Leave it out.") from None


def _text(block: Mapping[str, Any]) -> str:
    if block.get("type") == "resource":
        return str((block.get("resource") or {}).get("text") or "")
    return str(block.get("text") or "")


def _pictures(block: Mapping[str, Any]) -> list[Attachment]:
    if block.get("type") != "image":
        return []
    return [_attachment({"uri": "image", "mimeType": block.get("mimeType"), "blob": block.get("data")})]

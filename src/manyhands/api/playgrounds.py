"""Playgrounds over HTTP. The pages themselves are served elsewhere: `playground_pages.py`."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, PrincipalOf, items, slice_page
from manyhands.errors import InvalidError
from manyhands.hub import Hub
from manyhands.playgrounds.types import Key, Level, Playground, PlaygroundFile, Scope

router = APIRouter(prefix="/playgrounds", tags=["playgrounds"])

ScopeOf = Annotated[Scope, Query(description="Whether it is a global one or one of a channel's project.")]
ChannelId = Annotated[str | None, Query(description="A channel of its project; needed with scope project.")]


class PlaygroundShown(schemas.Answer):
    """A playground without the content of its files."""

    name: str
    scope: Scope
    project: str | None = Field(None, description="The directory of its project.")
    channel_id: str | None = Field(None, description="A channel of its project, to name it by.")
    title: str
    description: str
    author_id: str | None = None
    created_at: str | None = None
    updated_at: str
    file_count: int
    size: int
    url: str | None = Field(None, description="Its page; whoever has this address sees it.")


class FileShown(schemas.Answer):
    """A file of a playground."""

    path: str
    size: int
    updated_at: str


class FileContent(schemas.Answer):
    """What is in a file; what is no text is base64."""

    path: str
    size: int
    content: str
    encoding: Literal["utf-8", "base64"]


class ConsoleLine(schemas.Answer):
    """One line of a page's console."""

    id: int
    level: Level
    text: str
    at: str


class _Placed(schemas.Body):
    scope: Scope = "global"
    channel_id: str | None = Field(None, description="A channel of its project; needed with scope project.")


class PlaygroundChanges(_Placed):
    """What a playground is to be; what is not given stays."""

    title: str | None = None
    description: str | None = None
    html: str | None = Field(None, description="The entry page, index.html.")


class NewContent(_Placed):
    """The whole content of a file."""

    content: str
    encoding: Literal["utf-8", "base64"] = "utf-8"


async def _key(hub: Hub, name: str, scope: Scope, channel_id: str | None) -> Key:
    """The playground that is meant."""
    if scope == "global":
        return Key(name)
    if channel_id is None:
        raise InvalidError("Scope project needs a channel.", hint="Send channel_id as well.")
    channel = await hub.channels.get(channel_id)
    if channel.dir_path is None:
        raise InvalidError(
            f"The channel {channel_id} has no directory.", hint="Use scope global, or another channel."
        )
    return Key(name, channel.dir_path)


async def key_of(hub: HubOf, name: str, scope: ScopeOf = "global", channel_id: ChannelId = None) -> Key:
    return await _key(hub, name, scope, channel_id)


KeyOf = Annotated[Key, Depends(key_of)]


def _shown(hub: Hub, request: Request, found: Playground, channel_id: str | None) -> PlaygroundShown:
    """With an address under the name by which the asker reached us."""
    name = request.url.hostname or "127.0.0.1"
    url = hub.playgrounds.address(found.key, f"[{name}]" if ":" in name else name)
    return PlaygroundShown(**found.wire(), channel_id=channel_id, url=url)


@router.get("")
async def list_playgrounds(
    hub: HubOf,
    request: Request,
    channel_id: Annotated[str | None, Query(description="Of projects only this channel's.")] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[PlaygroundShown]:
    """The global ones, then those of projects, by name."""
    if channel_id is None:
        everything = await hub.playgrounds.list_all()
    else:
        directory = (await hub.channels.get(channel_id)).dir_path
        found = await hub.playgrounds.list([directory] if directory else [])
        everything = [(one, channel_id if one.key.project else None) for one in found]
    page, after = slice_page(everything, limit, cursor)
    return items(page, after, lambda one: _shown(hub, request, *one))


@router.put("/{name}", responses={201: {"description": "It is new."}})
async def save_playground(
    hub: HubOf,
    principal: PrincipalOf,
    request: Request,
    response: Response,
    name: str,
    body: PlaygroundChanges,
) -> PlaygroundShown:
    """Create it, or change what is given; its other files stay."""
    key = await _key(hub, name, body.scope, body.channel_id)
    values: dict[str, Any] = body.model_dump(exclude={"scope", "channel_id"})
    found, new = await hub.playgrounds.save(key.name, key.project, author_id=principal.author, **values)
    response.status_code = 201 if new else 200
    return _shown(hub, request, found, body.channel_id)


@router.get("/{name}")
async def get_playground(
    hub: HubOf, request: Request, key: KeyOf, channel_id: ChannelId = None
) -> PlaygroundShown:
    """One playground."""
    return _shown(hub, request, await hub.playgrounds.get(key.name, key.project), channel_id)


@router.delete("/{name}", status_code=204)
async def delete_playground(hub: HubOf, key: KeyOf) -> None:
    """Delete it with all its files."""
    await hub.playgrounds.delete(key.name, key.project)


@router.get("/{name}/files")
async def list_files(
    hub: HubOf, key: KeyOf, limit: Limit = PAGE, cursor: Cursor = None
) -> schemas.Items[FileShown]:
    """Its files, by path."""
    page, after = slice_page(await hub.playgrounds.list_files(key.name, key.project), limit, cursor)
    return items(page, after, _file)


def _file(file: PlaygroundFile) -> FileShown:
    return FileShown(**file.wire())


@router.put("/{name}/files/{path:path}", responses={201: {"description": "It is new."}})
async def write_file(hub: HubOf, response: Response, name: str, path: str, body: NewContent) -> FileShown:
    """Write a file as a whole."""
    key = await _key(hub, name, body.scope, body.channel_id)
    content = body.content.encode("utf-8", "replace") if body.encoding == "utf-8" else _decoded(body.content)
    new = await hub.playgrounds.write_file(key.name, path, content, key.project)
    response.status_code = 201 if new else 200
    files = await hub.playgrounds.list_files(key.name, key.project)
    return next(_file(file) for file in files if file.path == path)


@router.get("/{name}/files/{path:path}")
async def read_file(hub: HubOf, key: KeyOf, path: str) -> FileContent:
    """What is in a file."""
    content = await hub.playgrounds.read_file(key.name, path, key.project)
    try:
        return FileContent(path=path, size=len(content), content=content.decode(), encoding="utf-8")
    except UnicodeDecodeError:
        encoded = base64.b64encode(content).decode()
        return FileContent(path=path, size=len(content), content=encoded, encoding="base64")


@router.delete("/{name}/files/{path:path}", status_code=204)
async def delete_file(hub: HubOf, key: KeyOf, path: str) -> None:
    """Delete a file."""
    await hub.playgrounds.delete_file(key.name, path, key.project)


@router.get("/{name}/console")
async def read_console(
    hub: HubOf, key: KeyOf, limit: Limit = PAGE, cursor: Cursor = None
) -> schemas.Items[ConsoleLine]:
    """What its page wrote to the console, and the errors that it ran into, oldest first."""
    page, after = slice_page(await hub.playgrounds.console(key.name, key.project), limit, cursor)
    return items(page, after, lambda line: ConsoleLine(**line.wire()))


@router.delete("/{name}/console", status_code=204)
async def clear_console(hub: HubOf, key: KeyOf) -> None:
    """Forget what it wrote."""
    await hub.playgrounds.clear_console(key.name, key.project)


@router.get(
    "/{name}/export",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "One HTML file."}},
)
async def export_playground(hub: HubOf, key: KeyOf) -> Response:
    """All of it as one HTML file, to be saved: a browser must not show it here, under our own origin."""
    whole = (await hub.playgrounds.export(key.name, key.project)).encode("utf-8", "replace")
    headers = {"Content-Disposition": f'attachment; filename="{key.name}.html"'}
    return Response(whole, headers=headers, media_type="application/octet-stream")


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidError("The content is not base64.", hint='Send text with encoding "utf-8".') from None

"""The tools of playgrounds: small pages that agents write and people open, global or of a project."""

from __future__ import annotations

from manyhands.errors import InvalidError
from manyhands.mcp_server.entries import (
    DESTROYS,
    Answer,
    Caller,
    Json,
    ToolEntry,
    choice,
    gives,
    many,
    maybe,
    number,
    place,
    takes,
    text,
)
from manyhands.playgrounds.console import as_text
from manyhands.playgrounds.rules import LARGEST_FILE
from manyhands.playgrounds.types import CONSOLE, Key, Playground

MOST_READ = 100_000
"""Characters of a file that are given at once: a model reads them all."""


async def _key(caller: Caller, arguments: Json) -> Key:
    """The playground that is meant: another project's cannot be named."""
    scope = arguments.get("scope", "global")
    return Key(arguments["name"], await _project(caller) if scope == "project" else None)


async def _project(caller: Caller) -> str:
    channel = await caller.scope.own()
    if channel.dir_path is None:
        raise InvalidError("Your channel has no project directory.", hint="Use scope global.")
    return channel.dir_path


# --- playground


async def playground(caller: Caller, arguments: Json) -> Answer:
    key = await _key(caller, arguments)
    words = {name: arguments[name] for name in ("title", "description", "html") if name in arguments}
    service = caller.hub.playgrounds
    if arguments["action"] == "delete":
        await service.delete(key.name, key.project)
        return Answer(f"Deleted the {key.scope} playground {key.name!r}.", {"playground": None, "url": None})
    if arguments["action"] == "create":
        found = await service.create(key.name, key.project, author_id=caller.principal.author, **words)
        said = f"Created the {key.scope} playground {key.name!r}."
    else:
        if not words:
            raise InvalidError("There is nothing to update.", hint="Give title, description or html.")
        found = await service.update(key.name, key.project, **words)
        said = f"Updated {', '.join(words)} of the {key.scope} playground {key.name!r}."
    url = service.address(key)
    seen = f" A person sees it at {url} and on the hub's page Playgrounds." if url else ""
    return Answer(said + seen, {"playground": _shown(found), "url": url})


def _shown(found: Playground) -> Json:
    words = {"title": found.manifest.title, "description": found.manifest.description}
    return {
        "name": found.key.name,
        "scope": found.key.scope,
        **words,
        "files": [file.path for file in found.files],
    }


# --- playground_file


async def playground_file(caller: Caller, arguments: Json) -> Answer:
    action = arguments["action"]
    if action == "list":
        return await (_list_files if "name" in arguments else _list_playgrounds)(caller, arguments)
    for needed in ("name", "path"):
        if needed not in arguments:
            raise InvalidError(f"The action {action} needs a {needed}.", hint=f"Give {needed}.")
    key = await _key(caller, arguments)
    if action == "read":
        return await _read(caller, key, arguments["path"])
    if action == "delete":
        await caller.hub.playgrounds.delete_file(key.name, arguments["path"], key.project)
        return Answer(f"Deleted {arguments['path']} of {key.name!r}.", {"path": arguments["path"]})
    return await _write(caller, key, arguments)


async def _list_playgrounds(caller: Caller, arguments: Json) -> Answer:
    channel = await caller.scope.own() if caller.principal.channel_id else None
    projects = [channel.dir_path] if channel and channel.dir_path else []
    found = await caller.hub.playgrounds.list(projects)
    lines = [f"{one.key.name} ({one.key.scope}): {one.manifest.title}" for one in found]
    said = "\n".join(lines) or "There are no playgrounds yet."
    return Answer(said, {"playgrounds": [_shown(one) for one in found]})


async def _list_files(caller: Caller, arguments: Json) -> Answer:
    key = await _key(caller, arguments)
    files = await caller.hub.playgrounds.list_files(key.name, key.project)
    console = await caller.hub.playgrounds.console(key.name, key.project)
    lines = [f"{file.path} ({file.size} bytes)" for file in files]
    errors = sum(entry.level == "error" for entry in console)
    lines.append(f"{CONSOLE} ({len(console)} lines, {errors} errors; read it to see them)")
    return Answer("\n".join(lines), {"files": [{"path": file.path, "size": file.size} for file in files]})


async def _read(caller: Caller, key: Key, path: str) -> Answer:
    if path == CONSOLE:
        return await _read_console(caller, key)
    content = await caller.hub.playgrounds.read_file(key.name, path, key.project)
    try:
        whole = content.decode()
    except UnicodeDecodeError:
        said = f"{path} is no text ({len(content)} bytes)."
        return Answer(said, {"path": path, "size": len(content), "content": None})
    shown = whole[:MOST_READ]
    cut = f"\n… the first {MOST_READ:,} of {len(whole):,} characters." if len(whole) > MOST_READ else ""
    return Answer(shown + cut, {"path": path, "size": len(content), "content": shown})


async def _read_console(caller: Caller, key: Key) -> Answer:
    whole = as_text(await caller.hub.playgrounds.console(key.name, key.project))[-MOST_READ:]
    nothing = "The console is empty: nobody has opened the page since the hub started, or it was cleared."
    return Answer(whole or nothing, {"path": CONSOLE, "size": len(whole.encode()), "content": whole})


async def _write(caller: Caller, key: Key, arguments: Json) -> Answer:
    action, path = arguments["action"], arguments["path"]
    if "content" not in arguments:
        raise InvalidError(f"The action {action} needs content.", hint="Give the whole content of the file.")
    await caller.hub.playgrounds.write_file(
        key.name, path, arguments["content"], key.project, must=action == "update"
    )
    size = len(arguments["content"].encode("utf-8", "replace"))
    done = "Created" if action == "create" else "Updated"
    return Answer(f"{done} {path} of {key.name!r} ({size} bytes).", {"path": path, "size": size})


# --- tables

SCOPE = place("global: of the hub. project: in .manyhands/playgrounds of your channel's directory.")
FILE = gives(path=text("Its path."), size=number("Its bytes."))
PLAYGROUND = gives(
    name=text("Its name."),
    scope=text("global or project."),
    title=text("Its title."),
    description=text("What it is for."),
    files=many({"type": "string"}, "The paths of its files."),
)

ENTRIES = (
    ToolEntry(
        "playground",
        "Manage playgrounds",
        "Create, update or delete a playground: a small web page that a person sees beside the chat. The "
        "page is index.html; add script.js, style.css, importmap.json and others with playground_file. It "
        "runs in a sandbox without network, cookies, storage or access to this hub. An update changes only "
        "what is given.",
        takes(
            "action name",
            action=choice("What to do.", "create", "update", "delete"),
            name=text("At most 64 letters, digits, - and _."),
            title=text("What people read; by default its name."),
            description=text("What it is for."),
            html=text(
                "The whole entry page. Refer to files by relative addresses, such as ./script.js; a module "
                "may import ./lib/utils.js and the names of importmap.json."
            ),
            scope=SCOPE,
        ),
        gives(playground=maybe(PLAYGROUND), url=maybe(text("Where a person sees it."))),
        playground,
        {**DESTROYS, "idempotentHint": False},
    ),
    ToolEntry(
        "playground_file",
        "Manage a playground's files",
        "Create, update, read, delete or list the files of a playground: script.js, style.css, "
        f"importmap.json, lib/utils.js and so on, at most {LARGEST_FILE:,} bytes each, served at relative "
        f"addresses. Read {CONSOLE} for what the page wrote to its console and the errors that it ran into "
        "once a person had it open. list without a name lists the playgrounds.",
        takes(
            "action",
            action=choice("What to do.", "create", "update", "read", "delete", "list"),
            name=text("The name of the playground."),
            path=text("The path inside of the playground, such as lib/utils.js."),
            content=text("The whole content of the file, for create and update."),
            scope=SCOPE,
        ),
        gives(
            "path size content files playgrounds",
            path=text("The file."),
            size=number("Its bytes."),
            content=maybe(text("What is in it; nothing when it is no text.")),
            files=many(FILE, "The files of the playground."),
            playgrounds=many(PLAYGROUND, "The playgrounds that there are."),
        ),
        playground_file,
        {**DESTROYS, "idempotentHint": False},
    ),
)

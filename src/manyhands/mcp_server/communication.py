"""The tools of channels, threads and messages. What they do is the business of `chat/`."""

from __future__ import annotations

from collections.abc import AsyncIterator

from manyhands.chat.mentions import mentions_hub
from manyhands.chat.service import channel_json
from manyhands.chat.types import Channel
from manyhands.errors import InvalidError
from manyhands.mcp_server.entries import (
    ADDS,
    DESTROYS,
    READS,
    Answer,
    Caller,
    Json,
    ToolEntry,
    gives,
    many,
    maybe,
    name_of,
    switch,
    takes,
    text,
    yes_or_no,
)
from manyhands.paging import MAX_LIMIT

MOST_FOUND = 100

CHANNEL = gives(
    id=text("Its id, for send_message and delete_thread."),
    name=text("Its name."),
    dir_path=maybe(text("The directory it works in.")),
    platform=text("Where people talk in it."),
    parent_id=maybe(text("The channel it is a thread of.")),
    branch=maybe(text("The branch of its worktree.")),
    worktree=maybe(text("The directory of its worktree.")),
    active=yes_or_no("Whether it is in use."),
)
_SHOWN = tuple(CHANNEL["properties"])


def channel_of(channel: Channel) -> Json:
    """A channel as tools show it."""
    whole = channel_json(channel)
    return {name: whole[name] for name in _SHOWN}


async def send_message(caller: Caller, arguments: Json) -> Answer:
    channel = await caller.scope.channel(arguments.get("channel_id"))
    message, run = await caller.hub.runs.post(
        channel.id,
        arguments["content"],
        author_id=caller.principal.author,
        speaker="agent",
        own_channel=caller.principal.channel_id,
        in_own_run=caller.principal.is_in_run,
    )
    started = f" It started the run {run.id}." if run else ""
    if run is None and mentions_hub(message.mentions):
        started = " It started no run: this is the channel of your own."
    return Answer(
        f"Sent to {channel.name!r} ({channel.id}).{started}",
        {"message_id": message.id, "channel_id": channel.id, "run_id": run.id if run else None},
    )


async def create_channel(caller: Caller, arguments: Json) -> Answer:
    principal = caller.principal
    platform = (await caller.scope.own()).platform if principal.channel_id else "local"
    channel = await caller.hub.channels.create(arguments["name"], platform)
    if principal.channel_id is not None:
        await caller.hub.access.adopt(channel.id, principal.channel_id)
    return Answer(f"Created the channel {channel.name!r} ({channel.id}).", {"channel": channel_of(channel)})


async def create_thread(caller: Caller, arguments: Json) -> Answer:
    parent = await caller.scope.own()
    thread = await caller.hub.threads.create(
        parent.id,
        arguments["name"],
        arguments.get("message"),
        caller.principal.author,
        speaker="agent",
        own_channel=caller.principal.channel_id,
    )
    return _of_thread(thread, arguments)


async def create_worktree_thread(caller: Caller, arguments: Json) -> Answer:
    parent = await caller.scope.own()
    thread = await caller.hub.threads.create_worktree(
        parent.id,
        arguments["branch"],
        arguments.get("name"),
        arguments.get("message"),
        caller.principal.author,
        speaker="agent",
        own_channel=caller.principal.channel_id,
    )
    return _of_thread(thread, arguments)


def _of_thread(thread: Channel, arguments: Json) -> Answer:
    where = f" Its worktree is {thread.worktree}, on the branch {thread.branch}." if thread.worktree else ""
    started = bool(arguments.get("message"))
    working = " An agent works on the message." if started else ""
    return Answer(
        f"Created the thread {thread.name!r} ({thread.id}).{where}{working}",
        {"thread": channel_of(thread), "started": started},
    )


async def delete_thread(caller: Caller, arguments: Json) -> Answer:
    thread = await caller.scope.channel(arguments["thread_id"])
    if thread.parent_id is None:
        raise InvalidError(
            f"{thread.id} is a channel, not a thread.", hint="search_channels lists the threads."
        )
    deleted = await caller.hub.threads.delete(thread.id, force=bool(arguments.get("force")))
    would_lose = [str(one) for one in deleted.would_lose]
    if deleted.kept:
        lines = [f"The thread {thread.id} was kept: its worktree holds work that would be lost."]
        lines += [f"- {one}" for one in would_lose]
        lines.append("Merge or commit it first, or call delete_thread with force true to lose it.")
        return Answer("\n".join(lines), {"deleted": False, "would_lose": would_lose})
    return Answer(f"Deleted the thread {thread.id}.", {"deleted": True, "would_lose": would_lose})


async def search_channels(caller: Caller, arguments: Json) -> Answer:
    found: list[Channel] = []
    more = False
    async for channel in _visible(caller, arguments.get("query") or None):
        if len(found) == MOST_FOUND:
            more = True
            break
        found.append(channel)
    lines = [_line(channel) for channel in found] or ["No channel fits."]
    if more:
        lines.append(f"There are more than {MOST_FOUND}; give a narrower query.")
    return Answer("\n".join(lines), {"channels": [channel_of(channel) for channel in found], "more": more})


async def _visible(caller: Caller, query: str | None) -> AsyncIterator[Channel]:
    allowed = await caller.scope.visible()
    cursor: str | None = None
    while True:
        page = await caller.hub.channels.list(query, limit=MAX_LIMIT, cursor=cursor)
        for channel in page.items:
            if allowed is None or channel.id in allowed:
                yield channel
        cursor = page.next_cursor
        if cursor is None:
            return


def _line(channel: Channel) -> str:
    kind = f"thread of {channel.parent_id}" if channel.parent_id else "channel"
    state = "" if channel.active else ", not active"
    return f"{channel.id} {channel.name!r} ({kind}{state}) {channel.dir_path or ''}".rstrip()


THREAD = gives(thread=CHANNEL, started=yes_or_no("Whether an agent began to work on the message."))

ENTRIES = (
    ToolEntry(
        "send_message",
        "Send a message",
        "Send a message to a channel or thread of this project, by default your own. "
        "Write @Name to mention a bot or an agent: a mention of the hub starts a run there.",
        takes(
            "content",
            channel_id=text("The channel or thread; your own when it is left out."),
            content=text("What to say. Markdown is fine.", minLength=1),
        ),
        gives(
            message_id=text("The id of the message."),
            channel_id=text("Where it was sent."),
            run_id=maybe(text("The run that it started, if it started one.")),
        ),
        send_message,
        ADDS,
    ),
    ToolEntry(
        "create_channel",
        "Create a channel",
        "Create a new channel of this project for a subject of its own. A name that is taken gets a number.",
        takes("name", name=name_of("What it is called.")),
        gives(channel=CHANNEL),
        create_channel,
        ADDS,
    ),
    ToolEntry(
        "create_thread",
        "Create a thread",
        "Create a thread in the current channel. With a message, an agent starts to work on it at once; "
        "give it everything that it needs to know.",
        takes(
            "name",
            name=name_of("What it is called."),
            message=text("A task for an agent that starts at once.", minLength=1),
        ),
        THREAD,
        create_thread,
        ADDS,
    ),
    ToolEntry(
        "create_worktree_thread",
        "Create a worktree thread",
        "Create a thread with a git worktree of its own, on a new branch that starts from the given one, so "
        "that work in it does not touch the files here. With a message, an agent starts in it at once.",
        takes(
            "branch",
            branch=name_of("The branch to start from."),
            name=name_of("The name of the thread and of its worktree; one is made up when it is left out."),
            message=text("A task for an agent that starts at once.", minLength=1),
        ),
        THREAD,
        create_worktree_thread,
        ADDS,
    ),
    ToolEntry(
        "delete_thread",
        "Delete a thread",
        "Delete a thread with its conversation. A worktree with uncommitted or unmerged work is kept, and "
        "the answer says what it holds, unless force is true.",
        takes(
            "thread_id",
            thread_id=text("The thread's id; search_channels lists them."),
            force=switch("Delete it even if work is lost.", default=False),
        ),
        gives(
            deleted=yes_or_no("Whether it is gone."),
            would_lose=many({"type": "string"}, "The work that it holds, or that was lost."),
        ),
        delete_thread,
        DESTROYS,
    ),
    ToolEntry(
        "search_channels",
        "Search channels",
        "Find channels and threads of this project by a part of their name, directory or id; without a query "
        "all of them, newest first.",
        takes(query=text("Part of a name, a directory or an id.", default="")),
        gives(channels=many(CHANNEL, "What was found."), more=yes_or_no("Whether there are more.")),
        search_channels,
        READS,
    ),
)

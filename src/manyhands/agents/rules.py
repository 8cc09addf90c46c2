"""What an agent may be called, what it may say, and who is meant by a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from manyhands.agents.types import OWNER, Agent, AgentMessage
from manyhands.errors import InvalidError, NotFoundError, TooLargeError

ID_LIMIT = 200
SUMMARY_LIMIT = 4000
STATUS_LIMIT = 60
CONTENT_LIMIT = 256 * 1024
MESSAGE_ID_LIMIT = 64
NAMED_AT_MOST = 50
DEFAULT_STATUS = "active"


def check_agent_id(agent_id: str) -> str:
    """An id that can be part of an address and is nobody else's."""
    if not _is_line(agent_id, ID_LIMIT) or "/" in agent_id:
        raise InvalidError(
            "The id of an agent is empty, too long, or holds a slash or control characters.",
            hint=f"Give a short id such as builder-1, of at most {ID_LIMIT} characters.",
        )
    if agent_id.casefold() == OWNER:
        raise InvalidError(f"{OWNER!r} is the person's own name.", hint="Give the agent another id.")
    return agent_id


def check_name(name: str) -> str:
    """A name that people read."""
    if not _is_line(name, ID_LIMIT) or name.casefold() == OWNER:
        raise InvalidError(
            f"The name is empty, longer than {ID_LIMIT} characters, holds control characters, or is the"
            " person's own.",
            hint="Give a short name.",
        )
    return name.strip()


def check_status(status: str) -> str:
    """A word or two."""
    if not _is_line(status, STATUS_LIMIT):
        raise InvalidError(
            f"The status is empty, longer than {STATUS_LIMIT} characters or holds control characters.",
            hint="Give a word such as working, idle or blocked; the rest belongs into work_summary.",
        )
    return status.strip()


def check_summary(summary: str) -> str:
    """A short text; empty is fine."""
    check_text(summary)
    if len(summary) > SUMMARY_LIMIT:
        raise TooLargeError(
            f"The work summary has {len(summary):,} characters.", hint=f"Say it in {SUMMARY_LIMIT:,}."
        )
    return summary.strip()


def check_content(content: str) -> int:
    """A message that can be kept and delivered; how many bytes it takes."""
    if not content.strip():
        raise InvalidError("The message is empty.", hint="Write something.")
    size = check_text(content)
    if size > CONTENT_LIMIT:
        raise TooLargeError(
            f"The message has {size:,} bytes, and {CONTENT_LIMIT:,} are the most.",
            hint="Write it to a file of the project and send its path.",
        )
    return size


def check_text(text: str) -> int:
    """A text that every database takes; how many bytes it has."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = -1
    if size < 0 or "\0" in text:
        raise InvalidError("The text holds characters that are none.", hint="Send it as valid UTF-8.")
    return size


def check_message_id(message_id: str) -> str:
    """An id that a sender has chosen, so that sending again is recognised."""
    if not _is_line(message_id, MESSAGE_ID_LIMIT):
        raise InvalidError(
            "The id of the message is empty, too long or holds control characters.",
            hint=f"Give at most {MESSAGE_ID_LIMIT} characters, or none.",
        )
    return message_id


def in_order(agents: Iterable[Agent]) -> Sequence[Agent]:
    """By name, as people look for them."""
    return sorted(agents, key=lambda agent: (agent.name.casefold(), agent.id))


def fitting(messages: Sequence[AgentMessage], room: int) -> Sequence[AgentMessage]:
    """The first ones, as many as have room together; always one."""
    found: list[AgentMessage] = []
    for message in messages:
        room -= len(message.content)
        if found and room < 0:
            break
        found.append(message)
    return found


def find_agent(agents: Sequence[Agent], wanted: str) -> Agent:
    """The agent of that id, or the only one of that name; else an error that says who is there."""
    for agent in agents:
        if agent.id == wanted:
            return agent
    named = [agent for agent in agents if agent.name.casefold() == wanted.strip().casefold()]
    if len(named) == 1:
        return named[0]
    if named:
        raise NotFoundError(
            f"{len(named)} agents are called {wanted!r}.",
            hint=f"Use an id: {', '.join(agent.id for agent in in_order(named))}.",
        )
    raise unknown_agent(agents, wanted)


def unknown_agent(agents: Sequence[Agent], wanted: str) -> NotFoundError:
    """Nobody of that name; these are here."""
    return NotFoundError(f"There is no agent {wanted!r} here.", hint=_who_is_there(agents))


def _who_is_there(agents: Sequence[Agent]) -> str:
    if not agents:
        return "No agent is registered in this channel."
    known = [
        agent.id if agent.name == agent.id else f"{agent.id} ({agent.name})" for agent in in_order(agents)
    ]
    more = f" and {len(known) - NAMED_AT_MOST} more" if len(known) > NAMED_AT_MOST else ""
    return f"Those here: {', '.join(known[:NAMED_AT_MOST])}{more}."


def _is_line(text: str, limit: int) -> bool:
    return bool(text.strip()) and len(text) <= limit and text.isprintable()

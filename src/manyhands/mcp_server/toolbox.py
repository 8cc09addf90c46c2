"""All tools of ours in one box: which of them a caller is offered, and the way of a call to its result.

The one place where an error becomes a result that a model reads.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from manyhands.access.types import Principal
from manyhands.errors import ManyhandsError, NotFoundError, UnavailableError
from manyhands.hub import Hub
from manyhands.mcp_server import (
    agents,
    communication,
    documentation,
    memory,
    playgrounds,
    quality,
    tasks,
    workflows,
)
from manyhands.mcp_server.entries import Answer, Caller, Json, ToolEntry
from manyhands.tools.arguments import ArgumentChecker, read_arguments, refuse_hidden
from manyhands.tools.types import Annotations, ToolDefinition

log = logging.getLogger(__name__)

LONGEST_ERROR = 4000

_checker = ArgumentChecker()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, in the protocol's terms."""

    content: Sequence[Mapping[str, Any]]
    structured: Any = None
    is_error: bool = False
    meta: Json = field(default_factory=dict)


@cache
def all_entries() -> Mapping[str, ToolEntry]:
    """Every tool by its name."""
    tables = (
        tasks.ENTRIES,
        workflows.ENTRIES,
        communication.ENTRIES,
        documentation.ENTRIES,
        playgrounds.ENTRIES,
        quality.ENTRIES,
        memory.ENTRIES,
        agents.ENTRIES,
    )
    return {entry.name: entry for table in tables for entry in table}


def offered(principal: Principal) -> list[ToolEntry]:
    """What this caller is shown, in a stable order."""
    return [entry for entry in all_entries().values() if entry.when(principal)]


async def call(hub: Hub, principal: Principal, name: str, arguments: object) -> Outcome:
    """Call a tool; whatever goes wrong is in the outcome."""
    entry = all_entries().get(name)
    try:
        if entry is None or not entry.when(principal):
            raise NotFoundError(f"There is no tool {name!r}.", hint="tools/list shows those that there are.")
        caller = Caller(hub, principal, hub.access.scope_of(principal, hub.channels))
        return _hidden(hub, said(await entry.call(caller, _checked(entry, arguments))))
    except ManyhandsError as error:
        return _hidden(hub, refused(error))
    except Exception as error:  # border: a mistake of ours must not reach a model as a trace
        log.exception("the tool %s failed", name)
        return refused(_unforeseen(error))


def _checked(entry: ToolEntry, arguments: object) -> Json:
    given = read_arguments(arguments)
    definition = _definition(entry.name)
    _checker.check(definition, given)
    refuse_hidden(definition, given)
    return given


@cache
def _definition(name: str) -> ToolDefinition:
    entry = all_entries()[name]
    about = Annotations.from_wire(entry.annotations)
    return ToolDefinition(name, name, entry.description, entry.input_schema, annotations=about)


def said(answer: Answer) -> Outcome:
    """An answer as text and data."""
    return Outcome([{"type": "text", "text": answer.text}], answer.structured)


def _hidden(hub: Hub, outcome: Outcome) -> Outcome:
    """Without secrets, which the files that were read or searched may hold."""
    hide = hub.secrets.redactor.hide_cut_json
    return replace(outcome, content=hide(outcome.content), structured=hide(outcome.structured))


def refused(error: ManyhandsError) -> Outcome:
    """An error as a result that says what to do next, however much of what was given it repeats."""
    said = str(error)
    if len(said) > LONGEST_ERROR:
        said = f"{said[: LONGEST_ERROR // 2]} … {said[-LONGEST_ERROR // 2 :]}"
    return Outcome([{"type": "text", "text": said}], is_error=True, meta={"manyhands/code": error.code})


def _unforeseen(error: Exception) -> ManyhandsError:
    return UnavailableError(
        f"This failed in a way that was not foreseen ({type(error).__name__}).",
        hint="Try once more; if it stays so, tell the person that the hub's log says why.",
    )

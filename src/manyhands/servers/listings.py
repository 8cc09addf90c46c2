"""From what is known of a server to tools as they are listed, each with why it is offered or not. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from manyhands.servers.naming import Namespace, full_names, tool_prefix
from manyhands.servers.pins import readable_diff
from manyhands.servers.registry import Known
from manyhands.servers.schemas import model_schema
from manyhands.servers.types import ConnectionState, ServerStatus, ServerTool
from manyhands.servers.views import describe_repairs
from manyhands.tools.types import Annotations, Effect, Listing, ToolDefinition

_ERROR_CHARS = 300
_KEPT = 4


@dataclass(frozen=True, slots=True)
class Situation:
    """How a server stands for whoever asks. `shadowed`: the channel's project has one of the same name."""

    state: ConnectionState
    trusted: bool = True
    shadowed: bool = False


def list_tools(known: Known, situation: Situation, form: Namespace) -> Sequence[Listing]:
    """Every tool of one server, in its own order, then those that had to be left out."""
    made: dict[tuple[Situation, Namespace], list[Listing]] = known.derived("listings", dict)
    if (situation, form) not in made:
        if len(made) >= _KEPT:
            made.clear()
        obstacle = why_not_offered(known, situation)
        listed = [_listing(known, tool, situation, form, obstacle) for tool in known.catalogue.tools]
        made[situation, form] = [*listed, *list_left_out(known, situation, form)]
    return made[situation, form]


def list_tool(known: Known, tool: ServerTool, situation: Situation, form: Namespace) -> Listing:
    """One of them."""
    made: list[tuple[Situation, Listing]] = known.derived(("listing", tool.name, form), list)
    if not made or made[0][0] != situation:
        listing = _listing(known, tool, situation, form, why_not_offered(known, situation))
        made[:] = [(situation, listing)]
    return made[0][1]


def define(known: Known, tool: ServerTool, form: Namespace) -> ToolDefinition:
    """A server's tool in the shape that every tool has."""
    return known.derived(("definition", form, tool.name), lambda: _define(known, tool, form))


def _define(known: Known, tool: ServerTool, form: Namespace) -> ToolDefinition:
    definition, server = tool.definition, known.server
    return ToolDefinition(
        full_name=known.names.shown(tool.name, form),
        name=tool.name,
        description=str(definition.get("description") or definition.get("title") or ""),
        input_schema=model_schema(definition.get("inputSchema") or {"type": "object"}),
        server=server.config.name,
        server_id=server.id,
        output_schema=definition.get("outputSchema"),
        annotations=Annotations.from_wire(definition.get("annotations")),
        definition_hash=tool.definition_hash,
        project=server.project,
    )


def why_not_offered(known: Known, situation: Situation) -> str | None:
    """What keeps a server's tools from being offered, and what to do about it; nothing if nothing does."""
    server, state = known.server, situation.state
    name = server.config.name
    if not server.config.enabled:
        return f"server {name} is disabled; run `manyhands servers enable {quote(name)}`"
    if not situation.trusted:
        return (
            f"server {name} comes from {server.project}/.mcp.json, which is not trusted as it is now;"
            f" look at it, then run `manyhands channels trust {quote(server.project or '')}`"
        )
    if situation.shadowed:
        return f"the project's own server {name} takes its place in this channel"
    return _why_not_connected(name, server.held, state)


def _why_not_connected(name: str, held: bool, state: ConnectionState) -> str | None:
    error = (state.error or "").strip()
    error = error if len(error) <= _ERROR_CHARS else f"{error[:_ERROR_CHARS]}…"
    match state.status:
        case ServerStatus.CONNECTED:
            return None
        case ServerStatus.CONNECTING if error:
            command = f"manyhands servers reconnect {quote(name)}"
            return f"server {name} failed: {error}; trying again, or run `{command}`"
        case ServerStatus.CONNECTING:
            return f"server {name} is still connecting"
        case ServerStatus.NEEDS_AUTH:
            return f"server {name} needs a sign-in; run `manyhands servers login {quote(name)}`"
        case ServerStatus.ERROR:
            return f"server {name} failed: {error}; run `manyhands servers reconnect {quote(name)}`"
        case _ if held:
            return f"server {name} was disconnected by hand; run `manyhands servers connect {quote(name)}`"
        case _:
            why = f": {error}" if error else ""
            return f"server {name} is disconnected{why}; run `manyhands servers connect {quote(name)}`"


def _listing(
    known: Known, tool: ServerTool, situation: Situation, form: Namespace, obstacle: str | None
) -> Listing:
    preference = known.preference(tool.name)
    definition = define(known, tool, form)
    changed = known.is_changed(tool)
    obstacle = obstacle or _why_not_callable(tool)
    reason = obstacle or f"server {definition.server} is connected"
    if not preference.enabled:
        reason = f"switched off; run `manyhands tools enable {definition.full_name}`"
    elif changed and not obstacle:
        reason += "; its definition has changed since it was first seen, so a call asks again"
    return Listing(
        definition,
        offered=obstacle is None and preference.enabled,
        reason=reason,
        enabled=preference.enabled,
        policy=Effect(preference.policy) if preference.policy else None,
        changed=changed,
        diff=_diff(known, tool) if changed else None,
        status=_status(known, situation).value,
        repair=known.derived("repairs", lambda: describe_repairs(known.catalogue.repairs)).get(
            tool.name[:80]
        ),
    )


def _why_not_callable(tool: ServerTool) -> str | None:
    execution = tool.definition.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        return "it runs only as a task, which is an extension that this hub does not speak"
    return None


def _diff(known: Known, tool: ServerTool) -> str:
    pinned = known.preference(tool.name).pinned_definition or {}
    return known.derived(("diff", tool.name), lambda: readable_diff(pinned, tool.definition))


def list_left_out(known: Known, situation: Situation, form: Namespace) -> Iterator[Listing]:
    """Tools that cannot be used at all are still shown with the reason."""
    server = known.server
    problems = {
        repair.item.removeprefix("tool "): repair.problem
        for repair in known.catalogue.repairs
        if repair.action == "left out" and repair.item.startswith("tool ") and " number " not in repair.item
    }
    prefix = tool_prefix(server.safe_name if form == "name" else server.id)
    for name, full_name in full_names(prefix, problems).items():
        if name not in known.tools:
            yield Listing(
                ToolDefinition(
                    full_name, name, "", {}, server.config.name, server.id, project=server.project
                ),
                offered=False,
                reason=f"left out of what server {server.config.name} lists: {problems[name]}",
                status=_status(known, situation).value,
                repair=problems[name],
            )


def list_unread(known: Known, situation: Situation, name: str, full_name: str) -> Listing | None:
    """A tool that somebody believes a server has which has never told its tools; nothing when it could."""
    server = known.server
    obstacle = why_not_offered(known, situation)
    if obstacle is None:
        return None
    return Listing(
        ToolDefinition(full_name, name, "", {}, server.config.name, server.id, project=server.project),
        offered=False,
        reason=f"{obstacle} (its tools have never been read)",
        status=_status(known, situation).value,
    )


def _status(known: Known, situation: Situation) -> ServerStatus:
    return situation.state.status if known.server.config.enabled else ServerStatus.DISABLED

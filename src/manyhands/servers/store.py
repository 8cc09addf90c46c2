"""The SQL of servers: configurations, last known catalogues, preferences and pins of tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from manyhands.errors import ConflictError
from manyhands.servers.naming import name_key, safe_server_name
from manyhands.servers.pins import pinned_part
from manyhands.servers.types import Catalogue, Repair, Server, ServerConfig, ServerTool, ToolPreference
from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import catalogues, server_tools, servers, tool_preferences

_CONFIG = tuple(ServerConfig.__slots__)
_LISTS = ("prompts", "resources", "resource_templates", "skills")
_PLAIN = ("version", "protocol", "capabilities", "instructions", "wants_roots", *_LISTS)
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class StoredCatalogue:
    """The last lists that were good, and when they were fetched."""

    catalogue: Catalogue
    fetched_at: datetime


# --- servers


def insert_server(conn: Connection, config: ServerConfig, project: str | None, now: datetime) -> Server:
    """Add it; a name whose safe form is taken is a conflict."""
    refuse_taken_name(conn, config.name, project)
    row = {**_row(config), "project": project or "", "held": False, "created_at": now, "updated_at": now}
    try:
        with conn.begin_nested():
            found = conn.execute(insert(servers).values(**row).returning(servers)).one()
    except IntegrityError as error:
        raise _taken(config.name, config.name) from error
    return _server(found)


def update_server(conn: Connection, server_id: int, config: ServerConfig, now: datetime) -> Server | None:
    """Replace its configuration; the id, and so catalogue and preferences, stay."""
    found = select_server(conn, server_id)
    if found is None:
        return None
    refuse_taken_name(conn, config.name, found.project, but=server_id)
    change = update(servers).where(servers.c.id == server_id).values(**_row(config), updated_at=now)
    return _server(conn.execute(change.returning(servers)).one())


def set_fields(conn: Connection, server_id: int, **values: Any) -> Server | None:
    """Set `enabled`, `held` or `approved_hash`."""
    change = update(servers).where(servers.c.id == server_id).values(**values)
    row = conn.execute(change.returning(servers)).first()
    return _server(row) if row else None


def delete_server(conn: Connection, server_id: int) -> bool:
    """Remove it with everything that hangs on it; whether it was there."""
    return conn.execute(delete(servers).where(servers.c.id == server_id)).rowcount > 0


def select_server(conn: Connection, server_id: int) -> Server | None:
    row = conn.execute(select(servers).where(servers.c.id == server_id)).first()
    return _server(row) if row else None


def select_servers(conn: Connection) -> list[Server]:
    return [_server(row) for row in conn.execute(select(servers).order_by(servers.c.id))]


def refuse_taken_name(conn: Connection, name: str, project: str | None, but: int | None = None) -> None:
    """No two servers of one place may have the same safe name, whatever its case."""
    same = (servers.c.project == (project or "")) & (servers.c.safe_name == name_key(safe_server_name(name)))
    row = conn.execute(select(servers.c.id, servers.c.name).where(same)).first()
    if row is not None and row.id != but:
        raise _taken(name, row.name)


def _taken(name: str, other: str) -> ConflictError:
    safe = safe_server_name(name)
    return ConflictError(
        f"The server name {name!r} reads as {safe!r} in tool names, and {other!r} has that already.",
        hint="Choose another name, or change the server that has it.",
        data={"name": name, "taken_by": other},
    )


def _row(config: ServerConfig) -> dict[str, Any]:
    row = {field: getattr(config, field) for field in _CONFIG}
    row |= {"args": list(config.args), "env": dict(config.env), "headers": dict(config.headers)}
    return row | {"safe_name": name_key(safe_server_name(config.name))}


def _server(row: Row[Any]) -> Server:
    values = row._mapping
    config = {field: values[field] for field in _CONFIG}
    return Server(
        id=values["id"],
        config=ServerConfig(**{**config, "args": tuple(config["args"])}),
        safe_name=safe_server_name(values["name"]),
        project=values["project"] or None,
        held=values["held"],
        approved_hash=values["approved_hash"],
        created_at=values["created_at"],
        updated_at=values["updated_at"],
    )


# --- catalogues


def replace_catalogue(conn: Connection, server_id: int, catalogue: Catalogue, now: datetime) -> None:
    """Replace what was known as a unit; only tools that differ are written."""
    if conn.execute(select(servers.c.id).where(servers.c.id == server_id)).first() is None:
        return  # removed while its catalogue was on the way
    row: dict[str, Any] = {field: getattr(catalogue, field) for field in _PLAIN}
    row |= {field: list(row[field]) for field in _LISTS} | {"capabilities": dict(row["capabilities"])}
    row |= {"repairs": [asdict(repair) for repair in catalogue.repairs], "fetched_at": now}
    _upsert(conn, catalogues, ("server_id",), [{"server_id": server_id, **row}])
    _replace_tools(conn, server_id, catalogue.tools)


def select_catalogues(conn: Connection) -> dict[int, StoredCatalogue]:
    tools: dict[int, list[ServerTool]] = {}
    query = select(server_tools).order_by(server_tools.c.server_id, server_tools.c.position)
    for row in conn.execute(query):
        tool = ServerTool(row.name, row.definition, row.definition_hash)
        tools.setdefault(row.server_id, []).append(tool)
    return {
        row.server_id: StoredCatalogue(_catalogue(row, tools.get(row.server_id, [])), row.fetched_at)
        for row in conn.execute(select(catalogues))
    }


def _catalogue(row: Row[Any], tools: Sequence[ServerTool]) -> Catalogue:
    values = {field: row._mapping[field] for field in _PLAIN}
    values |= {field: tuple(values[field]) for field in _LISTS}
    return Catalogue(tools=tuple(tools), repairs=tuple(Repair(**repair) for repair in row.repairs), **values)


def _replace_tools(conn: Connection, server_id: int, tools: Sequence[ServerTool]) -> None:
    mine = server_tools.c.server_id == server_id
    query = select(server_tools.c.name, server_tools.c.definition_hash, server_tools.c.position).where(mine)
    known = {row.name: (row.definition_hash, row.position) for row in conn.execute(query)}
    names = {tool.name for tool in tools}
    stale = [name for name in known if name not in names]
    fresh = [
        {
            "server_id": server_id,
            "name": tool.name,
            "position": position,
            "definition": dict(tool.definition),
            "definition_hash": tool.definition_hash,
        }
        for position, tool in enumerate(tools)
        if known.get(tool.name) != (tool.definition_hash, position)
    ]
    gone = stale + [row["name"] for row in fresh if row["name"] in known]
    for start in range(0, len(gone), _CHUNK):
        conn.execute(delete(server_tools).where(mine, server_tools.c.name.in_(gone[start : start + _CHUNK])))
    if fresh:
        conn.execute(insert(server_tools), fresh)


# --- preferences and pins


def select_preferences(conn: Connection) -> dict[int, dict[str, ToolPreference]]:
    found: dict[int, dict[str, ToolPreference]] = {}
    for row in conn.execute(select(tool_preferences)):
        preference = ToolPreference(row.enabled, row.policy, row.pinned_hash, row.pinned_definition)
        found.setdefault(row.server_id, {})[row.tool] = preference
    return found


def put_preference(conn: Connection, server_id: int, tool: str, enabled: bool, policy: str | None) -> None:
    """Keep what a person decided about a tool; its pin stays."""
    row = {"server_id": server_id, "tool": tool, "enabled": enabled, "policy": policy}
    _upsert(conn, tool_preferences, ("server_id", "tool"), [row])


def put_pins(conn: Connection, server_id: int, tools: Sequence[ServerTool], *, anew: bool) -> None:
    """Pin definitions; unless `anew`, one that is pinned already stays. Decisions are not touched."""
    if conn.execute(select(servers.c.id).where(servers.c.id == server_id)).first() is None:
        return
    rows = [
        {
            "server_id": server_id,
            "tool": tool.name,
            "enabled": True,
            "pinned_hash": tool.definition_hash,
            "pinned_definition": pinned_part(tool.definition),
        }
        for tool in tools
    ]
    where = None if anew else tool_preferences.c.pinned_hash.is_(None)
    _upsert(conn, tool_preferences, ("server_id", "tool"), rows, keep=("enabled",), where=where)


def _upsert(
    conn: Connection,
    table: Table,
    key: Sequence[str],
    rows: list[dict[str, Any]],
    keep: Sequence[str] = (),
    where: Any = None,
) -> None:
    """Insert or update; columns in `keep` are only set when the row is new."""
    if not rows:
        return
    statement = conflict_insert(conn, table)
    values = {name: statement.excluded[name] for name in rows[0] if name not in (*key, *keep)}
    conn.execute(statement.on_conflict_do_update(index_elements=list(key), set_=values, where=where), rows)

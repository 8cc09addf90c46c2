"""Rules in the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from manyhands.store.tables import rules as table
from manyhands.tools.policy import Rule
from manyhands.tools.types import Effect


def insert_rule(conn: Connection, rule: Rule) -> None:
    conn.execute(
        insert(table).values(
            id=rule.id,
            effect=rule.effect.value,
            server=rule.server,
            tool=rule.tool,
            arguments=dict(rule.arguments),
            project=rule.project,
            channel_id=rule.channel_id,
            session_id=rule.session_id,
            note=rule.note,
            created_at=rule.created_at,
        )
    )


def select_rules(conn: Connection) -> Sequence[Rule]:
    return [_rule(row) for row in conn.execute(select(table).order_by(table.c.id))]


def delete_rule(conn: Connection, rule_id: str) -> bool:
    return conn.execute(delete(table).where(table.c.id == rule_id)).rowcount == 1


def delete_session_rules(conn: Connection) -> int:
    """Sessions end with the process that held them."""
    return conn.execute(delete(table).where(table.c.session_id.is_not(None))).rowcount


def delete_server_rules(conn: Connection, server: str, project: str | None) -> int:
    """The allow rules that mean exactly this server: another one may get its name."""
    mine = delete(table).where(table.c.server == server, table.c.effect == Effect.ALLOW.value)
    return conn.execute(mine.where(table.c.project.is_not_distinct_from(project))).rowcount


def _rule(row: Row[Any]) -> Rule:
    fields = dict(row._mapping)
    return Rule(**{**fields, "effect": Effect(fields["effect"])})

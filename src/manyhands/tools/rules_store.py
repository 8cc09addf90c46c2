"""Rules in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from manyhands.ids import new_id
from manyhands.servers.types import NameChange
from manyhands.store.tables import rules as table
from manyhands.tools.policy import Rule
from manyhands.tools.rule_names import followed
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


def follow_name(conn: Connection, change: NameChange) -> None:
    """Let the rules that mean a server follow its name, those of a session too.

    What restricts a project's server of the old name as well stays there, and is added for the new one.
    """
    for rule in select_rules(conn):
        moved = followed(rule, change)
        if moved is None:
            delete_rule(conn, rule.id)
        elif moved != rule and change.shared and rule.effect is not Effect.ALLOW:
            insert_rule(conn, replace(moved, id=new_id("rule")))
        elif moved != rule:
            mine = update(table).where(table.c.id == rule.id)
            conn.execute(mine.values(server=moved.server, tool=moved.tool))


def _rule(row: Row[Any]) -> Rule:
    fields = dict(row._mapping)
    return Rule(**{**fields, "effect": Effect(fields["effect"])})

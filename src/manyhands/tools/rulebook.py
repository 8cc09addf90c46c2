"""The person's rules: kept in the database, read from memory, added and revoked.

A session is one channel's work while this process lives; its rules are gone after a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio

from manyhands.clock import Clock
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.ids import new_id
from manyhands.store.engine import Store
from manyhands.tools import rules_store as rows
from manyhands.tools.policy import Policy, Rule


class Rulebook:
    """The rules as they are now."""

    def __init__(self, store: Store, bus: EventBus, clock: Clock) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._session = new_id("session")
        self._policy: Policy | None = None
        self._name_changes = 0
        self._changing = anyio.Lock()
        bus.observe(self._follow_names, "mcp.renamed", "mcp.removed")

    def session_of(self, channel_id: str | None) -> str:
        return f"{self._session}/{channel_id or ''}"

    async def end_sessions(self) -> int:
        """At start: forget what was allowed for sessions of a process that is gone."""
        gone = await self._store.write(rows.delete_session_rules)
        self._policy = None
        return gone

    async def policy(self) -> Policy:
        """The rules, ready to be asked; read from the database once."""
        while self._policy is None:
            async with self._changing:
                if self._policy is None:
                    changes = self._name_changes
                    found = Policy(await self._store.read(rows.select_rules))
                    if changes == self._name_changes:
                        self._policy = found
        return self._policy

    def _follow_names(self, _: Event) -> None:
        """A server has another name, or is gone; its rules were changed in the same transaction."""
        self._name_changes += 1
        self._policy = None

    async def rules(self) -> Sequence[Rule]:
        """Newest first."""
        return (await self.policy()).rules

    async def add(self, rule: Rule) -> Rule:
        """Add it under a new id."""
        if not (rule.server or rule.tool):
            raise InvalidError(
                "A rule needs a tool or a server.", hint='Give a pattern; "*" means all of them.'
            )
        for name, pattern in rule.arguments.items():
            _check_pattern(name, pattern)
        await self.policy()
        added = replace(rule, id=new_id("rule"), created_at=self._clock.now())
        async with self._changing:
            await self._store.write(lambda conn: rows.insert_rule(conn, added))
            if self._policy is not None:
                self._policy = Policy([*self._policy.rules, added])
        self._bus.publish(
            "rule.added", {"id": added.id, "rule": added.describe()}, channel_id=added.channel_id
        )
        return added

    async def remove(self, rule_id: str) -> None:
        await self.policy()
        async with self._changing:
            if not await self._store.write(lambda conn: rows.delete_rule(conn, rule_id)):
                raise NotFoundError(
                    f"There is no rule {rule_id!r}.", hint="`manyhands tools rules list` shows them all."
                )
            if self._policy is not None:
                self._policy = Policy(rule for rule in self._policy.rules if rule.id != rule_id)
        self._bus.publish("rule.removed", {"id": rule_id})


def _check_pattern(name: str, pattern: object) -> None:
    allowed = pattern if isinstance(pattern, list) else [pattern]
    if not all(one is None or isinstance(one, str | int | float | bool) for one in allowed):
        raise InvalidError(
            f"The pattern of {name!r} is not a text, number, true, false or null, nor a list of them.",
            hint='Write for example {"path": "docs/**"}.',
        )

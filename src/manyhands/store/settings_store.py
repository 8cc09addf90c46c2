"""Runtime settings in the database, with a copy in memory that everyone reads without waiting.

What settings there are and what they mean is in `manyhands.settings`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import anyio
from sqlalchemy import Connection, Text, cast, delete, insert, select

from manyhands.errors import ManyhandsError
from manyhands.events import EventBus
from manyhands.settings import Settings, build_settings, parse_setting
from manyhands.store.engine import Store
from manyhands.store.tables import settings as table

log = logging.getLogger(__name__)


class SettingsService:
    """Reads and changes settings."""

    def __init__(self, store: Store, bus: EventBus) -> None:
        self._store = store
        self._bus = bus
        self._current = Settings()
        self._changing = anyio.Lock()

    @property
    def current(self) -> Settings:
        """The settings as they are now."""
        return self._current

    async def load(self) -> Settings:
        """Read them once at start; a stored value that this version does not understand is left aside."""
        self._current = await self._store.read(lambda conn: build_settings(_usable(_stored(conn))))
        return self._current

    async def get(self) -> dict[str, Any]:
        """Every setting by name, as JSON."""
        return self._current.model_dump(mode="json")

    async def patch(self, values: Mapping[str, Any]) -> Settings:
        """Change some, all or none; a null goes back to the default."""
        parsed = {name: _parse(name, value) for name, value in values.items()}
        async with self._changing:
            before = self._current
            self._current = await self._store.write(lambda conn: _change(conn, parsed))
            self._publish(before, self._current)
        return self._current

    def _publish(self, before: Settings, after: Settings) -> None:
        old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
        if changed := {name: value for name, value in new.items() if value != old[name]}:
            self._bus.publish("settings.changed", changed)


def _parse(name: str, value: Any) -> Any:
    if value is None and name in Settings.model_fields:
        return None
    return parse_setting(name, value)


def _stored(conn: Connection) -> dict[str, Any]:
    """As text first: a value that is not even JSON is left aside alone."""
    stored: dict[str, Any] = {}
    for name, text in conn.execute(select(table.c.name, cast(table.c.value, Text))):
        try:
            stored[name] = None if text is None else json.loads(text)
        except ValueError:
            hint = f"Set it anew: manyhands settings set {name} VALUE"
            log.warning("a stored setting is left aside: %s is not JSON. %s", name, hint)
    return stored


def _usable(stored: Mapping[str, Any]) -> dict[str, Any]:
    usable: dict[str, Any] = {}
    for name, value in stored.items():
        try:
            usable[name] = parse_setting(name, value)
        except ManyhandsError as error:
            log.warning("a stored setting is left aside: %s", error)
    return usable


def _change(conn: Connection, parsed: Mapping[str, Any]) -> Settings:
    kept = {name: value for name, value in _usable(_stored(conn)).items() if name not in parsed}
    chosen = {name: value for name, value in parsed.items() if value is not None}
    changed = build_settings(kept | chosen)
    conn.execute(delete(table).where(table.c.name.in_(parsed)))
    as_json = changed.model_dump(mode="json")
    if rows := [{"name": name, "value": as_json[name]} for name in chosen]:
        conn.execute(insert(table), rows)
    return changed

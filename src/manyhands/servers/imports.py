"""Taking over the servers of another client's file, entry by entry, and writing such a file."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from manyhands.errors import ManyhandsError, NotFoundError
from manyhands.secrets import MASK, SecretStore, has_reference
from manyhands.servers.config_files import Entry, export_config, read_config_file
from manyhands.servers.registry import Registry
from manyhands.servers.types import ServerConfig, Trust
from manyhands.servers.views import Export, ImportAction, ImportItem, ImportReport

Save = Callable[[ServerConfig], Awaitable[int]]
"""Saves a server and begins to connect it; the answer is its id."""

_STORED = re.compile(r"\$\{keyring:[^{}]*\}")


class Imports:
    """Reads and writes files of servers."""

    def __init__(self, registry: Registry, secrets: SecretStore, save: Save) -> None:
        self._registry = registry
        self._secrets = secrets
        self._save = save

    async def take(
        self,
        content: str | Mapping[str, Any],
        source: str,
        *,
        name: str | None = None,
        trust: Trust | None = None,
        dry_run: bool = False,
    ) -> ImportReport:
        """Add or update every server of a file; one that cannot be used is skipped with the reason."""
        file = read_config_file(content, source, name=name)
        items = [await self._take_entry(entry, trust, dry_run=dry_run) for entry in file.entries]
        return ImportReport(source, items, file.notes)

    async def _take_entry(self, entry: Entry, trust: Trust | None, *, dry_run: bool) -> ImportItem:
        if entry.config is None:
            return ImportItem(entry.name, "skipped", entry.problem, entry.notes)
        known = self._registry.by_name(entry.name, None)
        config = entry.config
        if known is not None:
            before = known.server.config
            config = replace(config, trust=before.trust, channel_push=before.channel_push)
        if trust is not None:
            config = replace(config, trust=trust)
        if known is not None and await self._is_same(known.server.config, config):
            reason = "it is there already, with the same configuration"
            return ImportItem(entry.name, "skipped", reason, entry.notes, known.server.id, config)
        server_id = known.server.id if known else None
        try:
            if not dry_run:
                server_id = await self._save(config)
        except ManyhandsError as error:
            return ImportItem(entry.name, "skipped", str(error), entry.notes, config=config)
        action: ImportAction = "updated" if known else "added"
        return ImportItem(entry.name, action, None, entry.notes, server_id, config)

    async def _is_same(self, stored: ServerConfig, written: ServerConfig) -> bool:
        """Stored secrets are references: what they stand for is compared."""
        if replace(stored, env={}, headers={}) != replace(written, env={}, headers={}):
            return False
        try:
            for old, new in ((stored.env, written.env), (stored.headers, written.headers)):
                same = {key: new[key] for key in new if new[key] in (MASK, old.get(key))}
                rest = {key: new[key] for key in new if key not in same}
                stands_for = await self._secrets.expand({key: old[key] for key in old if key not in same})
                if any(has_reference(value) for value in rest.values()) or stands_for != rest:
                    return False
        except ManyhandsError:
            return False
        return True

    def export(self, names: Sequence[str] = ()) -> Export:
        """The global servers, all or the named ones, as a file that other clients read.

        Secrets are references in it.
        """
        wanted = {known.server.config.name: known.server.config for known in self._registry.of_project(None)}
        if missing := [name for name in names if name not in wanted]:
            raise NotFoundError(
                f"There is no server {missing[0]}.", hint="`manyhands servers list` shows them all."
            )
        notes: list[str] = []
        configs = [self._without_secrets(wanted[name], notes) for name in dict.fromkeys(names or wanted)]
        return Export(export_config(configs), tuple(notes))

    def _without_secrets(self, config: ServerConfig, notes: list[str]) -> ServerConfig:
        redact = self._secrets.redactor.redact
        shown = replace(
            config,
            args=tuple(redact(argument) for argument in config.args),
            url=redact(config.url) if config.url else None,
            env={key: _reference_or_mask(value) for key, value in config.env.items()},
            headers={key: _reference_or_mask(value) for key, value in config.headers.items()},
        )
        for key, values in (("env", shown.env), ("headers", shown.headers)):
            for name, value in values.items():
                if value == MASK:
                    notes.append(f"{config.name}.{key}.{name}: masked; write the value into the file")
                elif _STORED.search(value):
                    notes.append(
                        f"{config.name}.{key}.{name}: stored in this home only; set it anew elsewhere"
                    )
        if (shown.args, shown.url) != (tuple(config.args), config.url):
            notes.append(f"{config.name}: something that looks like a secret is masked in args or url")
        return shown


def _reference_or_mask(value: str) -> str:
    return value if not value or has_reference(value) else MASK

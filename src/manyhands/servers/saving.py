"""Saving a configuration: what was written is put over what is there, secrets go into their store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from manyhands.errors import InvalidError
from manyhands.secrets import MASK, SecretStore
from manyhands.servers.config import Parsed, parse_config
from manyhands.servers.config_secrets import forget_unused, protect_config
from manyhands.servers.projects import PROJECT_FILE
from manyhands.servers.registry import Known, Registry
from manyhands.servers.types import ServerConfig
from manyhands.servers.views import config_wire

# What a person decides about a project's server; everything else is in its file.
_PERSONS = ("enabled", "trust", "tool_timeout", "connect_timeout", "parallel", "channel_push")
_LIVE = ("name", "transport", "command", "args", "env", "cwd", "url", "headers", "connect_timeout")


def written_over(data: Mapping[str, Any], before: ServerConfig | None) -> Parsed:
    """The configuration that was meant: what is not given stays as it is in `before`."""
    base = config_wire(before) if before else {}
    if _is_remote(data) and before and before.transport == "stdio":
        base = {key: base[key] for key in base if key not in ("transport", "command", "args", "cwd", "env")}
    elif data.get("command") and "transport" not in data and before and before.transport != "stdio":
        base = {key: base[key] for key in base if key not in ("transport", "url", "headers")}
    if "channel_push" in data:  # nothing means that it is taken back
        base = {**base, "channel_push": None}
    return parse_config({**base, **{key: value for key, value in data.items() if value is not None}})


def needs_reconnect(before: ServerConfig, after: ServerConfig) -> bool:
    """Whether a running connection would be another one with the new configuration."""
    return any(getattr(before, field) != getattr(after, field) for field in _LIVE)


class Saving:
    """Writes configurations."""

    def __init__(self, registry: Registry, secrets: SecretStore) -> None:
        self._registry = registry
        self._secrets = secrets

    async def save(self, config: ServerConfig, known: Known | None) -> Known:
        """Add a global server, or replace the configuration of one that is there."""
        if known is not None and known.server.project is not None:
            return await self._save_for_project(config, known)
        before = known.server.config if known else None
        protected = await protect_config(self._secrets, config, before)
        try:
            if known is None:
                return await self._registry.add(protected, None)
            after = await self._registry.change(known.server.id, protected)
        except BaseException:
            await forget_unused(self._secrets, protected, before)
            raise
        if before is not None:
            await forget_unused(self._secrets, before, protected)
        return after

    async def remove(self, known: Known) -> None:
        """Remove a server and the secrets that were stored for it."""
        if known.server.project is not None:
            raise InvalidError(
                f"Server {known.server.config.name!r} is named by {known.server.project}/{PROJECT_FILE}.",
                hint="Remove it there, or disable it here.",
            )
        await self._registry.remove(known.server.id)
        await forget_unused(self._secrets, known.server.config, None)

    async def _save_for_project(self, config: ServerConfig, known: Known) -> Known:
        before = known.server.config
        allowed = replace(before, **{field: getattr(config, field) for field in _PERSONS})
        if _unmasked(config, before) != allowed:
            raise InvalidError(
                f"Server {before.name!r} is described by {known.server.project}/{PROJECT_FILE}.",
                hint=f"Edit it there; here {', '.join(_PERSONS)} can be set.",
            )
        return await self._registry.change(known.server.id, allowed)


def _unmasked(config: ServerConfig, before: ServerConfig) -> ServerConfig:
    """Secrets that were sent back masked are no change."""
    env = {key: before.env.get(key, value) if value == MASK else value for key, value in config.env.items()}
    headers = {
        key: before.headers.get(key, value) if value == MASK else value
        for key, value in config.headers.items()
    }
    return replace(config, env=env, headers=headers)


def _is_remote(data: Mapping[str, Any]) -> bool:
    return bool(data.get("url")) and not data.get("command") and data.get("transport") != "stdio"

"""The secrets of a configuration: literal values go into the secret store, masks keep what was there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from secrets import token_hex

from manyhands.errors import InvalidError
from manyhands.secrets import MASK, SecretStore, has_reference, is_mask
from manyhands.servers.naming import safe_server_name
from manyhands.servers.types import ServerConfig

_OURS = re.compile(r"\$\{keyring:(server/[^{}]+)\}")


async def protect_config(
    secrets: SecretStore, config: ServerConfig, before: ServerConfig | None
) -> ServerConfig:
    """The configuration with references in place of literal secrets; `before` is what masks stand for."""
    refuse_masks(config)
    kept = keep_masked(config, before)
    env = await _protect(secrets, config.name, kept.env, before.env if before else {})
    headers = await _protect(secrets, config.name, kept.headers, before.headers if before else {})
    return replace(kept, env=env, headers=headers)


def keep_masked(config: ServerConfig, before: ServerConfig | None) -> ServerConfig:
    """A mask that was sent back means the value that it hid."""
    env = _kept(config.env, before.env if before else {}, "env")
    return replace(
        config, env=env, headers=_kept(config.headers, before.headers if before else {}, "headers")
    )


def mask_literals(config: ServerConfig) -> ServerConfig:
    """What may be written down of a configuration whose secrets stay in its own file."""
    return replace(config, env=_masked(config.env), headers=_masked(config.headers))


async def forget_unused(secrets: SecretStore, before: ServerConfig, after: ServerConfig | None) -> None:
    """Delete the secrets that we stored for values which are no longer there."""
    for name in _stored(before) - (_stored(after) if after else set()):
        await secrets.delete(name)


def refuse_masks(config: ServerConfig) -> None:
    """A mask outside env and headers hides nothing that we know."""
    texts = {"command": config.command, "cwd": config.cwd, "url": config.url}
    texts |= {f"args[{index}]": argument for index, argument in enumerate(config.args)}
    for place, text in texts.items():
        if text and MASK in text:
            raise InvalidError(
                f"{place} of server {config.name!r} holds {MASK}, which stands for a secret.",
                hint="Write the value itself, or a reference such as ${VAR}.",
            )


def _kept(values: Mapping[str, str], old: Mapping[str, str], key: str) -> dict[str, str]:
    for name, value in values.items():
        if is_mask(value) and name not in old:
            raise InvalidError(
                f"{key}.{name} is {MASK}, which stands for a secret, and none is stored for it.",
                hint="Send the real value, or a reference such as ${VAR}.",
            )
    return {name: old[name] if is_mask(value) else value for name, value in values.items()}


def _masked(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value if has_reference(value) else MASK for name, value in values.items()}


async def _protect(
    secrets: SecretStore, server: str, values: Mapping[str, str], old: Mapping[str, str]
) -> dict[str, str]:
    return {
        name: value if value == old.get(name) else await secrets.protect(_secret_name(server, name), value)
        for name, value in values.items()
    }


def _secret_name(server: str, name: str) -> str:
    """New for every value: the old one must stay readable until the new configuration is saved."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:64]
    return f"server/{safe_server_name(server)[:64]}/{plain}/{token_hex(4)}"


def _stored(config: ServerConfig) -> set[str]:
    texts = [*config.env.values(), *config.headers.values()]
    return {name for text in texts for name in _OURS.findall(text)}

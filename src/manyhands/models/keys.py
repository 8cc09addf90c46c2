"""Keys of models: kept as references, found when a model is asked, forgotten with it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from manyhands.models.types import ModelInfo
from manyhands.secrets import SecretStore, is_mask, reference_to


class KeyKeeper:
    """Between models and the store of secrets."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets
        self.redactor = secrets.redactor

    async def kept(self, model_id: str, given: Mapping[str, Any], old: ModelInfo | None) -> str | None:
        """The reference to write down: the old one if no key, or a mask, was given."""
        key = given.get("api_key")
        if old is not None and ("api_key" not in given or (key and is_mask(key))):
            return old.api_key
        written = await self._secrets.protect(_secret_name(model_id), key) if key else None
        if old is not None and written != old.api_key:
            await self.forget(old)
        return written

    def finder(self, info: ModelInfo) -> Callable[[], Awaitable[str | None]]:
        """Finds the key itself, each time it is called."""

        async def find() -> str | None:
            if info.api_key is None:
                return None
            return (await self._secrets.reveal({"key": info.api_key}))["key"].strip() or None

        return find

    async def forget(self, info: ModelInfo) -> None:
        """Remove a key that was stored for this model alone."""
        name = _secret_name(info.id)
        if info.api_key == reference_to(name):
            await self._secrets.delete(name)


def _secret_name(model_id: str) -> str:
    return f"model/{re.sub(r'[^A-Za-z0-9_.:/@-]', '_', model_id)[:180]}"

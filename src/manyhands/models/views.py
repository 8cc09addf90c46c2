"""Models as the API, events and `--json` show them: never with a key."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from manyhands.models.types import ModelInfo, ProviderInfo, Trial


def model_json(info: ModelInfo) -> dict[str, Any]:
    """A model; `tool_call` is 0 or 1."""
    return {
        "id": info.id,
        "name": info.name,
        "provider": info.provider,
        "model": info.model,
        "base_url": info.base_url,
        "has_key": info.api_key is not None,
        "tool_call": int(info.tool_call),
        "context": info.context,
        "modalities": list(info.modalities),
        "price": None if info.price is None else asdict(info.price),
        "default": info.default,
        "source": info.source,
        "fallbacks": list(info.fallbacks),
    }


def provider_json(provider: ProviderInfo) -> dict[str, Any]:
    return asdict(provider) | {"models": list(provider.models), "key_variables": list(provider.key_variables)}


def trial_json(trial: Trial) -> dict[str, Any]:
    return asdict(trial)

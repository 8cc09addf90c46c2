"""What is known of models that many people use: context, what they read, price; and which to offer first.

Sizes and prices come with pydantic-ai (`genai-prices`), without the network. A model that is not in there
works as well; its size is then what a person says, or a careful guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from manyhands.models.types import Price, Provider

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo as TheirInfo

DEFAULT_CONTEXT = 32_000
SUGGESTED: Mapping[str, Sequence[str]] = {
    "openai": ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna"),
    "anthropic": ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"),
    "google": ("gemini-3.8-flash", "gemini-4-argon", "gemini-3.5-flash-lite"),
    "openrouter": ("anthropic/claude-sonnet-5.5", "openai/gpt-6.1-sol", "google/gemini-3.8-flash"),
}
"""Models to offer when only a key is known, the one for everyday work first."""

_SIGHTED = re.compile(
    r"(^|/)(gpt-(4o|4\.1|[5-9])|chatgpt-|o[134](-|$)|claude-|gemini-|gemma-[3-9])|vision|[-_]vl\b|llava|pixtral"
)
_READS_PDF = re.compile(r"(^|/)(gpt-(4o|4\.1|[5-9])|o[134](-|$)|claude-|gemini-)")
_HEARS = re.compile(r"(^|/)gemini-|audio")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a model; nothing where nothing is."""

    context: int | None = None
    price: Price | None = None
    modalities: Sequence[str] = ("text",)


@lru_cache(maxsize=512)
def look_up(provider: Provider, model: str, base_url: str | None = None) -> Known:
    """Slow the first time (the data is large): call it in a worker thread."""
    found = _find(provider, model, base_url)
    price = None if found is None else _price(found)
    context = None if found is None else found.context_window
    return Known(context, price, modalities(provider, model))


def modalities(provider: Provider, model: str) -> tuple[str, ...]:
    """What a model reads, as far as its name says. Local servers say it themselves."""
    if provider == "ollama":
        return ("text",)
    name = model.lower()
    reads = {"image": _SIGHTED, "pdf": _READS_PDF, "audio": _HEARS}
    return ("text", *(kind for kind, pattern in reads.items() if pattern.search(name)))


def _find(provider: Provider, model: str, base_url: str | None) -> TheirInfo | None:
    if provider in ("ollama", "demo"):
        return None
    from genai_prices.data_snapshot import get_snapshot

    where = (None, base_url) if provider == "openai-compatible" else (provider, None)
    if where == (None, None):
        return None
    try:
        return get_snapshot().find_provider_model(model, None, *where)[1]
    except LookupError:
        return None


def _price(found: TheirInfo) -> Price | None:
    from datetime import UTC, datetime

    prices = found.get_prices(datetime.now(UTC))
    paid, answered = _amount(prices, "input_mtok"), _amount(prices, "output_mtok")
    if paid is None or answered is None:
        return None
    return Price(paid, answered, _amount(prices, "cache_read_mtok"))


def _amount(prices: Any, name: str) -> float | None:
    """The price of the first token; some models cost more in very long requests."""
    amount = getattr(prices, name, None)
    base = getattr(amount, "base", amount)
    return None if base is None else float(base)

"""Models: those that people saved, those that are there by themselves, and the one to ask.

When nobody names one, the model is: the saved default, else that of a key in the environment, else that of a
model server on this machine, else the demo model.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread

from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.models import store as rows
from manyhands.models.clients import Clients
from manyhands.models.config import parse_model, parse_patch
from manyhands.models.demo import DEMO, DemoModel, Rank
from manyhands.models.demo_ranking import rank_by_words
from manyhands.models.discovery import Discovery
from manyhands.models.keys import KeyKeeper
from manyhands.models.known import DEFAULT_CONTEXT, look_up
from manyhands.models.pool import ModelPool
from manyhands.models.schema import fit_tools
from manyhands.models.trial import try_out
from manyhands.models.types import Model, ModelInfo, ProviderInfo, ToolRepair, ToolSpec, Trial
from manyhands.models.views import model_json
from manyhands.secrets import SecretStore
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store

log = logging.getLogger(__name__)


class ModelService:
    """The use cases of models. Whoever made it closes it."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        secrets: SecretStore,
        settings: CurrentSettings,
        clock: Clock,
        *,
        rank: Rank = rank_by_words,
        discovery: Discovery | None = None,
    ) -> None:
        self._store = store
        self._bus = bus
        self._settings = settings
        self._clock = clock
        self._demo = DemoModel(rank)
        self._discovery = discovery or Discovery(clock=clock)
        self._keys = KeyKeeper(secrets)
        self._pool = ModelPool(Clients(), self._keys, clock)
        self._changing = anyio.Lock()

    async def close(self) -> None:
        """Close the connections to providers."""
        await self._pool.close()

    # --- looking

    async def list(self, *, again: bool = False) -> Sequence[ModelInfo]:
        """All models: saved, found and built in. `again` looks for servers even if it looked just now."""
        saved = await self._saved()
        found = [*await self._discovery.environment(), *await self._local(again=again), DEMO]
        kept = {info.id for info in saved}
        everything = [*saved, *(info for info in found if info.id not in kept)]
        chosen = next((info for info in everything if info.default), None) or _first_choice(everything)
        return [replace(info, default=info.id == chosen.id) for info in everything]

    async def get(self, reference: str) -> ModelInfo:
        """A model by its id or name, or as `provider:model` where a key for that provider is set."""
        for candidates in (self._saved, self._found, self._local):
            for info in await candidates():
                if reference in (info.id, info.name):
                    return info
        written = await self._discovery.by_key(reference)
        if written is None:
            raise NotFoundError(
                f"There is no model {reference!r}.",
                hint="`manyhands models list` shows them; `add` adds one.",
            )
        return written

    async def providers(self) -> Sequence[ProviderInfo]:
        """Everyone whose models can be used."""
        return self._discovery.providers(await self._local())

    async def default(self) -> ModelInfo:
        """The model that is used where none is named."""
        saved = await self._saved()
        chosen = next((info for info in saved if info.default), None)
        if chosen is not None:
            return chosen
        found = await self._discovery.environment() or await self._local()
        return _first_choice([*saved, *found, DEMO])

    # --- asking

    async def resolve(self, reference: str | None = None) -> Model:
        """The model to ask: it asks again where that may help, and its fallbacks when it fails for good."""
        info = await (self.default() if reference is None else self.get(reference))
        if info.provider == "demo":
            return self._demo
        return self._pool.chain([info, *await self._fallbacks(info)])

    async def takes(
        self, tool: ToolSpec, reference: str | None = None
    ) -> tuple[ModelInfo, ToolRepair | None]:
        """How a tool goes out to a model: as it is, mended, or not at all; the model is named as well."""
        info = await (self.default() if reference is None else self.get(reference))
        if not info.tool_call:
            return info, ToolRepair(tool.name, True, ["it is offered no tools (its flag tool_call is 0)"])
        _, repairs = fit_tools([tool], info.provider)
        return info, next(iter(repairs), None)

    async def warm(self, reference: str | None = None) -> None:
        """Import and connect what a model needs ahead of its first request, which will tell of failures."""
        try:
            info = await (self.default() if reference is None else self.get(reference))
            if info.provider != "demo":
                await self._pool.model(info).warm()
        except Exception:  # the border: a provider's SDK may refuse what it is given with anything
            log.debug("the model %s could not be made ready", reference or "by default", exc_info=True)

    async def _fallbacks(self, info: ModelInfo) -> Sequence[ModelInfo]:
        found = []
        for name in info.fallbacks:
            try:
                found.append(await self.get(name))
            except NotFoundError:
                log.warning("the fallback %s of the model %s is not there", name, info.id)
        return [fallback for fallback in found if fallback.provider != "demo" and fallback.id != info.id]

    async def test(self, reference: str) -> Trial:
        """Ask a model for one word, once."""
        info = await self.get(reference)
        return await try_out(self._demo if info.provider == "demo" else self._pool.model(info), self._clock)

    # --- changing

    async def add(self, values: Mapping[str, Any]) -> ModelInfo:
        """Save a model. One with the same name is replaced; the first that is saved becomes the default."""
        given = parse_model(values)
        name = given.get("name") or f"{given['provider']}:{given['model']}"
        described = await self._described(given)
        async with self._changing:
            saved = await self._saved()
            old = next((info for info in saved if info.name == name), None)
            default = old.default if old else not saved
            info = replace(described, id=old.id if old else new_id("model"), name=name, default=default)
            return await self._save(info, given, old)

    async def patch(self, model_id: str, values: Mapping[str, Any]) -> ModelInfo:
        """Change some fields. A model that was found by itself is saved with the change."""
        given = parse_patch(values)
        async with self._changing:
            old = await self.get(model_id)
            if old.default and given.get("default") is False:
                raise ConflictError(
                    f"{old.name} is the default.", hint="Make another model the default instead."
                )
            return await self._save(old, given, old)

    async def set_default(self, model_id: str) -> ModelInfo:
        """Use this model where none is named."""
        return await self.patch(model_id, {"default": True})

    async def delete(self, model_id: str) -> None:
        """Forget a saved model and its key."""
        info = next((info for info in await self._saved() if model_id in (info.id, info.name)), None)
        if info is None:
            found = await self.get(model_id)
            raise ConflictError(
                f"{found.name} was not saved but found ({found.source}).",
                hint="It goes when its key or its server goes; the demo always stays.",
            )
        await self._store.write(lambda conn: rows.delete_model(conn, info.id))
        await self._keys.forget(info)
        self._pool.drop(info.id)
        self._bus.publish("model.deleted", {"id": info.id})

    async def _save(self, base: ModelInfo, given: Mapping[str, Any], old: ModelInfo | None) -> ModelInfo:
        fields = {name: value for name, value in given.items() if value is not None or name in _CLEARABLE}
        info = replace(base, **{name: value for name, value in fields.items() if name != "api_key"})
        info = replace(info, source="saved", api_key=await self._keys.kept(info.id, fields, old))
        await self._check_fallbacks(info)
        now = self._clock.now()
        await self._store.write(lambda conn: rows.save_model(conn, info, now))
        self._pool.drop(info.id)
        self._bus.publish("model.updated", model_json(info))
        return info

    async def _check_fallbacks(self, info: ModelInfo) -> None:
        for name in info.fallbacks:
            if (await self.get(name)).id == info.id:
                raise InvalidError(f"fallbacks: {info.name} cannot stand in for itself.")

    async def _described(self, given: Mapping[str, Any]) -> ModelInfo:
        """A model with what can be found out about it."""
        provider, model, base_url = given["provider"], given["model"], given.get("base_url")
        bare = ModelInfo(id="", name="", provider=provider, model=model, base_url=base_url)
        for info in await self._local():
            if (info.provider, info.model) == (provider, model) and base_url in (None, info.base_url):
                return replace(info, default=False)
        known = await anyio.to_thread.run_sync(look_up, provider, model, base_url)
        return replace(
            bare, context=known.context or DEFAULT_CONTEXT, price=known.price, modalities=known.modalities
        )

    async def _saved(self) -> Sequence[ModelInfo]:
        return await self._store.read(rows.select_models)

    async def _found(self) -> Sequence[ModelInfo]:
        return [*await self._discovery.environment(), DEMO]

    async def _local(self, *, again: bool = False) -> Sequence[ModelInfo]:
        """A server on this machine may be anyone's: a person can forbid to look for them."""
        return await self._discovery.local(again=again) if self._settings.current.model_discovery else ()


_CLEARABLE = frozenset({"base_url", "api_key", "price"})
_ORDER = ("saved", "environment", "local", "built-in")


def _first_choice(infos: Sequence[ModelInfo]) -> ModelInfo:
    return min(infos, key=lambda info: _ORDER.index(info.source))

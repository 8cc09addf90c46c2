"""The models that were asked before, with their connections, so that the next request finds them warm."""

from __future__ import annotations

from collections.abc import Sequence

from manyhands.clock import Clock
from manyhands.models.asking import Asking
from manyhands.models.clients import Clients
from manyhands.models.keys import KeyKeeper
from manyhands.models.provider import ProviderModel
from manyhands.models.types import Model, ModelInfo


class ModelPool:
    """One `ProviderModel` for each model, as long as nothing about it changes."""

    def __init__(self, clients: Clients, keys: KeyKeeper, clock: Clock) -> None:
        self._clients = clients
        self._keys = keys
        self._clock = clock
        self._models: dict[str, ProviderModel] = {}

    def model(self, info: ModelInfo) -> ProviderModel:
        """The model, which asks once."""
        found = self._models.get(info.id)
        if found is None or found.info != info:
            found = ProviderModel(info, self._clients, self._keys.finder(info), self._keys.redactor)
            self._models[info.id] = found
        return found

    def chain(self, infos: Sequence[ModelInfo]) -> Model:
        """The first of these that answers."""
        return Asking([self.model(info) for info in infos], clock=self._clock)

    def drop(self, model_id: str) -> None:
        """Forget a model that has changed."""
        self._models.pop(model_id, None)

    async def close(self) -> None:
        self._models.clear()
        await self._clients.close()

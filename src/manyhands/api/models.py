"""Models and providers over HTTP. A key goes in and never comes out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from pydantic import Field
from starlette.requests import Request

from manyhands.api import schemas
from manyhands.api.access import Cursor, HubOf, Limit, items, slice_page, while_connected
from manyhands.models import types
from manyhands.models.config import ModelPatch
from manyhands.models.views import model_json, provider_json, trial_json
from manyhands.paging import MAX_LIMIT

router = APIRouter(tags=["models"])

_FIELDS = schemas.described_body(ModelPatch)
Fields = Annotated[dict[str, Any], Body()]
Again = Annotated[bool, Query(description="Look for model servers even if that was done just now.")]


class Price(schemas.Answer):
    """US dollars for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None


class Model(schemas.Answer):
    """A model that can be used: saved, found by its key or server, or built in."""

    id: str
    name: str
    provider: types.Provider
    model: str = Field(description="The provider's name for it.")
    base_url: str | None = None
    has_key: bool = False
    tool_call: int = Field(1, description="0: it gets no tools, and one pass.")
    context: int
    modalities: list[str]
    price: Price | None = None
    default: bool
    source: str
    fallbacks: list[str]


class Provider(schemas.Answer):
    """Someone whose models can be used."""

    id: str
    name: str
    provider: types.Provider
    base_url: str | None = None
    key_variables: list[str]
    ready: bool = Field(description="A key was found, or its server runs on this machine.")
    models: list[str]


class Usage(schemas.Answer):
    """Tokens."""

    input: int
    output: int
    cached: int


class Trial(schemas.Answer):
    """How a tiny request went."""

    ok: bool
    model: str
    text: str = ""
    error: str | None = None
    first_ms: int | None = None
    latency_ms: int | None = None
    usage: Usage | None = None


def shape(info: types.ModelInfo) -> Model:
    return Model(**model_json(info))


@router.get("/models")
async def list_models(
    hub: HubOf, again: Again = False, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Items[Model]:
    """Every model; the one with `default` is used where none is named."""
    page, next_cursor = slice_page(await hub.models.list(again=again), limit, cursor)
    return items(page, next_cursor, shape)


@router.post("/models", status_code=201, openapi_extra=_FIELDS)
async def save_model(hub: HubOf, fields: Fields) -> Model:
    """Save a model; a name that exists replaces that model. The first one becomes the default."""
    return shape(await hub.models.add(fields))


@router.get("/providers")
async def list_providers(hub: HubOf) -> schemas.Items[Provider]:
    """Everyone whose models can be used, and what they need."""
    return items(await hub.models.providers(), None, lambda one: Provider(**provider_json(one)))


@router.post("/models/{model_id:path}/test")
async def test_model(hub: HubOf, model_id: str, request: Request) -> Trial:
    """Ask it for one word, once."""
    trial = await while_connected(request, lambda: hub.models.test(model_id))
    return Trial(**trial_json(trial))


@router.get("/models/{model_id:path}")
async def get_model(hub: HubOf, model_id: str) -> Model:
    """One model, by id or name."""
    return shape(await hub.models.get(model_id))


@router.patch("/models/{model_id:path}", openapi_extra=_FIELDS)
async def change_model(hub: HubOf, model_id: str, fields: Fields) -> Model:
    """Change some fields. A model that was found by itself is saved with the change."""
    return shape(await hub.models.patch(model_id, fields))


@router.delete("/models/{model_id:path}", status_code=204)
async def delete_model(hub: HubOf, model_id: str) -> None:
    """Forget a saved model and its key."""
    await hub.models.delete(model_id)

"""Saved models, on each database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manyhands.errors import ConflictError
from manyhands.models import store as rows
from manyhands.models.types import ModelInfo, Price
from manyhands.store.engine import Store
from manyhands.testing.clock import START

pytestmark = pytest.mark.anyio

ONE = ModelInfo(
    id="model_1",
    name="one",
    provider="openai-compatible",
    model="m",
    base_url="http://127.0.0.1:8000/v1",
    api_key="${keyring:model/model_1}",
    tool_call=False,
    context=1234,
    modalities=("text", "image"),
    price=Price(1, 2, 0.5),
    default=True,
    fallbacks=("demo",),
)
TWO = ModelInfo(id="model_2", name="two", provider="anthropic", model="c")


async def save(store: Store, info: ModelInfo) -> None:
    await store.write(lambda conn: rows.save_model(conn, info, START))


async def test_a_model_comes_back_as_it_was_saved(store: Store) -> None:
    await save(store, ONE)
    await save(store, TWO)
    assert await store.read(rows.select_models) == [ONE, TWO]


async def test_saving_again_replaces(store: Store) -> None:
    await save(store, ONE)
    await save(store, changed := replace(ONE, name="uno", price=None))
    assert await store.read(rows.select_models) == [changed]


async def test_only_one_model_is_the_default(store: Store) -> None:
    await save(store, ONE)
    await save(store, replace(TWO, default=True))
    assert [info.default for info in await store.read(rows.select_models)] == [False, True]


async def test_a_name_belongs_to_one_model(store: Store) -> None:
    await save(store, ONE)
    with pytest.raises(ConflictError, match="'one'"):
        await save(store, replace(TWO, name="one"))
    assert await store.read(rows.select_models) == [ONE]


async def test_a_deleted_model_is_gone(store: Store) -> None:
    await save(store, ONE)
    assert await store.write(lambda conn: rows.delete_model(conn, "model_1"))
    assert not await store.write(lambda conn: rows.delete_model(conn, "model_1"))
    assert await store.read(rows.select_models) == []

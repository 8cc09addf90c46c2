"""Models over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import httpx2
import pytest

from manyhands.models.clients import KEY_VARIABLES
from tests.models.aimock import Aimock, running_aimock

pytestmark = pytest.mark.anyio

SHAPE = {"id", "name", "provider", "model", "base_url", "tool_call", "context", "default"}
SECRET = "sk-very-secret-0123456789"


@pytest.fixture(scope="module")
def aimock() -> Iterator[Aimock]:
    with running_aimock() as running:
        running.answer({"content": "ready"})
        yield running


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of whoever runs the tests."""
    for variables in (*KEY_VARIABLES.values(), ("OPENROUTER_API_KEY",)):
        for variable in variables:
            monkeypatch.delenv(variable, raising=False)


async def test_a_model_is_saved_listed_changed_tried_out_and_deleted(
    client: httpx2.AsyncClient, aimock: Aimock
) -> None:
    body = {
        "name": "mine",
        "provider": "openai-compatible",
        "model": "some-model",
        "base_url": f"{aimock.url}/v1",
        "api_key": SECRET,
        "tool_call": 1,
    }
    made = await client.post("/api/models", json=body)
    assert made.status_code == 201
    model = made.json()
    assert model.keys() >= SHAPE
    assert (model["tool_call"], model["default"], model["has_key"]) == (1, True, True)
    listed = await client.get("/api/models")
    assert model in listed.json()["items"]
    path = f"/api/models/{model['id']}"
    changed = await client.patch(path, json={**model, "tool_call": 0, "context": 9000})
    assert (changed.status_code, changed.json()["tool_call"], changed.json()["context"]) == (200, 0, 9000)
    trial = (await client.post(f"{path}/test")).json()
    assert (trial["ok"], trial["text"]) == (True, "ready")
    everything = f"{made.text}{listed.text}{changed.text}{(await client.get(path)).text}"
    assert SECRET not in everything
    gone = await client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(path)).status_code == 404


async def test_a_model_whose_id_has_a_slash_is_found(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", SECRET)
    wanted = "openrouter:anthropic/claude-sonnet-5.5"
    for path in (wanted, quote(wanted, safe="")):
        assert (await client.get(f"/api/models/{path}")).json()["id"] == wanted
    answer = await client.patch(f"/api/models/{quote(wanted, safe='')}", json={"default": True})
    assert (answer.json()["default"], answer.json()["source"]) == (True, "saved")


async def test_a_mistake_is_a_problem_with_its_place(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/models", json={"provider": "nobody", "model": "x"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert answer.json()["detail"].startswith("provider")
    assert (await client.post("/api/models", json=[])).status_code == 422


async def test_what_was_not_saved_cannot_be_deleted(client: httpx2.AsyncClient) -> None:
    answer = await client.delete("/api/models/demo")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_providers_say_what_they_need(client: httpx2.AsyncClient) -> None:
    items = (await client.get("/api/providers")).json()["items"]
    assert {"openai", "anthropic", "google", "openrouter", "ollama", "demo"} <= {item["id"] for item in items}
    assert next(item for item in items if item["id"] == "anthropic")["key_variables"] == ["ANTHROPIC_API_KEY"]


async def test_models_need_a_token(anonymous: httpx2.AsyncClient) -> None:
    assert (await anonymous.get("/api/models")).status_code == 401

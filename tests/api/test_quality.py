"""Quality over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from tests.chat.repositories import Repository
from tests.quality.conftest import channel, no_scan_begins, repository
from tests.quality.projects import MANY, SHOP

__all__ = ["channel", "repository"]

pytestmark = pytest.mark.anyio

Client = httpx2.AsyncClient


async def get(client: Client, place: str, name: str, **query: Any) -> Any:
    answer = await client.get(f"{place}/{name}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_scan_is_started_followed_and_read(client: Client, hub: Hub, channel: Channel) -> None:
    place = f"/api/channels/{channel.id}/quality"
    missing = await client.get(f"{place}/snapshot")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert "quality_scan" in missing.json()["hint"]
    async with no_scan_begins(hub):
        started = await client.post(f"{place}/scan")
        assert (started.status_code, started.json()) == (202, {"status": "started"})
        assert (await client.post(f"{place}/scan")).json() == {"status": "in_progress"}
        assert (await get(client, place, "scan"))["running"] is True
    await hub.quality.scan(channel.id)
    assert (await get(client, place, "scan"))["running"] is False
    snapshot = await get(client, place, "snapshot")
    assert snapshot["branch"] == "main"
    assert snapshot["branch_mismatch"] is False
    assert set(snapshot["metrics"]["depth"]) == {"score", "raw", "reasons", "worst"}
    assert (snapshot["files"], snapshot["functions"]) == (5, 5)
    names = [one["name"] for one in (await get(client, place, "metrics"))["items"]]
    assert len(names) == 6
    first = await get(client, place, "complexity", limit=2)
    rest = await get(client, place, "complexity", limit=500, cursor=first["next_cursor"])
    assert first["items"][0]["name"] == "many"
    assert (len(first["items"]) + len(rest["items"]), rest["next_cursor"]) == (5, None)
    by_lines = (await get(client, place, "complexity", sort="lines", q="SHOP/prices"))["items"]
    assert [one["name"] for one in by_lines] == ["prices", "many"]
    by_path = (await get(client, place, "complexity", sort="path"))["items"]
    assert [one["path"] for one in by_path] == sorted(one["path"] for one in by_path)
    by_lines = (await get(client, place, "complexity", sort="lines", q="PRICES"))["items"]
    assert [one["name"] for one in by_lines] == ["prices", "many"]
    (cluster,) = (await get(client, place, "clones"))["items"]
    unit = cluster["units"][0]
    lines = {"line": unit["line"], "end_line": unit["end_line"]}
    source = await get(client, place, "source", path=unit["path"], **lines)
    assert source["text"].startswith("def totals")
    assert (await get(client, place, "cycles"))["items"][0]["size"] == 2
    assert [one["path"] for one in (await get(client, place, "files", limit=20_000))["items"]] == sorted(SHOP)
    assert len((await get(client, place, "graph"))["items"]) == 5
    assert "lost" in [one["name"] for one in (await get(client, place, "unused"))["items"]]
    (point,) = (await get(client, place, "history"))["items"]
    assert (point["quality_signal"], point["branch"]) == (snapshot["quality_signal"], "main")
    assert (await client.delete(f"{place}/scan")).status_code == 204


async def test_a_change_is_compared_and_wrong_rules_are_refused(
    client: Client, channel: Channel, repository: Repository
) -> None:
    (repository.path / "shop/new.py").write_text(MANY.replace("many", "more"))
    place = f"/api/channels/{channel.id}/quality/compare"
    answer = await client.post(place, json={"base": "main"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["passed"] is False
    assert answer.json()["problems"][0]["message"] == "more: parameters is 7 (at most 5)"
    assert answer.json()["changes"][0]["kind"] == "added"
    assert (await client.post(place, json={"rules": {"speed": 1}})).status_code == 422
    assert (await client.post(place, json={"base": "nowhere"})).status_code == 404


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("complexity?cursor=x", 422),
        ("complexity?limit=501", 422),
        ("source?path=../token", 404),
        ("source?path=shop/main.py&line=9&end_line=3", 404),
    ],
)
async def test_what_cannot_be_answered_is_a_problem(
    client: Client, channel: Channel, name: str, status: int
) -> None:
    answer = await client.get(f"/api/channels/{channel.id}/quality/{name}")
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


async def test_a_channel_that_is_not_there_is_not_scanned(client: Client, tmp_path: Path) -> None:
    for method in ("POST", "GET", "DELETE"):
        assert (await client.request(method, "/api/channels/ch_x/quality/scan")).status_code == 404

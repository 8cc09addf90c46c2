"""The hub itself over HTTP."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from manyhands import __version__
from manyhands.api.app import create_app
from manyhands.hub import Hub
from manyhands.settings import Settings
from tests.api.conftest import BASE, HAND

pytestmark = pytest.mark.anyio


async def test_health_says_who_answers(anonymous: httpx2.AsyncClient) -> None:
    health = (await anonymous.get("/api/health")).json()
    assert health == {"status": "ok", "name": "manyhands", "version": __version__}


async def test_status_says_what_runs_and_how_much_is_kept(client: httpx2.AsyncClient, hub: Hub) -> None:
    await client.post("/api/servers", json=HAND)
    await client.post("/api/tools/call", json={"name": "mcp__hand__echo", "arguments": {"text": "x"}})
    status = (await client.get("/api/status")).json()
    assert (status["pid"], status["version"], status["home"]) == (
        os.getpid(),
        __version__,
        str(hub.home.path),
    )
    assert status["servers"]["connected"] == 1
    assert status["counts"]["calls"] == 1
    assert status["storage"]["database"] > 0
    assert status["rss"] > 0
    assert status["disk_total"] >= status["disk_free"] > 0
    assert set(status["programs"]) == {"uvx", "npx", "node"}
    assert status["python"].startswith("3.")
    assert Path(status["directory"]).is_absolute()
    assert status["approvals"] == 0


async def test_metrics_are_text_for_prometheus(client: httpx2.AsyncClient) -> None:
    await client.post("/api/servers", json={**HAND, "name": 'od"d'})
    for text in ("a", "b"):
        await client.post(
            "/api/tools/call", json={"server": 'od"d', "tool": "echo", "arguments": {"text": text}}
        )
    answer = await client.get("/api/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'manyhands_tool_calls_total{server="od\\"d",status="success"} 2' in lines
    assert 'manyhands_servers{status="connected"} 1' in lines
    assert 'manyhands_tool_call_seconds_bucket{le="+Inf"} 2' in lines
    assert "manyhands_tool_call_seconds_count 2" in lines
    for line in lines:
        name, value = line.rsplit(" ", 1)
        assert name.startswith("#") or float(value) >= 0


async def test_the_readme_is_there(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/readme")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert "manyhands" in answer.text.lower()


async def test_settings_are_read_and_changed(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/api/settings")).json() == Settings().model_dump(mode="json")
    changed = await client.patch("/api/settings", json={"mcp_max_iterations": 20})
    assert changed.json()["mcp_max_iterations"] == 20
    assert (await client.patch("/api/settings", json={"mcp_max_iterations": None})).json()[
        "mcp_max_iterations"
    ] == 10
    assert (await client.patch("/api/settings", json={"mcp_max_iterations": 0})).status_code == 422
    assert (await client.patch("/api/settings", json={"colour": 1})).status_code == 404


async def test_every_setting_is_described_with_its_bounds_default_and_value(
    client: httpx2.AsyncClient,
) -> None:
    await client.patch("/api/settings", json={"mcp_max_iterations": 20})
    described = {one["name"]: one for one in (await client.get("/api/settings/schema")).json()["items"]}
    assert list(described) == list(Settings.model_fields)
    limit = described["mcp_max_iterations"]
    assert (limit["kind"], limit["minimum"], limit["maximum"]) == ("integer", 1, 50)
    assert (limit["default"], limit["value"]) == (10, 20)
    cap = described["run_cost_cap"]
    assert (cap["kind"], cap["above"], cap["optional"], cap["default"]) == ("number", 0, True, None)
    assert described["command_sandbox"]["choices"] == ["auto", "required", "off"]
    kinds = {name: described[name]["kind"] for name in ("fetch_allow", "model_discovery", "searxng_url")}
    assert kinds == {"fetch_allow": "list", "model_discovery": "boolean", "searxng_url": "text"}


async def test_a_backup_is_made_while_it_works(client: httpx2.AsyncClient, tmp_path: Path, hub: Hub) -> None:
    await client.post("/api/channels", json={"name": "kept"})
    path = tmp_path / "saved.tar.gz"
    answer = await client.post("/api/backup", json={"path": str(path)})
    assert answer.status_code == 201
    made = answer.json()
    assert (made["path"], made["bytes"], made["database"]) == (str(path), path.stat().st_size, "sqlite")
    with tarfile.open(path) as archive:
        names = archive.getnames()
    assert "manyhands.db" in names
    assert hub.home.token_file.name not in names
    again = await client.post("/api/backup", json={"path": str(path)})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert (await client.post("/api/backup", json={"path": "relative.tar.gz"})).status_code == 422


async def test_only_a_daemon_can_be_shut_down(client: httpx2.AsyncClient, hub: Hub) -> None:
    refused = await client.post("/api/shutdown")
    assert (refused.status_code, refused.json()["code"]) == (501, "not_configured")
    asked: list[str] = []
    transport = httpx2.ASGITransport(create_app(hub, on_shutdown=lambda: asked.append("end")))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=client.headers) as daemon:
        assert (await daemon.post("/api/shutdown")).status_code == 202
    assert asked == ["end"]


async def test_openapi_describes_every_route_with_its_answer_and_its_errors(
    client: httpx2.AsyncClient, app: FastAPI
) -> None:
    description = (await client.get("/api/openapi.json")).json()
    names = set(description["components"]["schemas"])
    assert {"Server", "Call", "Tool", "Channel", "Approval", "Problem", "Settings"} <= names
    for path, methods in description["paths"].items():
        assert path.startswith(("/api/", "/v1/"))
        for method, operation in methods.items():
            good = [status for status in operation["responses"] if status.startswith("2")]
            assert good, f"{method} {path}"
            assert operation["description"], f"{method} {path}"
            # What is under /v1 speaks another's language, errors too.
            assert "4XX" in operation["responses"] or path.startswith("/v1/"), f"{method} {path}"
    assert "requestBody" in description["paths"]["/api/servers"]["post"]

"""Playgrounds over HTTP, and their pages on a port of their own."""

from __future__ import annotations

import base64
import socket
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from manyhands.access.types import Grant
from manyhands.api.playground_pages import listen, serve_playgrounds
from manyhands.chat.types import Channel
from manyhands.hub import Hub

pytestmark = pytest.mark.anyio

Client = httpx2.AsyncClient


@pytest.fixture
async def channel(hub: Hub, tmp_path: Path) -> Channel:
    (tmp_path / "project").mkdir()
    return (await hub.channels.find_or_create(dir_path=str(tmp_path / "project")))[0]


@pytest.fixture
async def pages(hub: Hub) -> AsyncIterator[Client]:
    """Somebody who asks the other port."""
    async with anyio.create_task_group() as group:
        await group.start(partial(serve_playgrounds, hub, "127.0.0.1", 8222))
        async with Client(timeout=60) as client:
            yield client
        group.cancel_scope.cancel()
    assert hub.playgrounds.port is None


async def put(client: Client, name: str, **body: Any) -> dict[str, Any]:
    answer = await client.put(f"/api/playgrounds/{name}", json=body)
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_playground_is_put_read_changed_and_deleted(client: Client) -> None:
    made = await put(client, "page", title="A page", html="<p>1")
    assert (made["scope"], made["file_count"], made["author_id"], made["url"]) == ("global", 1, "owner", None)
    again = await client.put("/api/playgrounds/page", json={"description": "about"})
    assert (again.status_code, again.json()["title"]) == (200, "A page")
    assert [one["name"] for one in (await client.get("/api/playgrounds")).json()["items"]] == ["page"]
    assert (await client.get("/api/playgrounds/page")).json()["description"] == "about"
    assert (await client.delete("/api/playgrounds/page")).status_code == 204
    assert (await client.get("/api/playgrounds/page")).status_code == 404


async def test_files_are_written_listed_read_and_deleted(client: Client) -> None:
    await put(client, "page")
    where = "/api/playgrounds/page/files"
    new = await client.put(f"{where}/lib/utils.js", json={"content": "export {}"})
    assert (new.status_code, new.json()["path"], new.json()["size"]) == (201, "lib/utils.js", 9)
    assert (await client.put(f"{where}/lib/utils.js", json={"content": ""})).status_code == 200
    binary = base64.b64encode(b"\xff\x00").decode()
    await client.put(f"{where}/a.bin", json={"content": binary, "encoding": "base64"})
    read = (await client.get(f"{where}/a.bin")).json()
    assert (read["encoding"], read["content"], read["size"]) == ("base64", binary, 2)
    listed = (await client.get(where)).json()["items"]
    assert [file["path"] for file in listed] == ["a.bin", "index.html", "lib/utils.js"]
    assert (await client.delete(f"{where}/a.bin")).status_code == 204
    assert (await client.get(f"{where}/a.bin")).status_code == 404
    wrong = await client.put(f"{where}/a.bin", json={"content": "?", "encoding": "base64"})
    assert wrong.status_code == 422


async def test_those_of_a_project_are_named_by_a_channel(client: Client, channel: Channel, hub: Hub) -> None:
    made = await put(client, "page", scope="project", channel_id=channel.id, html="<p>mine")
    assert (made["project"], made["channel_id"]) == (channel.dir_path, channel.id)
    query = {"scope": "project", "channel_id": channel.id}
    read = await client.get("/api/playgrounds/page/files/index.html", params=query)
    assert read.json()["content"] == "<p>mine"
    assert (await client.get("/api/playgrounds/page")).status_code == 404
    everything = (await client.get("/api/playgrounds")).json()["items"]
    assert [(one["scope"], one["channel_id"]) for one in everything] == [("project", channel.id)]
    free = await hub.channels.create("free")
    assert (await client.get("/api/playgrounds", params={"channel_id": free.id})).json()["items"] == []
    without = await client.put("/api/playgrounds/page", json={"scope": "project"})
    assert (without.status_code, "channel_id" in without.json()["hint"]) == (422, True)
    nowhere = await client.put("/api/playgrounds/page", json={"scope": "project", "channel_id": free.id})
    assert (nowhere.status_code, "no directory" in nowhere.json()["detail"]) == (422, True)


TRICKS = ("..%2f..%2ftoken", "%2fetc%2fpasswd", "a%00b", "a%5c..%5cb", "x/%2e%2e/%2e%2e/token", "con", ".env")


async def test_path_tricks_are_refused_with_what_to_do(client: Client, hub: Hub) -> None:
    await put(client, "page")
    for path in TRICKS:
        where = f"/api/playgrounds/page/files/{path}"
        for answer in (
            await client.put(where, json={"content": "x"}),
            await client.get(where),
            await client.delete(where),
        ):
            assert answer.status_code in (404, 422), answer.text
            assert hub.home.token() not in answer.text
    assert hub.home.token_file.exists()


async def test_ten_megabytes_are_refused_with_the_limit(client: Client) -> None:
    await put(client, "page")
    body = {"content": "x" * 10_000_000}
    answer = await client.put("/api/playgrounds/page/files/big.js", json=body)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "5,000,000" in answer.json()["detail"]


async def test_a_limited_token_reaches_none_of_it(anonymous: Client, hub: Hub, channel: Channel) -> None:
    token = await hub.access.issue(Grant(channel.id))
    for path in ("", "/page", "/page/files/a", "/page/console", "/page/export"):
        answer = await anonymous.get(f"/api/playgrounds{path}", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 404


async def test_an_export_is_saved_and_never_shown_under_the_hubs_origin(client: Client) -> None:
    await put(client, "page", html="<script src=a.js></script>")
    await client.put("/api/playgrounds/page/files/a.js", json={"content": "let a"})
    answer = await client.get("/api/playgrounds/page/export")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="page.html"'
    assert "data:text/javascript" in answer.text


# --- the other port


async def test_pages_are_seen_by_whoever_has_the_address(client: Client, pages: Client) -> None:
    made = await put(client, "page", html="<title>seen</title>")
    answer = await pages.get(made["url"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<title>seen" in answer.text
    origin = made["url"].rpartition("/page")[0] or made["url"]
    root = "/".join(origin.split("/")[:3])
    for path in ("/", "/page/", f"/{'0' * 40}/", f"/{'0' * 40}/__manyhands/console.js"):
        assert (await pages.get(root + path)).status_code == 404
    assert (await pages.get(made["url"].rstrip("/"))).headers["location"].endswith("/")


async def test_every_answer_is_sandboxed_and_says_what_a_page_may_load(client: Client, pages: Client) -> None:
    made = await put(client, "page")
    await client.put("/api/playgrounds/page/files/a.svg", json={"content": "<svg/>"})
    for path in ("", "a.svg", "none.js", "__manyhands/console.js"):
        answer = await pages.get(made["url"] + path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox")
        assert "allow-same-origin" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers
    policy = (await pages.get(made["url"])).headers["content-security-policy"]
    assert f"connect-src {made['url']} data: blob:;" in policy
    assert "frame-ancestors http://127.0.0.1:8222" in policy
    await client.patch("/api/settings", json={"playground_hosts": ["https://esm.sh"]})
    policy = (await pages.get(made["url"])).headers["content-security-policy"]
    assert f"script-src {made['url']} https://esm.sh " in policy
    for wrong in ("http://127.0.0.1:8222", "https://x y", "*", "https://x;sandbox"):
        answer = await client.patch("/api/settings", json={"playground_hosts": [wrong]})
        assert answer.status_code == 422


async def test_the_other_port_serves_pages_and_nothing_else(client: Client, pages: Client, hub: Hub) -> None:
    made = await put(client, "page")
    for path in ("..%2f..%2f..%2ftoken", "%2e%2e/%2e%2e/token", ".playground.json", "a%00"):
        answer = await pages.get(made["url"] + path)
        assert answer.status_code in (404, 422)
        assert hub.home.token() not in answer.text
    assert (await pages.put(made["url"] + "index.html", content="x")).status_code == 405
    strange = await pages.get(made["url"], headers={"Host": "rebound.example"})
    assert strange.status_code == 404
    root = "/".join(made["url"].split("/")[:3])
    assert (await pages.get(f"{root}/api/health")).status_code == 404


async def test_what_a_page_posts_is_read_in_its_console(client: Client, pages: Client) -> None:
    made = await put(client, "page")
    where = made["url"] + "__manyhands/console"
    posted = await pages.post(where, content='[{"level": "error", "text": "oh no"}]')
    assert posted.status_code == 204
    lines = (await client.get("/api/playgrounds/page/console")).json()["items"]
    assert [(line["level"], line["text"]) for line in lines] == [("error", "oh no")]
    assert (await pages.post(where, content="?")).status_code == 422
    assert (await pages.post(where, content=b" " * 100_000)).status_code == 413
    assert (await client.delete("/api/playgrounds/page/console")).status_code == 204
    assert (await client.get("/api/playgrounds/page/console")).json()["items"] == []


async def test_a_port_that_is_taken_is_not_needed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for wanted, of_hub in ((port, 1), (0, port - 1), (0, 65_535)):
            with listen("127.0.0.1", wanted, of_hub) as listener:
                assert listener.getsockname()[1] not in (0, port)

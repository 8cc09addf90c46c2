"""How the web UI is served: what a browser may keep, what it may load, which paths are the UI's own."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx2
import pytest

from manyhands.api import pages

pytestmark = pytest.mark.anyio

INDEX = b'<meta property="csp-nonce" nonce="MANYHANDS_NONCE"><script src="/ui/index-1.js"></script>'
LONG = "x" * 300 + ".js"  # longer than any file's name can be
SCRIPT = b"export const hands = 2;\n" * 100


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small UI as the build leaves it."""
    folder = tmp_path / "ui"
    (folder / "ui").mkdir(parents=True)
    (folder / "index.html").write_bytes(INDEX)
    (folder / "theme.js").write_bytes(b"themes()")
    (folder / "ui" / "index-1.js").write_bytes(SCRIPT)
    (folder / "ui" / "index-1.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "ui" / "index-1.js.br").write_bytes(b"smallest")
    (folder / "ui" / "style-1.css").write_bytes(b"a{}")
    monkeypatch.setattr(pages, "_built", lambda: folder)
    return folder


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", ["/", "/servers", "/servers/7", "/c/ch_1", "/log/call_1", "/no/such/page"])
async def test_every_path_of_the_ui_is_its_page(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path", ["/api/nothing", "/v1/nothing", "/ui/x.js", "/x.js", "/ui/", f"/{LONG}", f"/ui/{LONG}"]
)
async def test_what_is_not_a_page_stays_not_found(client: httpx2.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


@pytest.mark.usefixtures("built")
async def test_a_wrong_method_is_told_as_such(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/api/tools/call")).status_code == 405
    assert (await client.post("/servers")).status_code == 405


@pytest.mark.usefixtures("built")
async def test_each_page_has_a_nonce_of_its_own_and_nothing_else_inline_is_allowed(
    client: httpx2.AsyncClient,
) -> None:
    nonces = set()
    for _ in range(2):
        answer = await client.get("/")
        policy = answer.headers["content-security-policy"]
        found = re.search(r"style-src 'self' 'nonce-([\w-]+)'", policy)
        assert found is not None
        assert f'nonce="{found[1]}"' in answer.text
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        nonces.add(found[1])
    assert len(nonces) == 2


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("accepted", "encoding"), [("gzip, br", "br"), ("gzip", "gzip"), ("identity", None), ("", None)]
)
async def test_a_built_file_is_kept_for_ever_and_sent_as_small_as_can_be(
    client: httpx2.AsyncClient, accepted: str, encoding: str | None
) -> None:
    async with client.stream("GET", "/ui/index-1.js", headers={"Accept-Encoding": accepted}) as answer:
        content = b"".join([chunk async for chunk in answer.aiter_raw()])
    expected = {"br": b"smallest", "gzip": gzip.compress(SCRIPT), None: SCRIPT}[encoding]
    assert answer.headers.get("content-encoding") == encoding
    assert (gzip.decompress(content) if encoding == "gzip" else content) == (
        SCRIPT if encoding == "gzip" else expected
    )
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.usefixtures("built")
async def test_a_file_whose_name_stays_is_not_kept(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/theme.js")
    assert answer.text == "themes()"
    assert answer.headers["cache-control"] == "no-store"
    assert (await client.get("/ui/style-1.css")).headers["content-type"].startswith("text/css")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path", ["/ui/..%2findex.html", "/ui/%2e%2e%2findex.html", "/..%5csecret.js", "/.hidden", "/ui/.env"]
)
async def test_no_path_leads_out_of_the_ui(client: httpx2.AsyncClient, built: Path, path: str) -> None:
    (built.parent / "secret.js").write_text("secret")
    answer = await client.get(path)
    assert answer.status_code == 404


async def test_without_a_built_ui_a_page_says_what_to_do(
    client: httpx2.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_built", lambda: tmp_path)
    answer = await client.get("/")
    assert answer.status_code == 503
    assert "./dev up" in answer.text


async def test_a_message_is_shown_as_text() -> None:
    answer = pages.message_page("Signed in to <b>x</b>", "<script>alert(1)</script>", 400)
    assert answer.status_code == 400
    assert b"&lt;script&gt;" in answer.body
    assert b"<b>x" not in answer.body

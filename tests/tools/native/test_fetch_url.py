"""`fetch_url`: from a real server, guarded on every hop, bounded in size."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import anyio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.testing.tools import QuietInvocation
from manyhands.tools.native import fetch_url
from manyhands.tools.native.fetch_url import FetchUrl
from manyhands.tools.types import ToolResult
from tests.tools.desk import ChangingSettings
from tests.tools.native.test_read_image import png
from tests.tools.native.web import Web, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as running:
        yield running


@pytest.fixture
def settings(web: Web) -> ChangingSettings:
    """Only this server is allowed."""
    changing = ChangingSettings()
    changing.change(fetch_allow=(f"127.0.0.1:{web.port}",))
    return changing


async def fetch(settings: ChangingSettings, url: str, **arguments: Any) -> ToolResult:
    return await FetchUrl(settings)({"url": url, **arguments}, QuietInvocation())


async def test_text_comes_with_what_it_is(web: Web, settings: ChangingSettings) -> None:
    url = web.page("/a.txt", "grüße".encode(), "text/plain; charset=utf-8")
    result = await fetch(settings, url)
    assert result.text == f"{url}\n200 text/plain, 7 bytes\n\ngrüße"
    assert not result.is_error
    assert result.structured["status"] == 200


async def test_a_page_becomes_readable_and_stays_raw_when_asked_for(
    web: Web, settings: ChangingSettings
) -> None:
    url = web.page("/p", b"<title>T</title><h1>Hi</h1><a href='/x'>there</a>", "text/html")
    result = await fetch(settings, url)
    assert result.text.endswith(f"T\n\n# Hi\n\n[there]({web.url('/x')})")
    assert result.structured["title"] == "T"
    assert "<h1>Hi</h1>" in (await fetch(settings, url, raw=True)).text


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("grüße".encode("latin-1"), "text/plain; charset=ISO-8859-1", "grüße"),
        ("<meta charset='latin-1'><p>grüße".encode("latin-1"), "text/html", "grüße"),
        (b"\xff\xfe", "text/plain", "��"),
        (b"x", "text/plain; charset=nonsense", "x"),
        (b'{"a": 1}', "application/vnd.api+json", '{"a": 1}'),
        (b"no kind", "", "no kind"),
        (b"", "text/plain", ""),
    ],
)
async def test_encodings_and_kinds_of_text(
    web: Web, settings: ChangingSettings, body: bytes, kind: str, text: str
) -> None:
    assert (await fetch(settings, web.page("/x", body, kind))).text.endswith(text)


async def test_an_image_is_shown(web: Web, settings: ChangingSettings) -> None:
    result = await fetch(settings, web.page("/a.png", png(2, 2), "image/png"))
    assert result.content[1]["type"] == "image"
    assert result.content[1]["mimeType"] == "image/png"


async def test_other_files_cannot_be_shown(web: Web, settings: ChangingSettings) -> None:
    with pytest.raises(ToolFault, match="neither text nor an image"):
        await fetch(settings, web.page("/a.zip", b"PK\0\0", "application/zip"))


async def test_a_status_of_failure_is_an_error_with_its_text(web: Web, settings: ChangingSettings) -> None:
    result = await fetch(settings, web.url("/none"))
    assert result.is_error
    assert "404" in result.text
    assert "no such page" in result.text


# --- private networks


async def test_private_addresses_are_refused_and_nothing_is_sent(web: Web) -> None:
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "[::1]"):
        with pytest.raises(ToolRefusal, match="private network"):
            await fetch(ChangingSettings(), web.url("/", host))
    assert web.requests == []


async def test_a_redirect_into_a_private_network_is_refused(web: Web, settings: ChangingSettings) -> None:
    with serving() as inner:
        url = web.redirect("/go", inner.page("/secret", b"secret"))
        with pytest.raises(ToolRefusal, match="private network"):
            await fetch(settings, url)
        assert inner.requests == []


async def test_a_redirect_to_another_kind_of_address_is_refused(web: Web, settings: ChangingSettings) -> None:
    for location in ("file:///etc/passwd", "ftp://x/", "gopher://x/"):
        with pytest.raises(ToolRefusal, match="not a web address"):
            await fetch(settings, web.redirect("/go", location))


async def test_redirects_are_followed_and_the_last_address_is_told(
    web: Web, settings: ChangingSettings
) -> None:
    web.redirect("/one", "/two?x=1", 301)
    web.redirect("/two", web.url("/three"), 307)
    web.page("/three", b"arrived")
    result = await fetch(settings, web.url("/one"))
    assert result.structured["url"] == web.url("/three")
    assert result.text.endswith("arrived")


async def test_redirects_in_a_circle_end(web: Web, settings: ChangingSettings) -> None:
    with pytest.raises(ToolFault, match="redirects more than 5 times"):
        await fetch(settings, web.redirect("/loop", "/loop"))


async def test_a_name_is_resolved_once_and_that_address_is_used(
    web: Web, settings: ChangingSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers with a harmless address first and a private one later gains nothing."""
    asked: list[str] = []

    async def changing_answers(host: str, port: int, **more: Any) -> list[Any]:
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "10.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(anyio, "getaddrinfo", changing_answers)
    settings.change(fetch_allow=("rebind.example",))
    web.page("/a", b"hello")
    result = await fetch(settings, web.url("/a", "rebind.example"))
    assert result.text.endswith("hello")
    assert asked == ["rebind.example"]
    assert web.requests == [("/a", f"rebind.example:{web.port}")]


# --- bad input


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "not a web address"),
        ("example.org", "not a web address"),
        ("http://", "not a web address"),
        ("http://user:pass@example.org/", "user name or password"),
        ("http://a b/", "not an address|not found|not a host"),
        ("http://[::1", "not an address"),
        ("http://127.0.0.1:99999/", "not an address"),
        ("http://127.0.0.1:0/", "not an address"),
        ("", "not a web address"),
    ],
)
async def test_addresses_that_cannot_be_fetched(settings: ChangingSettings, url: str, words: str) -> None:
    with pytest.raises(ToolFault, match=words):
        await fetch(settings, url)


async def test_a_server_that_is_not_there(settings: ChangingSettings) -> None:
    settings.change(fetch_allow=("127.0.0.1",))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ToolFault, match="could not be fetched"):
            await fetch(settings, f"http://127.0.0.1:{unused.getsockname()[1]}/")


async def test_a_body_over_the_limit_is_cut_and_said_to_be(
    web: Web, settings: ChangingSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_url, "MAX_BYTES", 1000)
    result = await fetch(settings, web.page("/big", b"x" * 50_000))
    assert "(the first 1000 bytes)" in result.text
    assert result.structured["cut"]


async def test_a_packed_body_is_unpacked_only_up_to_the_limit(
    web: Web, settings: ChangingSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = web.page("/gz", gzip.compress(b"hello"), Content_Encoding="gzip")
    assert (await fetch(settings, url)).text.endswith("hello")
    monkeypatch.setattr(fetch_url, "MAX_BYTES", 1000)
    bomb = web.page("/bomb", gzip.compress(b"0" * 50_000_000), Content_Encoding="gzip")
    assert (await fetch(settings, bomb)).structured["bytes"] == 1000
    with pytest.raises(ToolFault, match="packed"):
        await fetch(settings, web.page("/br", b"x", Content_Encoding="br"))
    with pytest.raises(ToolFault, match="could not be fetched"):
        await fetch(settings, web.page("/not-gz", b"not packed", Content_Encoding="gzip"))


async def test_a_server_that_never_ends_its_answer_can_be_left(web: Web, settings: ChangingSettings) -> None:
    dripping = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        while True:
            request.wfile.write(b"x")
            dripping.set()

    web.pages["/drip"] = drip
    async with anyio.create_task_group() as group:
        group.start_soon(fetch, settings, web.url("/drip"))
        await anyio.to_thread.run_sync(dripping.wait)
        group.cancel_scope.cancel()


# --- encrypted


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's side of TLS for the name `secure.example`, trusted by this process."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "secure.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "cert.pem").write_bytes(pem)
    (tmp_path / "both.pem").write_bytes(pem + private)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    return context


async def test_the_certificate_is_checked_against_the_name_although_the_address_is_dialled(
    certificate: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def this_machine(host: str, port: int, **more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(anyio, "getaddrinfo", this_machine)
    settings = ChangingSettings()
    settings.change(fetch_allow=("*.example",))
    with serving(certificate) as web:
        web.page("/a", b"over tls")
        assert (await fetch(settings, web.url("/a", "secure.example"))).text.endswith("over tls")
        with pytest.raises(ToolFault, match="could not be fetched"):
            await fetch(settings, web.url("/a", "other.example"))

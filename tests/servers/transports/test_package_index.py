"""Servers started with `uvx` find packages where pip was told to look."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from manyhands.servers.transports import package_index
from manyhands.servers.transports.package_index import index_settings, pip_options
from manyhands.servers.types import ServerConfig
from tests.servers.hubs import bench

INDEX = "https://index.example/simple"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a person with a home of their own, on a machine without settings."""
    monkeypatch.setattr(package_index, "_MACHINE", tmp_path / "etc")
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "machine")}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def told(home: dict[str, str], **more: str) -> dict[str, str]:
    own = {"SSL_CERT_FILE": "/mine.pem", "NODE_EXTRA_CA_CERTS": "/mine.pem"}
    return index_settings({**own, **home, **more}, prefix=home["HOME"])


def test_pips_file_reaches_uv(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / ".config/pip/pip.conf", f"[global]\nindex-url = {INDEX}\ncert = /company.pem\n")
    assert index_settings(home, prefix=str(tmp_path)) == {
        "UV_DEFAULT_INDEX": INDEX,
        "SSL_CERT_FILE": "/company.pem",
        "NODE_EXTRA_CA_CERTS": "/company.pem",
    }


def test_pips_variables_stand_above_its_files(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / ".config/pip/pip.conf", "[global]\nindex_url = https://old.example/simple\n")
    assert told(home) == {"UV_DEFAULT_INDEX": "https://old.example/simple"}
    assert told(home, PIP_INDEX_URL=INDEX) == {"UV_DEFAULT_INDEX": INDEX}


def test_files_are_weighed_as_pip_weighs_them(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "machine/pip/pip.conf", "[install]\nindex-url = a\n[global]\nindex-url = b\ncert = c\n")
    write(tmp_path / ".pip/pip.conf", "[global]\nindex-url = d\ncert = e\n")
    found = pip_options(home, str(tmp_path))
    assert (found["index-url"], found["cert"]) == ("a", "e")
    chosen = tmp_path / "chosen.conf"
    write(chosen, "[install]\nindex-url = f\n")
    assert pip_options({**home, "PIP_CONFIG_FILE": str(chosen)}, str(tmp_path))["index-url"] == "f"
    assert pip_options({**home, "PIP_CONFIG_FILE": os.devnull}, str(tmp_path)) == {}


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_CONFIG_FILE"])
def test_whoever_has_told_uv_an_index_keeps_it(home: dict[str, str], name: str) -> None:
    assert told(home, PIP_INDEX_URL=INDEX, **{name: "mine"}) == {}


def test_a_settings_file_of_uv_is_left_alone(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / ".config/uv/uv.toml", "")
    assert told(home, PIP_INDEX_URL=INDEX) == {}


def test_a_file_that_is_none_breaks_nothing(home: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / ".pip/pip.conf", "index-url without a section\n")
    (tmp_path / ".config/pip").mkdir(parents=True)
    (tmp_path / ".config/pip/pip.conf").write_bytes(b"\xff\xfe[global]")
    assert told(home) == {}


@pytest.mark.anyio
async def test_a_server_is_started_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", INDEX)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    echo = "import os, sys; print(os.environ['UV_DEFAULT_INDEX'], file=sys.stderr, flush=True)"
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(ServerConfig("books", command=sys.executable, args=("-c", echo)))
        assert INDEX in (await hub.service.log(outcome.view.server.id)).text

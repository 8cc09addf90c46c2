"""A server can be tried before it is saved, and nothing of that stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyhands.errors import InvalidError
from manyhands.secrets import MASK
from tests.servers.hubs import bench, shelf, tool

pytestmark = pytest.mark.anyio


async def test_a_good_server_shows_what_it_offers_and_is_not_saved(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"), tool("lend"), version="7")
    async with bench(tmp_path) as hub:
        wire = (await hub.service.test(books.config("books", env={"TOKEN": "hunter2-hunter2"}))).wire()
        assert (wire["ok"], wire["error"], wire["version"]) == (True, None, "7")
        assert wire["tools"] == ["find", "lend"]
        assert wire["elapsed_ms"] > 0
        assert "the shelf is open" in wire["stderr"]
        assert await hub.service.list() == []
        assert hub.events == []
    assert not (tmp_path / "home" / "secrets.enc").exists()


async def test_a_bad_server_shows_the_whole_reason(tmp_path: Path) -> None:
    broken = shelf(tmp_path, "broken", die="no licence found")
    async with bench(tmp_path) as hub:
        report = await hub.service.test(broken.config("broken"))
        assert not report.ok
        assert "no licence found" in str(report.error)
        assert report.exit_code == 3
        nowhere = await hub.service.test({"name": "x", "command": "there-is-no-such-program"})
        assert not nowhere.ok
        assert "there-is-no-such-program" in str(nowhere.error)


async def test_a_server_that_never_answers_is_given_up_after_its_connect_timeout(tmp_path: Path) -> None:
    hung = shelf(tmp_path, "hung", start_s=600)
    async with bench(tmp_path) as hub:
        report = await hub.service.test(hung.config("hung", connect_timeout=300))
        assert not report.ok
        assert "hung" in str(report.error)


async def test_a_saved_server_is_tried_with_changes_and_its_own_secrets(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        saved = (await hub.service.save(books.config("books", env={"TOKEN": "hunter2-hunter2"}))).view
        report = await hub.service.test({"env": {"TOKEN": MASK}}, server_id=saved.server.id)
        assert report.ok, report.error
        with pytest.raises(InvalidError, match="stands for a secret"):
            await hub.service.test(books.config("new", env={"TOKEN": MASK}))
        still = await hub.service.get(saved.server.id)
        assert still.state.pid == saved.state.pid

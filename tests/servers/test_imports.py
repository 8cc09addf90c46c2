"""Files of other clients become servers, entry by entry; the way back holds no secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from manyhands.errors import InvalidError, NotFoundError
from manyhands.secrets import MASK
from manyhands.servers.views import ImportReport
from tests.servers.hubs import bench, shelf, tool

pytestmark = pytest.mark.anyio


def told(report: ImportReport) -> list[tuple[str, str]]:
    return [(item.name, item.action) for item in report.items]


async def test_each_entry_is_added_updated_or_skipped_with_the_reason(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"), tool("env"))
    file: dict[str, Any] = {
        "mcpServers": {
            "books": books.entry(env={"TOKEN": " abc-def-ghi "}),
            "off": {**books.entry(), "disabled": True},
            "1234": books.entry(),
            "broken": {"args": []},
            "Books": books.entry(),
        }
    }
    async with bench(tmp_path) as hub:
        report = await hub.service.import_json(json.dumps(file), "mcp.json")
        assert told(report) == [
            ("books", "added"),
            ("off", "added"),
            ("1234", "skipped"),
            ("broken", "skipped"),
            ("Books", "skipped"),
        ]
        assert "only digits" in str(report.items[2].reason)
        assert "mcp.json: mcpServers.broken" in str(report.items[3].reason)
        assert "'books' has that already" in str(report.items[4].reason)
        assert report.items[0].notes == (
            "mcp.json: mcpServers.books.env.TOKEN: white space at the ends was removed",
        )
        await hub.status(int(report.items[0].server_id or 0), "connected")
        assert (await hub.call("mcp__books__env", variable="TOKEN")).text == ".".join("abc-def-ghi")
        again = await hub.service.import_json(json.dumps(file), "mcp.json")
        assert told(again)[:2] == [("books", "skipped"), ("off", "skipped")]
        assert again.items[0].reason == "it is there already, with the same configuration"
        file["mcpServers"]["books"]["env"]["TOKEN"] = "another-value"
        assert told(await hub.service.import_json(file, "mcp.json"))[0] == ("books", "updated")


async def test_an_import_changes_no_trust_that_a_person_gave_and_gives_none(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        saved = (await hub.service.save(books.config("books", trust="trusted"))).view.server.id
        await hub.service.import_json({"books": books.entry(env={"A": "b"}, trust="full")})
        assert hub.service.server_policy(saved).trust == "trusted"
        added = (await hub.service.import_json({"new": books.entry(trust="full")})).items[0]
        assert hub.service.server_policy(added.server_id or 0).trust == "ask"


async def test_a_dry_run_says_what_would_happen_and_does_nothing(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        report = await hub.service.import_json({"books": books.entry()}, dry_run=True)
        assert told(report) == [("books", "added")]
        assert await hub.service.list() == []


@pytest.mark.requirement("L29")
async def test_a_file_with_the_wrong_top_key_is_an_error_and_not_an_empty_import(tmp_path: Path) -> None:
    async with bench(tmp_path) as hub:
        with pytest.raises(InvalidError, match=r"mcp\.json: the top key is 'mcp_servers'"):
            await hub.service.import_json('{"mcp_servers": {"a": {"command": "b"}}}', "mcp.json")


@pytest.mark.requirement("L28")
async def test_an_export_holds_references_and_reads_back_as_what_is_there(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        env = {"TOKEN": "hunter2-hunter2", "OUT": "${FROM_OUTSIDE}"}
        await hub.service.save(books.config("books", env=env))
        await hub.service.save(
            {"name": "docs", "url": "https://example.com/mcp?api_key=abcdefghijkl", "enabled": False}
        )
        export = await hub.service.export()
        assert "hunter2" not in json.dumps(export.wire())
        assert "abcdefghijkl" not in json.dumps(export.wire())
        assert export.config["mcpServers"]["books"]["env"]["OUT"] == "${FROM_OUTSIDE}"
        assert any("books.env.TOKEN: stored in this home only" in note for note in export.notes)
        assert any("docs: something that looks like a secret is masked" in note for note in export.notes)
        one = await hub.service.export(["docs"])
        assert set(one.config["mcpServers"]) == {"docs"}
        assert [note.partition(":")[0] for note in one.notes] == ["docs"]
        with pytest.raises(NotFoundError, match="There is no server dogs"):
            await hub.service.export(["docs", "dogs"])
        report = await hub.service.import_json(export.config, "export")
        assert told(report) == [("books", "skipped"), ("docs", "skipped")]
        assert "the same configuration" in str(report.items[0].reason)
        assert MASK in str(report.items[1].reason)

"""Playgrounds as a whole: created, changed in part, kept apart by project, watched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands.errors import ConflictError, InvalidError, NotFoundError, TooLargeError, TooManyError
from manyhands.events import Event
from manyhands.home import Home
from manyhands.playgrounds import rules
from manyhands.playgrounds.console import POSTS_A_SECOND
from manyhands.playgrounds.service import PlaygroundService
from manyhands.playgrounds.types import Key
from manyhands.testing.clock import FakeClock

pytestmark = pytest.mark.anyio


def published(events: list[Event], type: str = "playground.updated") -> list[dict[str, Any]]:
    return [event.data for event in events if event.type == type]


async def test_a_partial_update_loses_nothing(service: PlaygroundService, events: list[Event]) -> None:
    await service.create("page", title="First", description="About", html="<p>1", author_id="me")
    assert await service.write_file("page", "lib/a.js", "export {}")
    await service.update("page", title="Second")
    found = await service.get("page")
    assert (found.manifest.title, found.manifest.description) == ("Second", "About")
    assert found.manifest.author_id == "me"
    assert await service.read_file("page", "index.html") == b"<p>1"
    await service.update("page", html="<p>2")
    found = await service.get("page")
    assert [file.path for file in found.files] == ["index.html", "lib/a.js"]
    assert found.manifest.title == "Second"
    assert await service.read_file("page", "lib/a.js") == b"export {}"
    assert [(data["change"], data["path"]) for data in published(events)] == [
        ("created", None),
        ("updated", "lib/a.js"),
        ("updated", None),
        ("updated", "index.html"),
    ]


async def test_what_a_person_added_to_a_manifest_stays(service: PlaygroundService, home: Home) -> None:
    await service.create("page")
    manifest = home.playgrounds / "page" / ".playground.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"theirs": [1]}))
    await service.update("page", description="new")
    assert json.loads(manifest.read_text())["theirs"] == [1]


async def test_global_ones_and_those_of_a_project_are_kept_apart(
    service: PlaygroundService, home: Home, project: str
) -> None:
    await service.create("page", html="global")
    await service.create("page", project, html="project")
    assert (home.playgrounds / "page" / "index.html").read_text() == "global"
    assert (Path(project) / ".manyhands/playgrounds/page/index.html").read_text() == "project"
    assert [one.key for one in await service.list()] == [Key("page")]
    assert [one.key for one in await service.list([project])] == [Key("page"), Key("page", project)]
    assert [channel for _, channel in await service.list_all()] == [None, "ch_1"]
    await service.delete("page", project)
    assert await service.read_file("page", "index.html") == b"global"
    with pytest.raises(NotFoundError, match="no project playground"):
        await service.get("page", project)


async def test_creating_twice_and_changing_what_is_not_there_are_refused(service: PlaygroundService) -> None:
    await service.create("page", html="<p>mine")
    with pytest.raises(ConflictError, match="already"):
        await service.create("page", html="<p>other")
    assert await service.read_file("page", "index.html") == b"<p>mine"
    with pytest.raises(NotFoundError, match="There are: page"):
        await service.update("pag", title="x")
    with pytest.raises(ConflictError, match="action update"):
        await service.write_file("page", "index.html", "x", must=False)
    with pytest.raises(NotFoundError, match="action create"):
        await service.write_file("page", "new.js", "x", must=True)
    for path in ("none.js", "index.html/none", "no/where.js"):
        with pytest.raises((NotFoundError, InvalidError)):
            await service.read_file("page", path)
    with pytest.raises(NotFoundError):
        await service.create("page", "/nowhere/at/all")


async def test_a_deleted_file_takes_its_empty_folders_with_it(service: PlaygroundService, home: Home) -> None:
    await service.create("page")
    await service.write_file("page", "a/b/c.js", "1")
    await service.write_file("page", "a/d.js", "2")
    await service.delete_file("page", "a/b/c.js")
    assert [file.path for file in await service.list_files("page")] == ["a/d.js", "index.html"]
    assert not (home.playgrounds / "page" / "a" / "b").exists()
    with pytest.raises(NotFoundError):
        await service.delete_file("page", "a/b/c.js")
    with pytest.raises(NotFoundError):
        await service.delete_file("page", "a")
    with pytest.raises(InvalidError):
        await service.delete_file("page", "index.html")


async def test_ten_megabytes_are_refused_and_nothing_is_left_behind(
    service: PlaygroundService, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TooLargeError, match="5,000,000"):
        await service.create("page", html="x" * 10_000_000)
    assert await service.list() == []
    await service.create("page", html="<p>")
    with pytest.raises(TooLargeError, match="5,000,000"):
        await service.write_file("page", "big.js", "x" * 10_000_000)
    monkeypatch.setattr(rules, "LARGEST_PLAYGROUND", 1000)
    await service.write_file("page", "some.bin", b"x" * 900)
    with pytest.raises(TooLargeError, match="may have 1,000"):
        await service.write_file("page", "more/one.bin", b"x" * 100)
    assert not [path for path in home.playgrounds.rglob(".*") if path.name != ".playground.json"]


async def test_the_number_of_files_and_of_playgrounds_is_limited(
    service: PlaygroundService, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_FILES", 3)
    monkeypatch.setattr(rules, "MOST_PLAYGROUNDS", 2)
    await service.create("one")
    await service.write_file("one", "a", "")
    await service.write_file("one", "b", "")
    with pytest.raises(TooLargeError, match="it may have 3"):
        await service.write_file("one", "c", "")
    await service.write_file("one", "b", "changed")
    await service.create("two")
    with pytest.raises(TooLargeError, match="2 playgrounds"):
        await service.create("three")


async def test_links_are_neither_followed_nor_shown(
    service: PlaygroundService, home: Home, project: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("secret")
    (secret / "index.html").write_text("secret")
    await service.create("page", project)
    inside = Path(project) / ".manyhands" / "playgrounds" / "page"
    (inside / "file.txt").symlink_to(secret / "key.txt")
    (inside / "folder").symlink_to(secret)
    os.mkfifo(inside / "pipe")
    (inside.parent / "other").symlink_to(secret)
    for path in ("file.txt", "folder/key.txt", "pipe"):
        with pytest.raises(InvalidError, match="link"):
            await service.read_file("page", path, project)
        with pytest.raises(InvalidError, match="link"):
            await service.write_file("page", path, "overwritten", project)
    with pytest.raises(InvalidError, match="link"):
        await service.write_file("page", "folder/new.txt", "new", project)
    assert [file.path for file in await service.list_files("page", project)] == ["index.html"]
    assert [one.key.name for one in await service.list([project])] == ["page"]
    with pytest.raises(NotFoundError):
        await service.read_file("other", "key.txt", project)
    await service.delete_file("page", "file.txt", project)
    await service.delete("page", project)
    assert sorted(path.name for path in secret.iterdir()) == ["index.html", "key.txt"]
    assert (secret / "key.txt").read_text() == "secret"


async def test_a_project_whose_own_folder_is_a_link_has_no_playgrounds(
    service: PlaygroundService, project: str, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (Path(project) / ".manyhands").symlink_to(tmp_path / "elsewhere")
    assert await service.list([project]) == []
    with pytest.raises(InvalidError, match="link"):
        await service.create("page", project)
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_many_writers_at_once_leave_whole_files(service: PlaygroundService) -> None:
    await service.create("page")
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(service.write_file, "page", "same.txt", str(number % 10) * 50_000)
            group.start_soon(service.write_file, "page", f"{number}.txt", "mine")
    content = await service.read_file("page", "same.txt")
    assert len(content) == 50_000
    assert len(set(content)) == 1
    assert len(await service.list_files("page")) == 22


# --- the page


async def test_an_address_is_not_guessed_and_stays_the_same(
    service: PlaygroundService, home: Home, project: str
) -> None:
    await service.create("page")
    await service.create("page", project)
    assert service.address(Key("page")) is None
    service.port = 8223
    one, other = service.address(Key("page")), service.address(Key("page", project))
    assert one is not None
    assert one != other
    capability = one.split("/")[3]
    assert len(capability) == 40
    assert "page" not in one
    assert await service.behind(capability) == Key("page")
    for wrong in ("", "0" * 40, "page"):
        with pytest.raises(NotFoundError):
            await service.behind(wrong)


async def test_an_address_of_an_earlier_run_is_found_again(
    service: PlaygroundService, project: str, home: Home
) -> None:
    await service.create("page", project)
    service.port = 1
    capability = (service.address(Key("page", project)) or "").split("/")[3]
    service._known.clear()
    assert await service.behind(capability) == Key("page", project)


async def test_a_page_is_served_with_its_import_map_before_its_scripts(service: PlaygroundService) -> None:
    html = "<!doctype html><html><head><title>x</title><script type=module src=a.js></script></head></html>"
    await service.create("page", html=html)
    await service.write_file("page", "importmap.json", '{"imports": {"x</script>": "./x.js"}}')
    served = (await service.serve(Key("page"), "", "/cap/console.js")).content.decode()
    assert served.index("console.js") < served.index('type="importmap"') < served.index("<title>")
    assert "x</script>" not in served
    assert await service.read_file("page", "index.html") == html.encode()


async def test_a_broken_import_map_is_told_in_the_console(service: PlaygroundService) -> None:
    await service.create("page", html="<p>")
    await service.write_file("page", "importmap.json", "{")
    served = await service.serve(Key("page"), "", "/c.js")
    assert b"importmap" not in served.content
    assert "importmap.json is not valid JSON" in (await service.console("page"))[0].text


async def test_the_console_is_kept_bounded_and_told(
    service: PlaygroundService, clock: FakeClock, events: list[Event]
) -> None:
    await service.create("page")
    key = Key("page")
    lines = [{"level": "error", "text": "x" * 10_000}, {"level": "odd", "text": "a\0b"}, "none", {}]
    service.take_console(key, json.dumps(lines).encode())
    kept = await service.console("page")
    assert [entry.level for entry in kept] == ["error", "log", "log"]
    assert len(kept[0].text) < 4100
    assert "\0" not in kept[1].text
    assert published(events, "playground.console") == [key.wire()]
    for body in (b"", b"{}", b"\xff", b"[" * 60_000):
        with pytest.raises(InvalidError):
            service.take_console(key, body)
    with pytest.raises(TooLargeError):
        service.take_console(key, b" " * 70_000)
    clock.advance(2)
    for _ in range(POSTS_A_SECOND):
        service.take_console(key, json.dumps([{"text": "many"}] * 100).encode())
    with pytest.raises(TooManyError):
        service.take_console(key, b"[]")
    assert len(await service.console("page")) == 500
    await service.clear_console("page")
    assert await service.console("page") == ()

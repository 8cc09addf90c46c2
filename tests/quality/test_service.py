"""Scans of channels from start to end, and what is kept of them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands.chat.types import Channel
from manyhands.errors import ConflictError, InvalidError, NotFoundError, UnavailableError
from manyhands.events import Event
from manyhands.home import Home
from manyhands.hub import Hub
from manyhands.quality import scanners
from manyhands.quality.service import NoScanYet
from tests.chat.repositories import Repository
from tests.quality.conftest import ENDLESS, no_scan_begins
from tests.quality.projects import COPIED, MANY, SHOP

pytestmark = pytest.mark.anyio

ENOUGH_S = 60


async def events_of(hub: Hub, work: Any, last: str) -> list[Event]:
    """What is told of quality while something goes on, up to an event of that type."""
    found: list[Event] = []
    with anyio.fail_after(ENOUGH_S):
        async with hub.bus.subscribe() as events:
            await work()
            async for event in events:
                if event.type.startswith("quality."):
                    found.append(event)
                if event.type == last:
                    return found
    raise AssertionError(last)


async def rows(hub: Hub, channel: Channel, part: Any) -> list[dict[str, Any]]:
    return list((await hub.quality.rows(channel.id, part)).items)


async def test_a_scan_tells_its_progress_and_ends_with_the_snapshot(hub: Hub, channel: Channel) -> None:
    assert hub.quality.running(channel.id) is None
    told = await events_of(hub, lambda: hub.quality.start_scan(channel.id), "quality.scanned")
    assert {event.channel_id for event in told} == {channel.id}
    assert told[0].type == "quality.progress"
    assert told[-1].data["quality_signal"] == (await hub.quality.snapshot(channel.id)).snapshot.signal
    assert {"done": 5, "total": 5} in [
        {name: event.data[name] for name in ("done", "total")} for event in told[:-1]
    ]
    assert set(told[-1].data["metrics"]) == {
        "modularity",
        "cycles",
        "depth",
        "equality",
        "redundancy",
        "complexity",
    }


async def test_all_lists_of_a_snapshot_survive_a_restart(
    hub: Hub, channel: Channel, tmp_path: Path, repository: Repository
) -> None:
    await hub.quality.scan(channel.id)
    parts = ("functions", "clones", "cycles", "files", "graph", "unused")
    before = {part: await rows(hub, channel, part) for part in parts}
    summary = (await hub.quality.snapshot(channel.id)).wire()
    await hub.__aexit__(None, None, None)
    async with Hub(Home(tmp_path / "home")) as again:
        assert {part: await rows(again, channel, part) for part in parts} == before
        assert (await again.quality.snapshot(channel.id)).wire() == summary
    assert before["functions"][0]["name"] == "many"
    assert before["functions"][0]["over"] == ["parameters"]
    assert [unit["name"] for unit in before["clones"][0]["units"]] == ["totals", "prices"]
    assert before["cycles"] == [
        {
            "id": 1,
            "size": 2,
            "files": ["shop/orders.py", "shop/prices.py"],
            "links": [["shop/orders.py", "shop/prices.py"], ["shop/prices.py", "shop/orders.py"]],
        }
    ]
    assert {"path": "shop/main.py", "imports": ["shop/orders.py"], "community": 1} in before["graph"]
    assert [one["name"] for one in before["unused"]] == ["lost", "many"]
    assert [one["path"] for one in before["files"]] == sorted(SHOP)


async def test_only_one_scan_of_a_channel_goes_on_and_it_can_be_cancelled(
    hub: Hub, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(scanners, "_COMMAND", ENDLESS)
        assert await hub.quality.start_scan(channel.id) == "started"
        assert await hub.quality.start_scan(channel.id) == "in_progress"
        assert hub.quality.running(channel.id) is not None
        await until(scanner_processes)
        told = await events_of(hub, lambda: hub.quality.cancel(channel.id), "quality.failed")
    assert told[-1].data["error"] == "The scan was cancelled."
    assert hub.quality.running(channel.id) is None
    assert await hub.quality.cancel(channel.id) is False
    assert scanner_processes() == []
    with pytest.raises(NoScanYet, match="not been scanned"):
        await hub.quality.snapshot(channel.id)
    await hub.quality.scan(channel.id)


async def until(is_so: Callable[[], object]) -> None:
    """Wait for something that another task or process does."""
    with anyio.fail_after(ENOUGH_S):
        while not is_so():
            await anyio.lowlevel.checkpoint()


async def test_who_waits_for_a_scan_that_is_cancelled_is_told(hub: Hub, channel: Channel) -> None:
    async def wait() -> None:
        with pytest.raises(ConflictError, match="cancelled"):
            await hub.quality.scan(channel.id)

    async with no_scan_begins(hub), anyio.create_task_group() as group:
        group.start_soon(wait)
        await until(lambda: hub.quality.running(channel.id))
        await hub.quality.cancel(channel.id)


async def test_a_rescan_measures_what_has_changed_alone_also_after_the_process_has_gone(
    hub: Hub, channel: Channel, repository: Repository
) -> None:
    first = await hub.quality.scan(channel.id)
    (repository.path / "shop/lost.py").write_text("def found():\n    pass\n\n\nfound()\n")
    second = await hub.quality.scan(channel.id)
    await hub._scanners.close()
    third = await hub.quality.scan(channel.id)
    assert [one.snapshot.summary["measured"] for one in (first, second, third)] == [5, 1, 0]
    assert second.wire()["change"] == second.snapshot.signal - first.snapshot.signal != 0
    assert third.snapshot.signal == second.snapshot.signal


async def test_the_current_branch_comes_first_then_the_newest_with_a_mismatch(
    hub: Hub, channel: Channel, repository: Repository
) -> None:
    on_main = await hub.quality.scan(channel.id)
    assert (on_main.snapshot.branch, on_main.branch_mismatch) == ("main", False)
    assert on_main.snapshot.commit_id == repository("rev-parse", "HEAD")
    repository("checkout", "--quiet", "-b", "feature/one")
    shown = (await hub.quality.snapshot(channel.id)).wire()
    assert (shown["branch"], shown["current_branch"], shown["branch_mismatch"]) == (
        "main",
        "feature/one",
        True,
    )
    on_feature = await hub.quality.scan(channel.id)
    assert on_feature.wire()["branch"] == "feature/one"
    assert on_feature.before is None
    repository("checkout", "--quiet", "main")
    shown = (await hub.quality.snapshot(channel.id)).wire()
    assert (shown["branch"], shown["branch_mismatch"]) == ("main", False)
    history = await hub.quality.history(channel.id)
    assert [one.branch for one in history.items] == ["feature/one", "main"]
    assert [one.branch for one in (await hub.quality.history(channel.id, "main")).items] == ["main"]


async def test_a_page_of_the_history_goes_on_where_the_last_one_ended(hub: Hub, channel: Channel) -> None:
    ids = [(await hub.quality.scan(channel.id)).snapshot.id for _ in range(3)]
    page = await hub.quality.history(channel.id, limit=2)
    rest = await hub.quality.history(channel.id, limit=2, cursor=page.next_cursor)
    assert [one.id for one in (*page.items, *rest.items)] == ids[::-1]
    assert rest.next_cursor is None


async def test_the_history_of_a_branch_is_bounded(hub: Hub, channel: Channel) -> None:
    await hub.settings.patch({"quality_history": 2})
    ids = [(await hub.quality.scan(channel.id)).snapshot.id for _ in range(3)]
    assert [one.id for one in (await hub.quality.history(channel.id)).items] == ids[:0:-1]


async def test_settings_leave_files_out_and_bound_a_scan(hub: Hub, channel: Channel) -> None:
    await hub.settings.patch({"quality_exclude": ["main.py"], "quality_max_files": 2})
    summary = (await hub.quality.scan(channel.id)).snapshot.summary
    assert summary["files"] == 2
    assert summary["left_out"] == {"excluded": 1, "over_limit": 2}
    assert summary["truncated"] is True


async def test_a_channel_without_a_directory_and_one_whose_directory_went_say_so(
    hub: Hub, tmp_path: Path
) -> None:
    bare, _ = await hub.channels.find_or_create(name="bare")
    with pytest.raises(InvalidError, match="has no directory"):
        await hub.quality.start_scan(bare.id)
    (tmp_path / "going").mkdir()
    gone, _ = await hub.channels.find_or_create(dir_path=str(tmp_path / "going"))
    (tmp_path / "going").rmdir()
    with pytest.raises(NotFoundError, match="There is no directory"):
        await hub.quality.scan(gone.id)
    with pytest.raises(NotFoundError):
        await hub.quality.start_scan("ch_nobody")


def scanner_processes() -> list[psutil.Process]:
    """Those below this process that scan or measure."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if any(part.startswith("manyhands.quality.") for part in child.cmdline()):
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.mark.parametrize("first", ["", '{"progress": {"phase": "x", "done": 0, "total": 0}}'])
async def test_a_scan_whose_process_dies_fails_with_how_it_died(
    hub: Hub, channel: Channel, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    code = f"import os; input(); print({first!r}, end={first and chr(10)!r}, flush=True); os._exit(3)"
    with monkeypatch.context() as patch:
        patch.setattr(scanners, "_COMMAND", (sys.executable, "-c", code))
        with pytest.raises(UnavailableError, match=r"ended in the middle of it \(exit code 3\)"):
            await hub.quality.scan(channel.id)
    assert (await hub.quality.scan(channel.id)).snapshot.signal > 0


async def test_a_mistake_of_ours_fails_the_scan_and_not_the_hub(
    hub: Hub, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "input(); print('{\"odd\": 1}', flush=True)"
    with monkeypatch.context() as patch:
        patch.setattr(scanners, "_COMMAND", (sys.executable, "-c", code))
        with pytest.raises(UnavailableError, match="The scan failed: 'progress'"):
            await hub.quality.scan(channel.id)
    assert (await hub.quality.scan(channel.id)).snapshot.signal > 0


async def test_a_process_that_died_while_it_waited_is_replaced(hub: Hub, channel: Channel) -> None:
    await hub.quality.scan(channel.id)
    (idle,) = scanner_processes()
    os.kill(idle.pid, signal.SIGKILL)
    assert (await hub.quality.scan(channel.id)).snapshot.signal > 0


async def test_a_process_that_nobody_asks_ends_after_a_while(hub: Hub, channel: Channel) -> None:
    await hub.settings.patch({"quality_wait_s": 0.001})
    await hub.quality.scan(channel.id)
    await until(lambda: not scanner_processes())
    assert (await hub.quality.scan(channel.id)).snapshot.signal > 0


async def test_lines_of_a_scanned_file_can_be_read_and_no_others(
    hub: Hub, channel: Channel, repository: Repository
) -> None:
    await hub.quality.scan(channel.id)
    source = await hub.quality.source(channel.id, "shop/prices.py", 4, 5)
    assert source.text == "def prices(rows, limit):\n    found = []\n"
    assert (source.changed, source.cut, source.language) == (False, False, "python")
    for path in ("readme.txt", "../home/token", "/etc/passwd"):
        with pytest.raises(NotFoundError):
            await hub.quality.source(channel.id, path, 1, 2)
    (repository.path / "shop/prices.py").write_text("x = 1\n")
    assert (await hub.quality.source(channel.id, "shop/prices.py", 1, 900)).changed
    (repository.path / "shop/prices.py").unlink()
    with pytest.raises(NotFoundError, match="no longer there"):
        await hub.quality.source(channel.id, "shop/prices.py", 1, 2)
    (repository.path / "shop/prices.py").symlink_to("/etc/passwd")
    with pytest.raises(NotFoundError, match="leads out"):
        await hub.quality.source(channel.id, "shop/prices.py", 1, 2)


# --- comparisons


@pytest.mark.requirement("L42")
async def test_a_gate_fails_on_new_problems_only(hub: Hub, repository: Repository) -> None:
    passed = await hub.quality.gate(repository.path, "main")
    assert (passed.passed, passed.problems, passed.quality_signal) == (True, (), passed.base_signal)
    repository("checkout", "--quiet", "-b", "work")
    (repository.path / "shop/new.py").write_text(MANY.replace("many", "more") + COPIED.format(name="again"))
    failed = await hub.quality.gate(repository.path, "main")
    assert not failed.passed
    assert [(one.kind, one.path, one.name) for one in failed.problems] == [
        ("function", "shop/new.py", "more"),
        ("clone", "shop/new.py", "again"),
    ]
    assert [(one["kind"], one["name"]) for one in failed.changes] == [("added", "more"), ("added", "again")]
    assert failed.base_commit == repository("rev-parse", "main")
    lenient = await hub.quality.gate(repository.path, "main", {"clones": False, "parameters": 9})
    assert lenient.passed
    assert list(hub.home.quality.glob("base-*")) == []


async def test_a_comparison_tells_how_far_it_is(hub: Hub, channel: Channel) -> None:
    told: list[Event] = []
    async with hub.bus.subscribe() as events:
        await hub.quality.compare(channel.id, "main")
        hub.bus.publish("test.over", {})
        async for event in events:
            if event.type == "test.over":
                break
            told.append(event)
    assert {(event.type, event.channel_id) for event in told} == {("quality.comparing", channel.id)}
    phases = list(dict.fromkeys(event.data["phase"] for event in told))
    assert phases == ["checking out the base", "measuring", "measuring the base", "comparing"]
    assert {"phase": "measuring", "done": 5, "total": 5, "share": 1.0} in [event.data for event in told]


async def test_a_gate_compares_with_where_the_work_left_the_base(hub: Hub, repository: Repository) -> None:
    repository("checkout", "--quiet", "-b", "work")
    repository("checkout", "--quiet", "main")
    repository.commit("shop/prices.py", "", "main has mended it meanwhile")
    repository("checkout", "--quiet", "work")
    found = await hub.quality.gate(repository.path)
    assert (found.passed, found.base, found.total_changes) == (True, "main", 0)
    assert found.base_commit == repository("rev-parse", "work")


async def test_a_comparison_whose_caller_is_cancelled_leaves_nothing_behind(
    hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanners, "_COMMAND", ENDLESS)
    async with anyio.create_task_group() as group:
        group.start_soon(hub.quality.gate, repository.path, "main")
        await until(scanner_processes)
        group.cancel_scope.cancel()
    assert scanner_processes() == []
    assert list(hub.home.quality.glob("base-*")) == []


async def test_a_directory_within_a_repository_is_compared_alone(hub: Hub, repository: Repository) -> None:
    repository.commit("other/bad.py", MANY)
    (repository.path / "other/bad.py").write_text(MANY.replace("g)", "g, h)"))
    assert (await hub.quality.gate(repository.path / "shop", "HEAD")).passed
    assert not (await hub.quality.gate(repository.path / "other", "HEAD")).passed
    (repository.path / "fresh").mkdir()
    (repository.path / "fresh/a.py").write_text(MANY)
    assert (await hub.quality.gate(repository.path / "fresh", "HEAD")).changes[0]["kind"] == "added"


async def test_what_cannot_be_compared_says_why(hub: Hub, repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no commit 'nowhere'.*branch, a tag"):
        await hub.quality.gate(repository.path, "nowhere")
    with pytest.raises(NotFoundError, match="no commit '--help'"):
        await hub.quality.gate(repository.path, "--help")
    with pytest.raises(InvalidError, match="has no rule 'speed'"):
        await hub.quality.gate(repository.path, "main", {"speed": 1})
    (tmp_path / "plain").mkdir()
    with pytest.raises(InvalidError, match="not in a git repository"):
        await hub.quality.gate(tmp_path / "plain")
    with pytest.raises(NotFoundError, match="There is no directory"):
        await hub.quality.gate(tmp_path / "gone")


async def test_a_repository_without_a_commit_is_scanned_but_not_compared(hub: Hub, tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")
    empty.path.mkdir()
    empty("init", "--quiet", "--initial-branch=trunk")
    channel, _ = await hub.channels.find_or_create(dir_path=str(empty.path))
    shown = await hub.quality.scan(channel.id)
    assert (shown.snapshot.branch, shown.snapshot.commit_id) == ("trunk", None)
    assert shown.snapshot.signal == 10_000
    with pytest.raises(InvalidError, match="no commit yet"):
        await hub.quality.gate(empty.path)

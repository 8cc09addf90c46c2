"""A project's file is read with care, recognised by what it says, and watched."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands.clock import SystemClock
from manyhands.servers import projects
from manyhands.servers.projects import PROJECT_FILE, ProjectWatch, read_project

pytestmark = pytest.mark.anyio

TIME = {"command": "uvx", "args": ["mcp-server-time"]}


def write(directory: Path, value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    directory.joinpath(PROJECT_FILE).write_text(text)


async def hashes(directory: Path, value: Any) -> dict[str, str]:
    write(directory, value)
    project = await read_project(str(directory))
    assert project.problem is None
    return {name: entry.hash for name, entry in project.entries.items()}


async def test_a_directory_without_the_file_has_no_servers(tmp_path: Path) -> None:
    project = await read_project(str(tmp_path))
    assert (project.entries, project.problem) == ({}, None)


async def test_the_hash_of_an_entry_follows_what_runs_and_nothing_else(tmp_path: Path) -> None:
    first = await hashes(tmp_path, {"mcpServers": {"time": TIME}})
    moved = {"args": ["mcp-server-time"], "command": "uvx", "timeout": 90, "description": "Now with words"}
    assert await hashes(tmp_path, {"mcpServers": {"time": moved}}) == first
    for change in ({"args": ["evil"]}, {"env": {"A": "b"}}, {"cwd": "/"}, {"command": "sh"}):
        assert await hashes(tmp_path, {"mcpServers": {"time": {**TIME, **change}}}) != first


async def test_a_file_cannot_approve_its_own_servers(tmp_path: Path) -> None:
    write(tmp_path, {"mcpServers": {"time": {**TIME, "trust": "full", "alwaysAllow": ["*"]}}})
    project = await read_project(str(tmp_path))
    assert project.entries["time"].config.trust == "ask"
    assert [note.split(": ")[1] for note in project.notes] == [
        "mcpServers.time.trust",
        "mcpServers.time.alwaysAllow",
    ]


@pytest.mark.requirement("L29")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"servers": {"time": {"command": "uvx"}}}', "Rename 'servers' to 'mcpServers'"),
        ('{"mcpServers": ', "not valid JSON"),
        ('{"mcpServers": {"a": {"command": "x"}, "A": {"command": "y"}}}', "which is taken"),
        (" " * 1_100_000, "larger than"),
    ],
)
async def test_what_is_wrong_with_the_file_is_told_with_its_path(
    tmp_path: Path, text: str, message: str
) -> None:
    write(tmp_path, text)
    problem = str((await read_project(str(tmp_path))).problem)
    assert str(tmp_path / PROJECT_FILE) in problem
    assert message in problem


async def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    tmp_path.joinpath(PROJECT_FILE).write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in str((await read_project(str(tmp_path))).problem)


@asynccontextmanager
async def watching(*directories: Path) -> AsyncIterator[tuple[ProjectWatch, Any]]:
    send, receive = anyio.create_memory_object_stream[set[str]](16)
    watch = ProjectWatch(SystemClock())
    watch.watch({str(directory) for directory in directories})
    async with anyio.create_task_group() as tasks, send, receive:
        tasks.start_soon(watch.run, send.send)
        yield watch, receive
        tasks.cancel_scope.cancel()


async def told_of(receive: Any, directory: Path, value: Any) -> set[str]:
    """Write until it is noticed: nobody says when the watch has begun."""
    found: set[str] = set()
    with anyio.fail_after(20):
        while not found:
            write(directory, value)
            with anyio.move_on_after(1):
                found = await receive.receive()
    return found


async def test_a_changed_file_is_noticed_and_other_files_are_not(tmp_path: Path) -> None:
    async with watching(tmp_path) as (_, receive):
        tmp_path.joinpath("other.json").write_text("{}")
        assert await told_of(receive, tmp_path, {"mcpServers": {}}) == {str(tmp_path)}


async def test_directories_can_be_added_while_it_watches(tmp_path: Path) -> None:
    later = tmp_path / "later"
    later.mkdir()
    async with watching() as (watch, receive):
        watch.watch({str(later), str(tmp_path / "not-there")})
        assert await told_of(receive, later, {"mcpServers": {}}) == {str(later)}


async def test_a_name_that_is_no_utf_8_ends_no_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(projects, "_RETRY_S", 0.01)
    odd = os.path.join(os.fsencode(tmp_path), b"caf\xe9.txt")
    async with watching(tmp_path) as (_, receive):
        await told_of(receive, tmp_path, {"mcpServers": {}})
        with anyio.fail_after(20):
            while not caplog.records:  # what is told of here may be the writing before
                os.close(os.open(odd, os.O_CREAT))
                assert await receive.receive() == {str(tmp_path)}
        assert await told_of(receive, tmp_path, {"mcpServers": {}}) == {str(tmp_path)}
    assert [(record.levelno, record.name) for record in caplog.records] == [
        (logging.WARNING, projects.__name__)
    ]
    assert "caf" in caplog.text

"""`read_file`: lines of a text file, bounded, with a way to go on and clear words for what is no text."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.testing.tools import QuietInvocation
from manyhands.tools.native import read_file
from manyhands.tools.native.read_file import ReadFile
from manyhands.tools.types import CallContext, ResultPage
from tests.tools.desk import ChangingSettings

pytestmark = pytest.mark.anyio


async def no_pages(call_id: str, offset: int, limit: int, context: CallContext) -> ResultPage:
    raise AssertionError("no result was asked for")


@pytest.fixture
def settings() -> ChangingSettings:
    return ChangingSettings()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


async def read(root: Path, settings: ChangingSettings, path: str, **arguments: Any) -> str:
    tool = ReadFile(settings, no_pages)
    invocation = QuietInvocation(CallContext(directory=str(root)))
    return (await tool({"path": path, **arguments}, invocation)).text


async def test_a_small_file_comes_exactly_as_it_is(root: Path, settings: ChangingSettings) -> None:
    (root / "a.md").write_bytes("grüße\r\n\tend".encode())
    assert await read(root, settings, "a.md") == "grüße\r\n\tend"


async def test_a_long_file_comes_in_parts_that_add_up(root: Path, settings: ChangingSettings) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 5001))
    (root / "long.txt").write_text(text)
    first = await read(root, settings, "long.txt")
    body, _, note = first.rpartition("\n[")
    assert note == 'lines 1-2000 of 5000; go on with "offset": 2001]'
    second = (await read(root, settings, "long.txt", offset=2001)).rpartition("\n[")[0]
    third = await read(root, settings, "long.txt", offset=4001)
    assert body + second + third == text


async def test_offset_and_limit_count_lines(root: Path, settings: ChangingSettings) -> None:
    (root / "a.txt").write_text("one\ntwo\nthree\nfour")
    assert await read(root, settings, "a.txt", offset=2, limit=2) == (
        'two\nthree\n\n[lines 2-3 of 4; go on with "offset": 4]'
    )
    assert await read(root, settings, "a.txt", offset=4) == "four"
    assert await read(root, settings, "a.txt", offset=9) == "['a.txt' has fewer than 9 lines]"


async def test_a_part_never_exceeds_the_limit_for_results(root: Path, settings: ChangingSettings) -> None:
    (root / "wide.txt").write_text(("x" * 999 + "\n") * 100)
    text = await read(root, settings, "wide.txt")
    assert len(text) <= settings.current.result_limit_chars
    assert '[lines 1-29 of 100; go on with "offset": 30]' in text


async def test_a_line_without_end_is_cut_and_said_to_be(root: Path, settings: ChangingSettings) -> None:
    (root / "one.json").write_text("x" * 3_000_000 + "\nlast line\n")
    text = await read(root, settings, "one.json")
    assert len(text) <= settings.current.result_limit_chars
    assert "this line has 3000001 characters" in text
    assert await read(root, settings, "one.json", offset=2) == "last line\n"


async def test_nobody_looks_for_the_end_of_a_line_that_has_none(
    root: Path, settings: ChangingSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_file, "LONGEST_LINE", 3_000_000)
    (root / "one.json").write_text("first line\n" + "x" * 5_000_000 + "\nlast line\n")
    text = await read(root, settings, "one.json", offset=2)
    assert len(text) <= settings.current.result_limit_chars
    assert text.endswith("[… this line has more than 3000000 characters; nothing behind is read]\n")
    with pytest.raises(ToolFault, match=r"Line 2 of 'one\.json' has more than 3000000 characters"):
        await read(root, settings, "one.json", offset=3)


async def test_a_thread_reads_no_further_when_its_call_is_cancelled(
    root: Path, settings: ChangingSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_file, "LONGEST_LINE", 10**15)
    with (root / "sparse").open("wb") as file:
        file.truncate(300 * 10**9)
    begun, ended = threading.Event(), threading.Event()
    work = read_file._Reading.read

    def observed(self: Any, *rest: Any) -> Any:
        begun.set()
        try:
            return work(self, *rest)
        finally:
            ended.set()

    monkeypatch.setattr(read_file._Reading, "read", observed)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(read, root, settings, "sparse", encoding="utf-16-le"))
        await anyio.to_thread.run_sync(begun.wait)
        tasks.cancel_scope.cancel()
    with anyio.fail_after(60):
        while not ended.is_set():
            await anyio.lowlevel.checkpoint()


async def test_an_empty_file_is_said_to_be_empty(root: Path, settings: ChangingSettings) -> None:
    (root / "a.txt").write_text("")
    assert await read(root, settings, "a.txt") == "['a.txt' is empty]"


async def test_other_encodings(root: Path, settings: ChangingSettings) -> None:
    (root / "bom.txt").write_bytes(b"\xef\xbb\xbfhello")
    (root / "latin.txt").write_bytes("gut\ngrüße".encode("latin-1"))
    (root / "wide.txt").write_text("hello", encoding="utf-16")
    assert await read(root, settings, "bom.txt") == "hello"
    with pytest.raises(ToolFault, match=r"not valid utf-8.*0xfc.*latin-1"):
        await read(root, settings, "latin.txt")
    assert await read(root, settings, "latin.txt", encoding="latin-1") == "gut\ngrüße"
    with pytest.raises(ToolFault, match="UTF-16"):
        await read(root, settings, "wide.txt")
    assert await read(root, settings, "wide.txt", encoding="utf-16") == "hello"
    for name in ("klingon", "base64", "utf-8\0"):
        with pytest.raises(ToolFault, match="no text encoding"):
            await read(root, settings, "bom.txt", encoding=name)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none.txt", "There is no"),
        ("docs", "is a directory"),
        ("picture.png", "read_image"),
        ("pipe", "not a regular file"),
        ("docs/none/a", "There is no"),
    ],
)
async def test_what_is_no_text_file(root: Path, settings: ChangingSettings, path: str, words: str) -> None:
    (root / "docs").mkdir()
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    os.mkfifo(root / "pipe")
    with pytest.raises(ToolFault, match=words):
        await read(root, settings, path)


async def test_nothing_outside_is_read(root: Path, settings: ChangingSettings) -> None:
    with pytest.raises(ToolRefusal):
        await read(root, settings, "/etc/passwd")


async def test_without_a_directory_there_is_a_clear_error(settings: ChangingSettings) -> None:
    with pytest.raises(ToolFault, match="has no directory"):
        await ReadFile(settings, no_pages)({"path": "a"}, QuietInvocation())

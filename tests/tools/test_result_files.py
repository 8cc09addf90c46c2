"""Large results on disk: private, whole or not there, paged by characters."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from manyhands.errors import InvalidError, NotFoundError, UnavailableError
from manyhands.tools import result_files
from manyhands.tools.result_files import ResultFiles
from manyhands.tools.types import ToolResult, text_result

pytestmark = pytest.mark.anyio


@pytest.fixture
def files(tmp_path: Path) -> ResultFiles:
    return ResultFiles(tmp_path / "results")


async def test_a_kept_result_is_whole_and_private(files: ResultFiles, tmp_path: Path) -> None:
    result = ToolResult(
        [{"type": "text", "text": "grüße"}, {"type": "image", "data": "AA", "mimeType": "image/png"}],
        structured={"a": [1]},
        is_error=True,
        code="odd",
    )
    name = await files.keep("call_1", result, "grüße")
    assert name == "call_1.json"
    assert await files.load("call_1") == result
    kept = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert kept == ["call_1.json", "call_1.txt"]
    if os.name == "posix":
        assert {path.stat().st_mode & 0o777 for path in (tmp_path / "results").iterdir()} == {0o600}


@pytest.mark.requirement("L16")
async def test_pages_put_together_are_the_text(files: ResultFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "CHUNK", 7)
    text = "".join(f"Zeile {n} – 東京 👍\r\n" for n in range(50))
    await files.keep("call_1", text_result(text), text)
    pages, offset = [], 0
    while True:
        page, size = await files.page("call_1", offset, 13)
        assert size == len(text)
        if not page:
            break
        pages.append(page)
        offset += len(page)
    assert "".join(pages) == text


async def test_a_page_beyond_the_end_is_empty(files: ResultFiles) -> None:
    await files.keep("call_1", text_result("abc"), "abc")
    assert await files.page("call_1", 100, 5) == ("", 3)


async def test_a_result_that_is_gone_is_said_to_be_gone(files: ResultFiles) -> None:
    with pytest.raises(NotFoundError, match="not kept any more"):
        await files.page("call_1", 0, 5)
    with pytest.raises(NotFoundError, match="not kept any more"):
        await files.load("call_1")


@pytest.mark.parametrize("call_id", ["../secret", "a/b", "", "CALL", "x" * 100, "call_1\n"])
async def test_only_ids_of_calls_name_files(files: ResultFiles, call_id: str) -> None:
    with pytest.raises(InvalidError):
        await files.page(call_id, 0, 1)


async def test_a_full_disk_leaves_nothing_behind_and_says_what_to_do(
    files: ResultFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UnavailableError, match="No space left on device") as caught:
        await files.keep("call_1", text_result("x"), "x")
    assert caught.value.data["disk_full"] is True
    assert "Free some disk space" in str(caught.value)
    assert list((tmp_path / "results").iterdir()) == []


async def test_a_text_that_is_paged_is_not_written_twice(files: ResultFiles, tmp_path: Path) -> None:
    text = "long " * 10_000
    result = ToolResult([{"type": "text", "text": text, "annotations": {"priority": 1}}], None)
    await files.keep("call_1", result, text)
    assert (tmp_path / "results" / "call_1.json").stat().st_size < 1000
    assert await files.load("call_1") == result

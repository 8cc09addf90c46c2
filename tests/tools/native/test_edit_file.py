"""`edit_file` replaces what was named and nothing else, or says how to do better."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.tools.native.edit_file import DEFINITION, edit_file
from manyhands.tools.native.files import in_directory
from manyhands.tools.types import ToolResult
from tests.tools.native.calling import Call

pytestmark = pytest.mark.anyio

CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "code.py"
    path.write_text(CODE)
    return path


def edit(path: Path, old: str, new: str, **more: Any) -> ToolResult:
    return edit_file(str(path.parent), {"path": path.name, "old": old, "new": new, **more})


def test_it_asks_since_it_writes() -> None:
    assert DEFINITION.annotations.says_destructive
    assert not DEFINITION.annotations.read_only


def test_the_text_is_replaced_and_the_difference_is_the_answer(code: Path) -> None:
    result = edit(code, "    return 2\n", "    return 22\n")
    assert code.read_text() == CODE.replace("return 2", "return 22")
    assert result.text == (
        "Changed code.py: 1 lines added, 1 removed.\n"
        "--- code.py\n+++ code.py\n@@ -3,4 +3,4 @@\n \n \n def two():\n-    return 2\n+    return 22"
    )
    assert result.structured == {"path": "code.py", "replacements": 1, "added": 1, "removed": 1}


def test_an_empty_text_deletes(code: Path) -> None:
    edit(code, "    return 1\n\n\n", "")
    assert code.read_text() == "def one():\ndef two():\n    return 2\n"


def test_what_is_there_several_times_is_refused_with_its_lines(code: Path) -> None:
    with pytest.raises(ToolFault) as fault:
        edit(code, "return", "yield")
    assert "\"old\" is 2 times in 'code.py' (lines 2, 6)" in fault.value.message
    assert "more of the lines around" in str(fault.value.hint)
    assert code.read_text() == CODE


def test_all_replaces_it_everywhere(code: Path) -> None:
    result = edit(code, "return", "yield", all=True)
    assert code.read_text() == CODE.replace("return", "yield")
    assert "in 2 places" in result.text


def test_text_that_overlaps_itself_is_ambiguous_and_replaced_from_the_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("aaa")
    with pytest.raises(ToolFault, match="2 times"):
        edit(path, "aa", "b")
    edit(path, "aa", "b", all=True)
    assert path.read_text() == "ba"


def test_text_that_differs_in_white_space_alone_is_shown_as_it_is(code: Path) -> None:
    with pytest.raises(ToolFault) as fault:
        edit(code, "def two():\n\treturn 2\n", "x")
    assert "only white space is different" in fault.value.message
    assert "5\tdef two():\n6\t    return 2" in fault.value.message
    assert "without the line numbers" in str(fault.value.hint)


def test_text_that_is_not_there_shows_the_most_similar_lines(code: Path) -> None:
    with pytest.raises(ToolFault) as fault:
        edit(code, "def twos():\n    return 3\n", "x")
    assert "most similar" in fault.value.message
    assert "5\tdef two():" in fault.value.message


def test_text_that_is_like_nothing_in_the_file_says_so(code: Path) -> None:
    with pytest.raises(ToolFault, match="nothing in it is similar"):
        edit(code, "%%%%%%%%", "x")


@pytest.mark.parametrize(("old", "new", "message"), [("", "x", "is empty"), ("x", "x", "nothing to change")])
def test_an_edit_that_means_nothing_is_refused(code: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ToolFault, match=message):
        edit(code, old, new)


def test_windows_line_endings_stay_and_need_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "dos.txt"
    path.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    edit(path, "one\ntwo\n", "1\n2\n2b\n")
    assert path.read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"
    edit(path, "three\r\n", "3\r\n")
    assert path.read_bytes() == b"1\r\n2\r\n2b\r\n3\r\n"


def test_windows_line_endings_do_not_come_into_a_file_without_them(code: Path) -> None:
    edit(code, "def one():\r\n    return 1\r\n", "one = 1\r\n")
    assert code.read_bytes().startswith(b"one = 1\n\n\n")


def test_of_mixed_line_endings_those_at_the_place_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "mixed.txt"
    path.write_bytes(b"a\nb\nc\r\nd\r\n")
    edit(path, "c\nd\n", "C\nD\n")
    assert path.read_bytes() == b"a\nb\nC\r\nD\r\n"
    edit(path, "a\nb\n", "A\nB\n")
    assert path.read_bytes() == b"A\nB\nC\r\nD\r\n"


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    path = tmp_path / "bom.txt"
    path.write_bytes(b"\xef\xbb\xbfgr\xc3\xbcn\n")
    edit(path, "grün", "gelb ä")
    assert path.read_bytes() == b"\xef\xbb\xbfgelb \xc3\xa4\n"


def test_bytes_that_are_not_utf8_stay(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"gr\xfcn and blue\n")
    result = edit(path, "blue", "red")
    assert path.read_bytes() == b"gr\xfcn and red\n"
    assert "+gr\ufffdn and red" in result.text
    with pytest.raises(ToolFault, match="not UTF-8"):
        edit(path, "red", "rötlich")


def test_other_line_separators_are_no_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("a\x0cb\u2028c\n")
    result = edit(path, "b", "B")
    assert path.read_text() == "a\x0cB\u2028c\n"
    assert "@@ -1 +1 @@" in result.text


def test_the_permissions_stay(code: Path) -> None:
    code.chmod(0o751)
    edit(code, "return 1", "return 11")
    assert stat.S_IMODE(code.stat().st_mode) == 0o751


def test_nothing_else_is_left_in_the_directory(code: Path) -> None:
    edit(code, "return 1", "return 11")
    assert os.listdir(code.parent) == ["code.py"]


@pytest.mark.parametrize("data", [b"\x00\x01\x02", "text".encode("utf-16")])
def test_what_is_not_utf8_text_at_all_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    with pytest.raises(ToolFault, match="binary or UTF-16"):
        edit(path, "a", "b")


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("some line\n" * 2000)
    result = edit(path, "some", "another", all=True)
    assert result.text.startswith("Changed long.txt in 2000 places: 2000 lines added, 2000 removed.\n")
    assert result.text.endswith("[… the rest of the difference is left out]")
    assert len(result.text) < 9000


def test_files_outside_are_refused(code: Path) -> None:
    with pytest.raises(ToolRefusal, match="outside"):
        edit_file(str(code.parent), {"path": "../other", "old": "a", "new": "b"})
    (code.parent / "link").symlink_to("/etc/passwd")
    with pytest.raises(ToolRefusal, match="outside"):
        edit_file(str(code.parent), {"path": "link", "old": "root", "new": "toor"})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolFault, match="There is no 'gone"):
        edit(tmp_path / "gone.py", "a", "b")


async def test_edits_of_one_file_side_by_side_are_all_done(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("".join(f"<{number}>\n" for number in range(20)))
    work = in_directory(edit_file)

    async def one(number: int) -> None:
        arguments = {"path": path.name, "old": f"<{number}>", "new": f"done {number}"}
        await work(arguments, Call(tmp_path))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, number)
    assert path.read_text() == "".join(f"done {number}\n" for number in range(20))

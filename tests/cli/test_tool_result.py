"""How results of calls are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manyhands.cli.tool_call import progress_text
from manyhands.cli.tool_result import print_record
from tests.cli.hand_server import ONE_PIXEL

PICTURE = {"type": "image", "mimeType": "image/png", "data": ONE_PIXEL}


def record(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "call_1",
        "content": list(content),
        "isError": False,
        "status": "success",
        "duration_ms": 12,
        **fields,
    }


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_text_goes_to_standard_output_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_record(record(words("one\ntwo"), words("three\n")), None) == 0
    assert capsys.readouterr() == ("one\ntwo\nthree\n", "")


def test_a_failure_goes_to_standard_error_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_record(record(words("no\nway"), isError=True, status="error"), None) == 1
    assert capsys.readouterr() == ("", "no\nway\n")


def test_a_failure_without_content_tells_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_record(record(isError=True, status="timeout", error="Tool execution timed out"), None) == 1
    assert capsys.readouterr().err == "Tool execution timed out\n"


def test_structured_content_stands_in_when_there_is_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    print_record(record(structuredContent={"a": 1}), None)
    assert capsys.readouterr().out == '{\n  "a": 1\n}\n'


def test_a_picture_is_measured_and_can_be_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_record(record(PICTURE), None)
    assert capsys.readouterr().out == "[image image/png, 70 B; --save DIR keeps it]\n"
    print_record(record(PICTURE), str(tmp_path / "new"))
    (saved,) = (tmp_path / "new").iterdir()
    assert saved.suffix == ".png"
    assert saved.read_bytes().startswith(b"\x89PNG")
    assert str(saved) in capsys.readouterr().out


def test_resources_links_and_unknown_blocks_are_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = (
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
        {"type": "resource_link", "name": "doc", "uri": "file:///c"},
        {"type": "hologram", "x": 1},
        {"type": "image", "data": "not base64!"},
    )
    print_record(record(*blocks), None)
    assert capsys.readouterr().out.splitlines() == [
        "inside",
        "[file:///b, 3 B; --save DIR keeps it]",
        "[doc: file:///c]",
        '{"type": "hologram", "x": 1}',
        "[image: not valid base64]",
    ]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"progress": 3, "total": 10, "message": "reading"}, "3 of 10: reading"),
        ({"progress": 0.5}, "0.5"),
        ({"message": "reading"}, "reading"),
        ({}, ""),
    ],
)
def test_progress_is_shown_as_far_as_it_is_told(data: dict[str, Any], shown: str) -> None:
    assert progress_text(data) == shown

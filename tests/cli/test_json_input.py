"""JSON that a person gives on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from manyhands.cli.json_input import read_object
from manyhands.errors import InvalidError


def test_json_is_read_from_the_argument_a_file_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = {"timezone": "Asia/Tokyo"}
    file = tmp_path / "arguments.json"
    file.write_text(json.dumps(value))
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert read_object(json.dumps(value)) == read_object(f"@{file}") == read_object("-") == value


@pytest.mark.parametrize("text", ["{timezone:Tokyo}", "[1]", '"text"', ""])
def test_what_is_no_json_object_is_refused_with_how_to_write_one(text: Any) -> None:
    with pytest.raises(InvalidError, match=r"Write it as|single quotes"):
        read_object(text)

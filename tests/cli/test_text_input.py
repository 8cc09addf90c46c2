from __future__ import annotations

from pathlib import Path

import pytest

from manyhands.cli.text_input import read_text
from manyhands.errors import InvalidError


def test_a_file_is_read_without_the_mark_that_some_editors_put_first(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes("\ufeff{}".encode())
    assert read_text(str(tmp_path / "a.json")) == "{}"


def test_a_file_in_another_encoding_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes("{}".encode("utf-16"))
    with pytest.raises(InvalidError, match=r"a\.json is not text in UTF-8\. Save it as UTF-8"):
        read_text(str(tmp_path / "a.json"))

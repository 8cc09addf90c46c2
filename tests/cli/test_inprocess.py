"""The hub inside a command's own process, and what keeps it from starting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manyhands.cli.inprocess import InProcessApi
from manyhands.errors import ConflictError
from manyhands.home import Home


@pytest.mark.parametrize(
    ("data", "tries"),
    [({}, 1), ({"pid": 7, "url": "http://127.0.0.1:8222"}, 1), ({"pid": 7, "url": None}, 2)],
    ids=["a database of another version", "a daemon", "another command"],
)
def test_only_another_command_that_holds_the_home_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: dict[str, Any], tries: int
) -> None:
    refusals = [ConflictError("not now", data=data), ConflictError("not at all")]
    tried: list[Home] = []

    def refuse(home: Home) -> InProcessApi:
        tried.append(home)
        raise refusals[len(tried) - 1]

    monkeypatch.setattr(InProcessApi, "_start", refuse)
    with pytest.raises(ConflictError):
        InProcessApi.start(Home(tmp_path))
    assert len(tried) == tries

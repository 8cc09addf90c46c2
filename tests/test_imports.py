"""Imports in threads go one after the other."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import anyio
import pytest

from manyhands.imports import import_aside

pytestmark = pytest.mark.anyio


async def test_two_halves_of_one_package_can_be_imported_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "two_halves"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for one, other in (("left", "right"), ("right", "left")):
        source = f"import threading\nfrom two_halves import {other}\nthread = threading.current_thread()\n"
        (package / f"{one}.py").write_text(source if one == "left" else "import two_halves.left\nvalue = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    async with anyio.create_task_group() as group:
        for name in ("two_halves.left", "two_halves.right"):
            group.start_soon(import_aside, name)
    assert sys.modules["two_halves.right"].value == 1
    assert sys.modules["two_halves.left"].thread is not threading.current_thread()

"""The node that compares the quality of code, with real commits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import anyio
import pytest

from manyhands import Hub
from tests.docs import Page
from tests.workflows.conftest import SOON_S

pytestmark = pytest.mark.anyio
EXAMPLE = Path(__file__).parents[2] / "docs" / "workflows" / "quality.md"
BRANCHES = "".join(
    f"    if a == {n}:\n        for x in b:\n            if x:\n                a += {n}\n" for n in range(20)
)


def commit(directory: Path) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *who, *command], cwd=directory, check=True, capture_output=True)


async def test_code_that_got_worse_fails_the_run_and_what_was_so_before_does_not(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "old.py").write_text(f"def old(a, b):\n{BRANCHES}    return a\n")
    commit(code)
    text = next(block.text for block in Page(EXAMPLE).blocks if block.language == "yaml")
    async with Hub(tmp_path / "home") as hub:
        name = (await hub.workflows.save("add", text)).name
        with anyio.fail_after(SOON_S):
            before = await hub.workflows.start(name, dir_path=str(code))
            before = await hub.workflows.wait(before.id)
            (code / "new.py").write_text(f"def new(a, b):\n{BRANCHES}    return b\n")
            after = await hub.workflows.wait((await hub.workflows.start(name, dir_path=str(code))).id)
        nodes = {one["id"]: one for one in (await hub.workflows.show(after.id))["nodes"]}
    assert (before.status, before.error) == ("completed", None)
    assert (after.status, nodes["fine"]["status"]) == ("failed", "skipped")
    assert "new.py" in str(nodes["gate"]["output"]["problems"])

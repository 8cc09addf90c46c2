"""A disk that is full fails what needs it, by name and with advice; the rest works and nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ENOUGH_S = 60
MOUNT = 'mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@"'
WAYS = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])


def small_disk(directory: Path) -> list[str]:
    """A prefix for commands that see a small disk of their own there; nothing where this is not allowed."""
    for way in WAYS if shutil.which("unshare") else ():
        prefix = [*way, "sh", "-c", MOUNT, str(directory)]
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


@pytest.fixture
def ends(tmp_path: Path) -> dict[str, Any]:
    """How the steps of the script ended."""
    prefix = small_disk(tmp_path)
    limit = [] if prefix else ["8000000"]
    command = [*prefix, sys.executable, "-m", "tests.real.on_a_full_disk", str(tmp_path), *limit]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=ENOUGH_S, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_a_full_disk_fails_what_needs_it_and_nothing_is_lost(ends: dict[str, Any]) -> None:
    assert ends["huge"]["status"] == "error"
    assert "Tool 'large' of server 'odd' ran, but its result of 20000000" in ends["huge"]["error"]
    assert {ends[step]["status"] for step in ("before", "small beside it", "after")} == {"success"}
    if "full" in ends:  # else the limit on single files stood in for the disk
        found_out, refused = ends["full"]["error"], ends["still full"]["error"]
        assert found_out.startswith("Tool 'echo' of server 'odd' was called, but how it ended could not be")
        assert refused.startswith("Tool 'echo' of server 'odd' was not called")
        for error in (ends["huge"]["error"], found_out, refused, ends["saved on a full disk"]):
            assert "Free some disk space" in error
        assert ends["tools on a full disk"] == 2
    interrupted = [("echo", "error")] if "full" in ends else []
    kept = [("echo", "success"), ("large", "error"), ("echo", "success"), *interrupted, ("echo", "success")]
    assert [tuple(call) for call in ends["kept"]] == kept

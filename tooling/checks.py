"""What `check` and `test` run, each as a title with its command."""

import os
import subprocess

from tooling.places import ROOT, VENV, WEB, environment, tool
from tooling.running import say, step

SOME_FAILED = 1  # pytest's exit code for it


def find_browser() -> None:
    """The tests drive a Chromium: the system's, or else one that Playwright installs."""
    if subprocess.call([tool("python"), "-m", "tests.web.chromium"], cwd=ROOT, stdout=subprocess.DEVNULL):
        step("installing a browser for the tests", tool("python"), "-m", "playwright", "install", "chromium")


def tests_of_all() -> int:
    """Side by side. What fails so is run once more, alone, and fails if it fails again; it is named."""
    pytest = [tool("python"), "-m", "pytest"]
    side_by_side = ["-n", str(min(4, max(2, os.cpu_count() or 2))), "--dist", "worksteal"]
    if (code := subprocess.call([*pytest, *side_by_side], cwd=ROOT, env=environment())) != SOME_FAILED:
        return code
    say("the tests that failed, once more and alone (those that pass now want a look all the same)")
    again = ["--lf", "--lfnf=none", "--maxfail=10", "-rA", "--show-capture=no"]
    return subprocess.call([*pytest, *again], cwd=ROOT, env=environment())


def source_checks() -> dict[str, list[str]]:
    typed = [name for name in ("src", "tests", "bench", "tooling", "dev") if (ROOT / name).exists()]
    return {
        "format": [tool("ruff"), "format", "--check"],
        "lint": [tool("ruff"), "check"],
        "types": [tool("python"), "-m", "mypy", *typed],
        "format and lint of the web UI": web_command("check"),
        "its description of the API": web_command("api"),
        "its types": web_command("typecheck"),
    }


def scan_itself() -> int:
    """How healthy this code is by our own measure; whatever comes of it, no check has failed."""
    argv = [tool("manyhands"), "quality", "scan", "--dir", str(ROOT), "--home", str(VENV / "quality-home")]
    subprocess.call(argv, cwd=ROOT, env=environment())
    return 0


def web_command(script: str) -> list[str]:
    return [tool("npm"), "--silent", "--prefix", str(WEB), "run", script]

"""The programs that `bench peers` compares with, each in a directory of its own below `.bench`."""

import os
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tooling.packages import npm, uv_pip
from tooling.places import ROOT, tool
from tooling.running import Problem, say, step

PEERS = ROOT / "bench" / "peers" / "packages.toml"
BENCH = ROOT / ".bench"


def install_peers() -> None:
    """What `bench peers` compares with, each apart; one that cannot be installed hinders nobody."""
    for name, wanted in tomllib.loads(PEERS.read_text()).items():
        place, key = BENCH / name, f"{ROOT} {wanted}"
        done, problem = place / "installed", place / "problem.txt"
        if done.exists() and done.read_text() == key:
            continue
        place.mkdir(parents=True, exist_ok=True)
        done.unlink(missing_ok=True)
        problem.unlink(missing_ok=True)
        try:
            install_peer(name, place, wanted)
            done.write_text(key)
        except Problem as failure:
            say(f"{name} is left out: {failure}")
            problem.write_text(str(failure))


def install_peer(name: str, place: Path, wanted: Mapping[str, Any]) -> None:
    if "node" in wanted:
        (place / "package.json").write_text('{"private": true}\n')
        npm(place, f"installing {name}", "install", "--ignore-scripts", *wanted["node"])
        return
    make_peer_environment(name, place, wanted.get("interpreter"))
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = ("--compile-bytecode", "--python", python)
    uv_pip(f"installing {name}", "install", *options, *wanted["python"])


def make_peer_environment(name: str, place: Path, interpreter: str | None) -> None:
    """With the Python that it would like to have if there is one, else with ours."""
    look = [tool("uv"), "python", "find", "--no-python-downloads", interpreter or "3"]
    found = interpreter and not subprocess.call(look, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    options = ("--clear", "--no-python-downloads", "--python", interpreter if found else tool("python"))
    step(f"making .bench/{name}", tool("uv"), "venv", *[str(option) for option in options], place)

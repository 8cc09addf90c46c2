"""The parts of an installation: each is done when it is missing, or when what it is made from has changed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tooling.packages import install_lock, npm, uv_install
from tooling.places import API, LOCKS, NODE, ROOT, UI, VENV, WEB, tool
from tooling.python_environment import make_environment
from tooling.running import say, step

# What an installation depends on: when one of these files changes, it is done again.
WEB_SOURCES = ("index.html", "package.json", "package-lock.json", "public", "scripts", "src")
WEB_SETTINGS = ("tsconfig.json", "vite.config.ts")
PARTS = {
    "run": [LOCKS / "run.txt", ROOT / "pyproject.toml"],
    "dev": [LOCKS / "dev.txt"],
    "node": [NODE / "package-lock.json"],
    "web_packages": [WEB / "package-lock.json"],
    # The UI is checked against the description of the API, so that a change there builds it too.
    "web": [*(WEB / name for name in (*WEB_SOURCES, *WEB_SETTINGS)), *sorted(API.glob("*.py"))],
}
STAMPS = {"node": NODE / "node_modules", "web_packages": WEB / "node_modules", "web": UI}


def digest(part: str) -> str:
    import hashlib

    found = hashlib.sha256(os.fsencode(ROOT))  # scripts in an environment hold absolute paths,
    found.update(os.fsencode(os.path.realpath(tool("python"))))  # and its packages are for one Python
    for path in inputs(part):
        found.update(os.fsencode(path.name))
        found.update(path.read_bytes())
    return found.hexdigest()


def inputs(part: str) -> Iterator[Path]:
    """The files of a part, those below its directories too, but for what is made and what only tests."""
    for path in PARTS[part]:
        if path.is_dir():
            files = sorted(below for below in path.rglob("*") if below.is_file())
            yield from (file for file in files if ".test." not in file.name and file.name != "schema.d.ts")
        else:
            yield path


def stamp(part: str) -> Path:
    return STAMPS.get(part, VENV) / f"dev-{part}.stamp"


def is_installed(part: str) -> bool:
    try:
        return stamp(part).read_text() == digest(part)
    except OSError:
        return False


def ensure(*parts: str) -> None:
    """Install the parts that are missing or out of date."""
    if all(map(is_installed, parts)):
        return
    with alone():
        for part in parts:
            install_part(part)


def install_part(part: str) -> None:
    if not is_installed(part):
        INSTALLERS[part]()
        stamp(part).write_text(digest(part))


@contextmanager
def alone() -> Iterator[None]:
    """Two commands that find something to install must not do it both at once."""
    if os.name == "nt":
        yield
        return
    import fcntl

    with (ROOT / "pyproject.toml").open("r+b") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another ./dev is installing; waiting for it")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def install_run() -> None:
    make_environment()
    install_lock("run", "what Manyhands runs on")
    uv_install("Manyhands itself", "--no-deps", "--no-build-isolation", "--editable", ROOT)
    step("compiling it", tool("python"), "-m", "compileall", "-q", ROOT / "src")


def install_dev() -> None:
    install_lock("dev", "what the checks and tests need")


def install_node() -> None:
    npm(NODE, "installing the Node packages of the tests", "ci", "--ignore-scripts")


def install_web_packages() -> None:
    npm(WEB, "installing what the web UI is built with", "ci", "--ignore-scripts")


def build_web() -> None:
    """Built where the package serves it from; what builds it is installed only when it has to be."""
    install_part("web_packages")
    npm(WEB, "building the web UI", "run", "build")


INSTALLERS = {
    "run": install_run,
    "dev": install_dev,
    "node": install_node,
    "web_packages": install_web_packages,
    "web": build_web,
}

"""The Python environment in `.venv`, with uv in it, from which everything else is installed."""

import sys

from tooling.places import LOCKS, ROOT, VENV, tool
from tooling.running import Problem, say, step

MADE_FOR = VENV / "dev-made-for"


def make_environment() -> None:
    """An environment with uv in it; one that does not work or was made elsewhere is made anew."""
    if is_environment_good():
        return
    try:
        import ensurepip  # noqa: F401 (Debian ships it apart, and venv needs it)
        import venv  # noqa: F401
    except ImportError:
        raise Problem(
            f"{sys.executable} has no venv module; install it (Debian and Ubuntu: `apt install python3-venv`)"
            " and run the same command again"
        ) from None
    remove_environment()
    VENV.mkdir()
    step("making .venv", sys.executable, "-m", "venv", VENV)
    only_uv = VENV / "dev-uv.txt"
    only_uv.write_text(locked("uv"))
    options = "--require-hashes --no-deps --only-binary :all: --disable-pip-version-check --no-input"
    step("installing uv", tool("python"), "-m", "pip", "install", *options.split(), "-r", only_uv)
    MADE_FOR.write_text(str(ROOT))


def is_environment_good() -> bool:
    import subprocess

    try:
        of_here = MADE_FOR.read_text() == str(ROOT)  # the last thing that is written
        return of_here and not any(
            subprocess.call([tool(name), "-V"], stdout=subprocess.DEVNULL) for name in ("python", "uv")
        )
    except OSError:
        return False


def remove_environment() -> None:
    import shutil

    if VENV.is_symlink():
        raise Problem(f"{VENV} is a link to elsewhere; remove it and run the same command again")
    if VENV.exists():
        say(".venv was made for another place or is not complete: making it anew")
        shutil.rmtree(VENV)


def locked(name: str) -> str:
    """The entry of one package in the lock, hashes included."""
    import re

    found = re.search(rf"^{name}==.*(?:\n[ \t]+.*)*", (LOCKS / "run.txt").read_text(), re.MULTILINE)
    if found is None:
        raise Problem(f"requirements/run.txt does not pin {name}; run `./dev lock` where uv is installed")
    return found[0] + "\n"

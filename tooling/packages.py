"""Installing packages of Python and Node, from the registries that the person's settings name."""

import os
from pathlib import Path

from tooling.places import LOCKS, tool
from tooling.running import step


def index_settings() -> dict[str, str]:
    """pip's index and certificates for uv and Node, which read no settings of pip, unless they have some."""
    wanted = {"UV_DEFAULT_INDEX": "index-url", "SSL_CERT_FILE": "cert", "NODE_EXTRA_CA_CERTS": "cert"}
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "uv", "uv.toml")
    if {"UV_INDEX_URL", "UV_CONFIG_FILE"} & os.environ.keys() or config.exists():
        del wanted["UV_DEFAULT_INDEX"]
    options = pip_options()
    return {name: options[o] for name, o in wanted.items() if o in options and name not in os.environ}


def pip_options() -> dict[str, str]:
    """The options of `pip install` from its files and variables, as pip itself weighs them."""
    import ast
    import subprocess

    command = [tool("python"), "-m", "pip", "config", "list"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    options = {}
    for where in ("global.", "install.", ":env:."):
        for line in shown.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(where):
                options[key.removeprefix(where)] = str(ast.literal_eval(value))
    return options


def uv_pip(title: str, command: str, *arguments: str | Path) -> None:
    step(title, tool("uv"), "pip", command, *arguments, settings=index_settings())


def uv_install(what: str, *arguments: str | Path) -> None:
    # Compiled now: where Python may not write, every start would compile again, which doubles its time.
    uv_pip(f"installing {what}", "install", "--compile-bytecode", "--python", tool("python"), *arguments)


def install_lock(name: str, what: str) -> None:
    lock = LOCKS / f"{name}.txt"
    count = sum(line[0].isalnum() for line in lock.read_text().splitlines())
    # A lock is complete; what `overrides.txt` left out must not come back.
    uv_install(f"{what} ({count} packages)", "--require-hashes", "--no-deps", "-r", lock)


def npm(where: Path, title: str, *arguments: str) -> None:
    step(title, tool("npm"), *arguments, "--no-audit", "--no-fund", cwd=where, settings=index_settings())

"""Where packages come from for servers that `uvx` or `npx` starts: pip's index and certificates, told to uv,
and the certificates to Node.

They read no settings of pip, so a machine on which only pip was told would start no such server. Whatever a
person has told them is left alone. Nothing here starts a process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_WANTED = {"UV_DEFAULT_INDEX": "index-url", "SSL_CERT_FILE": "cert", "NODE_EXTRA_CA_CERTS": "cert"}
_OWN_INDEX = frozenset({"UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_CONFIG_FILE", "UV_OFFLINE"})
_MACHINE = Path("/etc")
_SECTIONS = ("global", "install")


def index_settings(environment: Mapping[str, str], prefix: str = sys.prefix) -> dict[str, str]:
    """The variables for uv and Node that pip's settings amount to and that the environment has not."""
    wanted = {name: option for name, option in _WANTED.items() if name not in environment}
    if _OWN_INDEX & environment.keys() or any(path.is_file() for path in _uv_files(environment)):
        wanted.pop("UV_DEFAULT_INDEX", None)
    if not wanted:
        return {}
    options = pip_options(environment, prefix)
    return {name: options[option] for name, option in wanted.items() if options.get(option)}


def pip_options(environment: Mapping[str, str], prefix: str = sys.prefix) -> dict[str, str]:
    """Options of `pip install` from its files and variables, the later ones above the earlier ones."""
    from configparser import Error, RawConfigParser

    files = RawConfigParser()
    for path in _pip_files(environment, prefix):
        try:
            files.read(path, encoding="utf-8")
        except (Error, OSError, UnicodeDecodeError):  # pip says so itself when it is used
            continue
    found: dict[str, str] = {}
    for section in _SECTIONS:
        if files.has_section(section):
            found |= {name.replace("_", "-"): value for name, value in files.items(section)}
    for option in _WANTED.values():
        if value := environment.get(f"PIP_{option.upper().replace('-', '_')}"):
            found[option] = value
    return found


def _pip_files(environment: Mapping[str, str], prefix: str) -> Iterator[Path]:
    """Where pip looks: the machine's, the person's, the environment's file, and the one that is named."""
    chosen = environment.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    if sys.platform == "win32":
        yield Path(environment.get("PROGRAMDATA", "C:\\ProgramData"), "pip", name)
        yield Path(environment.get("APPDATA", ""), "pip", name)
    else:
        for directory in environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep):
            yield Path(directory, "pip", name)
        yield _MACHINE / name
        yield _home(environment) / ".pip" / name
        if sys.platform == "darwin":
            yield _home(environment) / "Library" / "Application Support" / "pip" / name
        yield _settings_directory(environment) / "pip" / name
    yield Path(prefix, name)
    if chosen:
        yield Path(chosen)


def _uv_files(environment: Mapping[str, str]) -> Iterator[Path]:
    if sys.platform == "win32":
        yield Path(environment.get("APPDATA", ""), "uv", "uv.toml")
        yield Path(environment.get("PROGRAMDATA", "C:\\ProgramData"), "uv", "uv.toml")
    else:
        yield _settings_directory(environment) / "uv" / "uv.toml"
        yield _MACHINE / "uv" / "uv.toml"


def _settings_directory(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CONFIG_HOME") or _home(environment) / ".config")


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())

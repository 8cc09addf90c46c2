"""How the bridge was started: its options, and what it finds in the environment and the home."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from manyhands.bridge.http import Address

TOKEN_MARK = "mha_"  # noqa: S105 - how one begins
"""How a token that is limited already begins."""
DEFAULT_PORT = 8222
VALUES = ("--api-url", "--channel-id", "--dir", "--author-id", "--platform", "--agent-id", "--log", "--home")
SWITCHES = ("--memory", "--gateway")
NOT_FILLED_IN = "${workspaceFolder}"
"""What editors put the directory for. Clients that know no such word start us there and leave it as it is."""


class UsageError(ValueError):
    """The options are wrong; the message says how."""


class Options:
    """What it is to do."""

    def __init__(
        self,
        *,
        api_url: str | None = None,
        channel_id: str | None = None,
        dir: str | None = None,
        author_id: str | None = None,
        platform: str = "local",
        agent_id: str | None = None,
        memory: bool = False,
        gateway: bool = False,
        log: str | None = None,
        home: str | None = None,
        token: str | None = None,
    ) -> None:
        self.api_url = api_url
        self.channel_id = channel_id
        self.directory = _directory(dir) if dir else None
        self.author_id = author_id
        self.platform = platform
        self.agent_id = agent_id
        self.memory = memory
        self.gateway = gateway
        self.log = log
        self.home = os.path.abspath(os.path.expanduser(home or _default_home()))
        self.given_token = token
        if channel_id is None and self.directory is None:
            raise UsageError("Give --channel-id or --dir.")
        _check_url(api_url or os.environ.get("MANYHANDS_URL"))

    # --- what it finds

    @property
    def log_file(self) -> str:
        """Where it writes what went on."""
        return self.log or os.path.join(self.home, "logs", "mcp.log")

    def token(self) -> str:
        """The one that was given, else that of the environment, else the home's own."""
        if found := self.given_token or os.environ.get("MANYHANDS_TOKEN"):
            return found
        try:
            with open(os.path.join(self.home, "token"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            return ""

    def url(self) -> str:
        """Where the daemon is now; a restart may have moved it."""
        if found := self.api_url or os.environ.get("MANYHANDS_URL"):
            return found
        try:
            with open(os.path.join(self.home, "lock"), "rb") as lock:
                announced = json.load(lock).get("url")
        except (OSError, ValueError, AttributeError):
            announced = None
        return announced or f"http://127.0.0.1:{DEFAULT_PORT}"

    def wish(self) -> dict[str, object]:
        """The limited token that it asks for."""
        where: dict[str, object] = (
            {"channel_id": self.channel_id}
            if self.channel_id is not None
            else {"dir_path": self.directory, "platform": self.platform}
        )
        who = {"agent_id": self.agent_id, "author_id": self.author_id}
        return where | who | {"memory": self.memory, "gateway": self.gateway}


def _directory(given: str) -> str:
    return os.path.abspath(os.path.expanduser("." if given == NOT_FILLED_IN else given))


def _check_url(url: str | None) -> None:
    try:
        Address(url or "http://localhost")
    except ValueError as error:
        raise UsageError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error


def _default_home() -> str:
    return os.environ.get("MANYHANDS_HOME") or "~/.manyhands"


def parse(arguments: Sequence[str]) -> Options:
    """The options as they were written; `UsageError` when they cannot be read."""
    values: dict[str, str | bool] = {}
    rest = list(arguments)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in SWITCHES and not equals:
            values[_field(word)] = True
        elif word in VALUES and (equals or rest):
            values[_field(word)] = value if equals else rest.pop(0)
        else:
            raise UsageError(f"{word!r} is no option of this command, or lacks its value.")
    return make_options(values)


def make_options(values: Mapping[str, str | bool]) -> Options:
    """From fields to options."""
    return Options(**values)  # type: ignore[arg-type]


def _field(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")

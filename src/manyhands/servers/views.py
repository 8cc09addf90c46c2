"""What the server service answers with: frozen, secrets masked, each with its form on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from manyhands.clock import rfc3339
from manyhands.secrets import MASK
from manyhands.servers.types import Catalogue, ConnectionState, Repair, Server, ServerConfig, ServerStatus

ImportAction = Literal["added", "updated", "skipped"]


@dataclass(frozen=True, slots=True)
class ServerView:
    """A server with everything that is known of it at this moment.

    `trusted`: whether a person has approved a project's server as its file describes it now. `signed_in`:
    nothing where no person can sign in to it.
    """

    server: Server
    state: ConnectionState
    catalogue: Catalogue = field(default_factory=Catalogue)
    fetched_at: datetime | None = None
    rss: int | None = None
    trusted: bool = True
    signed_in: bool | None = None

    @property
    def status(self) -> ServerStatus:
        return self.state.status if self.server.config.enabled else ServerStatus.DISABLED

    @property
    def tool_count(self) -> int:
        return len(self.catalogue.tools)

    def wire(self) -> dict[str, Any]:
        """As the API shows it."""
        server, state, catalogue = self.server, self.state, self.catalogue
        return {
            "id": server.id,
            **config_wire(server.config),
            "status": self.status.value,
            "error": state.error,
            "tool_count": self.tool_count,
            "version": catalogue.version,
            "protocol": catalogue.protocol,
            "capabilities": dict(catalogue.capabilities),
            "instructions": catalogue.instructions,
            "problem": catalogue.problem,
            "repairs": [asdict(repair) for repair in catalogue.repairs],
            "pid": state.pid,
            "exit_code": state.exit_code,
            "restarts": state.restarts,
            "attempt": state.attempt,
            "attempts_max": state.attempts_max,
            "since": _moment(state.since),
            "connect_ms": state.connect_ms,
            "sign_in_url": state.sign_in_url,
            "signed_in": self.signed_in,
            "rss": self.rss,
            "project": server.project,
            "trusted": self.trusted,
            "held": server.held,
        }


def config_wire(config: ServerConfig) -> dict[str, Any]:
    """A configuration as the API shows it: every value of `env` and `headers` is a secret."""
    fields = {name: getattr(config, name) for name in ServerConfig.__slots__}
    secret = {key: dict.fromkeys(getattr(config, key), MASK) for key in ("env", "headers")}
    return {**fields, "args": list(config.args), **secret}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How saving or connecting ended. What fails to connect is kept all the same."""

    ok: bool
    view: ServerView
    error: str | None = None
    notes: Sequence[str] = ()

    def wire(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": self.ok, "server": self.view.wire()}
        if self.error:
            answer["error"] = self.error
        return answer | ({"notes": list(self.notes)} if self.notes else {})


@dataclass(frozen=True, slots=True)
class TestReport:
    """What connecting once, without saving, has shown."""

    __test__ = False  # for pytest, which takes the name for a test

    ok: bool
    elapsed_ms: int
    error: str | None = None
    catalogue: Catalogue = field(default_factory=Catalogue)
    stderr: str = ""
    exit_code: int | None = None
    needs_auth: bool = False

    def wire(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "error": self.error,
            "needs_auth": self.needs_auth,
            "elapsed_ms": self.elapsed_ms,
            "tools": [tool.name for tool in self.catalogue.tools],
            "prompts": [str(prompt.get("name")) for prompt in self.catalogue.prompts],
            "version": self.catalogue.version,
            "protocol": self.catalogue.protocol,
            "capabilities": dict(self.catalogue.capabilities),
            "instructions": self.catalogue.instructions,
            "problem": self.catalogue.problem,
            "repairs": [asdict(repair) for repair in self.catalogue.repairs],
            "stderr": self.stderr,
            "exit_code": self.exit_code,
        }


@dataclass(frozen=True, slots=True)
class ImportItem:
    """What became of one entry of an imported file."""

    name: str
    action: ImportAction
    reason: str | None = None
    notes: Sequence[str] = ()
    server_id: int | None = None
    config: ServerConfig | None = None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of an imported file, entry by entry."""

    source: str
    items: Sequence[ImportItem]
    notes: Sequence[str] = ()

    def wire(self) -> dict[str, Any]:
        items = [_item_wire(item) for item in self.items]
        return {"source": self.source, "items": items, "notes": list(self.notes)}


def _item_wire(item: ImportItem) -> dict[str, Any]:
    config = None if item.config is None else config_wire(item.config)
    return {**asdict(replace(item, config=None)), "notes": list(item.notes), "config": config}


@dataclass(frozen=True, slots=True)
class Export:
    """A file for other clients, and what the person should know about it."""

    config: Mapping[str, Any]
    notes: Sequence[str] = ()

    def wire(self) -> dict[str, Any]:
        return {**self.config, **({"notes": list(self.notes)} if self.notes else {})}


@dataclass(frozen=True, slots=True)
class ServerLog:
    """What a server left behind that explains what happened to it."""

    text: str
    exit_code: int | None = None
    pid: int | None = None
    restarts: int = 0
    error: str | None = None

    def wire(self) -> dict[str, Any]:
        return asdict(self)


def describe_repairs(repairs: Sequence[Repair]) -> dict[str, str]:
    """What was done to each tool, by its name."""
    found: dict[str, list[str]] = {}
    for repair in repairs:
        if repair.item.startswith("tool "):
            found.setdefault(repair.item.removeprefix("tool "), []).append(
                f"{repair.problem} ({repair.action})"
            )
    return {name: "; ".join(texts) for name, texts in found.items()}


def _moment(value: datetime | None) -> str | None:
    return None if value is None else rfc3339(value)

"""How the command line finds a server and shows it. It prints; it changes nothing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyhands.cli.client import Api, Json, pages
from manyhands.cli.output import (
    NARROWEST,
    Column,
    dim_style,
    done,
    human_size,
    plural,
    print_json,
    say,
    state_style,
    warn,
)
from manyhands.cli.terminal import columns, fit, one_line, paint, width_of
from manyhands.errors import ConflictError, NotFoundError, UnavailableError

SERVER_TABLE = (
    Column("ID", right=True, style=dim_style),
    Column("NAME"),
    Column("STATUS", style=state_style),
    Column("TOOLS", right=True),
    Column("TRUST"),
    Column("SERVER", flexible=True, style=dim_style),
)
TRUST_MEANS = {
    "ask": "each call asks, unless a rule allows it",
    "trusted": "runs without asking, except what says it is destructive",
    "full": "runs without asking",
}


def find_server(api: Api, name: str) -> Json:
    """The server with this name or number."""
    found = pages(api, "/servers")
    named = [server for server in found if server["name"] == name]
    if len(named) > 1:
        numbers = ", ".join(f"{server['id']} ({server.get('project') or 'global'})" for server in named)
        raise ConflictError(
            f"Several servers are called {name}: {numbers}.", hint="Give the number instead of the name."
        )
    named = named or [server for server in found if str(server["id"]) == name]
    if named:
        return named[0]
    from difflib import get_close_matches

    near = get_close_matches(name, [server["name"] for server in found], n=1)
    hint = f"Did you mean {near[0]}?" if near else "`manyhands servers list` shows them all."
    raise NotFoundError(f"There is no server {name}.", hint=hint)


def server_row(server: Json) -> Sequence[str]:
    known = server.get("tool_count")
    tools = "–" if server["status"] != "connected" and not known else str(known or 0)
    place = f"[{Path(server['project']).name}] " if server.get("project") else ""
    return (
        str(server["id"]),
        server["name"],
        server["status"],
        tools,
        server["trust"],
        place + where(server),
    )


def where(server: Json) -> str:
    """What is started or called, on one line."""
    if server["transport"] == "stdio":
        return shlex.join([server.get("command") or "", *(server.get("args") or ())])
    return str(server.get("url") or "")


def trouble_of(server: Json) -> str:
    """What is wrong with a server, or nothing."""
    if not server.get("trusted", True):
        return (
            f"starts when its directory is trusted: manyhands channels trust {shlex.quote(server['project'])}"
        )
    if server["status"] == "needs_auth":
        what, command = _wanted(server)
        return f"{what}: {command}"
    if has_failed(server):
        return one_line(server.get("error") or "it failed")
    return one_line(server.get("problem") or "")


def _wanted(server: Json) -> tuple[str, str]:
    """What a server that lets nobody in wants, and the command for it. A header stands for a sign-in."""
    name = shlex.quote(server["name"])
    header = next((name for name in server.get("headers") or () if name.lower() == "authorization"), None)
    if header is None:
        return "wants you to sign in", f"manyhands servers login {name}"
    return f"refuses its {header} header", f"manyhands servers edit {name} --header '{header}=Bearer …'"


def has_failed(server: Json) -> bool:
    """Whether its last attempt failed; the next one may be on its way."""
    return server["status"] == "error" or (server["status"] == "connecting" and bool(server.get("error")))


def print_troubles(servers: Sequence[Json], *, wide: bool = False) -> None:
    """A line for each server that needs something."""
    limit = None if wide else columns()
    for server in servers:
        if trouble := trouble_of(server):
            room = max(limit - width_of(server["name"]) - 2, NARROWEST) if limit else width_of(trouble)
            say(f"{paint(server['name'], 'red')}: {fit(trouble, room)}")


def repair_text(repair: Any) -> str:
    return (
        f"{repair['item']}: {repair['problem']} ({repair['action']})"
        if isinstance(repair, dict)
        else str(repair)
    )


def server_fields(server: Json) -> list[tuple[str, str]]:
    status = paint(server["status"], *state_style(server["status"]))
    return [
        ("status", status + _tries(server)),
        ("problem", trouble_of(server)),
        ("server", where(server)),
        ("directory", server.get("cwd") or ""),
        ("project", server.get("project") or ""),
        ("environment", _names(server.get("env"))),
        ("headers", _names(server.get("headers"))),
        ("tools", str(server.get("tool_count") or 0)),
        ("version", " ".join(filter(None, [server.get("version"), _protocol(server)]))),
        ("capabilities", ", ".join(sorted(server.get("capabilities") or {}))),
        ("trust", f"{server['trust']} ({TRUST_MEANS[server['trust']]})"),
        ("parallel", server.get("parallel") or ""),
        ("timeouts", f"{server['tool_timeout']} ms a call, {server['connect_timeout']} ms to connect"),
        ("process", _process(server)),
        ("id", str(server["id"])),
    ]


def _tries(server: Json) -> str:
    if not has_failed(server) or not server.get("attempt"):
        return ""
    return f" (attempt {server['attempt']} of {server['attempts_max']} has failed)"


def _names(values: Json | None) -> str:
    return "\n".join(f"{name}={value}" for name, value in (values or {}).items())


def _protocol(server: Json) -> str:
    return f"(protocol {server['protocol']})" if server.get("protocol") else ""


def _process(server: Json) -> str:
    parts = [f"pid {server['pid']}"] if server.get("pid") else []
    if server.get("rss"):
        parts.append(human_size(server["rss"]))
    if server.get("restarts"):
        parts.append(plural(server["restarts"], "restart"))
    return ", ".join(parts)


def report_outcome(outcome: Json, *, as_json: bool, verb: str = "is connected", saved: bool = False) -> int:
    """Tell how an attempt to connect ended, `saved` or as it was; the answer is the exit code."""
    server = outcome["server"]
    # One that was there as it is may have failed before.
    worked = outcome["ok"] and server["status"] != "error"
    for remark in outcome.get("notes") or ():
        warn(one_line(remark))
    if as_json:
        print_json(outcome)
    elif worked:
        is_connected = server["status"] == "connected"
        done(f"{server['name']} {_found(server, verb) if is_connected else _state(server, saved=saved)}")
        if is_connected and server.get("problem"):
            warn(f"{server['name']}: {one_line(server['problem'])}")
        if is_connected and server.get("repairs"):
            warn(_repaired(server))
    if worked:
        return 0
    reason = outcome.get("error") or server.get("error") or "no reason was given."
    raise _not_connected(server, reason, saved=saved)


def _state(server: Json, *, saved: bool) -> str:
    """One that is saved and not waited for has not begun to connect, but will."""
    may_start = server["enabled"] and server.get("trusted", True)
    is_coming = saved and may_start and server["status"] in ("disconnected", "connecting")
    return "is saved; it is being connected" if is_coming else f"is {server['status']}"


def _repaired(server: Json) -> str:
    what = plural(len(server["repairs"]), "thing") + (" was" if len(server["repairs"]) == 1 else " were")
    look = f"manyhands servers show {shlex.quote(server['name'])}"
    return f"{server['name']}: {what} repaired or left out of what it lists; `{look}` says what."


def _found(server: Json, verb: str) -> str:
    version = f", {server['version']}" if server.get("version") else ""
    protocol = f" {_protocol(server)}" if server.get("protocol") else ""
    return f"{verb}: {plural(server['tool_count'], 'tool')}{version}{protocol}"


def _not_connected(server: Json, reason: str, *, saved: bool) -> UnavailableError:
    name = server["name"]
    if server["status"] == "needs_auth":
        what, command = _wanted(server)
        return UnavailableError(f"{name} {what}.", hint=f"Run `{command}`.")
    return UnavailableError(
        f"{name} {'is saved but ' if saved else ''}does not connect: {reason}",
        hint=f"Change it with `manyhands servers edit {shlex.quote(name)}`.",
    )


def patience(server: Json) -> float:
    """Seconds to wait for an answer about connecting: the daemon's own bound and some more."""
    return int(server.get("connect_timeout") or 30_000) / 1000 + 30

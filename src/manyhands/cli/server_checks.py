"""What `manyhands doctor` asks the hub: about secrets, settings and every server."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from manyhands.cli.checks import Finding
from manyhands.cli.client import Api, Json, pages
from manyhands.cli.output import human_duration, plural
from manyhands.cli.progress import Progress
from manyhands.cli.server_view import has_failed, patience, trouble_of
from manyhands.errors import ManyhandsError
from manyhands.home import Home


def check_secrets(home: Home) -> Iterator[Finding]:
    """Where secrets are kept, and that the place works."""
    import anyio

    from manyhands.secrets import SecretStore

    store = SecretStore(home)
    try:
        place = anyio.run(store.place)
        anyio.run(store.get, "doctor")
    except ManyhandsError as error:
        yield Finding("secrets", "broken", error.message, error.hint or "")
        return
    where = (
        "the system's keyring"
        if place == "keyring"
        else f"{home.secrets_file} (encrypted; there is no keyring)"
    )
    yield Finding("secrets", "ok", f"kept in {where}")


def check_settings(api: Api) -> Iterator[Finding]:
    """Settings that something needs and nobody has made."""
    settings = api.request("GET", "/settings")
    if not settings.get("searxng_url"):
        fix = "manyhands settings set searxng_url http://127.0.0.1:8888"
        yield Finding("web_search", "note", "has no SearXNG address, so it cannot search", fix)


def check_projects(api: Api) -> Iterator[Finding]:
    """The `.mcp.json` of every directory that has a channel, where it cannot be used."""
    directories = {channel["dir_path"] for channel in pages(api, "/channels") if channel.get("dir_path")}
    for directory in sorted(directories):
        if problem := project_problem(directory):
            fix = "Correct the file; it is read again at once."
            yield Finding("project", "warning", problem, fix)


def project_problem(directory: str) -> str | None:
    """Why the `.mcp.json` of a directory, or some of it, cannot be used."""
    import anyio

    from manyhands.servers.projects import read_project

    return anyio.run(read_project, directory).problem


def check_servers(api: Api, progress: Progress, *, try_servers: bool) -> Iterator[Finding]:
    """Each server: its state, or a test where nothing keeps it connected."""
    servers = pages(api, "/servers")
    if not servers:
        fix = "manyhands servers add time --trust trusted -- uvx mcp-server-time"
        yield Finding("servers", "note", "none yet", fix)
    for server in servers:
        progress.title(f"testing {server['name']}")
        yield _check_server(api, server, try_server=try_servers)


def _check_server(api: Api, server: Json, *, try_server: bool) -> Finding:
    name, status = server["name"], server["status"]
    if status == "disabled":
        return Finding(name, "ok", "disabled")
    if not server.get("trusted", True):  # nothing of it runs before a person has said yes, not even a test
        return Finding(name, "note", trouble_of(server))
    if status == "needs_auth":
        return Finding(name, "broken", "wants you to sign in", f"manyhands servers login {quote(name)}")
    if try_server or status == "disconnected":
        return _tested(api, server)
    if has_failed(server):
        return Finding(name, "broken", server.get("error") or "error", _repair(server))
    if status == "connecting":
        return Finding(name, "warning", "is still connecting", "manyhands doctor again in a moment")
    if trouble := trouble_of(server):
        return Finding(name, "warning", trouble, f"manyhands servers show {quote(name)}")
    return Finding(name, "ok", f"connected, {plural(server.get('tool_count') or 0, 'tool')}")


def _tested(api: Api, server: Json) -> Finding:
    name = server["name"]
    try:
        report = api.request("POST", "/servers/test", {"id": server["id"]}, timeout=patience(server))
    except ManyhandsError as error:
        return Finding(name, "broken", error.message, error.hint or "")
    if report.get("problem"):
        return Finding(name, "warning", report["problem"], f"manyhands servers show {quote(name)}")
    if report["ok"]:
        took = human_duration(report.get("elapsed_ms", 0) / 1000)
        return Finding(name, "ok", f"works: {plural(len(report.get('tools') or ()), 'tool')} in {took}")
    return Finding(name, "broken", str(report.get("error") or "does not connect"), _repair(server))


def _repair(server: Json) -> str:
    look = f"manyhands servers log {quote(server['name'])}, then " if server["transport"] == "stdio" else ""
    return f"{look}manyhands servers edit {quote(server['name'])}"

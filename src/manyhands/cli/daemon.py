"""`manyhands up|down|status`: the daemon of a home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click

from manyhands.cli.client import Address, HttpApi, Json, find_daemon
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.output import (
    done,
    human_duration,
    human_size,
    plural,
    print_fields,
    print_json,
    say,
)
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.cli.terminal import one_line, paint
from manyhands.errors import ConflictError, ManyhandsError, UnavailableError
from manyhands.home import Home

READY_WITHIN_S = 60.0
DOWN_WITHIN_S = 45.0
LOOK_S = 0.05


@click.command("up", cls=HubCommand, examples=["manyhands up", "manyhands up --port 8300 --detach"])
@click.option("--host", metavar="ADDRESS", help="Listen here (127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Listen here (8222; 0 takes a free one).")
@click.option("--database", metavar="URL", help="sqlite:///PATH or postgresql://… (the home's own file).")
@click.option("--open", "open_browser", is_flag=True, help="Open the browser when it is ready.")
@click.option("--detach", is_flag=True, help="Leave it running in the background.")
@click.option("--allow-remote", is_flag=True, help="With --host: let other machines reach it, and mean it.")
@pass_session
def up(
    session: Session,
    host: str | None,
    port: int | None,
    database: str | None,
    open_browser: bool,
    detach: bool,
    allow_remote: bool,
) -> int:
    """Start the daemon: HTTP API, events, servers. Ctrl-C ends it, a second one at once.

    Prints one line `ready: URL` when it serves; open that address to be signed in.
    """
    if detach:
        chosen = [("--host", host), ("--port", port), ("--database", database)]
        options = [f"{name}={value}" for name, value in chosen if value is not None]
        ready = start_detached(session.home, options + ["--allow-remote"] * allow_remote)
        say(f"ready: {ready}")
        if open_browser:
            click.launch(ready)
        return 0
    from manyhands.daemon import run_daemon

    return run_daemon(
        session.home,
        host=host,
        port=port,
        database_url=database,
        open_browser=open_browser,
        allow_remote=allow_remote,
    )


def start_detached(home: Home, options: list[str]) -> str:
    """Start the daemon in a session of its own and wait until it serves; its address, with the token."""
    from manyhands.system import open_private, read_lock

    if (holder := read_lock(home.lock_file)) is not None and holder.url:
        raise ConflictError(
            f"{home.path} is served already by process {holder.pid} at {holder.url}.",
            hint="Use that one, or end it with `manyhands down`.",
        )
    home.create()
    output = home.detached_output
    command = [sys.executable, "-m", "manyhands.cli.main", "up", f"--home={home.path}", *options]
    with open_private(output) as file, Progress("starting the daemon"):
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=home.path, start_new_session=True
        )
        address = _serving(home, child, output)
    return f"{address.url}/?token={address.token}"


def _serving(home: Home, child: subprocess.Popen[bytes], output: Path) -> Address:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise UnavailableError(_last_words(output), hint=f"All of its output: {output}")
        address = find_daemon(home, {})
        if address is not None and _is_healthy(address):
            return address
        time.sleep(LOOK_S)
    child.terminate()
    raise UnavailableError(
        f"The daemon did not get ready within {READY_WITHIN_S:.0f} s.", hint=f"See {output} and {home.logs}."
    )


def _is_healthy(address: Address) -> bool:
    try:
        HttpApi(address).request("GET", "/health", timeout=2)
    except ManyhandsError:
        return False
    return True


def _last_words(output: Path) -> str:
    lines = [line for line in output.read_text(errors="replace").splitlines() if line.strip()]
    return one_line(lines[-1]).removeprefix("error: ") if lines else "The daemon ended at once."


@click.command("down", cls=HubCommand, examples=["manyhands down"])
@click.option("--force", is_flag=True, help="Kill it when it does not end by itself.")
@pass_session
def down(session: Session, force: bool) -> None:
    """End the daemon of this home; its servers end with it."""
    with Progress("ending the daemon"):
        ended = end_daemon(session, force=force)
    if ended:
        done("the daemon has ended")
    else:
        say(f"No daemon is running for {session.home.path}.")


def end_daemon(session: Session, *, force: bool = False) -> bool:
    """Ask it to end and wait until it has; whether there was one."""
    from manyhands.system import read_lock

    home = session.home
    holder = read_lock(home.lock_file)
    if holder is None:
        return False
    _ask_to_end(session, holder.pid)
    if _gone(home, holder.pid, DOWN_WITHIN_S):
        return True
    if force:
        _signal(holder.pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        if _gone(home, holder.pid, DOWN_WITHIN_S):
            return True
    raise ConflictError(
        f"Process {holder.pid} has not ended within {DOWN_WITHIN_S:.0f} s.",
        hint="Look into its log, or run `manyhands down --force`.",
    )


def _ask_to_end(session: Session, pid: int) -> None:
    """Over the API, which works on every system; by a signal where nobody answers there."""
    address = find_daemon(session.home, {})
    try:
        if address is not None:
            HttpApi(address).request("POST", "/shutdown", timeout=5)
            return
    except ManyhandsError:
        pass
    _signal(pid, signal.SIGTERM)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
    except PermissionError as error:
        raise ConflictError(
            f"Process {pid} belongs to somebody else.", hint="End it as that user."
        ) from error


def _gone(home: Home, pid: int, within: float) -> bool:
    from manyhands.system import read_lock

    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        holder = read_lock(home.lock_file)
        if holder is None or holder.pid != pid:
            return True
        time.sleep(LOOK_S)
    return False


@click.command("status", cls=HubCommand, examples=["manyhands status", "manyhands status --json"])
@json_option
@pass_session
def status(session: Session, as_json: bool) -> int:
    """What runs, where, and how much it keeps. Fails (exit code 1) when no daemon runs."""
    api = session.daemon()
    if api is None:
        if as_json:
            print_json({"running": False, "home": str(session.home.path)})
        else:
            say(f"No daemon is running for {session.home.path}. Start it with `manyhands up`.")
        return 1
    found = api.request("GET", "/status")
    if as_json:
        print_json({"running": True, **found})
        return 0
    print_fields(_fields(found))
    return 0


def _fields(found: Json) -> list[tuple[str, str]]:
    servers = ", ".join(f"{count:g} {state}" for state, count in found["servers"].items() if count)
    sizes = [f"{name} {human_size(size)}" for name, size in found["storage"].items()]
    counts = [plural(count, name.removesuffix("s")) for name, count in found["counts"].items()]
    return [
        ("daemon", f"{paint('running', 'green')}, version {found['version']}, process {found['pid']}"),
        ("address", found["url"] or ""),
        ("up for", human_duration(found["uptime_s"])),
        ("memory", human_size(found["rss"])),
        ("home", found["home"]),
        ("database", found["database"]),
        ("servers", servers or "none"),
        (
            "waiting",
            f"{plural(found['approvals'], 'approval')}: `manyhands approvals list`"
            if found["approvals"]
            else "",
        ),
        ("kept", ", ".join(sizes) + "\n" + ", ".join(counts)),
        ("disk", f"{human_size(found['disk_free'])} free"),
    ]

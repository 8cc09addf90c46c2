"""Running commands for the person: in front of them, or step by step with the output in a log."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tooling.places import LOG, ROOT, environment

UNREACHABLE = (
    "error sending request",
    "failed to fetch",
    "dns error",
    "connection refused",
    "max retries exceeded",
    "newconnectionerror",
    "connecttimeouterror",
    "operation timed out",
    "temporary failure in name resolution",
    "certificate",
    "enotfound",
    "econnrefused",
    "etimedout",
    "eai_again",
)


class Problem(Exception):
    """What stops dev: one line that says what to do."""


def say(text: str) -> None:
    print(f"dev: {text}", file=sys.stderr, flush=True)


def become(*argv: str) -> NoReturn:
    """Replace this process, so that nothing stands between the terminal and the program."""
    if os.name == "nt":  # exec on Windows gives the console back before the program has ended
        import subprocess

        sys.exit(subprocess.call(argv, env=environment()))
    os.execve(argv[0], argv, environment())  # noqa: S606 (no shell is meant)


def run_all(commands: Mapping[str, list[str] | Callable[[], int]]) -> None:
    """Run commands in front of the person; all of them, also after one has failed."""
    import subprocess

    failed = []
    for title, command in commands.items():
        say(title)
        if command() if callable(command) else subprocess.call(command, cwd=ROOT, env=environment()):
            failed.append(title)
    if failed:
        raise Problem(f"failed: {', '.join(failed)}; what is wrong stands above")


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """Show what goes on and for how long; yields the function that takes the latest detail."""
    import shutil
    import threading
    import time

    began, latest, over, live = time.monotonic(), [""], threading.Event(), sys.stderr.isatty()

    def show() -> None:
        while not over.wait(0.2 if live else 15):
            line = f"dev: {title} … {time.monotonic() - began:.0f} s  {latest[0]}"
            if live:
                width = shutil.get_terminal_size().columns - 1
                print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)
            else:
                print(line, file=sys.stderr, flush=True)

    if not live:
        say(f"{title} …")
    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield lambda text: latest.__setitem__(0, text)
    finally:
        over.set()
        shower.join()
        if live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    say(f"{title}: {time.monotonic() - began:.1f} s")


def step(title: str, *argv: str | Path, cwd: Path = ROOT, settings: Mapping[str, str] | None = None) -> None:
    """Run one part of an installation with its output in the log; failing is a Problem."""
    import subprocess

    lines: list[str] = []
    with progress(title) as detail, LOG.open("a", encoding="utf-8") as log:
        with subprocess.Popen(
            [str(part) for part in argv],
            cwd=cwd,
            env={**environment(), **(settings or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as child:
            for line in child.stdout or ():
                lines.append(line)
                log.write(line)
                detail(line.strip())
        if child.returncode:
            raise Problem(explain(title, child.returncode, lines))


def explain(title: str, code: int, lines: list[str]) -> str:
    output = "".join(lines)
    if any(sign in output.lower() for sign in UNREACHABLE):
        return (
            f"{title} failed because the package registry could not be reached; check the network"
            " (HTTPS_PROXY, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, your pip, uv or npm settings) and run the"
            f" same command again. All of its output: {LOG}"
        )
    sys.stderr.write("".join(lines[-20:]))
    return f"{title} failed with exit code {code}; its last lines are above, all of them in {LOG}"

"""`manyhands doctor`: runs every check, says what to fix, and fails when something is broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from manyhands.cli.checks import (
    Finding,
    check_daemon,
    check_database,
    check_disk,
    check_home,
    check_limits,
    check_programs,
    check_python,
)
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.model_checks import check_models
from manyhands.cli.output import in_lines, plural, print_json, say
from manyhands.cli.progress import Progress
from manyhands.cli.server_checks import check_projects, check_secrets, check_servers, check_settings
from manyhands.cli.session import Session
from manyhands.cli.terminal import one_line, paint
from manyhands.errors import ManyhandsError

SUBJECT = 12
MARGIN = " " * (SUBJECT + 3)
MARKS = {"ok": ("✓", "green"), "note": ("·", "dim"), "warning": ("!", "yellow"), "broken": ("✗", "red")}


@click.command("doctor", cls=HubCommand, examples=["manyhands doctor", "manyhands doctor --test --json"])
@click.option(
    "--test", "try_servers", is_flag=True, help="Start and test each server, also those that are connected."
)
@json_option
@pass_session
def doctor(session: Session, try_servers: bool, as_json: bool) -> int:
    """Check the installation, every server and every model, and say what to fix.

    Fails (exit code 1) when something is broken; warnings are only told.
    """
    findings = []
    with Progress("looking around") as progress:
        for finding in _all_checks(session, progress, try_servers=try_servers):
            findings.append(finding)
            if not as_json:
                progress.pause()
                _print(finding)
                progress.resume()
    broken = sum(finding.verdict == "broken" for finding in findings)
    if as_json:
        print_json({"ok": not broken, "findings": [finding.wire() for finding in findings]})
    else:
        _print_summary(findings, broken)
    return 1 if broken else 0


def _all_checks(session: Session, progress: Progress, *, try_servers: bool) -> Iterator[Finding]:
    home = session.home
    quick: list[tuple[str, Iterable[Finding]]] = [
        ("looking at Python", check_python()),
        ("looking at the home", check_home(home)),
        ("asking the daemon", check_daemon(home)),
        ("checking the database", check_database(home)),
        ("looking at the disk", check_disk(home)),
        ("looking for programs", check_programs()),
        ("looking at limits", check_limits()),
        ("looking for the keyring", check_secrets(home)),
    ]
    for title, findings in quick:
        progress.title(title)
        yield from findings
    progress.title("asking about servers")
    progress.pause()  # starting the hub shows a progress of its own
    try:
        api = session.api
    except ManyhandsError as error:
        yield Finding("hub", "broken", error.message, error.hint or "")
        return
    finally:
        progress.resume()
    yield from check_settings(api)
    yield from check_servers(api, progress, try_servers=try_servers)
    yield from check_projects(api)
    yield from check_models(api, progress)


def _print(finding: Finding) -> None:
    mark, colour = MARKS[finding.verdict]
    first, *others = in_lines(one_line(finding.text), margin=len(MARGIN))
    say(f"{paint(mark, colour)} {finding.subject:<{SUBJECT}} {first}")
    for line in others:
        say(f"{MARGIN}{line}")
    if finding.fix:
        for number, line in enumerate(in_lines(one_line(finding.fix), margin=len(MARGIN) + 2)):
            say(f"{MARGIN}{paint(('  ' if number else '→ ') + line, colour)}")
    sys.stdout.flush()


def _print_summary(findings: list[Finding], broken: int) -> None:
    warnings = sum(finding.verdict == "warning" for finding in findings)
    counted = [plural(broken, "thing") + " broken"] if broken else []
    counted += [plural(warnings, "warning")] if warnings else []
    if broken:
        say(paint(f"\n{', '.join(counted)}", "red", "bold"))
    elif warnings:
        say(paint(f"\nIt works, with {counted[0]}", "yellow", "bold"))
    else:
        say(paint("\nAll is well", "green", "bold"))

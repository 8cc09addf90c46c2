"""`manyhands backup|restore`: everything of a home in one file, and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

import click

from manyhands.cli.client import LONG_TIMEOUT_S, Api, find_daemon
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.daemon import end_daemon, start_detached
from manyhands.cli.output import done, human_size, note, print_json, warn
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.errors import ConflictError
from manyhands.home import read_bootstrap


@click.command(
    "backup", cls=HubCommand, examples=["manyhands backup", "manyhands backup ~/saved/hub.tar.gz --keys"]
)
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option("--keys", is_flag=True, help="Put the token and the key of the secrets into it; guard it well.")
@json_option
@pass_session
def backup(session: Session, file: str | None, keys: bool, as_json: bool) -> None:
    """Save everything to one file, also while the daemon works.

    The database, settings, notes, workflows, stored secrets (encrypted) and large results are in it; what the
    system's keyring holds stays there.
    """
    path = Path(file or _default_name()).expanduser().absolute()
    with Progress(f"saving to {path.name}"):
        made = session.api.request(
            "POST", "/backup", {"path": str(path), "keys": keys}, timeout=LONG_TIMEOUT_S
        )
    if as_json:
        print_json(made)
        return
    done(f"{made['path']}, {human_size(made['bytes'])}")
    note(f"bring it back with `manyhands restore {quote(made['path'])}`")


def _default_name() -> str:
    from datetime import datetime

    return f"manyhands-{datetime.now().astimezone():%Y%m%d-%H%M%S}.tar.gz"


@click.command(
    "restore",
    cls=HubCommand,
    examples=["manyhands restore hub.tar.gz", "manyhands restore hub.tar.gz --home ~/other-home"],
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--replace", is_flag=True, help="Move what is there aside, into `before-restore-…` of the home."
)
@click.option("--database", metavar="URL", help="Restore into this database instead of the home's own.")
@json_option
@pass_session
def restore(session: Session, file: str, replace: bool, database: str | None, as_json: bool) -> None:
    """Bring a backup back. A running daemon is ended for it and started again at the same address.

    What is there already stays untouched unless --replace is given; a backup that is refused ends no daemon.
    """
    from manyhands.backup import restore_backup

    with Progress(f"checking {Path(file).name}") as progress:
        report = restore_backup(
            session.home,
            Path(file).absolute(),
            database_url=database,
            replace=replace,
            alone=lambda: _without_daemon(session, database, progress),
        )
    for remark in report.notes:
        warn(remark)
    if as_json:
        replaced = str(report.replaced) if report.replaced else None
        print_json(
            {
                "entries": report.entries,
                "database": report.database,
                "made_at": report.made_at,
                "replaced": replaced,
                "notes": list(report.notes),
            }
        )
        return
    done(f"{session.home.path} is as it was at {report.made_at}")
    if report.replaced:
        note(f"what was there before is in {report.replaced}")


@contextmanager
def _without_daemon(session: Session, database: str | None, progress: Progress) -> Iterator[None]:
    """End the daemon of the home for the time being; it comes back whether the restore works or not."""
    address = find_daemon(session.home, {})
    api = session.daemon() if address else None
    if address is None or api is None:
        progress.title("restoring")
        yield
        return
    _check_database(session, api, database)
    parts = urlsplit(address.url)
    options = [f"--host={parts.hostname}", f"--port={parts.port}"]
    progress.title("ending the daemon")
    end_daemon(session)
    try:
        progress.title("restoring")
        yield
    finally:
        progress.title("starting the daemon again")
        start_detached(session.home, options + ([f"--database={database}"] if database else []))


def _check_database(session: Session, api: Api, database: str | None) -> None:
    """A daemon that was told another database than its home names has to be told again."""
    kind = (database or read_bootstrap(session.home).database_url).split(":", 1)[0].split("+", 1)[0]
    running = api.request("GET", "/status")["database"]
    if not kind.startswith(running[:8]):
        raise ConflictError(
            f"The daemon uses {running}, but the home's own database is {kind}.",
            hint="Give --database as it was given to `manyhands up`, or end the daemon first.",
        )

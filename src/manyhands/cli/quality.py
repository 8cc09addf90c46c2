"""`manyhands quality`: how healthy the code of a directory is, where to look, and a gate for changes."""

from __future__ import annotations

from functools import partial
from shlex import quote

import click

from manyhands.cli import quality_view as view
from manyhands.cli.channels import absolute, find_channel
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.feed import Feed
from manyhands.cli.output import print_json, say
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.errors import ConflictError, ManyhandsError, NotFoundError, UnavailableError

FAILED = 1
LOOK_S = 0.5
SHOWN_FUNCTIONS, SHOWN_CLONES = 20, 10
DIMENSIONS = ("cyclomatic", "cognitive", "nesting", "parameters", "lines")

quality = HubGroup(
    "quality",
    help="How healthy the code of a directory is: one number with its reasons.",
    order="scan show complexity clones gate",
    examples=["manyhands quality scan --dir .", "manyhands quality gate --base main"],
)
_directory = click.option(
    "--dir", "directory", metavar="DIR", default=".", show_default=True, help="The directory of the code."
)


@quality.command("scan", examples=["manyhands quality scan", "manyhands quality scan --dir ~/project --json"])
@_directory
@json_option
@pass_session
def scan(session: Session, directory: str, as_json: bool) -> None:
    """Scan a directory now and show what was found; works with and without a daemon."""
    api = session.api
    channel = _channel(api, directory, make=True)
    snapshot = _scan(api, channel, f"scanning {absolute(directory)}")
    _show(api, channel, snapshot, as_json)


def _scan(api: Api, channel: Json, title: str) -> Json:
    """Start it, follow it to its end; Ctrl-C ends it there, too."""
    place = f"/channels/{segment(channel['id'])}/quality/scan"
    with Progress(title) as progress, Feed(api) as feed:
        api.request("POST", place)
        try:
            return _wait(feed, channel["id"], progress)
        except KeyboardInterrupt:
            api.request("DELETE", place)
            raise


def _wait(feed: Feed, channel_id: str, progress: Progress) -> Json:
    while True:
        told = feed.get(LOOK_S)
        if told is None or told[0] != "event" or told[1].get("channel_id") != channel_id:
            continue
        data = told[1]["data"]
        if told[1]["type"] == "quality.progress":
            progress.detail(_progress(data))
        elif told[1]["type"] == "quality.failed":
            raise _failure(data)
        elif told[1]["type"] == "quality.scanned":
            return dict(data)


def _progress(data: Json) -> str:
    count = f" {data['done']:,} of {data['total']:,} files" if data["total"] else ""
    return f"{data['phase']}{count}"


def _failure(data: Json) -> ManyhandsError:
    kinds = {kind.code: kind for kind in (ConflictError, NotFoundError)}
    return kinds.get(data["code"], UnavailableError)(data["error"], hint=data["hint"])


@quality.command("show", examples=["manyhands quality show", "manyhands quality show --dir ~/project"])
@_directory
@json_option
@pass_session
def show(session: Session, directory: str, as_json: bool) -> None:
    """What the last scan of a directory said."""
    api = session.api
    channel = _channel(api, directory)
    _show(api, channel, api.request("GET", _place(channel, "snapshot")), as_json)


def _show(api: Api, channel: Json, snapshot: Json, as_json: bool) -> None:
    if as_json:
        print_json(snapshot)
        return
    page = {"limit": view.SHOWN}
    worst = api.request("GET", _place(channel, "complexity"), query=page)["items"]
    clones = api.request("GET", _place(channel, "clones"), query=page)["items"]
    view.print_snapshot(snapshot, worst, clones)


@quality.command(
    "complexity", examples=["manyhands quality complexity", "manyhands quality complexity --limit 100 --json"]
)
@_directory
@click.option("--limit", type=click.IntRange(1, 500), default=SHOWN_FUNCTIONS, show_default=True, metavar="N")
@json_option
@wide_option
@pass_session
def complexity(session: Session, directory: str, limit: int, as_json: bool, wide: bool) -> None:
    """The functions of the last scan, the worst first."""
    found = _list(session.api, directory, "complexity", limit)
    if as_json:
        print_json(found)
    elif not found:
        say("There are no functions.")
    else:
        view.print_functions(found, wide=wide)


@quality.command("clones", examples=["manyhands quality clones", "manyhands quality clones --limit 3"])
@_directory
@click.option("--limit", type=click.IntRange(1, 500), default=SHOWN_CLONES, show_default=True, metavar="N")
@json_option
@pass_session
def clones(session: Session, directory: str, limit: int, as_json: bool) -> None:
    """Groups of functions that are copies of each other, the largest first."""
    found = _list(session.api, directory, "clones", limit)
    if as_json:
        print_json(found)
    elif not found:
        say("There are no copies.")
    else:
        view.print_clones(found)


def _list(api: Api, directory: str, name: str, limit: int) -> list[Json]:
    channel = _channel(api, directory)
    return list(api.request("GET", _place(channel, name), query={"limit": limit})["items"])


@quality.command(
    "gate",
    examples=[
        "manyhands quality gate --base main",
        "manyhands quality gate --base origin/main --threshold cognitive=20 --skip clones",
    ],
)
@_directory
@click.option("--base", metavar="REF", help="What to compare with (where the work left the main branch).")
@click.option("--threshold", multiple=True, metavar="NAME=N", help="A threshold of your own (repeatable).")
@click.option(
    "--skip",
    multiple=True,
    type=click.Choice(["functions", "clones", "cycles"]),
    help="Leave this kind of problem out (repeatable).",
)
@click.option("--max-problems", type=click.IntRange(0), metavar="N", help="So many new problems pass (0).")
@click.option("--min-signal", type=click.IntRange(0, 10_000), metavar="N", help="The least quality signal.")
@click.option("--max-drop", type=click.IntRange(0, 10_000), metavar="N", help="How far the signal may fall.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Files to leave out (repeatable).")
@click.option("--changes", "with_changes", is_flag=True, help="Show every function that changed.")
@json_option
@pass_session
def gate(
    session: Session,
    /,
    directory: str,
    base: str | None,
    threshold: tuple[str, ...],
    skip: tuple[str, ...],
    max_problems: int | None,
    min_signal: int | None,
    max_drop: int | None,
    exclude: tuple[str, ...],
    with_changes: bool,
    as_json: bool,
) -> int:
    """Compare a directory with a base; exit code 1 when the change brings new problems, and only then."""
    numbers = {"max_problems": max_problems, "min_signal": min_signal, "max_drop": max_drop}
    rules = {name: value for name, value in numbers.items() if value is not None}
    rules |= dict(map(_threshold, threshold)) | dict.fromkeys(skip, False)
    body = {"base": base, "rules": {**rules, **({"exclude": list(exclude)} if exclude else {})}}
    api = session.api
    channel = _channel(api, directory, make=True)
    with Progress(f"comparing with {base or 'the base'}") as progress:
        hear = partial(_hear, channel_id=channel["id"], progress=progress)
        with api.follow(hear):
            found = api.request("POST", _place(channel, "compare"), body, timeout=LONG_TIMEOUT_S)
    if as_json:
        print_json(found)
    else:
        view.print_gate(found, with_changes=with_changes)
    return 0 if found["passed"] else FAILED


def _hear(event: Json, *, channel_id: str, progress: Progress) -> None:
    if event["type"] == "quality.comparing" and event["channel_id"] == channel_id:
        progress.detail(_progress(event["data"]))


def _threshold(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if name not in DIMENSIONS or not number.isdecimal():
        raise click.BadParameter(f"{text!r} is not NAME=N with a NAME of {', '.join(DIMENSIONS)}")
    return name, int(number)


def _channel(api: Api, directory: str, *, make: bool = False) -> Json:
    try:
        return find_channel(api, directory, make=make)
    except NotFoundError:
        path = absolute(directory)
        if make:
            raise NotFoundError(f"There is no directory {path}.", hint="Give --dir.") from None
        raise NotFoundError(
            f"{path} has not been scanned yet.",
            hint=f"Run `manyhands quality scan --dir {quote(directory)}`.",
        ) from None


def _place(channel: Json, name: str) -> str:
    return f"/channels/{segment(channel['id'])}/quality/{name}"

"""`manyhands memory`: search the notes of a directory, keep them up to date, measure how well that works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from manyhands.cli.channels import absolute, find_channel
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, pages
from manyhands.cli.command import HubGroup, json_option, pass_session
from manyhands.cli.memory_bench import Score, measure, read_questions
from manyhands.cli.output import Column, done, note, plural, print_json, print_table, say, warn
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.cli.terminal import one_line, paint

Function = TypeVar("Function", bound=Callable[..., Any])

memory = HubGroup(
    "memory",
    help="The notes of a project: searched by words and by meaning, with nothing to download.",
    examples=['manyhands memory search "what did we decide about queues?" --dir .'],
)
STATE = (
    Column("MEMORY", flexible=True),
    Column("FILES", right=True),
    Column("CHUNKS", right=True),
    Column("VECTORS", right=True),
    Column("PROBLEMS", right=True),
    Column("STATE"),
)
MOST_PROBLEMS = 20


def place_options(function: Function) -> Function:
    """`--dir` and `--channel`: whose memory."""
    options = [
        click.option(
            "--dir", "directory", metavar="DIR", help="Of this directory; by default the current one."
        ),
        click.option("--channel", metavar="CHANNEL", help="Of this channel (id, name)."),
        click.option(
            "--global", "only_global", is_flag=True, help="The memory that all projects share, alone."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _place(api: Api, directory: str | None, channel: str | None, only_global: bool) -> Json:
    """Whose memory is meant, as the API wants it."""
    if sum(map(bool, (directory, channel, only_global))) > 1:
        raise click.UsageError("Give one of --dir, --channel and --global")
    if only_global:
        return {}
    if channel:
        return {"channel_id": find_channel(api, channel)["id"]}
    return {"dir_path": absolute(directory or ".")}


@memory.command(
    "search",
    examples=[
        'manyhands memory search "what did we decide about queues?" --dir .',
        'manyhands memory search "release steps" --path "docs/**" --since 2026-01-01 --json',
    ],
)
@click.argument("question")
@place_options
@click.option(
    "--top-k", type=click.IntRange(1, 100), default=5, show_default=True, help="How many hits at most."
)
@click.option("--budget-chars", type=click.IntRange(1, 200_000), help="Characters of all texts together.")
@click.option(
    "--path", "paths", multiple=True, metavar="PATTERN", help="Only files that match; can be repeated."
)
@click.option("--since", metavar="DATE", help="Only files changed since then, such as 2026-01-31.")
@click.option("--until", metavar="DATE", help="Only files changed until then.")
@click.option("--recency", type=click.FloatRange(0, 2), default=0.0, help="How much newer files gain.")
@click.option("--diversity", type=click.FloatRange(0, 1), default=0.0, help="How much repetitions lose.")
@click.option("--words", is_flag=True, help="By words alone.")
@json_option
@pass_session
def search(
    session: Session,
    question: str,
    directory: str | None,
    channel: str | None,
    only_global: bool,
    top_k: int,
    budget_chars: int | None,
    paths: tuple[str, ...],
    since: str | None,
    until: str | None,
    recency: float,
    diversity: float,
    words: bool,
    as_json: bool,
) -> None:
    """Find the passages that answer QUESTION. Files that are new or changed are read first."""
    if not question.strip():
        raise click.UsageError("The QUESTION is empty")
    api = session.api
    place = _place(api, directory, channel, only_global)
    wanted = {
        "query": question,
        "top_k": top_k,
        "budget_chars": budget_chars,
        "paths": list(paths),
        "since": _moment(since),
        "until": _moment(until, end=True),
        "recency": recency,
        "diversity": diversity,
        "mode": "lexical" if words else "hybrid",
    }
    _bring_up_to_date(api, place)
    answer = api.request("POST", "/memory/search", {**place, **wanted}, timeout=LONG_TIMEOUT_S)
    if as_json:
        print_json(answer)
    else:
        _show(answer)


def _bring_up_to_date(api: Api, place: Json) -> None:
    """Read what is new, unless a daemon watches the files anyway."""
    status = api.request("GET", "/memory/status", query=place) if place else {"collections": []}
    own = [one for one in status["collections"] if one["scope"] != "global"]
    if own and all(one["watched"] and one["state"] == "idle" for one in own):
        return
    with _following(api, "reading notes"):
        api.request("POST", "/memory/index", place, timeout=LONG_TIMEOUT_S)


@contextmanager
def _following(api: Api, title: str) -> Iterator[None]:
    """Show how far indexing is, once it takes longer than a moment."""
    with Progress(title) as progress:

        def tell(event: Json) -> None:
            if event["type"] == "memory.progress":
                data = event["data"]
                of = f" {data['done']:,} of {data['total']:,}" if data["total"] else ""
                progress.detail(f"{data['phase']}{of}")

        with api.follow(tell):
            yield


def _moment(date: str | None, *, end: bool = False) -> str | None:
    """A day, or a time, as the API wants it: in this machine's zone."""
    if date is None:
        return None
    from datetime import datetime, timedelta

    try:
        found = datetime.fromisoformat(date)
    except ValueError as error:
        raise click.UsageError(f"{date!r} is no date such as 2026-01-31") from error
    if end and len(date) == len("2026-01-31"):
        found += timedelta(days=1)
    return found.astimezone().isoformat()


def _show(answer: Json) -> None:
    for hit in answer["results"]:
        place = f"{hit['path']}:{hit['line_start']}" + (" (global)" if hit["scope"] == "global" else "")
        parts = hit["parts"]
        why = f"words {parts['lexical']:.2f}, meaning {parts['vector']:.2f}"
        why += f", recency {parts['recency']:.2f}" if parts["recency"] else ""
        heading = f"  {one_line(hit['heading'])}" if hit["heading"] else ""
        score = paint(f"{hit['score']:.2f} ({why})", "dim")
        say(f"{paint(place, 'bold')}{heading}  {score}")
        for line in hit["text"].splitlines():
            say(f"    {one_line(line)}")
        say()
    index = answer["index"]
    searched = f"{plural(index['files'], 'file')}, {plural(index['chunks'], 'passage')}"
    if not answer["results"]:
        say(f"Nothing was found in {searched}.")
    how = "words and meaning" if answer["mode"] == "hybrid" else "words"
    note(f"searched {searched} by {how}")
    for text in answer["notes"]:
        warn(text)


@memory.command("index", examples=["manyhands memory index", "manyhands memory index --dir notes --again"])
@place_options
@click.option("--again", is_flag=True, help="Forget what is kept and read everything anew.")
@json_option
@pass_session
def index(
    session: Session,
    directory: str | None,
    channel: str | None,
    only_global: bool,
    again: bool,
    as_json: bool,
) -> None:
    """Bring the memory of a directory up to date."""
    api = session.api
    place = _place(api, directory, channel, only_global)
    with _following(api, "reading notes"):
        answer = api.request("POST", "/memory/index", {**place, "again": again}, timeout=LONG_TIMEOUT_S)
    if as_json:
        print_json(answer)
        return
    files, chunks = answer["files"], answer["chunks"]
    done(
        f"files: {files['added']} added, {files['changed']} changed, {files['removed']} removed, "
        f"{files['unchanged']} unchanged"
    )
    say(f"  chunks: {chunks['added']} added, {chunks['removed']} removed, {answer['embedded']} got a vector")
    _complain(answer["problems"])
    for text in answer["notes"]:
        warn(text)


def _complain(problems: list[Json]) -> None:
    for problem in problems[:MOST_PROBLEMS]:
        warn(f"{one_line(problem['path'])}: {problem['problem']}")
    if len(problems) > MOST_PROBLEMS:
        warn(f"and {len(problems) - MOST_PROBLEMS} more files; `manyhands memory status` lists them")


@memory.command("status", examples=["manyhands memory status", "manyhands memory status --all --json"])
@place_options
@click.option("--all", "everywhere", is_flag=True, help="Of everything that is indexed.")
@json_option
@pass_session
def status(
    session: Session,
    directory: str | None,
    channel: str | None,
    only_global: bool,
    everywhere: bool,
    as_json: bool,
) -> None:
    """Show what is indexed, what is going on, and what could not be read."""
    api = session.api
    place = {} if everywhere else _place(api, directory, channel, only_global)
    answer = api.request("GET", "/memory/status", query=place)
    if as_json:
        print_json(answer)
        return
    print_table(STATE, [_row(one) for one in answer["collections"]])
    embedder = answer["embedder"]
    say(f"\nvectors by {embedder['name']}, kept as {embedder['kept_in']}")
    if embedder["note"]:
        note(embedder["note"])
    if embedder["problem"]:
        warn(embedder["problem"])
    if not everywhere:
        _complain(pages(api, "/memory/files", query={**place, "problems": "true"}))


def _row(one: Json) -> tuple[str, ...]:
    far = f" {one['done']:,}/{one['total']:,}" if one["total"] else ""
    state = one["state"] + far if one["state"] != "idle" else "watched" if one["watched"] else "idle"
    name = one["directory"] or (f"channel {one['channel_id']}" if one["channel_id"] else "global")
    counts = (one["files"], one["chunks"], one["embedded"], one["problems"])
    return (name, *(f"{count:,}" for count in counts), state)


@memory.command("bench", examples=["manyhands memory bench questions.jsonl --dir notes"])
@click.argument("questions", type=click.Path(exists=True, dir_okay=False))
@place_options
@click.option(
    "--top-k", type=click.IntRange(1, 100), default=50, show_default=True, help="Hits for each question."
)
@click.option(
    "--budget-chars",
    type=click.IntRange(1, 200_000),
    default=2000,
    show_default=True,
    help="Characters of all texts together.",
)
@click.option("--words", is_flag=True, help="By words alone.")
@click.option("--misses", is_flag=True, help="List the questions whose evidence was not found.")
@json_option
@pass_session
def bench(
    session: Session,
    questions: str,
    directory: str | None,
    channel: str | None,
    only_global: bool,
    top_k: int,
    budget_chars: int,
    words: bool,
    misses: bool,
    as_json: bool,
) -> None:
    """Measure recall on your own questions.

    Each line of QUESTIONS is `{"question": "…", "evidence": ["a passage as it stands in the notes", …]}`.
    """
    asked = read_questions(questions)
    api = session.api
    place = _place(api, directory, channel, only_global)
    _bring_up_to_date(api, place)
    wanted = {**place, "top_k": top_k, "budget_chars": budget_chars, "mode": "lexical" if words else "hybrid"}
    with Progress("asking") as progress:

        def ask(number: int, question: str) -> Json:
            progress.detail(f"{number:,} of {len(asked):,}")
            return dict(api.request("POST", "/memory/search", {**wanted, "query": question}))

        score = measure(asked, ask, budget_chars)
    if as_json:
        print_json(score.wire())
    else:
        _show_score(score, misses=misses)


def _show_score(score: Score, *, misses: bool) -> None:
    say(f"{score.recall:.3f}  share of the evidence found, mean over {plural(score.questions, 'question')}")
    say(f"{score.lines:.3f}  share of all {score.evidence:,} pieces of evidence")
    say(f"{score.p50_ms:.1f} ms  p50 of a question, {score.p99_ms:.1f} ms p99, searched by {score.mode}")
    if misses:
        for question in score.missed:
            say(f"missed: {one_line(question)}")

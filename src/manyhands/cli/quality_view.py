"""How quality looks in a terminal: the number, six bars with their reasons, what to look at first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from manyhands.cli.client import Json
from manyhands.cli.output import Column, dim_style, human_duration, plural, print_table, say
from manyhands.cli.terminal import columns, has_colour, one_line, paint

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

SHOWN = 5
BAR = 20
GOOD, FAIR = 0.8, 0.5
FUNCTIONS = (
    Column("WHERE", flexible=True),
    Column("FUNCTION", flexible=True),
    Column("CYCLOMATIC", right=True),
    Column("COGNITIVE", right=True),
    Column("NESTING", right=True),
    Column("PARAMETERS", right=True),
    Column("LINES", right=True),
    Column("SCORE", right=True),
)
CHANGES = (
    Column("", style=dim_style),
    Column("WHERE", flexible=True),
    Column("FUNCTION", flexible=True),
    Column("WHAT"),
)


def print_snapshot(snapshot: Json, worst: list[Json], clones: list[Json]) -> None:
    """Everything of a snapshot that fits on a screen."""
    from rich.text import Text

    console = _console()
    console.print(_headline(snapshot))
    console.print(Text(_facts(snapshot), style="dim"))
    for warning in _warnings(snapshot):
        console.print(Text(warning, style="yellow"))
    console.print()
    console.print(_metrics(snapshot["metrics"]))
    bad = [row for row in worst if row["over"]]
    if bad:
        console.print(Text("\nLook here first", style="bold"))
        for row in bad:
            where, name = f"{row['path']}:{row['line']}", (one_line(row["name"]), "bold")
            what = ", ".join(f"{dimension} {row[dimension]}" for dimension in row["over"])
            console.print(Text.assemble("  ", one_line(where), " ", name, f": {what}"))
    if clones:
        console.print(Text("\nCopies", style="bold"))
        for cluster in clones:
            console.print(Text(f"  {_copies(cluster)}: {_places(cluster)}"))


def _console() -> Console:
    from rich.console import Console

    width = columns()
    colour = has_colour(sys.stdout)
    return Console(
        file=sys.stdout,
        width=width or 100,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        soft_wrap=width is None,
    )


def _headline(snapshot: Json) -> Text:
    from rich.text import Text

    signal = snapshot["quality_signal"]
    line = Text.assemble("Quality signal ", (f"{signal:,}", f"bold {_colour(signal / 10_000)}"), " of 10,000")
    change = snapshot["change"]
    if change is not None:
        mark = "▲" if change > 0 else "▼" if change < 0 else "="
        colour = "green" if change > 0 else "red" if change < 0 else "dim"
        line.append(f"  {mark} {change:+,} since the scan before", style=colour)
    return line


def _facts(snapshot: Json) -> str:
    branch = f"branch {snapshot['branch']}" if snapshot["branch"] else "no branch"
    counts = (
        f"{plural(snapshot['files'], 'file')}, {plural(snapshot['functions'], 'function')}, "
        f"{snapshot['loc']:,} lines with code"
    )
    took = human_duration(snapshot["duration_ms"] / 1000)
    return one_line(f"{snapshot['directory']} · {branch} · {counts} · {took}")


def _warnings(snapshot: Json) -> list[str]:
    found = []
    if not snapshot["files"]:
        found.append("No source file was measured: there was nothing to judge, and the number says nothing.")
    if snapshot["branch_mismatch"]:
        now = snapshot["current_branch"] or "no branch"
        found.append(f"This is of another branch than the one checked out now ({now}): scan again.")
    if snapshot["truncated"]:
        found.append("A limit was reached (quality_max_files, quality_max_bytes): the rest was not read.")
    if snapshot["syntax_errors"]:
        errors = plural(snapshot["syntax_errors"], "syntax error")
        found.append(f"{errors}, for example in {one_line(', '.join(snapshot['broken_files'][:3]))}")
    if snapshot["left_out"]:
        counts = (f"{name.replace('_', ' ')} {count:,}" for name, count in snapshot["left_out"].items())
        found.append(f"Left out: {', '.join(counts)}")
    return found


def _metrics(metrics: Json) -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for name, metric in sorted(metrics.items(), key=lambda item: item[1]["score"]):
        score = metric["score"]
        full = round(score * BAR)
        colour = _colour(score) if metric["raw"] is not None else "dim"
        bar = Text.assemble(("█" * full, colour), ("░" * (BAR - full), "dim"))
        table.add_row(name, Text(f"{score:.3f}", style=colour), bar, " ".join(metric["reasons"]))
    return table


def _colour(share: float) -> str:
    return "green" if share >= GOOD else "yellow" if share >= FAIR else "red"


def print_functions(rows: list[Json], *, wide: bool) -> None:
    """A table; what is over its threshold is marked."""
    dimensions = ("cyclomatic", "cognitive", "nesting", "parameters", "lines")
    cells = [
        (
            f"{row['path']}:{row['line']}",
            row["name"],
            *(f"{row[name]}{'!' if name in row['over'] else ' '}" for name in dimensions),
            f"{row['score']:.2f}",
        )
        for row in rows
    ]
    print_table(FUNCTIONS, cells, wide=wide)


def print_clones(clusters: list[Json]) -> None:
    for cluster in clusters:
        say(paint(_copies(cluster), "bold"))
        for unit in cluster["units"]:
            say("  " + one_line(f"{unit['path']}:{unit['line']}-{unit['end_line']} {unit['name']}"))


def _copies(cluster: Json) -> str:
    kind = "equal but for names and literals" if cluster["exact"] else "nearly equal"
    return f"{len(cluster['units'])} copies, {cluster['lines']} lines, {kind}"


def _places(cluster: Json) -> str:
    units = cluster["units"]
    shown = ", ".join(f"{unit['path']}:{unit['line']}" for unit in units[:2])
    return one_line(shown) + (f" and {len(units) - 2} more" if len(units) > 2 else "")


def print_gate(found: Json, *, with_changes: bool) -> None:
    """Problems one to a line, as editors and build logs link them, and the verdict last."""
    for problem in found["problems"]:
        where = problem["path"] + (f":{problem['line']}" if problem["line"] else "")
        say(one_line(f"{where}: {problem['message']}" if where else problem["message"]))
    if with_changes and found["changes"]:
        print_table(CHANGES, [_change(change) for change in found["changes"]])
        if found["total_changes"] > len(found["changes"]):
            say(f"… and {found['total_changes'] - len(found['changes'])} more")
    mark = paint("✓", "green") if found["passed"] else paint("✗", "red")
    base = f"{found['base']} ({found['base_commit'][:10]})"
    say(f"{mark} {found['summary']}; compared with {one_line(base)}")


def _change(change: Json) -> tuple[str, ...]:
    mark = {"added": "+", "removed": "-", "changed": "~"}[change["kind"]]
    return mark, f"{change['path']}:{change['line']}", change["name"], _difference(change)


def _difference(change: Json) -> str:
    before, after = change["before"], change["after"]
    if before is None or after is None:
        measures = after or before or {}
        return ", ".join(f"{name} {value}" for name, value in measures.items())
    differing = (name for name in after if after[name] != before[name])
    return ", ".join(f"{name} {before[name]}→{after[name]}" for name in differing)

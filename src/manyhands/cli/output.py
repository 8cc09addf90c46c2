"""How commands print: tables, fields, JSON on standard output; notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from manyhands.cli.terminal import columns, fit, is_terminal, one_line, paint, paint_error, width_of
from manyhands.cli.wrapping import wrapped

GAP = "  "
FIRM_SPACE = "\N{NO-BREAK SPACE}"
USEFUL, NARROWEST, LEAST = 16, 10, 5
"""How many columns a text should have, may have, and must have at any rate."""

STATE_STYLES = {
    "connected": ("green",),
    "success": ("green",),
    "approved": ("green",),
    "offered": ("green",),
    "ok": ("green",),
    "completed": ("green",),
    "allow": ("green",),
    "connecting": ("cyan",),
    "pending": ("cyan",),
    "queued": ("cyan",),
    "running": ("cyan",),
    "needs_auth": ("yellow",),
    "warning": ("yellow",),
    "waiting": ("yellow",),
    "max_iterations": ("yellow",),
    "ask": ("yellow",),
    "timeout": ("yellow",),
    "expired": ("dim",),
    "disconnected": ("dim",),
    "disabled": ("dim",),
    "cancelled": ("dim",),
    "error": ("red",),
    "failed": ("red",),
    "broken": ("red",),
    "denied": ("red",),
    "deny": ("red",),
    "rejected": ("red",),
}


@dataclass(frozen=True)
class Column:
    """One column of a table. Where the terminal is narrow a flexible one gives way, an optional one goes."""

    title: str
    flexible: bool = False
    optional: bool = False
    right: bool = False
    style: Callable[[str], Sequence[str]] | None = None


def state_style(word: str) -> Sequence[str]:
    """The colour of a state, for a column of states."""
    return STATE_STYLES.get(word.split(" ", 1)[0], ())


def dim_style(_: str) -> Sequence[str]:
    """For what matters less."""
    return ("dim",)


def print_json(value: Any) -> None:
    """For machines, and readable."""
    import json

    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def say(text: str = "") -> None:
    """A line of the answer."""
    sys.stdout.write(text + "\n")


def done(text: str) -> None:
    """A line that says that it worked."""
    say(f"{paint('✓', 'green')} " + "\n  ".join(in_lines(text, margin=2)))


def note(text: str) -> None:
    """A remark beside the answer, for a person only."""
    if is_terminal(sys.stderr):
        for line in in_lines(text, stream=sys.stderr):
            sys.stderr.write(paint_error(line, "dim") + "\n")


def warn(text: str) -> None:
    """Something the person should know although it worked."""
    report("warning:", text, "yellow")


def report(kind: str, text: str, *styles: str) -> None:
    """One line on standard error; on a narrow terminal the lines after the first begin below its text."""
    margin = " " * (len(kind) + 1)
    lines = in_lines(text, margin=len(margin), stream=sys.stderr)
    sys.stderr.write(f"{paint_error(kind, *styles)} " + f"\n{margin}".join(lines) + "\n")


def in_lines(text: str, *, margin: int = 0, stream: TextIO | None = None) -> list[str]:
    """As the terminal has room for it beside the margin; elsewhere it stays as it is.

    A command between backticks stays on one line, so that it can be copied.
    """
    width = columns(stream)
    if not width:
        return text.split("\n")
    parts = text.split("`")
    parts[1:-1:2] = [part.replace(" ", FIRM_SPACE) for part in parts[1:-1:2]]
    lines = wrapped("`".join(parts), width - margin, cut_words=False)
    return [line.replace(FIRM_SPACE, " ") for line in lines]


def print_table(titles: Sequence[Column], rows: Iterable[Sequence[str]], *, wide: bool = False) -> None:
    """Aligned columns, cut to the terminal's width unless `wide`."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    natural = [
        max([width_of(title.title), *(width_of(row[at]) for row in cells)]) for at, title in enumerate(titles)
    ]
    limit = None if wide else columns()
    if limit is not None:
        shown = _choose(titles, natural, limit)
        titles, natural = [titles[at] for at in shown], [natural[at] for at in shown]
        cells = [[row[at] for at in shown] for row in cells]
    widths = natural if limit is None else _shrink(titles, natural, limit)
    sys.stdout.write(_heading(titles, widths) + "\n")
    for row in cells:
        sys.stdout.write(_line(titles, widths, row) + "\n")


def _choose(titles: Sequence[Column], natural: Sequence[int], limit: int) -> Sequence[int]:
    """Those that there is room for: of the optional ones the last goes first."""
    shown = list(range(len(titles)))
    while _excess([_wanted(titles[at], natural[at]) for at in shown], limit) > 0:
        optional = [at for at in shown if titles[at].optional]
        if not optional:
            break
        shown.remove(optional[-1])
    return shown


def _wanted(title: Column, natural: int) -> int:
    """What a column needs to be of use; one that may go is whole or not there."""
    if title.flexible:
        return min(natural, USEFUL)
    return natural if title.optional else min(natural, NARROWEST)


def _excess(widths: Sequence[int], limit: int) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1) - limit


def _shrink(titles: Sequence[Column], natural: Sequence[int], limit: int) -> list[int]:
    """Take from the widest flexible column first, and from the others only when that is not enough."""
    widths = list(natural)
    everything = range(len(titles))
    flexible = [at for at in everything if titles[at].flexible]
    needed = [at for at in everything if titles[at].flexible or not titles[at].optional]
    for taken, least in ((flexible, USEFUL), (needed, NARROWEST), (flexible, LEAST), (everything, 1)):
        excess = _excess(widths, limit)
        while excess > 0 and (able := [at for at in taken if widths[at] > least]):
            widths[max(able, key=widths.__getitem__)] -= 1
            excess -= 1
    return widths


def _heading(titles: Sequence[Column], widths: Sequence[int]) -> str:
    cells = [
        _pad(fit(title.title, width), width, right=title.right)
        for title, width in zip(titles, widths, strict=True)
    ]
    return paint(GAP.join(cells).rstrip(), "bold")


def _line(titles: Sequence[Column], widths: Sequence[int], row: Sequence[str]) -> str:
    shown = []
    for at, (title, width, cell) in enumerate(zip(titles, widths, row, strict=True)):
        text = _cut(cell, width)
        padded = text if at == len(row) - 1 and not title.right else _pad(text, width, right=title.right)
        styles = title.style(cell) if title.style else ()
        shown.append(padded.replace(text, paint(text, *styles), 1) if styles and text else padded)
    return GAP.join(shown).rstrip()


def _cut(text: str, width: int) -> str:
    """Cut to the width; what has lost its beginning, such as an id, keeps its end."""
    is_end = text.startswith("…") and width_of(text) > width
    return f"…{text[len(text) - width + 1 :]}" if is_end else fit(text, width)


def _pad(text: str, width: int, *, right: bool) -> str:
    space = " " * max(width - width_of(text), 0)
    return space + text if right else text + space


def print_fields(fields: Iterable[tuple[str, str]]) -> None:
    """One thing, a line for each of its fields; what is empty is left out."""
    shown = [(name, text) for name, text in fields if text]
    width = max((width_of(name) for name, _ in shown), default=0)
    margin = " " * (width + len(GAP))
    for name, text in shown:
        first, *others = in_lines(text.rstrip("\n"), margin=len(margin))
        say(f"{paint(_pad(name, width, right=False), 'dim')}{GAP}{first}")
        for line in others:
            say(margin + line)


def shown_id(identifier: str, *, wide: bool) -> str:
    """An id as a table shows it: on a terminal its end is enough, and accepted, to tell it from others."""
    return identifier if wide or columns() is None else f"…{identifier[-8:]}"


def plural(count: int, word: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def human_size(size: float) -> str:
    """Bytes as people read them."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError(size)


def human_duration(seconds: float) -> str:
    """A stretch of time as people read it."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 48 else f"{hours // 24} days"

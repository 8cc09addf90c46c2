"""Figures, their limits, and how they are shown and kept."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs" / "benchmarks.md"
START, END = "<!-- figures -->", "<!-- end of figures -->"


@dataclass(frozen=True)
class Figure:
    """One measured number. `limit` is what it must not pass; `floor` says what it was measured against."""

    topic: str
    what: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False
    against: str = ""

    @property
    def holds(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass
class Report:
    """Collects figures and prints each as it comes."""

    figures: list[Figure] = field(default_factory=list)

    def add(
        self,
        topic: str,
        what: str,
        value: float,
        unit: str,
        *,
        limit: float | None = None,
        at_least: bool = False,
        against: str = "",
    ) -> None:
        figure = Figure(topic, what, value, unit, limit, at_least, against)
        self.figures.append(figure)
        print(_line(figure), flush=True)

    @property
    def failed(self) -> Sequence[Figure]:
        return [figure for figure in self.figures if not figure.holds]

    def write(self) -> None:
        """Put the figures into the documentation, between its two marks; those of other topics stay."""
        text = DOCS.read_text(encoding="utf-8")
        head, _, rest = text.partition(START)
        before, _, tail = rest.partition(END)
        DOCS.write_text(f"{head}{START}\n{self._table(self._kept(before))}{END}{tail}", encoding="utf-8")

    def _kept(self, before: str) -> list[str]:
        measured = {figure.topic for figure in self.figures}
        rows = [line for line in before.splitlines() if line.startswith("| ") and ": " in line]
        return [row for row in rows if row.removeprefix("| ").partition(":")[0] not in measured]

    def _table(self, kept: list[str]) -> str:
        machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        lines = [
            f"\nMeasured on {machine}.\n",
            "| what | value | limit | measured against |",
            "| --- | --- | --- | --- |",
        ]
        lines += [
            f"| {figure.topic}: {figure.what} | {_value(figure)} | {_limit(figure)} | {figure.against} |"
            for figure in self.figures
        ]
        return "\n".join(lines + kept) + "\n"


def _line(figure: Figure) -> str:
    mark = "ok  " if figure.holds else "OVER"
    limit = f"  (limit {_limit(figure)})" if figure.limit is not None else ""
    return f"{mark} {figure.topic}: {figure.what}: {_value(figure)}{limit}  {figure.against}"


def _value(figure: Figure) -> str:
    return (
        f"{figure.value:.3g} {figure.unit}"
        if abs(figure.value) < 1000
        else f"{figure.value:,.0f} {figure.unit}"
    )


def _limit(figure: Figure) -> str:
    if figure.limit is None:
        return ""
    return f"{'≥' if figure.at_least else '≤'} {figure.limit:g} {figure.unit}"


def p50(samples: Sequence[float]) -> float:
    return statistics.median(samples)


def progress(text: str) -> None:
    """Say what is going on, for the person who waits."""
    print(f"  … {text}", file=sys.stderr, flush=True)


Bench = Callable[[Report], None]

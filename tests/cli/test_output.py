"""Tables, fields and units."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from manyhands.cli import output
from manyhands.cli.output import (
    Column,
    human_duration,
    human_size,
    print_fields,
    print_json,
    print_table,
    report,
)
from manyhands.cli.terminal import width_of

COLUMNS = (Column("NAME"), Column("COUNT", right=True), Column("TEXT", flexible=True))
ROWS = [("time", "2", "short"), ("東京", "10", "a long text that goes on and on " * 4)]


def table(
    capsys: pytest.CaptureFixture[str], rows: Sequence[Sequence[str]], *, wide: bool = False
) -> list[str]:
    print_table(COLUMNS, rows, wide=wide)
    return capsys.readouterr().out.splitlines()


def test_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    heading, first, second = table(capsys, ROWS)
    assert heading == "NAME  COUNT  TEXT"
    assert first == "time      2  short"
    assert second.startswith("東京     10  a long text")


def test_a_pipe_gets_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(capsys, ROWS)[2].endswith("on and on")


@pytest.mark.parametrize("width", [17, 30, 80, 140])
def test_a_terminal_gets_lines_that_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(output, "columns", lambda: width)
    lines = table(capsys, ROWS)
    assert all(width_of(line) <= width for line in lines)
    assert lines[2].endswith("…") == (width < 140)


NARROW = (
    Column("ID"),
    Column("AT", optional=True),
    Column("TOOL"),
    Column("SIZE", optional=True, right=True),
    Column("RESULT", flexible=True),
)
CALL = ("…6zz8mf6r", "2026-03-29 10:00", "a-server: a-tool", "220 B", "the quick brown fox jumps")


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (90, "…6zz8mf6r  2026-03-29 10:00  a-server: a-tool  220 B  the quick brown fox jumps"),
        (70, "…6zz8mf6r  2026-03-29 10:00  a-server: a-tool  220 B  the quick brown…"),
        (60, "…6zz8mf6r  2026-03-29 10:00  a-server: a-t…  the quick brow…"),
        (50, "…6zz8mf6r  a-server: a-tool  the quick brown fox…"),
        (40, "…6zz8mf6r  a-server: a-…  the quick bro…"),
        (20, "…mf6r  a-ser…  the…"),
    ],
)
def test_a_narrow_terminal_gets_fewer_columns_that_are_of_use(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, line: str
) -> None:
    monkeypatch.setattr(output, "columns", lambda: width)
    print_table(NARROW, [CALL])
    heading, row = capsys.readouterr().out.splitlines()
    assert row == line
    assert width_of(row) <= width
    assert ("SIZE" in heading, " AT " in heading) == ("220 B" in line, "10:00" in line)


def test_wide_does_not_cut(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "columns", lambda: 30)
    assert table(capsys, ROWS, wide=True)[2].endswith("on and on")


def test_a_cell_cannot_break_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(capsys, [("a\nb", "1", "x\x1b[31m")])
    assert lines[1] == "a b       1  x\\x1b[31m"


def test_fields_that_are_empty_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    print_fields([("status", "fine"), ("error", ""), ("env", "A=1\nB=2")])
    assert capsys.readouterr().out == "status  fine\nenv     A=1\n        B=2\n"


def test_on_a_terminal_words_are_not_cut_at_the_edge(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "columns", lambda _=None: 30)
    print_fields([("problem", "it could not be started at all")])
    report("error:", "it could not be started at all; see https://example.com/a-long-address")
    out, err = capsys.readouterr()
    assert out == "problem  it could not be\n         started at all\n"
    assert err.splitlines() == [
        "error: it could not be started",
        "       at all; see",
        "       https://example.com/a-long-address",
    ]


def test_a_command_in_a_text_stays_on_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "columns", lambda _=None: 30)
    report("error:", "It is disabled. Run `servers enable 'a b'` first, or `down` it's done.")
    assert capsys.readouterr().err.splitlines() == [
        "error: It is disabled. Run",
        "       `servers enable 'a b'`",
        "       first, or `down` it's",
        "       done.",
    ]


def test_json_is_whole_and_readable(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "東京"})
    text = capsys.readouterr().out
    assert "東京" in text
    assert json.loads(text) == {"name": "東京"}


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0123, "12 ms"), (3.21, "3.2 s"), (75, "1 min 15 s"), (3700, "1 h 01 min"), (400_000, "4 days")],
)
def test_durations_are_shown_as_people_say_them(seconds: float, shown: str) -> None:
    assert human_duration(seconds) == shown


@pytest.mark.parametrize(("size", "shown"), [(12, "12 B"), (1500, "1.5 KB"), (2_000_000, "2.0 MB")])
def test_sizes_are_shown_as_people_say_them(size: int, shown: str) -> None:
    assert human_size(size) == shown

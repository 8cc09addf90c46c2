"""What stays on the page and what is redrawn below it, on a terminal that is only a text."""

from __future__ import annotations

import io

import pytest

from manyhands.cli.markdown import MarkdownSetting
from manyhands.cli.page import LivePage, PlainPage, Rows
from tests.cli.screen import screen


def test_a_file_gets_everything_as_it_comes() -> None:
    file = io.StringIO()
    page = PlainPage(file)
    page.write("some ")
    page.write("words")
    page.show(Rows(["never seen"]))
    page.line("a line")
    page.line()
    page.write("more\n")
    page.line("the end")
    assert file.getvalue() == "some words\na line\n\nmore\nthe end\n"
    assert page.width is None


def test_rows_below_change_until_they_are_gone() -> None:
    terminal = io.StringIO()
    page = LivePage(terminal)
    page.show(Rows(["first", "second"]))
    assert screen(terminal) == ["first", "second"]
    page.show(Rows(["other"]))
    assert screen(terminal) == ["other"]
    page.line("stays")
    page.show(Rows(["other", "third"]))
    assert screen(terminal) == ["stays", "other", "third"]
    page.show(Rows([]))
    assert screen(terminal) == ["stays", ""]


def test_text_that_comes_in_pieces_stays_above_the_rows() -> None:
    terminal = io.StringIO()
    page = LivePage(terminal)
    for piece in ("Once ", "upon a time\nthere ", "was"):
        page.write(piece)
        page.show(Rows(["working"]))
    assert screen(terminal) == ["Once upon a time", "there was", "working"]
    page.line("a call")
    page.show(Rows([]))
    assert screen(terminal) == ["Once upon a time", "there was", "a call", ""]


def test_what_did_not_change_is_not_drawn_again() -> None:
    terminal = io.StringIO()
    page = LivePage(terminal)
    page.show(Rows(["same"]))
    before = terminal.getvalue()
    page.show(Rows(["same"]))
    assert terminal.getvalue() == before


def test_lines_and_rows_appear_at_once() -> None:
    """A call that has ended must not be seen twice, as a line that stays and as a row."""
    terminal = io.StringIO()
    page = LivePage(terminal)
    page.show(Rows(["a call that runs"]))
    before = terminal.getvalue()
    page.line("the call has ended")
    assert terminal.getvalue() == before
    page.show(Rows([]))
    assert screen(terminal) == ["the call has ended", ""]


def test_after_somebody_else_wrote_the_rows_begin_anew() -> None:
    terminal = io.StringIO()
    page = LivePage(terminal)
    page.show(Rows(["one", "two"]))
    terminal.write("\n$ fg\n")
    page.renew()
    page.show(Rows(["three"]))
    assert screen(terminal) == ["one", "two", "$ fg", "three"]


def test_the_cursor_is_where_it_is_told_to_be() -> None:
    terminal = io.StringIO()
    page = LivePage(terminal)
    page.show(Rows(["working", "> ab", "  c"], (1, 3)))
    assert terminal.getvalue().endswith("\x1b[1A\r\x1b[3C")
    page.line("a line")
    page.show(Rows(["> abd"], (0, 5)))
    assert screen(terminal) == ["a line", "> abd"]


def test_a_text_longer_than_the_screen_stays_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "8")
    terminal = io.StringIO()
    page = LivePage(terminal, MarkdownSetting())
    code = [f"line {number}" for number in range(30)]
    page.write("```\n")
    for line in code:
        page.write(f"{line}\n")
        page.show(Rows(["working"]))
        last = terminal.getvalue().rpartition("\x1b[J")[2]
        assert last.count("\n") < 8
    page.write("```\n")
    page.line("the end")
    page.show(Rows())
    assert [row.strip() for row in screen(terminal)] == [*code, "the end", ""]


def test_a_terminal_that_became_narrower_keeps_no_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has broken the row of 30 in two, so that its beginning is one row further up."""
    widths = {"columns": 40}
    monkeypatch.setattr("manyhands.cli.page.columns", lambda stream: widths["columns"])
    terminal = io.StringIO()
    page = LivePage(terminal)
    page.show(Rows(["a" * 30, "below"]))
    widths["columns"] = 20
    page.show(Rows(["short", "below"]))
    assert "\r\x1b[2A\x1b[J" in terminal.getvalue()
    widths["columns"] = 40
    page.show(Rows(["b" * 30], (0, 25)))
    widths["columns"] = 20
    page.show(Rows(["c"]))
    assert terminal.getvalue().endswith("\r\x1b[1A\x1b[Jc")

"""A run as a person sees it, told event by event."""

from __future__ import annotations

import io
from typing import Any

import pytest

from manyhands.cli.markdown import MarkdownSetting
from manyhands.cli.page import LivePage, PlainPage, Rows
from manyhands.cli.run_view import RunView, closing_line, cost_text
from tests.cli.screen import screen

RUN = {
    "id": "run_1",
    "status": "completed",
    "model": "model_1",
    "iterations": 2,
    "text": "",
    "usage": {"input": 1200, "output": 34, "cached": 0},
    "cost": 0.0123,
    "created_at": "2030-01-01T00:00:00.000Z",
    "started_at": "2030-01-01T00:00:01.000Z",
    "ended_at": "2030-01-01T00:00:03.500Z",
}
CLOSING = "✓ m · 2.5 s · 2 iterations · 1,200 tokens in, 34 out · $0.0123"


class Shown:
    """A view with its page."""

    def __init__(self, *, live: bool = False) -> None:
        self.stream = io.StringIO()
        self.now = 0.0
        page = LivePage(self.stream) if live else PlainPage(self.stream)
        self.view = RunView(page, now=lambda: self.now)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def rows(self) -> list[str]:
        return screen(self.stream)

    def says(self, *texts: str) -> None:
        for text in texts:
            self.view.event("run.delta", {"text": text})

    def message(self, role: str, content: str, *calls: dict[str, str], **more: Any) -> None:
        data = {"role": role, "content": content, "tool_calls": list(calls), "model": "m", "is_error": False}
        self.view.event("message.created", data | {"tool_call_id": None} | more)

    def call(self, type: str, id: str, **more: Any) -> None:
        data = {"id": id, "tool": id, "server": "hand", "arguments": {}, "status": "success"}
        self.view.event(type, data | {"result": f"{id} done", "duration_ms": 5} | more)


def asked(id: str) -> dict[str, str]:
    return {"id": f"model_{id}", "call_id": id, "name": f"mcp__hand__{id}", "arguments": "{}"}


@pytest.fixture
def shown() -> Shown:
    return Shown()


def test_words_calls_and_the_end_stand_apart(shown: Shown) -> None:
    shown.says("Let me ", "look.")
    shown.message("assistant", "Let me look.", asked("one"), asked("two"))
    shown.call("tool.started", "one")
    shown.call("tool.started", "two")
    shown.call("tool.finished", "two")
    shown.call("tool.finished", "one")
    shown.says("Done.")
    shown.message("assistant", "Done.")
    shown.view.finish(RUN)
    calls = "🔌 hand: one → one done (5 ms)\n🔌 hand: two → two done (5 ms)"
    assert shown.text == f"Let me look.\n\n{calls}\n\nDone.\n\n{CLOSING}\n"


def test_pieces_that_were_lost_are_made_up_for(shown: Shown) -> None:
    shown.says("The beg")
    shown.message("assistant", "The beginning and the end.")
    assert shown.text == "The beginning and the end."
    shown.message("assistant", " Words without a piece.")
    assert shown.text.endswith("the end. Words without a piece.")


def test_words_that_came_otherwise_are_told_anew(shown: Shown) -> None:
    shown.says("beg…nd.")
    shown.message("assistant", "The beginning and the end.")
    assert shown.text.endswith("here is all of it:\n\nThe beginning and the end.")


def test_a_program_that_tells_more_than_it_keeps_is_not_told_anew() -> None:
    shown = Shown(live=True)
    shown.says("I look.\n\n\x1b[2m· $ ls\x1b[0m\n", "\x1b[32mDone.\x1b[0m\n\n")
    shown.message("assistant", "I look.\n\nDone.")
    text = "\n".join(shown.rows)
    assert "· $ ls" in text
    assert text.count("Done.") == 1
    assert "lost" not in text
    assert "x1b" not in text


def test_an_answer_that_broke_off_begins_again(shown: Shown) -> None:
    shown.says("Half an ans")
    shown.view.event("run.restarted", {"reason": "the stream broke"})
    shown.says("A whole answer.")
    shown.message("assistant", "A whole answer.")
    assert shown.text == "Half an ans\n\nAsking again: the stream broke\n\nA whole answer."


def test_a_call_without_a_record_ends_with_its_result(shown: Shown) -> None:
    search = asked("find") | {"name": "search_tools", "arguments": '{"query": "maps"}'}
    shown.message("assistant", "", search)
    shown.message("tool", "- mcp__maps__find", tool_call_id="model_find")
    assert shown.text == "🔧 search_tools query=maps → - mcp__maps__find\n"


def test_a_call_that_nobody_announced_is_passed_over(shown: Shown) -> None:
    shown.call("tool.finished", "elsewhere")
    shown.view.event("something.new", {})
    assert shown.text == ""


def test_calls_that_a_stop_cut_are_cancelled(shown: Shown) -> None:
    shown.message("assistant", "", asked("one"))
    shown.call("tool.started", "one")
    shown.view.finish({**RUN, "status": "cancelled"})
    assert "🔌 hand: one ✗ cancelled\n" in shown.text
    assert "■ stopped" in shown.text


def test_the_id_of_a_saved_model_is_not_shown(shown: Shown) -> None:
    shown.view.finish({**RUN, "status": "cancelled"})
    assert shown.text.startswith("■ stopped 2.5 s · ")


def test_words_of_others_do_not_cut_an_answer_in_two() -> None:
    stream = io.StringIO()
    page = LivePage(stream, MarkdownSetting())
    view = RunView(page, now=lambda: 0.0)
    for piece in ("```\none\n", "\ntw"):
        view.event("run.delta", {"text": piece})
    view.say("an aside")
    view.event("run.delta", {"text": "o\n```\n"})
    view.finish(RUN)
    rows = [row.strip() for row in screen(stream) if row.strip()]
    assert rows[:3] == ["one", "an aside", "two"]


def test_rows_show_what_goes_on() -> None:
    shown = Shown(live=True)
    shown.view.event("run.queued", {})
    assert shown.rows == [""]
    shown.now = 2.0
    shown.view.tick()
    assert shown.rows[0].endswith("waiting for its turn · 2.0 s · Ctrl-C stops")
    shown.view.event("run.started", {})
    shown.message("assistant", "", asked("one"), asked("two"))
    shown.view.event("approval.requested", {"call_id": "two"})
    shown.call("tool.started", "one")
    shown.view.event("tool.progress", {"id": "one", "progress": 1, "total": 4, "message": "page"})
    shown.now = 3.5
    shown.view.tick()
    one, two, status = shown.rows
    assert one.endswith("1 of 4: page (1.5 s)")
    assert two.endswith("? waits for your answer")
    assert "2 calls · 3.5 s" in status
    shown.view.hide()
    assert shown.rows == [""]


def test_many_calls_leave_room_for_the_rest() -> None:
    shown = Shown(live=True)
    shown.message("assistant", "", *(asked(f"call{number}") for number in range(40)))
    assert len(shown.rows) < 15
    assert any("and 29 calls more" in row for row in shown.rows)


def test_the_rows_of_somebody_else_are_below() -> None:
    shown = Shown(live=True)
    shown.view.below = lambda: Rows(["› typed"])
    shown.says("Words")
    assert shown.rows == ["Words", "› typed"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "✓ model_1 · 2.5 s · 2 iterations · 1,200 tokens in, 34 out · $0.0123"),
        (
            {"status": "failed", "usage": {}, "cost": None, "iterations": 1},
            "✗ failed model_1 · 2.5 s · 1 iteration",
        ),
        ({"model": None, "ended_at": None, "usage": {}, "cost": 0}, "✓ 2 iterations · $0.00"),
    ],
)
def test_the_last_line_says_what_is_known(changes: dict[str, Any], line: str) -> None:
    assert closing_line(RUN | changes) == line


def test_small_sums_are_not_nothing() -> None:
    assert [cost_text(cost) for cost in (0.0, 0.0004, 0.25, 12.3)] == [
        "$0.00",
        "$0.0004",
        "$0.2500",
        "$12.30",
    ]

"""Answers as a terminal shows them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from manyhands.cli.markdown import MarkdownSetting, last_break
from manyhands.cli.page import STYLES
from manyhands.cli.terminal import width_of

ANSWER = """\
# A title

Some **bold**, `code`, snake_case_name, 2 * 3 * 4 and a [link](https://example.com/a).
The next line with <div> and ![a picture](https://example.com/p.png).

- one
- two

  and more of two
- three

```python
def half(x):

    return x / 2
```

| a | b |
| --- | --- |
| 1 | two |

> quoted
"""


def shown(text: str, width: int = 60) -> str:
    return "\n".join(STYLES.sub("", row) for row in MarkdownSetting().rows(text, width))


def test_marks_become_looks() -> None:
    text = shown(ANSWER)
    assert text.startswith("A title\n\nSome bold, code, snake_case_name, 2 * 3 * 4")
    assert " • one\n • two" in text
    assert "  def half(x):\n\n      return x / 2" in text
    assert "▌ quoted" in text
    assert "```" not in text


def test_no_word_and_no_address_is_lost() -> None:
    text = " ".join(shown(ANSWER).split())
    for words in (
        "<div>",
        "link (https://example.com/a)",
        "a picture (https://example.com/p.png)",
        "and more of two",
    ):
        assert words in text


def test_a_line_break_of_the_model_stays() -> None:
    assert shown("a.txt\nb.txt *") == "a.txt\nb.txt *"


@pytest.mark.parametrize("width", [20, 33, 60, 200])
def test_rows_are_never_wider_than_the_page(width: int) -> None:
    rows = MarkdownSetting().rows(ANSWER + "\n- " + "日本語 words " * 30 + "\n\n```\n" + "x" * 300, width)
    assert max(width_of(STYLES.sub("", row)) for row in rows) <= width


def test_however_it_comes_in_pieces_the_whole_is_there() -> None:
    setting = MarkdownSetting()
    rows, rest = [], ""
    for sign in ANSWER:
        done, rest = setting.split(rest + sign)
        setting.rows(rest, 60)
        rows += [*setting.rows(done, 60), ""] if done else []
    rows += setting.rows(rest, 60)
    in_pieces = [row for row in rows if row.strip()]
    at_once = [row for row in setting.rows(ANSWER, 60) if row.strip()]
    assert in_pieces == at_once


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("one\n\ntwo", "two"),
        ("one\n\n", "one\n\n"),
        ("one\ntwo", "one\ntwo"),
        ("one\n\n```\na\n\nb", "```\na\n\nb"),
        ("````\n```\n\nx\n````\n\nend", "end"),
        ("- one\n\n  more", "- one\n\n  more"),
    ],
)
def test_only_what_cannot_change_any_more_is_done(text: str, rest: str) -> None:
    assert text[last_break(text) :] == rest


def test_plain_words_need_no_rich() -> None:
    program = (
        "import sys; from manyhands.cli import chat; from manyhands.cli.markdown import MarkdownSetting;"
        "MarkdownSetting().rows('plain words, no marks.', 80); sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0

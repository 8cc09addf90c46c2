"""A text that is not found has the place that was probably meant."""

from __future__ import annotations

import pytest

from manyhands.tools.native.nearest_lines import Nearest, nearest_lines, numbered

TEXT = "import os\n\ndef walk(top):\n    for entry in os.scandir(top):\n        yield entry\n\n# the end\n"


@pytest.mark.parametrize(
    "wanted",
    [
        "def walk(top):\n  for entry in os.scandir(top):\n    yield entry\n",
        "def walk( top ):\n\n    for entry in os.scandir(top):\n        yield entry",
        "walk(top):\n    for entry in os.scandir(top):\n\tyield",
    ],
)
def test_white_space_and_empty_lines_are_seen_through(wanted: str) -> None:
    found = nearest_lines(TEXT, wanted)
    assert found
    assert found.white_space_only
    assert (found.first, len(found.lines)) == (2, 3)


def test_a_part_of_a_line_is_found_through_its_white_space() -> None:
    found = nearest_lines(TEXT, "os.scandir( top )")
    assert found == Nearest(3, ["    for entry in os.scandir(top):"], white_space_only=True)


def test_similar_lines_are_found_by_what_stands_around_them() -> None:
    text = "".join(f"def f{number}():\n    return {number} * value\n" for number in range(30))
    found = nearest_lines(text, "def f17():\n    return 17 * values\n")
    assert found
    assert not found.white_space_only
    assert found.first == 34


@pytest.mark.parametrize("wanted", ["%%%%%%%%%%%", "   \n\n", "\t"])
def test_what_is_like_nothing_has_no_place(wanted: str) -> None:
    assert nearest_lines(TEXT, wanted) is None


def test_numbered_lines_are_bounded() -> None:
    shown = numbered(Nearest(9, ["x" * 1000] * 100, white_space_only=True))
    assert shown.startswith("10\txxx")
    assert shown.endswith("[… 85 more lines]")
    assert len(shown) < 5000

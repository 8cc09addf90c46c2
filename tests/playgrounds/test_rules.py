"""Names and paths that stay inside of a playground on every system, and sizes."""

from __future__ import annotations

import pytest

from manyhands.errors import InvalidError, TooLargeError
from manyhands.playgrounds import rules


@pytest.mark.parametrize("name", ["a", "my-page", "A_1", "x" * 64, "2048"])
def test_a_plain_name_is_taken(name: str) -> None:
    assert rules.check_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "..", "../x", "a/b", "a\\b", "/etc", ".hidden", "-x", "a.b", "nul", "COM1", "a\0", "é", "x" * 65],
)
def test_a_name_that_could_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InvalidError, match="cannot be the name") as caught:
        rules.check_name(name)
    assert "letters, digits" in str(caught.value)


@pytest.mark.parametrize("path", ["script.js", "lib/utils.js", "a b.txt", "grün/日本.json", "console.js"])
def test_a_path_inside_is_taken(path: str) -> None:
    assert "/".join(rules.check_path(path)) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../secret",
        "a/../../b",
        "a/..",
        "./a",
        "a//b",
        "a/",
        "a\\..\\b",
        "C:/x",
        "x:stream",
        "a\0b",
        "a\nb",
        ".playground.json",
        ".git/config",
        "a/.hidden",
        "con",
        "lib/NUL.txt",
        "com1.js",
        "dot.",
        "space ",
        "what?",
        "\u202egpj.exe",
        "__manyhands/console.js",
        "console.log",
        "a/" * 8 + "b",
        "x" * 241,
        "x" * 101,
    ],
)
def test_a_path_trick_is_refused(path: str) -> None:
    with pytest.raises(InvalidError, match="cannot be the path") as caught:
        rules.check_path(path)
    assert "lib/utils.js" in str(caught.value)
    assert not rules.is_path(path)


def test_sizes_are_limited_and_the_refusal_names_the_limit() -> None:
    rules.check_size("a", rules.LARGEST_FILE)
    with pytest.raises(TooLargeError, match="a file may have 5,000,000"):
        rules.check_size("a", 10_000_000)
    with pytest.raises(TooLargeError, match="it may have 200"):
        rules.check_room(rules.MOST_FILES, 0, 1)
    with pytest.raises(TooLargeError, match="it may have 20,000,000"):
        rules.check_room(5, rules.LARGEST_PLAYGROUND, 1)
    with pytest.raises(TooLargeError, match="The title"):
        rules.check_words("x" * 201, None)


def test_the_page_itself_cannot_be_deleted() -> None:
    with pytest.raises(InvalidError, match="the page itself"):
        rules.check_deletable("index.html")

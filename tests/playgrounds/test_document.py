"""Where things are put into a page."""

from __future__ import annotations

import pytest

from manyhands.playgrounds.document import as_served, place_first, safe_json


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>hi", "!<p>hi"),
        ("", "!"),
        ("<!DOCTYPE html>\n<p>hi", "<!DOCTYPE html>\n!<p>hi"),
        ("\ufeff<!doctype html><html lang=en><head data-x><title>", None),
        ("<!-- <head> --><html>\n<body>", "<!-- <head> --><html>\n!<body>"),
        ("<header>not a head</header>", "!<header>not a head</header>"),
    ],
)
def test_what_is_put_first_comes_before_every_script_and_after_the_doctype(
    html: str, expected: str | None
) -> None:
    want = html.replace("<title>", "!<title>") if expected is None else expected
    assert place_first(html, "!") == want


def test_a_page_full_of_comments_is_read_in_time() -> None:
    html = "<!--a-->" * 50_000 + "<p>"
    assert place_first(html, "!").endswith("!<p>")


def test_scripts_by_address_tell_their_errors() -> None:
    served = as_served('<script defer src="a.js"></script><script>let a = 1</script>', None, "/c.js")
    assert '<script crossorigin="anonymous" defer src="a.js">' in served
    assert "<script>let a" in served


def test_json_cannot_end_its_element() -> None:
    assert "</" not in safe_json({"</script>": 1})

"""A web page as text that reads well."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.tools.native.html_text import html_to_text

PAGE = """<!doctype html><html><head><title> The  page </title><style>p {color: red}</style>
<script>alert("no")</script></head><body>
<nav><a href="/home">Home</a></nav>
<h1>Big   news</h1>
<p>First <b>paragraph</b> with a <a href="docs/a.html">link
  to it</a>.</p><p>Second.<br>New line &amp; sign</p>
<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul>
<ol><li>first</li><li>second</li></ol>
<pre>def f():
    return 1</pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="x.png" alt="a cat"><a href="javascript:x()">click</a><a href="#top">up</a>
<template>hidden</template><noscript>hidden too</noscript>
</body></html>"""


def test_a_page_becomes_markdown() -> None:
    text, title = html_to_text(PAGE, "https://example.org/x/")
    assert title == "The page"
    assert "# Big news\n" in text
    assert "First paragraph with a [link to it](https://example.org/x/docs/a.html)." in text
    assert "Second.\nNew line & sign" in text
    assert "- one\n- two\n  - deep" in text
    assert "1. first\n2. second" in text
    assert "```\ndef f():\n    return 1\n```" in text
    assert "| a | b\n| 1 | 2" in text
    assert "[image: a cat]click" in text
    for hidden in ("alert", "color", "hidden", "javascript"):
        assert hidden not in text


def test_broken_markup_is_read_as_far_as_it_goes() -> None:
    text, _ = html_to_text("<p>one <b>two <a href='http://[bad'>three</p><script>never closed")
    assert text == "one two three"


@pytest.mark.parametrize(
    "piece",
    [
        *("<!--", "<!-- -", "<![CDATA[", "<!", "<?", "<a", "</", "<a href='", '<a x="', "<p>", "<ul><li>"),
        *(
            "<a href=x>",
            "</a>",
            "&",
            "&#",
            "<script>",
            "<script></",
            "<title>",
            "<pre> ",
            " ",
            "<svg>",
            "<td>",
        ),
    ],
)
def test_a_page_that_is_made_to_be_slow_is_not(piece: str) -> None:
    """So many characters would take many minutes in quadratic time."""
    html_to_text(piece * (300_000 // len(piece)))


@given(st.text(alphabet="<>/ab&;p\"'= \n!-ulit"))
def test_nothing_makes_it_fail(html: str) -> None:
    html_to_text(html, "http://x/")

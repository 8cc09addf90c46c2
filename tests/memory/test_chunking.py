"""Files become chunks that are verbatim source, know where they stand, and keep code whole."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.memory.chunking import MOST_OPEN, spans, split, whole_characters
from manyhands.memory.types import HIT_CHARS, Chunk

NOTES = """# Boats

A first paragraph
of two lines.

## Sails

- white ones
- red ones,
  rarely

```python
# no heading

sail()
```

After the code.
"""


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def test_chunks_follow_headings_paragraphs_and_items_of_lists() -> None:
    assert texts(split(NOTES)) == [
        "A first paragraph\nof two lines.",
        "- white ones",
        "- red ones,\n  rarely",
        "```python\n# no heading\n\nsail()\n```",
        "After the code.",
    ]


def test_each_chunk_knows_its_headings_and_lines() -> None:
    first, second, *_, last = split(NOTES)
    assert (first.headings, first.line_start, first.line_end) == (("Boats",), 3, 4)
    assert (second.headings, second.line_start, second.line_end) == (("Boats", "Sails"), 8, 8)
    assert (last.headings, last.line_start, last.line_end) == (("Boats", "Sails"), 18, 18)
    assert first.section != second.section == last.section


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".md", "# Boats\n## Sails\nred\n# Cars\nblue"),
        (".md", "Boats\n=====\n\nSails\n---\nred\n\nCars\n====\nblue"),
        (".rst", "Boats\n=====\n\nSails\n~~~~~\n\nred\n\nCars\n====\n\nblue"),
        (".org", "* Boats\n** Sails\nred\n* Cars\nblue"),
    ],
)
def test_headings_are_understood_in_each_kind_of_file(suffix: str, text: str) -> None:
    found = {chunk.text: chunk.headings for chunk in split(text, suffix)}
    assert found["red"] == ("Boats", "Sails")
    assert found["blue"] == ("Cars",)


def test_a_heading_with_nothing_under_it_is_found_itself() -> None:
    assert texts(split("# Decided: no queue\n\n# Open\n\nall")) == ["# Decided: no queue", "all"]


def test_lines_that_begin_with_a_name_are_chunks_of_their_own() -> None:
    assert texts(split("Ana: hello\nthere\nBo: hi", ".txt")) == ["Ana: hello\nthere", "Bo: hi"]


@pytest.mark.parametrize(
    "code",
    [
        "```\n" + "x = 1\n\n" * 400 + "```",
        "```\n" + "x = 1\n\n" * 20_000 + "```",
        "    x = 1\n\n" * 9_000 + "    end()",
        "~~~~ sh\n~~~\n\n# more\n~~~~",
        "    one()\n\n    two()",
    ],
)
def test_a_block_of_code_is_never_split(code: str) -> None:
    found = split(f"# Title\n\nBefore.\n\n{code}\n\n# After\n\nText.")
    assert {chunk.text: chunk.line_start for chunk in found}[code] == 5


@pytest.mark.parametrize("lines", [1, 20_000])
def test_a_fence_that_nobody_closed_is_a_block_up_to_the_end(lines: int) -> None:
    code = "```\n" + "never closed\n\n" * lines + "# end"
    assert texts(split(f"Before.\n\n{code}")) == ["Before.", code]


def test_a_block_of_an_org_file_is_never_split() -> None:
    code = "#+BEGIN_SRC python\n* no heading\n\nrun()\n#+end_src"
    assert texts(split(f"* Title\n{code}\nafter", ".org")) == [code, "after"]


def test_the_settings_at_the_top_of_a_file_are_one_chunk() -> None:
    assert texts(split("---\ntitle: Boats\n\ntags: sea\n---\n\nText")) == [
        "---\ntitle: Boats\n\ntags: sea\n---",
        "Text",
    ]


def test_a_long_paragraph_is_split_after_sentences() -> None:
    chunks = split(("A sentence of some length. " * 200).strip())
    assert len(chunks) > 1
    assert all(chunk.text.endswith("length.") and len(chunk.text) <= HIT_CHARS for chunk in chunks)


def test_a_cut_tears_nothing_from_the_character_it_belongs_to() -> None:
    family = "👨‍👩‍👧"
    for text in ("e\u0301" * 50, family * 20, "🇩🇪" * 30, "👍🏽" * 30):
        for start, _ in spans(text, 33)[1:]:
            assert not unicodedata.combining(text[start])
            assert "\u200d" not in (text[start - 1], text[start])
            assert text[start] != "🏽"
    assert whole_characters("ae\u0301", 2) == 1


def test_files_of_other_systems_keep_their_ends_of_lines_between_chunks() -> None:
    text = "one\r\n\r\ntwo\r\nmore\r\n"
    first, second = split(text)
    assert first.text + second.gap + second.text == "one\r\n\r\ntwo\r\nmore"


@pytest.mark.parametrize("text", ["", "\n", "\n\n \n"])
def test_an_empty_file_has_no_chunks(text: str) -> None:
    assert split(text) == []


LINES = st.lists(
    st.sampled_from(
        [
            "",
            "# a",
            "## b",
            "text",
            "- item",
            "```",
            "    code",
            "Ana: hi",
            "===",
            "---",
            "~~~",
            "w " * 900,
            " ",
        ]
    )
    | st.text(max_size=30),
    max_size=25,
)


@given(LINES, st.sampled_from([".md", ".txt", ".rst", ".org"]))
def test_chunks_are_verbatim_source_at_the_lines_they_name(lines: list[str], suffix: str) -> None:
    text = "\n".join(lines)
    source = text.split("\n")
    for chunk in split(text, suffix):
        assert chunk.text.strip()
        assert chunk.text in "\n".join(source[chunk.line_start - 1 : chunk.line_end])


@given(LINES, st.sampled_from([".md", ".txt", ".rst", ".org"]))
def test_chunks_of_a_section_and_the_gaps_between_them_are_verbatim_too(
    lines: list[str], suffix: str
) -> None:
    text = "\n".join(lines)
    chunks = split(text, suffix)
    for section in {chunk.section for chunk in chunks}:
        first, *rest = [chunk for chunk in chunks if chunk.section == section]
        assert first.text + "".join(chunk.gap + chunk.text for chunk in rest) in text


@pytest.mark.parametrize(
    "text",
    ["# " + " " * 200_000 + "x", "* " + " " * 200_000 + "x", "=" * 200_000, "```\n" + "x = 1\n" * 200_000],
)
def test_text_that_nobody_wrote_is_cut_all_the_same(text: str) -> None:
    for suffix in (".md", ".org", ".rst"):
        chunks = split(text, suffix)
        assert all(len(chunk.text) <= MOST_OPEN for chunk in chunks)

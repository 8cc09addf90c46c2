"""Facts of one file, also of a file that is not well."""

from __future__ import annotations

import pytest

from manyhands.quality import references
from manyhands.quality.languages import BY_NAME, LANGUAGES
from manyhands.quality.parsing import parse


def test_a_syntax_error_is_counted_and_the_rest_is_still_measured() -> None:
    facts = parse(b"def f(a):\n    return (\n\ndef g(b):\n    if b:\n        return 1\n", BY_NAME["python"])
    assert facts.syntax_errors > 0
    assert "g" in {function.name for function in facts.functions}


def test_bytes_that_are_no_utf8_are_measured_without_a_crash() -> None:
    facts = parse(b"def f():\n    return '\xff\xfe'\n", BY_NAME["python"])
    assert [function.name for function in facts.functions] == ["f"]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize("source", [b"", b"\n\n", b"\x00\xff{{{((("], ids=["empty", "blank", "rubbish"])
def test_any_bytes_give_facts(language: object, source: bytes) -> None:
    facts = parse(source, BY_NAME[str(getattr(language, "name", ""))])
    assert facts.functions == ()


def test_lines_are_those_with_code() -> None:
    facts = parse(b"# a comment\n\nx = 1\ny = (\n    2\n)\n", BY_NAME["python"])
    assert facts.lines == 4


def test_the_same_bytes_give_the_same_facts() -> None:
    source = b"import a\n\ndef f(x):\n    return [y for y in x if y]\n" * 20
    assert parse(source, BY_NAME["python"]) == parse(source, BY_NAME["python"])


def test_words_count_strings_and_leave_out_comments() -> None:
    facts = parse(b"# ghost\ncall('named')\n", BY_NAME["python"])
    names = {references.key_of(name): name for name in ("call", "named", "ghost")}
    counted = references.count_words([facts.words], set(names))
    assert {names[key]: count for key, count in counted.items()} == {"call": 1, "named": 1, "ghost": 0}


def test_ten_thousand_nested_brackets_do_not_exhaust_the_stack() -> None:
    depth = 10_000
    facts = parse(b"x = " + b"[" * depth + b"]" * depth + b"\n", BY_NAME["python"])
    assert facts.lines == 1

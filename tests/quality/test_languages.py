"""The table of languages: every kind that it names exists in the grammar of that language."""

from __future__ import annotations

import pytest

from manyhands.quality import languages
from manyhands.quality.languages import LANGUAGES, Language


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_kind_of_the_table_exists_in_the_grammar(language: Language) -> None:
    grammar = languages.grammar_of(language)
    loaded = grammar.parser.language
    assert loaded is not None
    known = languages._numbers(loaded)
    missing = [
        kind
        for _, named, kinds in languages.kinds_by_meaning(language)
        for kind in kinds
        if (kind, named) not in known
    ]
    assert missing == []


def test_no_two_languages_claim_the_same_extension() -> None:
    claimed = [extension for language in LANGUAGES for extension in language.extensions]
    assert len(claimed) == len(set(claimed))


def test_a_file_is_known_by_the_end_of_its_name_in_any_case() -> None:
    found = languages.language_of("a/b/View.TSX")
    assert found is not None
    assert found.name == "tsx"
    assert languages.language_of(".py") is None
    assert languages.language_of("README") is None

from __future__ import annotations

import pytest

from manyhands.errors import InvalidError
from manyhands.secrets.references import expand, has_reference, reference_to

VARIABLES = {"TOKEN": "abc", "EMPTY": ""}
SECRETS = {"server/1/env/KEY": "s3cret"}


def expanded(text: str) -> str:
    def variable(name: str, default: str | None) -> str:
        return VARIABLES.get(name) or (default if default is not None else f"<{name}>")

    return expand(text, variable, SECRETS.__getitem__)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("${TOKEN}", "abc"),
        ("${env:TOKEN}", "abc"),
        ("Bearer ${TOKEN}!", "Bearer abc!"),
        ("${TOKEN}${TOKEN}", "abcabc"),
        ("${MISSING:-fallback}", "fallback"),
        ("${MISSING:-}", ""),
        ("${EMPTY:-fallback}", "fallback"),
        ("${keyring:server/1/env/KEY}", "s3cret"),
        ("$${TOKEN}", "${TOKEN}"),
        ("$$", "$$"),
        ("$TOKEN and $5", "$TOKEN and $5"),
        ("${not a name}", "${not a name}"),
        ("${unclosed", "${unclosed"),
    ],
)
def test_references_are_replaced_and_all_else_stays(text: str, result: str) -> None:
    assert expanded(text) == result


def test_what_was_put_in_is_not_expanded_again() -> None:
    assert expand("${A}", lambda _name, _default: "${B}", SECRETS.__getitem__) == "${B}"


def test_an_input_of_another_client_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(InvalidError, match=r"\$\{input:key\} asks for an input.*keyring:NAME"):
        expanded("${input:key}")


@pytest.mark.parametrize("name", ["", "a b", "x}", "ü", "n" * 201, "-a"])
def test_a_name_that_would_break_a_reference_is_refused(name: str) -> None:
    with pytest.raises(InvalidError, match="name of a secret"):
        reference_to(name)


def test_a_reference_leads_back_to_its_name() -> None:
    assert expanded(reference_to("server/1/env/KEY")) == "s3cret"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("${A}", True),
        ("x ${A:-b}", True),
        ("${keyring:a}", True),
        ("$${A}", False),
        ("$A", False),
        ("", False),
    ],
)
def test_a_text_with_a_reference_is_told_from_one_without(text: str, answer: bool) -> None:
    assert has_reference(text) is answer

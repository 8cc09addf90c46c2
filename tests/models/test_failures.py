"""What a provider's failure becomes."""

from __future__ import annotations

import pytest
from pydantic_ai import exceptions as theirs

from manyhands.models.failures import may_retry, to_model_error
from manyhands.models.types import ModelError, ModelInfo

SAVED = ModelInfo(id="m", name="mine", provider="openai", model="gpt-6.1-sol")
FOUND = ModelInfo(
    id="f", name="found", provider="openai", model="x", api_key="${OPENAI_API_KEY}", source="environment"
)


def understood(error: Exception, info: ModelInfo = SAVED) -> ModelError:
    return to_model_error(error, info, lambda text: text)


@pytest.mark.parametrize(
    ("status", "retry"),
    [
        *((status, False) for status in (400, 401, 404, 413, 422)),
        *((status, True) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
    ],
)
def test_which_status_may_pass(status: int, retry: bool) -> None:
    assert may_retry(status) is retry
    assert understood(theirs.ModelHTTPError(status, "gpt", {"message": "x"})).retry is retry


def test_a_provider_that_says_not_to_retry_is_believed() -> None:
    error = theirs.ModelHTTPError(500, "gpt", {"message": "x"}, headers={"x-should-retry": "false"})
    assert not understood(error).retry


def test_a_key_from_the_environment_is_named() -> None:
    error = theirs.ModelHTTPError.for_category(
        theirs.ModelAuthenticationError, status_code=401, model_name="gpt", body={"message": "no"}
    )
    assert "environment variable OPENAI_API_KEY" in understood(error, FOUND).message


@pytest.mark.parametrize(
    "body",
    [
        {"message": "it broke"},
        {"error": {"message": "it broke"}},
        {"error": "it broke"},
        [{"error": {"message": "it broke"}}],
        '{"error": {"message": "it broke"}}',
        "it broke",
    ],
)
def test_the_words_of_the_provider_are_found_wherever_they_are(body: object) -> None:
    assert "it broke" in understood(theirs.ModelHTTPError(500, "gpt", body)).message


@pytest.mark.parametrize("body", [None, {}, [], {"error": None}, {"error": {"message": 3}}, ""])
def test_a_failure_without_words_still_says_something(body: object) -> None:
    message = understood(theirs.ModelHTTPError(500, "gpt", body)).message
    assert message.startswith("mine answered with status 500")


def test_a_page_of_words_is_cut() -> None:
    assert len(understood(theirs.ModelHTTPError(500, "gpt", {"message": "x" * 9000})).message) < 1000


def test_a_filter_is_no_reason_to_ask_again() -> None:
    assert not understood(theirs.ContentFilterError("blocked")).retry


def test_what_nobody_thought_of_may_pass() -> None:
    error = understood(KeyError("choices"))
    assert error.retry
    assert "not understood" in error.message

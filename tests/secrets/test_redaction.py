from __future__ import annotations

import json
import logging
import urllib.parse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from manyhands.secrets.redaction import HIDDEN, MASK, RedactingFilter, Redactor, is_mask, mask

COMMON = (
    "application/json default development disabled enabled localhost 127.0.0.1 "
    "production staging verbose warning"
)
words = st.text(st.characters(exclude_characters="•", exclude_categories=["Cs"]), max_size=40)
secrets = st.text(
    st.characters(exclude_characters="•", exclude_categories=["Cs", "Zs", "Cc"]), min_size=6, max_size=60
).filter(lambda text: len(text.strip()) >= 6 and text.lower() not in COMMON)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def redactor(*values: str) -> Redactor:
    made = Redactor()
    made.register(*values)
    return made


# --- registered values


@pytest.mark.requirement("L28")
@given(st.lists(secrets, min_size=1, max_size=6), st.lists(words, min_size=2, max_size=6))
def test_a_registered_secret_never_survives_in_a_text(values: list[str], texts: list[str]) -> None:
    text = "".join(part + values[i % len(values)] for i, part in enumerate(texts))
    cleaned = redactor(*values).redact(text)
    assert not [value for value in values if value in cleaned]


@pytest.mark.requirement("L28")
@given(secrets, json_values, words)
def test_a_registered_secret_never_survives_in_nested_json(secret: str, value: Any, word: str) -> None:
    nested = {"a": [value, {"b": word + secret + word}], secret: secret, "c": (secret,)}
    cleaned = redactor(secret).redact_json(nested)
    assert secret not in json.dumps(cleaned, ensure_ascii=False)
    assert json.dumps(secret)[1:-1] not in json.dumps(cleaned)


@given(secrets)
def test_a_secret_is_found_in_its_json_and_url_spellings(secret: str) -> None:
    known = redactor(secret)
    for spelling in (json.dumps({"k": secret}), urllib.parse.urlencode({"k": secret}), repr([secret])):
        cleaned = known.redact(spelling)
        assert secret not in cleaned
        assert json.dumps(secret)[1:-1] not in cleaned


@given(st.integers(min_value=100_000))
def test_a_secret_of_digits_is_found_in_a_number(number: int) -> None:
    assert str(number) not in json.dumps(redactor(str(number)).redact_json([number, {"n": number}]))


@given(words)
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert (
        redactor("correct horse battery").redact(f"see {text.replace(':', '')}")
        == f"see {text.replace(':', '')}"
    )


@pytest.mark.parametrize("value", ["", "abc", "12345", "  ab  ", "production", "localhost", "Default"])
def test_short_and_common_values_are_left_alone(value: str) -> None:
    assert redactor(value).redact(f"<{value}> is in use") == f"<{value}> is in use"


def test_every_line_of_a_private_key_is_hidden_when_it_is_printed_alone() -> None:
    key = (
        "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END KEY-----\n"
    )
    assert redactor(key).redact("line: AASCBKcwggSjAgEAAoIBAQC7VJTU.") == f"line: {MASK}."


def test_the_longest_of_overlapping_secrets_is_hidden_as_a_whole() -> None:
    assert redactor("hunter22", "hunter22-extended").redact("a hunter22-extended b") == f"a {MASK} b"


def test_old_values_make_room_for_new_ones() -> None:
    known = redactor(*(f"secret-{number:06}" for number in range(2100)))
    assert known.redact("secret-000000 secret-002099") == f"secret-000000 {MASK}"


def test_nothing_registered_changes_nothing() -> None:
    assert Redactor().redact_json({"a": [1, 2.5, True, None, "text"]}) == {"a": [1, 2.5, True, None, "text"]}


# --- what nobody gets


@pytest.mark.requirement("L28")
@given(st.lists(secrets, min_size=1, max_size=6), json_values, words, st.sampled_from([1, 3000]))
def test_a_guarded_secret_survives_nowhere(values: list[str], value: Any, word: str, times: int) -> None:
    known = Redactor()
    known.guard(*values)
    nested = {"a": [value, {"b": (word + " ".join(values)) * times}], values[0]: word}
    for clean in (known.hide_json, known.redact_json):
        shown = json.dumps(clean(nested), ensure_ascii=False)
        assert not [v for v in values if json.dumps(v, ensure_ascii=False)[1:-1] in shown]


@given(secrets.filter(lambda text: "[" not in text and "]" not in text))
def test_what_is_registered_alone_stays_readable_for_whoever_works_with_it(secret: str) -> None:
    known = redactor(secret)
    assert known.hide(f"<{secret}>") == f"<{secret}>"
    known.guard(secret)
    assert known.hide(f"<{secret}>") == f"<{HIDDEN}>"


def test_our_own_tokens_are_hidden_without_being_known() -> None:
    token = "mha_" + "Aa0-_" * 8 + "Zz9"
    assert Redactor().hide(f"say {token}, mha_short") == f"say {HIDDEN}, mha_short"


def test_an_option_that_says_so_is_masked() -> None:
    said = Redactor().redact("run --api-key words-of-mine --token=words-of-mine --key /a/path --keys words")
    assert said == f"run --api-key {MASK} --token={MASK} --key /a/path --keys words"


def test_a_token_of_npm_is_masked_and_its_variables_are_not() -> None:
    token = "npm_" + "aB3" * 12
    assert Redactor().redact(f"npm_config_global_prefix={token}") == f"npm_config_global_prefix={MASK}"


def test_renewed_tokens_push_nothing_out_but_their_own() -> None:
    known = Redactor()
    known.guard("a-static-secret")
    for number in range(3000):
        known.guard(f"renewed-token-{number:05}", of="sign-in/1")
    assert known.hide("a-static-secret renewed-token-02999") == f"{HIDDEN} {HIDDEN}"
    assert known.hide("renewed-token-00001") == "renewed-token-00001"


@pytest.mark.parametrize(
    "spelling", ["a%2fb!c-and-more", "a%2Fb!c-and-more", "a%2fb%21c-and-more", "a\\/b!c-and-more"]
)
def test_other_programs_spell_in_other_ways(spelling: str) -> None:
    known = Redactor()
    known.guard("a/b!c-and-more")
    assert known.hide(spelling) == HIDDEN


def test_a_number_that_is_a_secret_is_hidden() -> None:
    known = Redactor()
    known.guard("1234567890")
    assert known.hide_json({"pin": 1234567890, "other": 11234567890, "yes": True}) == {
        "pin": HIDDEN,
        "other": 11234567890,
        "yes": True,
    }


# --- shapes


@pytest.mark.requirement("L28")
@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {MASK}"),
        ("{'authorization': 'Basic dXNlcjpwYXNz'}", f"{{'authorization': 'Basic {MASK}'}}"),
        ("sent Bearer abc.def-123_x~y+/=", f"sent Bearer {MASK}"),
        ("key sk-proj-AbCdEfGhIjKlMnOpQrSt", f"key {MASK}"),
        ("key sk-ant-api03-AbCdEfGhIjKlMnOpQrSt", f"key {MASK}"),
        ("sk_live_AbCdEfGhIjKlMnOpQrSt", MASK),
        ("ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", MASK),
        ("github_pat_AbCdEfGhIjKlMnOpQrSt_0123456789", MASK),
        ("xoxb-123456789012-AbCdEfGhIjKl", MASK),
        ("AKIAIOSFODNN7EXAMPLE", MASK),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", f"jwt {MASK}."),
        ("https://user:pa55word@example.com/x", f"https://user:{MASK}@example.com/x"),
        ("postgresql+psycopg://u:p@h/db", f"postgresql+psycopg://u:{MASK}@h/db"),
        ("https://AbCdEfGhIjKlMnOpQrSt@example.com", f"https://{MASK}@example.com"),
        ("http://127.0.0.1:8222/?token=AbCdEfGh", f"http://127.0.0.1:8222/?token={MASK}"),
        ("GET /x?a=1&access_token=AbCdEfGh&b=2", f"GET /x?a=1&access_token={MASK}&b=2"),
        ("/callback?code=AbCdEfGhIjKl&state=s", f"/callback?code={MASK}&state=s"),
        (
            "grant_type=refresh_token&refresh_token=AbCdEf&client_secret=XyZxYz",
            f"grant_type=refresh_token&refresh_token={MASK}&client_secret={MASK}",
        ),
        ('{"refresh_token": "AbCdEfGh", "n": 1}', f'{{"refresh_token": "{MASK}", "n": 1}}'),
        (r'"{\"password\": \"AbCdEfGh\"}"', rf'"{{\"password\": \"{MASK}\"}}"'),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, cleaned: str) -> None:
    assert Redactor().redact(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "Basic authentication is required",
        "the bearer of bad news",
        "Token refresh failed: 400",
        "a monkey=banana and key=value",
        "ssh://git@example.com/repo.git",
        "http://127.0.0.1:8222/api?limit=50&cursor=abcdefghijklm",
        "task-force skills sk-1",
        'status code=404 and {"token": ""}',
        "user@example.com: see https://example.com/a:b@c",
    ],
)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert Redactor().redact(text) == text


def test_a_private_key_is_hidden_between_its_borders() -> None:
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"
    assert Redactor().redact(text) == f"-----BEGIN RSA PRIVATE KEY-----{MASK}-----END RSA PRIVATE KEY-----"


# --- masks


def test_a_mask_says_nothing_and_is_known_when_it_comes_back() -> None:
    assert mask("one secret") == mask("another, longer one") == MASK
    assert is_mask(f" {MASK} ")
    assert not is_mask("secret")


# --- logging


def written(record: logging.LogRecord, known: Redactor) -> str:
    assert RedactingFilter(known).filter(record)
    return logging.Formatter("%(message)s").format(record)


def record_of(*args: Any, **fields: Any) -> logging.LogRecord:
    message, *rest = args
    record = logging.LogRecord(
        "x", logging.INFO, "f.py", 1, message, tuple(rest), fields.pop("exc_info", None)
    )
    vars(record).update(fields)
    return record


@pytest.mark.requirement("L28")
def test_a_log_line_loses_secrets_of_message_and_arguments() -> None:
    known = redactor("hunter2222")
    assert written(record_of("in text hunter2222"), known) == f"in text {MASK}"
    assert (
        written(record_of("got %s and %d", {"k": "hunter2222"}, 5), known) == f"got {{'k': '{MASK}'}} and 5"
    )
    assert written(record_of("%d %%", 5), known) == "5 %"


@pytest.mark.requirement("L28")
def test_a_logged_exception_loses_secrets_and_is_not_kept() -> None:
    known = redactor("hunter2222")
    try:
        raise ValueError("bad password hunter2222")
    except ValueError as error:
        record = record_of("failed", exc_info=(type(error), error, error.__traceback__))
    text = written(record, known)
    assert "hunter2222" not in text
    assert f"ValueError: bad password {MASK}" in text
    assert record.exc_info is None


@pytest.mark.requirement("L28")
@pytest.mark.parametrize("before", ["z" * 200, "z, input_type="])
def test_what_pydantic_quotes_is_not_shown(before: str) -> None:
    """It is cut, so that a secret in it is not known any more."""
    adapter = TypeAdapter(dict[str, int])
    try:
        adapter.validate_json(f"{before}hunter2222-and-more")
    except ValidationError as error:
        record = record_of("failed", exc_info=(type(error), error, error.__traceback__))
    text = written(record, redactor("hunter2222-and-more"))
    assert f"[type=json_invalid, input_value={MASK}, input_type=str]" in text
    assert "and-more" not in text


def test_extras_of_a_log_record_lose_secrets() -> None:
    record = record_of(
        "m", url="https://u:hunter2222@h/", detail={"a": ["hunter2222"]}, error=OSError("hunter2222")
    )
    written(record, redactor("hunter2222"))
    assert "hunter2222" not in repr(vars(record))


def test_arguments_that_do_not_fit_are_written_without_secrets() -> None:
    text = written(record_of("%d things", "hunter2222"), redactor("hunter2222"))
    assert text == f"%d things ('{MASK}',)"


def test_a_handler_with_the_filter_cleans_what_child_loggers_say(tmp_path: Any) -> None:
    path = tmp_path / "log"
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.addFilter(RedactingFilter(redactor("hunter2222")))
    parent = logging.getLogger("tests.redaction.parent")
    parent.addHandler(handler)
    try:
        logging.getLogger("tests.redaction.parent.child").error("secret: %s", "hunter2222")
    finally:
        parent.removeHandler(handler)
        handler.close()
    assert path.read_text(encoding="utf-8") == f"secret: {MASK}\n"

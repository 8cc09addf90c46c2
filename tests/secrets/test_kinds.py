"""What surely is a secret, and what must stay readable because people work with it."""

from __future__ import annotations

import pytest

from manyhands.secrets.kinds import is_secret, parts_of

LONG_HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "plain-words"),
        ("DB_PASSWORD", "customer"),
        ("dbPassword", "hunter22"),
        ("X-Api-Key", "k3y-material"),
        ("Authorization", "Bearer abc.def"),
        ("SECRET_WORD", "open sesame"),
        ("ROOT_PASSWORD", "customer"),
        ("USER_TOKEN", "plain-words"),
        ("SECRET_KEY_BASE", "sesame"),
        ("SLACK_WEBHOOK_URL", f"https://host.example/services/{LONG_HEX}"),
        ("TOKEN", "11112222"),
        ("AWS_SECRET_ACCESS_KEY", "/abc+DEF/1234567890abcdefGHIJ"),
        ("DATABASE_URL", "postgres://me:pw1234@host/db"),
        ("SENTRY_DSN", f"https://{LONG_HEX}@host/1"),
        ("WEBHOOK", f"https://host.example/services/T0/B0/{LONG_HEX}"),
        ("WHATEVER", f"v1-{LONG_HEX}"),
    ],
)
def test_a_secret_is_known_by_its_name_its_look_or_what_is_in_it(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_LIMIT", "100000"),
        ("MAX_TOKENS", "100000"),
        ("TOKEN", "100000"),
        ("AUTH", "required"),
        ("ACCOUNT_ID", f"v1{LONG_HEX}"),
        ("KEY_FILE", "keys.pem"),
        ("API_KEY", "ollama"),
        ("TOKEN_URL", "https://host.example/token"),
        ("DATABASE_URL", "postgres://host/db"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
        ("ROOT", "/srv/data"),
        ("HERE", "~/things"),
        ("DRIVE", "C:\\data\\things"),
        ("REGION", "eu-central-1"),
        ("BUCKET", "my-bucket-eu-central-1-2024"),
        ("TENANT", "12345678-aaaa-bbbb-cccc-1234567890ab"),
        ("AWS_ACCESS_KEY_ID", "AKIAABCDEFGHIJKLMNOP"),
        ("COLLECTION", "customers"),
    ],
)
def test_a_setting_stays_readable(name: str, value: str) -> None:
    assert not is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("FROM_OUTSIDE", "outside-value", True),
        ("PROD", "s3same", True),
        ("GITHUB_ORG", "acme-corp", False),
        ("BASE", "https://host.example/v1", False),
        ("MOOD", "cheerful", False),
        ("WHERE", "/srv/data", False),
    ],
)
def test_what_is_referred_to_is_a_secret_unless_it_says_otherwise(
    name: str, value: str, secret: bool
) -> None:
    assert is_secret(name, value, referred=True) is secret


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("Bearer abc.def", {"abc.def"}),
        ("Basic bWU6aHVudGVyMjI=", {"bWU6aHVudGVyMjI=", "hunter22"}),
        ("Basic not!base64", {"not!base64"}),
        ("postgres://me:p%40ss99@host/db", {"p%40ss99", "p@ss99"}),
        ("https://host.example/?user=me@host.example", set()),
        ("https://me@host.example", set()),
        ("just words", set()),
    ],
)
def test_what_is_secret_inside_a_value(value: str, parts: set[str]) -> None:
    assert set(parts_of(value)) == parts

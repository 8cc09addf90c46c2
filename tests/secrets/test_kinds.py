"""What surely is a secret, and what must stay readable because people work with it."""

from __future__ import annotations

import pytest

from manyhands.secrets.kinds import secrets_in

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "plain-words"),
        ("dbPassword", "hunter22"),
        ("PGPASSWORD", "pg-horse"),
        ("NGROK_AUTHTOKEN", "some-words"),
        ("ACCESS_TOKENS", "one-two"),
        ("ROOT_PASSWORD", "correct horse"),
        ("USER_TOKEN", "plain-words"),
        ("SECRET_KEY_BASE", "open-sesame"),
        ("GITHUB_TOKEN_ORG", "words-of-mine"),
        ("MYSQL_PASSWORD_ROOT", "pg-horse"),
        ("JWT", "a-b-c-d"),
        ("X-Api-Key", "k3y-material"),
        ("API_KEY", "123456789012"),
        ("API_KEY", "aBcDefGhIjKlMnOpQrStUv"),
        ("TOKEN", "11112222"),
        ("AWS_SECRET_ACCESS_KEY", "/abc+DEF/1234567890abcdefGHIJ"),
        ("WEBHOOK", f"https://host.example/services/T0/B0/{HEX}"),
        ("SLACK_WEBHOOK_URL", f"https://host.example/services/{HEX}"),
        ("WHATEVER", f"v1-{HEX}"),
    ],
)
def test_a_secret_is_known_by_its_name_or_its_look(name: str, value: str) -> None:
    assert value in secrets_in(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_LIMIT", "100000"),
        ("MAX_TOKENS", "100000"),
        ("TOKEN", "100000"),
        ("AUTH", "required"),
        ("API_KEY", "ollama"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("KEY_FILE", "keys-2.pem"),
        ("TOKEN_URL", "https://host.example/token"),
        ("DATABASE_URL", "postgres://host/db"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
        ("ROOT", "/srv/data"),
        ("HERE", "~/things"),
        ("DRIVE", "C:\\data\\things"),
        ("REGION", "eu-central-1"),
        ("BUCKET", "my-bucket-eu-central-1-2024"),
        ("ACCOUNT_ID", f"v1{HEX}"),
        ("NOTION_DATABASE", HEX),
        ("TENANT", "12345678-aaaa-bbbb-cccc-1234567890ab"),
        ("WHATEVER", "12345678-aaaa-bbbb-cccc-1234567890ab"),
        ("AWS_ACCESS_KEY_ID", "AKIAABCDEFGHIJKLMNOP"),
        ("COLLECTION", "customers"),
        ("GREETING", "hello world, it is me"),
    ],
)
def test_a_setting_stays_readable(name: str, value: str) -> None:
    assert secrets_in(name, value) == set()


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("PROD", "s3same", True),
        ("PROD", "open!sesame", True),
        ("GITHUB_ORG", "s3same", False),
        ("SITE", "acme-corp.example.net", False),
        ("PLACE", "acme-corp", False),
        ("LC_ALL", "en_US.UTF-8", False),
        ("HERE", "eu-west-2b", False),
        ("BASE", "https://host.example/v1", False),
        ("MOOD", "cheerful", False),
        ("WHERE", "/srv/data", False),
    ],
)
def test_what_is_referred_to_is_a_secret_if_it_is_odd(name: str, value: str, secret: bool) -> None:
    assert (value in secrets_in(name, value, referred=True)) is secret


@pytest.mark.parametrize(
    ("name", "value", "parts"),
    [
        ("Authorization", "Bearer abc.def", {"abc.def"}),
        ("Authorization", "GenieKey words-of-mine", {"words-of-mine"}),
        ("Authorization", 'Token token="words-of-mine"', {"words-of-mine"}),
        ("Authorization", "Basic bWU6aHVudGVyMjI=", {"bWU6aHVudGVyMjI=", "hunter22"}),
        ("Cookie", "sessionid=words-of-mine; theme=dark", {"words-of-mine"}),
        ("SETTINGS", "postgres://me:p%40ss99@host/db", {"p%40ss99", "p@ss99"}),
        ("SETTINGS", f"https://{HEX}@host.example/1", {HEX}),
        ("SETTINGS", "https://host.example/?api_key=k3y-one&user=me", {"k3y-one"}),
        ("SETTINGS", "Server=here;Database=db;Password=pg-horse;", {"pg-horse"}),
        ("SETTINGS", '{"user": "me", "private_key": "BEGIN\\\\nit"}', {"BEGIN\\\\nit"}),
        ("SETTINGS", "https://host.example/?user=me@host.example", set()),
        ("SETTINGS", "https://me@host.example", set()),
        ("SETTINGS", "just words", set()),
        ("SETTINGS", "postgres://me:p@ssw0rd99x@db/x", {"p@ssw0rd99x"}),
        ("SETTINGS", "Server=here;Password=ab,cdefghi9;", {"ab,cdefghi9"}),
    ],
)
def test_parts_of_a_value_are_secrets_of_their_own(name: str, value: str, parts: set[str]) -> None:
    found = secrets_in(name, value)
    assert parts <= found
    assert bool(found) is bool(parts)

"""Patterns on names and arguments; a strange way to write a value never loosens anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.tools.patterns import arguments_match, exactly, matches_any, name_pattern


def allows(pattern: Any, value: Any, directory: str | None = "/home/ann/project") -> bool:
    return arguments_match({"x": pattern}, {"x": value}, loosening=True, directory=directory)


def restricts(pattern: Any, value: Any, directory: str | None = "/home/ann/project") -> bool:
    return arguments_match({"x": pattern}, {"x": value}, loosening=False, directory=directory)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("docs/**", "docs/a.md"),
        ("docs/**", "docs/deep/er/a.md"),
        ("docs/**", "docs"),
        ("docs/**", "./docs/a.md"),
        ("docs/**", "/home/ann/project/docs/a.md"),
        ("./docs/*.md", "docs/a.md"),
        ("**/*.md", "a.md"),
        ("**/*.md", "x/y/a.md"),
        ("/home/ann/project/docs/**", "docs/a.md"),
        ("*.md", "a.md"),
        ("docs/[ab].md", "docs/a.md"),
        ("https://docs.example/**", "https://docs.example/guide/x?y=1"),
        ("https://docs.example/**", "https://DOCS.example/guide"),
        ("https://docs.example/**", "https://docs.example"),
        (5, 5),
        (True, True),
        (None, None),
        (["a", "b"], "b"),
        ("a*", ["ab", "ac"]),
    ],
)
def test_an_allow_pattern_matches(pattern: Any, value: Any) -> None:
    assert allows(pattern, value)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("docs/**", "docsecret/a.md"),
        ("docs/**", "docs/../secret"),
        ("docs/**", "docs/%2e%2e/secret"),
        ("docs/**", "docs\\..\\secret"),
        ("docs/**", "/etc/docs/a.md"),
        ("docs/**", "/home/ann/other/docs/a"),
        ("docs/*", "docs/deep/a.md"),
        ("*.md", "../a.md"),
        ("**", "../outside"),
        ("**", "a\0b/.."),
        ("https://docs.example/**", "https://docs.example@evil.example/x"),
        ("https://docs.example/**", "https://docs.example.evil.example/x"),
        ("https://docs.example/guide/**", "https://docs.example/guide/../admin"),
        ("https://docs.example/guide/**", "https://docs.example/guide/%2E%2E/admin"),
        (1, True),
        (True, 1),
        ("a*", ["ab", "b"]),
        ("a*", []),
    ],
)
def test_an_allow_pattern_does_not_match(pattern: Any, value: Any) -> None:
    assert not allows(pattern, value)


@pytest.mark.parametrize(
    "value",
    [
        "secrets/key",
        "./secrets/key",
        "docs/../secrets/key",
        "/home/ann/project/secrets/key",
        "secrets",
        ["docs/a", "secrets/key"],
    ],
)
def test_a_deny_pattern_sees_through_the_way_a_path_is_written(value: Any) -> None:
    assert restricts("secrets/**", value)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (".env", "./.env"),
        (".env", "sub/../.env"),
        (".env", ".env/"),
        (".env", " .env"),
        (".env", "/home/ann/project/.env"),
        ("*.env", "prod.env/"),
        ("*localhost*", "http://LOCALHOST/"),
        ("http://localhost/**", "http://localhost:80/x"),
        ("https://docs.example/**", " https://docs.example:443/x"),
    ],
)
def test_a_deny_pattern_sees_through_the_way_a_name_or_an_address_is_written(
    pattern: str, value: str
) -> None:
    assert restricts(pattern, value)


def test_a_link_is_no_way_round_a_rule(tmp_path: Path) -> None:
    for name in ("notes", "secret"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "out").symlink_to("../secret")
    (tmp_path / "notes" / "away").symlink_to("/")
    (tmp_path / "open").symlink_to("secret/a")
    inside = str(tmp_path)
    assert allows("notes/**", "notes/a", inside)
    for value in ("notes/out/a", f"{inside}/notes/out/a", "notes/away/etc/passwd"):
        assert not allows("notes/**", value, inside)
    for value in ("notes/out/a", f"{inside}/notes/out/a", "open"):
        assert restricts("secret/**", value, inside)
    assert not restricts("secret/**", "notes/a", inside)


def test_a_directory_that_is_reached_through_a_link_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "real" / "notes").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert allows("notes/**", "notes/a", str(tmp_path / "link"))


def test_an_argument_that_is_absent_matches_nothing() -> None:
    assert not arguments_match({"path": "**"}, {}, loosening=True)
    assert not arguments_match({"path": "**"}, {}, loosening=False)


def test_all_patterns_of_a_rule_must_match() -> None:
    patterns = {"path": "docs/**", "mode": "read"}
    assert arguments_match(patterns, {"path": "docs/a", "mode": "read"}, loosening=True)
    assert not arguments_match(patterns, {"path": "docs/a", "mode": "write"}, loosening=True)


def test_a_dotted_key_reaches_into_objects() -> None:
    assert arguments_match({"options.force": True}, {"options": {"force": True}}, loosening=False)
    assert not arguments_match({"options.force": True}, {"options": {"force": False}}, loosening=False)
    assert arguments_match({"a.b": "x"}, {"a.b": "x"}, loosening=True)


def test_objects_are_matched_as_json() -> None:
    assert allows('{"a": 1*', {"a": 12})


@given(st.text())
def test_the_exact_pattern_of_a_name_matches_that_name_alone(name: str) -> None:
    pattern = name_pattern(exactly(name))
    assert pattern.match(name)
    assert not pattern.match(name + "x")


@pytest.mark.parametrize("pattern", ["docs/[z-a]", "docs/[", "docs/[]", "docs/[!", "docs/[\\", "[^]/x"])
def test_a_pattern_that_makes_no_sense_breaks_nothing(pattern: str) -> None:
    allows(pattern, "docs/a")
    assert allows(pattern, pattern)


def test_the_first_pattern_that_fits_is_named() -> None:
    assert matches_any(["x*", "mcp__git__*", "*"], ["mcp__git__push"]) == "mcp__git__*"
    assert matches_any(["x*"], ["mcp__git__push"]) is None


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf .",
        "git status && id",
        "git status | sh",
        "git status $(id)",
        "git status\nid",
        "git status > x",
    ],
)
def test_a_wildcard_allows_one_command_and_not_what_a_shell_would_add_to_it(command: str) -> None:
    rule = {"command": "git status*"}
    assert arguments_match(rule, {"command": "git status -s"}, loosening=True)
    assert not arguments_match(rule, {"command": command}, loosening=True)
    assert arguments_match(rule, {"command": command}, loosening=False)
    assert arguments_match({"command": command}, {"command": command}, loosening=True)

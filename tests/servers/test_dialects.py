"""What clients write about one server is understood, and what cannot be taken over is told."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.errors import InvalidError
from manyhands.servers.dialects import looks_like_entry, translate_entry


def translated(**entry: Any) -> dict[str, Any]:
    return translate_entry(entry, "f.json: x", [])


def notes_of(**entry: Any) -> list[str]:
    notes: list[str] = []
    translate_entry(entry, "f.json: x", notes)
    return notes


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        ({"serverUrl": "https://h/sse"}, {"url": "https://h/sse", "enabled": True}),
        ({"httpUrl": "https://h/mcp"}, {"url": "https://h/mcp", "enabled": True}),
        ({"url": "https://h", "type": "sse"}, {"url": "https://h", "transport": "sse", "enabled": True}),
        (
            {"uri": "https://h", "type": "streamable_http"},
            {"url": "https://h", "transport": "http", "enabled": True},
        ),
        ({"command": "c", "disabled": True}, {"command": "c", "enabled": False}),
        ({"command": "c", "enabled": False}, {"command": "c", "enabled": False}),
        ({"command": "c", "isActive": False}, {"command": "c", "enabled": False}),
        ({"command": "c", "timeout": 60}, {"command": "c", "enabled": True, "tool_timeout": 60_000}),
        ({"command": "c", "timeout": 5000}, {"command": "c", "enabled": True, "tool_timeout": 5000}),
        (
            {"command": "c", "startup_timeout_sec": 2.5},
            {"command": "c", "enabled": True, "connect_timeout": 2500},
        ),
        (
            {"command": "c", "environment": {"A": "{env:B}"}},
            {"command": "c", "enabled": True, "env": {"A": "${B}"}},
        ),
        (
            {"url": "https://h", "bearer_token_env_var": "TOK", "env_http_headers": {"X": "Y"}},
            {"url": "https://h", "enabled": True, "headers": {"X": "${Y}", "Authorization": "Bearer ${TOK}"}},
        ),
        (
            {"command": "c", "args": ["${userHome}/x"]},
            {"command": "c", "args": ["${HOME}/x"], "enabled": True},
        ),
        (
            {"command": "c", "type": "local", "cwd": None},
            {"command": "c", "transport": "stdio", "enabled": True},
        ),
    ],
)
def test_the_spellings_of_other_clients_become_our_fields(
    entry: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert translated(**entry) == fields


@pytest.mark.parametrize("key", ["trust", "autoApprove", "alwaysAllow"])
def test_a_file_grants_its_servers_no_permission(key: str) -> None:
    assert key not in translated(command="c", **{key: True})
    assert notes_of(command="c", **{key: True}) == [
        f"f.json: x.{key}: not taken over; what may run without asking is decided here"
    ]


def test_what_is_not_known_is_told() -> None:
    assert notes_of(command="c", envFile=".env") == ["f.json: x.envFile: not known here, passed over"]
    assert notes_of(cmd="c", env_keys=["TOKEN"]) == [
        "f.json: x.env_keys: the values of TOKEN are not in the file; set them"
    ]
    assert notes_of(command="c", env={"K": "${input:key}"}) == [
        "f.json: x.env.K: only its own client knows ${input:key}; write the value or ${VAR}"
    ]


def test_a_kind_of_server_that_lives_inside_another_client_is_refused() -> None:
    with pytest.raises(InvalidError, match=r"f\.json: x\.type: 'builtin'"):
        translated(type="builtin", url="x")


@pytest.mark.parametrize("value", [None, 3, {}, {"args": []}, {"command": 3}])
def test_what_names_no_way_to_a_server_is_no_entry(value: Any) -> None:
    assert not looks_like_entry(value)

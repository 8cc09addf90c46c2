"""A configuration is checked field by field when it enters, and every mistake has its place."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.errors import InvalidError
from manyhands.servers.config import parse_config
from manyhands.servers.types import ServerConfig


def config(**fields: Any) -> ServerConfig:
    return parse_config({"name": "time", "command": "uvx", **fields}).config


def test_a_command_alone_is_a_stdio_server_with_the_defaults() -> None:
    assert config(args=["mcp-server-time"]) == ServerConfig("time", command="uvx", args=("mcp-server-time",))


def test_an_address_alone_is_an_http_server() -> None:
    parsed = parse_config({"name": "docs", "url": "https://example.com/mcp"}).config
    assert (parsed.transport, parsed.url) == ("http", "https://example.com/mcp")


@pytest.mark.parametrize("spelling", ["http", "streamable-http", "streamableHttp", "Streamable_HTTP"])
def test_every_spelling_of_streamable_http_is_understood(spelling: str) -> None:
    parsed = parse_config({"name": "docs", "url": "http://localhost:1/mcp", "transport": spelling}).config
    assert parsed.transport == "http"


def test_what_a_server_shows_may_be_sent_back() -> None:
    assert config(id=3, status="connected", tool_count=7, pid=None, url=None) == config()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"command": None}, "needs `command`"),
        ({"command": "  "}, "needs `command`"),
        ({"transport": "http"}, "needs `url`"),
        ({"transport": "http", "url": "localhost:3000"}, "`url` is no address"),
        ({"transport": "sse", "url": "ftp://host/x"}, "`url` is no address"),
        ({"transport": "carrier-pigeon"}, "transport"),
        ({"trust": "always"}, "trust"),
        ({"tool_timeout": 0}, "tool_timeout"),
        ({"parallel": "some"}, "parallel"),
        ({"comand": "x"}, "comand: there is no such field"),
        ({"args": "one two"}, "args"),
        ({"args": ["a", 3]}, r"args\[1\]"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"headers": {"X Y": "x"}}, "headers"),
        ({"headers": {"X": "a\r\nb"}}, "headers.X"),
        ({"args": ["a\0b"]}, r"args\[0\]"),
        ({"cwd": "relative/dir"}, "relative"),
        ({"name": "a__b"}, "holds `__`"),
        ({"name": "42"}, "only digits"),
    ],
)
def test_a_mistake_is_named_with_its_field(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidError, match=message):
        config(**fields)


def test_a_mistake_in_a_file_is_named_with_the_file_and_key() -> None:
    with pytest.raises(InvalidError, match=r"^a\.json: mcpServers\.time\.args\[0\]:"):
        parse_config({"name": "time", "command": "x", "args": [{}]}, "a.json: mcpServers.time")


@pytest.mark.requirement("L29")
def test_stray_white_space_is_trimmed_and_told_with_its_key() -> None:
    parsed = parse_config(
        {"name": " time", "command": "uvx ", "env": {"TOKEN": "abc\n"}, "args": [" x"]}, "f.json: time"
    )
    assert parsed.config == ServerConfig("time", command="uvx", env={"TOKEN": "abc"}, args=(" x",))
    assert parsed.notes == (
        "f.json: time.name: white space at the ends was removed",
        "f.json: time.command: white space at the ends was removed",
        "f.json: time.env.TOKEN: white space at the ends was removed",
        "f.json: time.args[0]: has white space at the ends; it is kept",
    )


@pytest.mark.requirement("L28")
def test_a_secret_may_not_go_into_the_arguments() -> None:
    with pytest.raises(InvalidError, match="can be seen by every process"):
        config(args=["--token", "${keyring:GITHUB}"])


@pytest.mark.requirement("L28")
def test_a_mistake_in_a_secret_does_not_repeat_its_value() -> None:
    with pytest.raises(InvalidError) as caught:
        config(env={"TOKEN": ["hunter2-hunter2"]})
    assert "hunter2" not in str(caught.value)
    assert "env.TOKEN" in str(caught.value)


def test_numbers_in_env_are_taken_as_text() -> None:
    assert config(env={"PORT": 8080, "DEBUG": True}).env == {"PORT": "8080", "DEBUG": "true"}

"""Whatever client a file comes from, its servers are found, or the reason names file and key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from manyhands.errors import InvalidError
from manyhands.servers.config_files import ConfigFile, export_config, read_config_file
from manyhands.servers.types import ServerConfig

TIME = {"command": "uvx", "args": ["mcp-server-time"]}
TIME_CONFIG = ServerConfig("time", command="uvx", args=("mcp-server-time",))


def read(value: Any, **options: Any) -> ConfigFile:
    return read_config_file(json.dumps(value), "mcp.json", **options)


def configs(file: ConfigFile) -> list[ServerConfig | None]:
    return [entry.config for entry in file.entries]


@pytest.mark.parametrize(
    "value",
    [
        {"mcpServers": {"time": TIME}},
        {"servers": {"time": {**TIME, "type": "stdio"}}, "inputs": []},
        {"mcp": {"servers": {"time": TIME}}},
        {"mcp": {"time": {"type": "local", "command": ["uvx", "mcp-server-time"], "enabled": True}}},
        {"context_servers": {"time": {"source": "custom", **TIME}}},
        {"context_servers": {"time": {"command": {"path": "uvx", "args": ["mcp-server-time"]}}}},
        {"extensions": {"time": {"cmd": "uvx", "args": ["mcp-server-time"], "type": "stdio"}}},
        {"amp.mcpServers": {"time": TIME}},
        {"mcpServers": [{"name": "time", **TIME}]},
        {"time": TIME},
        {"name": "time", **TIME},
    ],
)
def test_the_files_of_other_clients_are_read(value: Any) -> None:
    assert configs(read(value)) == [TIME_CONFIG]


def test_the_toml_of_codex_is_read() -> None:
    text = '[mcp_servers.time]\ncommand = "uvx"\nargs = ["mcp-server-time"]\n'
    assert configs(read_config_file(text, "config.toml")) == [TIME_CONFIG]


def test_one_entry_without_a_name_gets_the_given_one() -> None:
    assert configs(read(TIME, name="time")) == [TIME_CONFIG]
    with pytest.raises(InvalidError, match=r"mcp\.json: this is one server without a name"):
        read(TIME)


@pytest.mark.requirement("L29")
@pytest.mark.parametrize("key", ["mcp_servers", "mcpservers", "mcpServer", "MCP-Servers", "serverlist"])
def test_a_wrong_top_key_is_an_error_with_file_and_key(key: str) -> None:
    with pytest.raises(InvalidError) as caught:
        read({key: {"time": TIME}})
    assert "mcp.json" in str(caught.value)
    assert f"Rename {key!r} to 'mcpServers'" in str(caught.value)


@pytest.mark.requirement("L29")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "mcp.json: it is empty, the key mcpServers is missing"),
        ([], "mcp.json: an object is needed at the top"),
        ({"theme": "dark"}, "mcp.json: the top key is 'theme'"),
        ({"mcpServers": None}, "mcp.json: mcpServers is not an object"),
        ({"mcpServers": "time"}, "mcp.json: mcpServers is not an object"),
    ],
)
def test_a_file_without_servers_is_not_read_as_none(value: Any, message: str) -> None:
    with pytest.raises(InvalidError) as caught:
        read(value)
    assert str(caught.value).startswith(message)


@pytest.mark.requirement("L29")
def test_a_projects_file_has_one_right_top_key() -> None:
    with pytest.raises(InvalidError, match="Rename 'servers' to 'mcpServers'"):
        read({"servers": {"time": TIME}}, strict=True)
    assert configs(read({"mcpServers": {"time": TIME}}, strict=True)) == [TIME_CONFIG]


def test_one_bad_entry_spoils_no_other() -> None:
    file = read({"mcpServers": {"bad": {"args": []}, "a__b": TIME, "worse": 3, "time": TIME}})
    assert [entry.config is not None for entry in file.entries] == [False, False, False, True]
    assert "mcp.json: mcpServers.bad: a stdio server needs `command`" in str(file.entries[0].problem)
    assert "holds `__`" in str(file.entries[1].problem)
    assert "mcp.json: mcpServers.worse: is not an object" in str(file.entries[2].problem)


def test_white_space_is_told_with_file_and_key() -> None:
    file = read({"mcpServers": {" time ": {"command": "uvx", "env": {"KEY": " abc"}}}})
    assert file.entries[0].name == "time"
    assert "mcp.json: mcpServers. time .env.KEY: white space at the ends was removed" in file.entries[0].notes


def test_servers_in_parts_that_are_not_read_are_told() -> None:
    file = read({"mcpServers": {}, "projects": {"/home/me/x": {"mcpServers": {"a": TIME}}}})
    assert file.notes == (
        "mcp.json: mcpServers is empty",
        "mcp.json: projects./home/me/x has 1 servers of its own, which were not read",
    )


def test_an_export_reads_back_as_the_same_servers() -> None:
    servers = [
        ServerConfig(
            "time", command="uvx", args=("mcp-server-time",), env={"TZ_KEY": "${TZ_KEY}"}, cwd="/tmp"
        ),
        ServerConfig(
            "docs", "http", url="https://example.com/mcp", headers={"Authorization": "${keyring:D}"}
        ),
        ServerConfig(
            "old", "sse", url="http://localhost:1/sse", enabled=False, parallel="none", tool_timeout=9000
        ),
    ]
    written = export_config(servers)
    assert configs(read_config_file(written, "export")) == servers
    assert list(written) == ["mcpServers"]


def test_trust_is_never_written_nor_read() -> None:
    servers = [ServerConfig("time", command="uvx", trust="full")]
    file = read_config_file(export_config(servers), "export")
    assert file.entries[0].config == ServerConfig("time", command="uvx")

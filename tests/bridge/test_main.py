"""The bridge from its start to the end of its parent, with a real daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from manyhands.bridge import words
from manyhands.bridge.options import parse
from manyhands.bridge.relay import UNKNOWN_METHOD
from manyhands.daemon import SOCKET_NAME
from tests.bridge.conftest import api_of, by_hand
from tests.cli.conftest import CommandLine, running_daemon, until

CLAUDE_CODE = {
    words.VERSION_KEY: "2026-07-28",
    words.CLIENT_INFO_KEY: {"name": "claude-code", "version": "2"},
}
OTHER_CLIENT = {words.VERSION_KEY: "2026-07-28", words.CLIENT_INFO_KEY: {"name": "any", "version": "1"}}
HOLDER = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); input()"


def test_it_imports_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import manyhands.cli.main, manyhands.bridge.main, manyhands.bridge.agent\n"
        "print(*(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {name.partition(".")[0] for name in ran.stdout.split()}
    assert roots - sys.stdlib_module_names == {"manyhands"}
    ours = {name for name in ran.stdout.split() if name.startswith("manyhands.") and "bridge" not in name}
    assert ours == {"manyhands.cli", "manyhands.cli.main"}


def test_without_a_daemon_it_introduces_itself_and_says_what_to_do(cli: CommandLine, project: Path) -> None:
    with by_hand(cli, "--dir", str(project), "--api-url", "http://127.0.0.1:1") as bridge:
        assert bridge.ask("server/discover", _meta=CLAUDE_CODE)["result"]["supportedVersions"]
        about = bridge.initialize("2025-06-18")
        assert about["protocolVersion"] == "2025-06-18"
        assert about["serverInfo"]["name"] == "manyhands"
        assert "experimental" not in about["capabilities"]
        assert "list_agents" not in about["instructions"]
        assert bridge.ask("ping")["result"] == {}
        assert "manyhands up" in bridge.ask("tools/list")["error"]["message"]
        result = bridge.call("send_message", content="x")
        assert result["isError"]
        assert "manyhands up" in result["content"][0]["text"]
        assert bridge.close() == 0
    assert "ended" in (cli.home / "logs" / "mcp.log").read_text()


def test_whoever_says_all_at_once_hears_that_there_is_no_daemon(cli: CommandLine, project: Path) -> None:
    with by_hand(cli, "--dir", str(project), "--api-url", "http://127.0.0.1:1") as bridge:
        bridge.send(
            {"id": 1, "method": "tools/call", "params": {"name": "get_readme", "_meta": OTHER_CLIENT}}
        )
        assert bridge.process.stdin is not None
        bridge.process.stdin.close()
        assert "manyhands up" in bridge.read()["result"]["content"][0]["text"]


def test_a_directory_that_the_client_did_not_fill_in_is_the_one_it_starts_in(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert parse(["--dir", "${workspaceFolder}"]).directory == str(project)


@pytest.mark.parametrize("line", [b"no json\n", b"5\n", b'{"id": 1}\n', b'{"id": {}, "method": "x"}\n'])
def test_what_is_no_message_does_not_end_it(cli: CommandLine, project: Path, line: bytes) -> None:
    with by_hand(cli, "--dir", str(project)) as bridge:
        assert bridge.process.stdin is not None
        bridge.process.stdin.write(line)
        assert bridge.initialize()["serverInfo"]["name"] == "manyhands"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "--channel-id or --dir"),
        (("--colour", "x"), "--colour"),
        (("--dir", ".", "--api-url", "ftp://hub"), "'ftp://hub' is no address of a daemon"),
    ],
)
def test_wrong_options_are_wrong_usage(cli: CommandLine, options: tuple[str, ...], says: str) -> None:
    ran = cli("mcp", *options)
    assert ran.code == 2
    assert says in ran.err


def test_it_speaks_under_a_token_of_its_channel_and_gives_it_back(served: CommandLine, project: Path) -> None:
    api = api_of(served)
    with by_hand(served, "--dir", str(project), "--author-id", "ann") as bridge:
        bridge.initialize()
        sent = bridge.call("send_message", content="hello")["structuredContent"]
        (token,) = [one for one in api.request("GET", "/tokens")["items"] if one["author_id"] == "ann"]
        assert (token["channel_id"], token["project"]) == (sent["channel_id"], str(project))
        assert bridge.close() == 0
    assert token["id"] not in {one["id"] for one in api.request("GET", "/tokens")["items"]}
    message = api.request("GET", f"/channels/{sent['channel_id']}/messages")["items"][0]
    assert message["author_id"] == "ann"
    assert api.request("GET", f"/channels/{sent['channel_id']}")["dir_path"] == str(project)


def test_a_limited_token_is_used_as_it_is(served: CommandLine, project: Path) -> None:
    issued = api_of(served).request("POST", "/tokens", {"dir_path": str(project)})
    with by_hand(served, "--channel-id", issued["channel_id"], MANYHANDS_TOKEN=issued["token"]) as bridge:
        bridge.initialize()
        found = bridge.call("search_channels")["structuredContent"]["channels"]
    assert [one["id"] for one in found] == [issued["channel_id"]]


def test_a_channel_that_is_not_there_is_said(served: CommandLine) -> None:
    with by_hand(served, "--channel-id", "ch_none") as bridge:
        bridge.initialize()
        assert "ch_none" in bridge.ask("tools/list")["error"]["message"]


def test_it_reaches_the_daemon_over_its_unix_socket(served: CommandLine, project: Path) -> None:
    socket = served.home / "run" / SOCKET_NAME
    with by_hand(served, "--dir", str(project), "--api-url", f"unix:{socket}") as bridge:
        bridge.initialize()
        assert not bridge.call("search_channels")["isError"]


# --- restarts and ends


def test_it_survives_a_daemon_that_is_killed_in_the_middle(cli: CommandLine, project: Path) -> None:
    with by_hand(cli, "--dir", str(project), "--gateway") as bridge:
        with running_daemon(cli):
            cli.ok("servers", "add", "hand", "--trust", "full", "--", sys.executable, _hand_server())
            bridge.initialize()
            assert not bridge.call("search_channels")["isError"]
            waiting = {"name": "mcp__hand__wait", "arguments": {"file": str(project / "stopped")}}
            bridge.send({"id": "w", "method": "tools/call", "params": waiting})
            until(lambda: api_of(cli).request("GET", "/tool-calls?status=pending")["items"])
            daemon = psutil.Process(api_of(cli).request("GET", "/status")["pid"])
            daemon.kill()
            while (answer := bridge.read()).get("id") != "w":
                pass
            assert answer["result"]["isError"]
            assert "restarted while this was under way" in answer["result"]["content"][0]["text"]
        with running_daemon(cli):
            assert not bridge.call("search_channels")["isError"]
            assert bridge.close() == 0


def _hand_server() -> str:
    return str(Path(__file__).parents[1] / "cli" / "hand_server.py")


def test_it_ends_with_its_parent_though_its_stdin_stays_open(cli: CommandLine, project: Path) -> None:
    reads, writes = os.pipe()
    command = [sys.executable, "-c", HOLDER, *cli.argv("mcp", "--dir", str(project))]
    holder = subprocess.Popen(
        command, stdin=reads, stdout=subprocess.PIPE, text=True, env=dict(cli.environment)
    )
    try:
        assert holder.stdout is not None
        bridge = psutil.Process(int(holder.stdout.readline()))
        log = cli.home / "logs" / "mcp.log"
        until(lambda: log.exists() and "started" in log.read_text())
        holder.kill()
        until(lambda: not bridge.is_running() or bridge.status() == psutil.STATUS_ZOMBIE)
    finally:
        holder.communicate()
        os.close(reads)
        os.close(writes)


# --- as an agent


@pytest.mark.parametrize("ending", ["eof", "term"])
def test_an_agent_is_registered_hears_others_and_goes(
    served: CommandLine, project: Path, ending: str
) -> None:
    api = api_of(served)
    agent = f"builder-{ending}"
    with by_hand(served, "--dir", str(project), "--agent-id", agent) as bridge:
        found = bridge.ask("server/discover", _meta=OTHER_CLIENT)["result"]["capabilities"]
        assert found["experimental"] == {words.CHANNEL_CAPABILITY: {}}
        # Claude Code takes what is pushed only from a server that it has begun with `initialize` with.
        assert bridge.ask("server/discover", _meta=CLAUDE_CODE)["error"]["code"] == UNKNOWN_METHOD
        about = bridge.initialize()
        assert about["capabilities"]["experimental"] == {words.CHANNEL_CAPABILITY: {}}
        assert "send_agent_message" in about["instructions"]
        channel_id = api.request("POST", "/channels", {"dir_path": str(project)})["id"]
        here = f"/agents?channel_id={channel_id}"
        until(lambda: [one["id"] for one in api.request("GET", here)["items"]] == [agent])
        api.request("POST", f"/agents/{agent}/message", {"channel_id": channel_id, "content": "hé\n" * 50})
        pushed = bridge.until_notified(words.CHANNEL_NOTIFICATION)
        assert pushed == {"content": "hé\n" * 50, "meta": {"from_agent": "owner"}}
        assert "list_agents" in {tool["name"] for tool in bridge.ask("tools/list")["result"]["tools"]}
        if ending == "eof":
            assert bridge.close() == 0
        else:
            bridge.process.send_signal(signal.SIGTERM)
            bridge.process.wait(60)
    assert api.request("GET", here)["items"] == []

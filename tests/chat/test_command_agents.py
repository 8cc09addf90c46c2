"""Command agents as real processes: their words, their hands, their sandbox, and how they end."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands import Hub
from manyhands.api.app import create_app
from manyhands.api.serving import HttpServer
from manyhands.chat.runners import Runner
from manyhands.daemon import _bind_local
from manyhands.events import Event
from manyhands.sandbox import Bubblewrap
from manyhands.secrets import HIDDEN
from tests.chat.hubs import channel_of
from tests.chat.repositories import Repository, make_repository

pytestmark = pytest.mark.anyio

WITHIN = 60
PYTHON = os.path.realpath(sys.executable)
"""The interpreter itself: a sandbox does not show an environment that lies in a temporary directory."""

# Speaks to the hub as an agent's MCP client would: starts what the file names, asks it two things.
CLIENT = """
import json, os, subprocess, sys
config = json.load(open(os.environ["MANYHANDS_MCP_CONFIG"]))["mcpServers"]["manyhands"]
bridge = subprocess.Popen(
    [config["command"], *config["args"]], env={**os.environ, **config["env"]},
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(**message):
    bridge.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    bridge.stdin.flush()
def ask(number, method, params):
    send(id=number, method=method, params=params)
    for line in bridge.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message
who = {"name": "t", "version": "1"}
ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
send(method="notifications/initialized")
answer = ask(2, "tools/call", {"name": "send_message", "arguments": {"content": "hands work"}})
print("sent" if not answer.get("result", {}).get("isError") else answer)
bridge.stdin.close()
bridge.wait(10)
"""


@asynccontextmanager
async def served(tmp_path: Path) -> AsyncIterator[Hub]:
    """A hub that agents can reach, over HTTP and over its socket."""
    async with Hub(tmp_path / "home") as hub:
        path = hub.home.run / "api.sock"
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as local:
            _bind_local(local, path)
            app = create_app(hub)
            server = HttpServer(app, grace_s=5)
            async with anyio.create_task_group() as group:
                group.start_soon(server.serve_on, listener, local)
                await server.listening.wait()
                hub.serve_at(f"http://127.0.0.1:{listener.getsockname()[1]}", path)
                try:
                    yield hub
                finally:
                    app.state.crowds.close()
                    server.stop()


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with served(tmp_path) as hub:
        yield hub


async def agent(hub: Hub, project: Path, script: str, **runner: Any) -> str:
    """A channel in which a script works, started by a file of the project."""
    (project / "agent.py").write_text(script)
    channel = await channel_of(hub, project)
    await hub.set_runner(channel, Runner(command=PYTHON, args=("agent.py",), **runner))
    return channel


async def run(hub: Hub, channel: str, prompt: str = "do it") -> list[Event]:
    with anyio.fail_after(WITHIN):
        return [event async for event in hub.run(prompt, channel_id=channel)]


def config_of(hub: Hub, channel: str) -> Path:
    return hub.home.run / f"mcp-{channel}.json"


# --- words


async def test_what_the_command_writes_streams_into_the_channel_and_stays(hub: Hub, project: Path) -> None:
    script = "import sys\nprint('one', flush=True)\nprint('asked:', sys.stdin.read())\n"
    channel = await agent(hub, project, script)
    events = await run(hub, channel, "say hello")
    told = "".join(event.data["text"] for event in events if event.type == "run.delta")
    assert told == "one\nasked: say hello\n"
    ended = events[-1].data
    assert (ended["status"], ended["text"]) == ("completed", "one\nasked: say hello")
    assert ended["model"] == f"command:{Path(PYTHON).name}"
    page = await hub.runs.messages(channel)
    assert [(one.role, one.content) for one in page.items] == [
        ("assistant", "one\nasked: say hello"),
        ("user", "say hello"),
    ]


async def test_it_is_told_what_was_said_before(hub: Hub, project: Path) -> None:
    channel = await agent(hub, project, "import sys\nprint(sys.stdin.read().replace('\\n', '|'))\n")
    await run(hub, channel, "remember the number 7")
    events = await run(hub, channel, "which number?")
    assert "They: remember the number 7" in events[-1].data["text"]
    assert events[-1].data["text"].endswith("Now:||which number?")


async def test_a_prompt_can_be_an_argument_and_never_becomes_an_option(hub: Hub, project: Path) -> None:
    (project / "agent.py").write_text("import sys\nprint(sys.argv[1:])\n")
    channel = await channel_of(hub, project)
    await hub.set_runner(channel, Runner(command=PYTHON, args=("agent.py", "--say={prompt}", "{prompt}")))
    events = await run(hub, channel, "--yes {mcp_config} $(touch x)")
    said = events[-1].data["text"]
    assert "' --yes {mcp_config} $(touch x)'" in said
    assert not (project / "x").exists()


async def test_a_failure_tells_the_exit_code_and_the_end_of_what_it_complained(
    hub: Hub, project: Path
) -> None:
    script = "import sys\nprint('half done')\nprint('cannot go on', file=sys.stderr)\nsys.exit(3)\n"
    channel = await agent(hub, project, script)
    ended = (await run(hub, channel))[-1].data
    assert ended["status"] == "failed"
    assert "exit code 3" in ended["error"]
    assert "cannot go on" in ended["error"]
    page = await hub.runs.messages(channel)
    assert [one.content for one in page.items if one.role == "assistant"] == ["half done"]


async def test_the_stream_of_claude_code_is_read(hub: Hub, project: Path) -> None:
    lines = [
        {"type": "system", "subtype": "init"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Looking."}]}},
        {
            "type": "result",
            "result": "All good.",
            "total_cost_usd": 0.25,
            "usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 2},
        },
    ]
    script = "".join(f"print({json.dumps(json.dumps(line))})\n" for line in lines)
    (project / "agent.py").write_text(script)
    channel = await channel_of(hub, project)
    words = ("agent.py", "--output-format", "stream-json")
    await hub.set_runner(channel, Runner(command=PYTHON, args=words))
    events = await run(hub, channel)
    assert "".join(one.data["text"] for one in events if one.type == "run.delta") == "Looking.\n\n"
    ended = events[-1].data
    assert (ended["text"], ended["cost"]) == ("All good.", 0.25)
    assert ended["usage"] == {"input": 7, "output": 7, "cached": 2}


async def test_a_program_that_is_not_there_is_named(hub: Hub, project: Path) -> None:
    channel = await channel_of(hub, project)
    await hub.set_runner(channel, Runner(command="no-such-agent"))
    ended = (await run(hub, channel))[-1].data
    assert ended["status"] == "failed"
    assert "no-such-agent is not installed" in ended["error"]
    assert not config_of(hub, channel).exists()


async def test_without_a_daemon_it_says_what_to_do(tmp_path: Path, project: Path) -> None:
    async with Hub(tmp_path / "home") as hub:
        channel = await agent(hub, project, "print(1)")
        ended = (await run(hub, channel))[-1].data
        assert "manyhands up" in ended["error"]


async def test_its_time_is_bounded(hub: Hub, project: Path) -> None:
    channel = await agent(hub, project, "import time\ntime.sleep(600)\n", timeout_s=1)
    assert "did not end within 1 s" in (await run(hub, channel))[-1].data["error"]


# --- ends


async def test_stopping_a_run_ends_everything_that_it_has_started(hub: Hub, project: Path) -> None:
    mark = f"6000.{time.time_ns()}"
    script = f"""
import subprocess, sys, time
for words in (["sleep", "{mark}"], ["setsid", "sh", "-c", "trap '' TERM; sleep {mark}; true"]):
    subprocess.Popen(words)
print("started", flush=True)
time.sleep(600)
"""
    channel = await agent(hub, project, script)
    started = await hub.runs.start(channel, "work")
    with anyio.fail_after(WITHIN):
        async with hub.bus.subscribe(started.first_seq) as events:
            async for event in events:
                if event.type == "run.delta":
                    assert config_of(hub, channel).exists()
                    assert processes_with(mark)
                    await hub.runs.cancel(started.id)
                if event.type == "run.finished":
                    break
    assert event.data["status"] == "cancelled"
    assert processes_with(mark) == []
    assert not config_of(hub, channel).exists()
    page = await hub.runs.messages(channel)
    assert [one.content for one in page.items if one.role == "assistant"] == ["started"]


def processes_with(mark: str) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if mark in " ".join(process.info["cmdline"] or []) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


async def test_a_run_that_a_crash_cut_is_not_started_again_and_its_file_goes(
    tmp_path: Path, project: Path
) -> None:
    async with served(tmp_path) as hub:
        script = "open('ran', 'a').write('x')\nprint(1, flush=True)\nimport time\ntime.sleep(600)\n"
        channel = await agent(hub, project, script)
        started = await hub.runs.start(channel, "work")
        with anyio.fail_after(WITHIN):
            async with hub.bus.subscribe(started.first_seq) as events:
                async for event in events:
                    if event.type == "run.delta":
                        break
    left = config_of(hub, channel)
    left.write_text("{}")
    async with served(tmp_path) as hub:
        assert not left.exists()
        with anyio.fail_after(WITHIN):
            async with hub.bus.subscribe(started.first_seq) as events:
                async for event in events:
                    if event.type == "run.finished":
                        break
        assert "was not started again" in event.data["error"]
        assert (project / "ran").read_text() == "x"


# --- hands


async def test_it_gets_a_file_with_a_token_for_its_channel_that_ends_with_the_run(
    hub: Hub, project: Path
) -> None:
    script = """
import json, os, stat
path = os.environ["MANYHANDS_MCP_CONFIG"]
print(path, stat.S_IMODE(os.stat(path).st_mode))
server = json.load(open(path))["mcpServers"]["manyhands"]
open("seen.json", "w").write(json.dumps(server))
"""
    channel = await agent(hub, project, script)
    ended = (await run(hub, channel))[-1].data
    assert ended["text"] == f"{config_of(hub, channel)} {stat.S_IRUSR | stat.S_IWUSR}"
    assert not config_of(hub, channel).exists()
    seen = json.loads((project / "seen.json").read_text())
    assert "mcp" in seen["args"]
    assert ["--channel-id", channel] == seen["args"][-4:-2]
    token = seen["env"]["MANYHANDS_TOKEN"]
    assert token != hub.home.token()
    assert await hub.access.who(token) is None


async def test_what_it_says_of_its_token_is_not_kept(hub: Hub, project: Path) -> None:
    channel = await agent(hub, project, "import os\nprint('it is', os.environ['MANYHANDS_TOKEN'])\n")
    assert "mha_" not in json.dumps([event.data for event in await run(hub, channel)])


@pytest.mark.requirement("L28")
async def test_a_secret_that_comes_in_two_pieces_is_not_told(hub: Hub, project: Path) -> None:
    script = (
        "import os, time\ntoken = os.environ['THEIR_TOKEN']\n"
        "for piece in ('it is ', token[:5], token[5:], ', so.'):\n"
        "    print(piece, end='', flush=True)\n    time.sleep(0.1)\n"
    )
    channel = await agent(hub, project, script, env={"THEIR_TOKEN": "words-of-mine"})
    events = await run(hub, channel)
    told = "".join(event.data["text"] for event in events if event.type == "run.delta")
    assert told == events[-1].data["text"] == f"it is {HIDDEN}, so."


async def test_secrets_in_its_environment_are_kept_as_references(
    hub: Hub, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "from-the-outside")
    monkeypatch.setenv("NOT_FOR_AGENTS", "hidden")
    script = (
        "import os\nprint(len(os.environ['KEY']), len(os.environ['OTHER']), 'NOT_FOR_AGENTS' in os.environ)\n"
    )
    channel = await agent(hub, project, script, env={"KEY": "very-secret-value", "OTHER": "${AGENT_KEY}"})
    stored = (await hub.channels.get(channel)).runner or {}
    assert stored["env"]["OTHER"] == "${AGENT_KEY}"
    assert "very-secret-value" not in json.dumps(stored)
    assert (await run(hub, channel))[-1].data["text"] == "17 16 False"


async def test_it_uses_the_tools_of_the_hub(hub: Hub, project: Path) -> None:
    channel = await agent(hub, project, CLIENT)
    ended = (await run(hub, channel))[-1].data
    assert ended["text"] == "sent", ended
    said = [one for one in (await hub.runs.messages(channel)).items if one.content == "hands work"]
    assert len(said) == 1


# --- sandboxes


async def test_in_bubblewrap_it_has_its_project_its_hands_and_nothing_else(hub: Hub, project: Path) -> None:
    """Without a network: the hub is reached over the socket that is mounted inside."""
    port = (hub.url or "").rpartition(":")[2]
    probe = f"""
import os, socket
def can(action):
    try:
        action()
        return True
    except OSError:
        return False
print("writes here", can(lambda: open("mine.txt", "w").write("x")))
can(lambda: open("{project.parent}/theirs.txt", "w").write("x"))
print("writes outside", can(lambda: open("/usr/theirs.txt", "w").write("x")))
print("reads the token", can(lambda: open("{hub.home.token_file}").read()))
print("reads the database", can(lambda: open("{hub.home.database_file}").read()))
print("network", can(lambda: socket.create_connection(("127.0.0.1", {port}), 2)))
"""
    channel = await agent(hub, project, probe + CLIENT, sandbox="bwrap", network=False)
    ended = (await run(hub, channel))[-1].data
    assert ended["status"] == "completed", ended
    assert ended["text"].splitlines() == [
        "writes here True",
        "writes outside False",
        "reads the token False",
        "reads the database False",
        "network False",
        "sent",
    ]
    assert (project / "mine.txt").exists()
    assert not (project.parent / "theirs.txt").exists()  # it has a temporary directory of its own
    said = [one for one in (await hub.runs.messages(channel)).items if one.content == "hands work"]
    assert len(said) == 1


async def test_stopping_ends_what_runs_in_bubblewrap(hub: Hub, project: Path) -> None:
    mark = f"6000.{time.time_ns()}"
    script = f"import subprocess\nprint('started', flush=True)\nsubprocess.run(['sleep', '{mark}'])\n"
    channel = await agent(hub, project, script, sandbox="bwrap")
    started = await hub.runs.start(channel, "work")
    with anyio.fail_after(WITHIN):
        async with hub.bus.subscribe(started.first_seq) as events:
            async for event in events:
                if event.type == "run.delta":
                    await hub.runs.stop_channel(channel)
                if event.type == "run.finished":
                    break
    assert event.data["status"] == "cancelled"
    assert processes_with(mark) == []


async def test_in_a_worktree_it_can_commit_from_its_sandbox(hub: Hub, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository")
    script = (
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m sandboxed && git log -1 --format=%s"
    )
    parent = await channel_of(hub, repository.path)
    await hub.set_runner(parent, Runner(command="sh", args=("-c", script), sandbox="bwrap", network=False))
    since = hub.bus.seq
    thread = await hub.threads.create_worktree(parent, "main", "fix", "commit something")
    with anyio.fail_after(WITHIN):
        async with hub.bus.subscribe(since) as events:
            async for event in events:
                if event.type == "run.finished":
                    break
    assert (event.data["channel_id"], event.data["text"]) == (thread.id, "sandboxed"), event.data
    assert Repository(Path(thread.worktree or ""))("log", "-1", "--format=%s") == "sandboxed"
    assert (await hub.threads.delete(thread.id)).kept


async def test_without_bubblewrap_nothing_runs_and_the_error_says_what_to_do(hub: Hub, project: Path) -> None:
    hub._agents.bubblewrap = Bubblewrap(lambda: None)
    channel = await agent(hub, project, "open('ran', 'w')\n", sandbox="bwrap")
    ended = (await run(hub, channel))[-1].data
    assert ended["status"] == "failed"
    assert "bwrap is not installed" in ended["error"]
    assert "Install bubblewrap" in ended["error"]
    assert not (project / "ran").exists()


async def test_an_engine_that_fails_or_is_missing_is_not_taken_for_its_agent(
    hub: Hub, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "bin" / "docker"
    engine.parent.mkdir()
    engine.write_text('#!/bin/sh\necho "$1" >> "$0.log"\necho "no daemon runs" >&2\nexit 125\n')
    engine.chmod(0o700)
    monkeypatch.setenv("PATH", str(engine.parent))
    said = {}
    channel = await channel_of(hub, project)
    for sandbox in ("docker", "podman"):
        await hub.set_runner(channel, Runner(command="claude", sandbox=sandbox, image="node"))
        ended = (await run(hub, channel))[-1].data
        assert ended["status"] == "failed"
        assert "another sandbox" in ended["error"]
        said[sandbox] = ended["error"]
        assert not config_of(hub, channel).exists()
    assert "docker could not start a container" in said["docker"]
    assert "no daemon runs" in said["docker"]
    assert "podman is not installed" in said["podman"]
    assert engine.with_name("docker.log").read_text().split() == ["run", "rm"]

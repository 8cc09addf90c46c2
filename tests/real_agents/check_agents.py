"""Real agents use the hub: from the printed snippet, and as commands that work in a channel.

`./dev agents` installs them and runs this; its name keeps it out of `./dev test`, which installs none.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from manyhands.chat.runners import ALONE, PRESETS, SANDBOXED
from tests.bridge.conftest import api_of
from tests.cli.conftest import ENOUGH_S, CommandLine, running_daemon, until
from tests.real_agents.agents import AGENTS, PLACE, Agent
from tests.real_agents.model import SAID, Model, running_model

TOOLS = {"send_message", "create_thread", "create_worktree_thread", "delete_thread", "search_channels"}
ENDED = {"completed", "failed", "cancelled", "max_iterations"}


@dataclass(frozen=True)
class Desk(CommandLine):
    """A home directory of its own, with the hub's home where everybody looks for it."""

    @property
    def environment(self) -> dict[str, str]:
        mine = {name: value for name, value in super().environment.items() if name != "MANYHANDS_HOME"}
        scripts = str(Path(sys.executable).parent)
        home = str(self.home.parent)
        return mine | {
            "HOME": home,
            "PATH": f"{scripts}:{mine['PATH']}",
            "XDG_CONFIG_HOME": f"{home}/.config",
        }


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk") / ".manyhands")
    with running_daemon(desk):
        yield desk


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> Agent:
    return AGENTS[request.param]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture
def model() -> Iterator[Model]:
    with running_model("send_message", {"content": "hello from an agent"}) as model:
        yield model


def ask(agent: Agent, desk: Desk, project: Path, model: Model, *options: str) -> str:
    """Let it work on a prompt by itself; what it said."""
    home = desk.home.parent
    variables = agent.setup(home, model.url)
    file = home / agent.config[2:] if agent.config.startswith("~/") else project / agent.config
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as config:
        config.write(desk.ok("mcp", "--print-config", agent.client, *options).out)
    ran = subprocess.run(
        [agent.command, *agent.ask, "say hello in the channel"],
        cwd=project,
        env=desk.environment | {"PWD": str(project)} | dict(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        check=False,
    )
    file.unlink()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return str(ran.stdout)


def said_in(desk: Desk, project: Path) -> list[Any]:
    api = api_of(desk)
    channel = api.request("POST", "/channels", {"dir_path": str(project)})
    messages: list[Any] = api.request("GET", f"/channels/{channel['id']}/messages")["items"]
    return messages


def test_it_calls_a_tool_with_nothing_but_the_printed_snippet(
    agent: Agent, desk: Desk, project: Path, model: Model
) -> None:
    assert SAID in ask(agent, desk, project, model)
    said = said_in(desk, project)
    assert [message["content"] for message in said] == ["hello from an agent"]
    assert any(said[0]["id"] in result or "Sent to" in result for result in model.results())
    if agent.name != "claude":  # which shows its model a server's tools when it searches for them
        assert {f"{agent.prefix}{tool}" for tool in TOOLS} <= model.offered()


def test_its_model_gets_the_mail_that_the_client_would_not_show(
    agent: Agent, desk: Desk, project: Path
) -> None:
    api = api_of(desk)
    channel = api.request("POST", "/channels", {"dir_path": str(project)})["id"]
    api.request("POST", "/agents", {"channel_id": channel, "agent_id": "builder"})
    letter = {"channel_id": channel, "content": "fix the empty string first"}
    api.request("POST", "/agents/builder/message", letter)
    with running_model("list_agents", {}) as model:
        assert SAID in ask(agent, desk, project, model, "--agent-id", "builder")
    assert any("fix the empty string first" in result for result in model.results())
    [kept] = api.request("GET", f"/agents/builder/messages?channel_id={channel}")["items"]
    assert kept["state"] == "read"


@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
def test_it_works_in_a_channel_whose_runner_it_is(
    agent: Agent, desk: Desk, project: Path, model: Model, sandbox: str
) -> None:
    api, home = api_of(desk), desk.home.parent
    channel = api.request("POST", "/channels", {"dir_path": str(project)})["id"]
    installed = (PLACE / agent.name / "node_modules").resolve()
    places = [{"path": str(home), "writable": True}, {"path": str(installed)}, {"path": str(PLACE)}]
    runner = {"command": agent.command, "env": dict(agent.setup(home, model.url)), "sandbox": sandbox}
    api.request("PATCH", f"/channels/{channel}", {"runner": runner | {"mounts": places}})
    run_id = api.request("POST", f"/channels/{channel}/runs", {"prompt": "say hello"})["run_id"]
    until(lambda: api.request("GET", f"/runs/{run_id}")["status"] in ENDED)
    run = api.request("GET", f"/runs/{run_id}")
    assert (run["status"], run["text"]) == ("completed", SAID), run["error"]
    assert run["usage"]["input"] > 0
    said = [message for message in said_in(desk, project) if message["content"] == "hello from an agent"]
    assert [message["author_id"] for message in said] == [agent.name]
    assert [token for token in api.request("GET", "/tokens")["items"] if token["channel_id"] == channel] == []


def test_it_knows_every_option_that_it_is_started_with(agent: Agent, desk: Desk) -> None:
    shown = subprocess.run(
        [agent.command, *agent.help], env=desk.environment, capture_output=True, text=True, check=False
    )
    text = shown.stdout + shown.stderr
    words = [*PRESETS[agent.name], *ALONE.get(agent.name, ()), *SANDBOXED.get(agent.name, ())]
    options = {word for word in words if word.startswith("-") and word != "-"}
    assert {option for option in options if option not in text} == set()
    values = {"acceptEdits", "bypassPermissions", "workspace-write", "danger-full-access", "stream-json"}
    assert {word for word in words if word in values and word not in text} == set()

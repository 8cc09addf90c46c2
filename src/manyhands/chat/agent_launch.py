"""How a command agent is started: its words, its environment, its sandbox, the file that gives it the hub.

Nothing is started here; `command_agents.py` does that.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import manyhands
from manyhands.chat.runners import MCP_COMMAND, MCP_CONFIG, PROMPT, Runner
from manyhands.containers import Container, container_arguments
from manyhands.errors import InvalidError
from manyhands.sandbox import PRIVATE, Bubblewrap, Mount, Sandbox, sandbox_for, sandboxed_environment

INSIDE = "/run/manyhands"
"""Where a sandbox has what belongs to the hub."""
LONGEST_ARGUMENT = 100_000
LONGEST_CALL_S = 600
"""A tool of the hub may wait for a person."""
BRIDGE_FILE = "bridge.pyz"
_KEYS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".config/gcloud",
    ".local/share/keyrings",
)


@dataclass(frozen=True, slots=True)
class Hands:
    """How the hub is reached: over HTTP from this machine, over the socket from a sandbox."""

    url: str
    socket: str | None


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a command agent."""

    runner: Runner
    run_id: str
    channel_id: str
    directory: str
    prompt: str
    token: str
    author_id: str
    environment: Mapping[str, str]
    home: str
    run_directory: str
    hands: Hands
    mounts: Sequence[Mount] = ()
    """What git needs there."""

    @property
    def sandboxed(self) -> bool:
        return self.runner.sandbox != "none"

    @property
    def config_file(self) -> str:
        return config_file(self.run_directory, self.channel_id)

    @property
    def container_name(self) -> str:
        return f"manyhands-{self.run_id}".replace("_", "-").lower()


@dataclass(frozen=True, slots=True)
class Launch:
    """What is started."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    stdin: bytes


def config_file(run_directory: str, channel_id: str) -> str:
    return os.path.join(run_directory, f"mcp-{channel_id}.json")


def mcp_command(task: Task) -> list[str]:
    """The command that speaks MCP for the hub, as it is called where the agent runs."""
    if task.sandboxed:
        start = [_interpreter(task.runner), f"{INSIDE}/{BRIDGE_FILE}"]
        where = ["--api-url", f"unix:{INSIDE}/api.sock", "--log", "/tmp/manyhands-mcp.log"]  # noqa: S108
    else:
        script = Path(sys.executable).with_name("manyhands")
        start = [str(script)] if script.exists() else [sys.executable, "-m", "manyhands"]
        start, where = [*start, "mcp"], ["--api-url", task.hands.url]
    return [*start, *where, "--channel-id", task.channel_id, "--author-id", task.author_id]


def mcp_config(task: Task) -> str:
    """The file in the form that most agents read."""
    command, *arguments = mcp_command(task)
    server = {"command": command, "args": arguments, "env": {"MANYHANDS_TOKEN": task.token}}
    return json.dumps({"mcpServers": {"manyhands": server}}, indent=2) + "\n"


def plan(task: Task, bubblewrap: Bubblewrap) -> Launch:
    """Everything that is needed to start it."""
    config = f"{INSIDE}/mcp.json" if task.sandboxed else task.config_file
    words = [task.runner.command, *_arguments(task, config)]
    spoken = any(PROMPT in word for word in task.runner.arguments)
    stdin = b"" if spoken else task.prompt.encode(errors="replace")
    environment = {**task.environment, **_our_variables(task, config)}
    match task.runner.sandbox:
        case "none":
            return Launch(words, environment, task.directory, stdin)
        case "bwrap":
            argv = bubblewrap.wrap(words, agent_sandbox(task))
            return Launch(argv, sandboxed_environment(environment), task.directory, stdin)
        case engine:
            box = agent_container(task, environment)
            return Launch(
                container_arguments(engine, engine, words, box),
                environment,
                task.directory,
                stdin,
            )


def _our_variables(task: Task, config: str) -> dict[str, str]:
    # Claude Code lets itself be told to ask nobody, as root, only where it is told that a sandbox holds it.
    held = {"IS_SANDBOX": "1"} if task.sandboxed else {}
    return held | {
        "PWD": task.directory,  # opencode believes it more than the directory that it is in
        "MANYHANDS_TOKEN": task.token,
        "MANYHANDS_URL": f"unix:{INSIDE}/api.sock" if task.sandboxed else task.hands.url,
        "MANYHANDS_MCP_CONFIG": config,
        "MANYHANDS_MCP_COMMAND": shlex.join(mcp_command(task)),
        # opencode takes its configuration from here and reads the variable itself.
        "OPENCODE_CONFIG_CONTENT": json.dumps({"mcp": {"manyhands": _opencode(task)}}),
    }


def _opencode(task: Task) -> dict[str, object]:
    return {
        "type": "local",
        "command": mcp_command(task),
        "environment": {"MANYHANDS_TOKEN": "{env:MANYHANDS_TOKEN}"},
        "timeout": LONGEST_CALL_S * 1000,
    }


def _arguments(task: Task, config: str) -> list[str]:
    # A prompt that begins like an option is not to be taken for one.
    prompt = f" {task.prompt}" if task.prompt.startswith("-") else task.prompt
    places = {PROMPT: prompt, MCP_CONFIG: config, MCP_COMMAND: shlex.join(mcp_command(task))}
    arguments = []
    for word in task.runner.arguments:
        if PROMPT in word and len(prompt.encode(errors="replace")) > LONGEST_ARGUMENT:
            raise InvalidError(
                f"The prompt is too long for an argument ({len(prompt):,} characters).",
                hint="Leave {prompt} out of the runner's args: then it is told on standard input.",
            )
        # In one go: what a prompt says is no place to put something in.
        arguments.append(re.sub("|".join(map(re.escape, places)), lambda found: places[found.group()], word))
    return arguments


# --- sandboxes


def hub_mounts(task: Task) -> list[Mount]:
    """The socket, the bridge and the file that names them."""
    if task.hands.socket is None:
        raise InvalidError(
            "An agent in a sandbox reaches the hub through its socket, and there is none.",
            hint="Start the daemon with `manyhands up`, on a system that has Unix sockets.",
        )
    return [
        Mount(task.hands.socket, f"{INSIDE}/api.sock", writable=True),
        Mount(os.path.join(task.run_directory, BRIDGE_FILE), f"{INSIDE}/{BRIDGE_FILE}"),
        Mount(task.config_file, f"{INSIDE}/mcp.json"),
    ]


def agent_sandbox(task: Task) -> Sandbox:
    """The project can be written, the rest only read; the hub's home and the person's keys are hidden."""
    keys = [os.path.expanduser(f"~/{name}") for name in _KEYS]
    extra = [Mount(_real(one.path), _real(one.path), one.writable) for one in task.runner.mounts]
    mounts = [*task.mounts, *extra, *_interpreter_mounts(), *hub_mounts(task)]
    return sandbox_for(task.directory, hidden=[task.home, *keys], network=task.runner.network, mounts=mounts)


def agent_container(task: Task, environment: Mapping[str, str]) -> Container:
    """The project and what the hub gives; nothing else of this machine."""
    extra = [Mount(_real(one.path), _real(one.path), one.writable) for one in task.runner.mounts]
    inherited = {"PATH", "HOME", "SHELL", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP"}
    user = f"{os.getuid()}:{os.getgid()}" if hasattr(os, "getuid") else None
    return Container(
        task.container_name,
        task.runner.image or "",
        task.directory,
        (Mount(task.directory, task.directory, writable=True), *task.mounts, *extra, *hub_mounts(task)),
        (*sorted(name for name in environment if name not in inherited), "HOME=/tmp"),
        task.runner.network,
        task.runner.memory,
        task.runner.cpus,
        task.runner.processes,
        user,
    )


def _interpreter(runner: Runner) -> str:
    """The bridge needs no package: the system's own Python does."""
    return os.path.realpath(sys.executable) if runner.sandbox == "bwrap" else "python3"


def _interpreter_mounts() -> list[Mount]:
    place = os.path.realpath(sys.base_prefix)
    hidden = any(place == private or place.startswith(private + "/") for private in PRIVATE)
    return [Mount(place, place)] if hidden else []


def _real(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


# --- the bridge as one file


def write_bridge(run_directory: str) -> None:
    """The bridge and nothing else, as one file that any Python runs."""
    package = Path(manyhands.__file__).parent
    target = Path(run_directory) / BRIDGE_FILE
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    start = (
        f"import sys\nfrom manyhands.bridge.main import main\nmain(sys.argv[1:], {manyhands.__version__!r})\n"
    )
    with zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr("__main__.py", start)
        archive.writestr("manyhands/__init__.py", "")
        for file in sorted((package / "bridge").glob("*.py")):
            archive.write(file, f"manyhands/bridge/{file.name}")
    os.replace(temporary, target)

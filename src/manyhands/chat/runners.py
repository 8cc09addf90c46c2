"""Who works in a channel: the built-in loop, or a command that a person has set. Shapes and presets only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from manyhands.containers import Engine
from manyhands.errors import InvalidError

PROMPT = "{prompt}"
MCP_CONFIG = "{mcp_config}"
MCP_COMMAND = "{mcp_command}"

# What the known agents need to read a prompt from standard input, to tell as JSON lines what they do, and to
# have the hub's tools. The token is in the file or in the environment, never among these words.
_CODEX_SERVER = (
    *("-c", 'mcp_servers.manyhands.command="sh"'),
    *("-c", 'mcp_servers.manyhands.args=["-c", "exec $MANYHANDS_MCP_COMMAND"]'),
    *("-c", 'mcp_servers.manyhands.env_vars=["MANYHANDS_TOKEN", "MANYHANDS_MCP_COMMAND"]'),
    *("-c", "mcp_servers.manyhands.tool_timeout_sec=600"),
    # Else its only turn may begin before it has asked for the tools.
    *("-c", 'mcp_servers.manyhands.startup_readiness="catalog"'),
    # Nobody is there to be asked, and what these tools may touch is limited by the token.
    *("-c", 'mcp_servers.manyhands.default_tools_approval_mode="approve"'),
)
PRESETS: Mapping[str, tuple[str, ...]] = {
    "claude": (
        *("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"),
        *("--mcp-config", MCP_CONFIG, "--allowedTools", "mcp__manyhands"),
    ),
    "codex": ("exec", "--json", "--skip-git-repo-check", *_CODEX_SERVER),
    "opencode": ("run", "--format", "json"),
    "goose": (
        *("run", "--quiet", "--no-session", "--output-format", "stream-json"),
        *("--with-extension", MCP_COMMAND, "--instructions", "-"),
    ),
}

# Nobody is there to say yes: what they may do is settled before. Alone, they change files of the project. In
# one of the hub's sandboxes that is what holds them, and theirs would fail inside it.
ALONE: Mapping[str, tuple[str, ...]] = {
    "claude": ("--permission-mode", "acceptEdits"),
    "codex": ("--sandbox", "workspace-write", "-"),
}
SANDBOXED: Mapping[str, tuple[str, ...]] = {
    "claude": ("--permission-mode", "bypassPermissions"),
    "codex": ("--sandbox", "danger-full-access", "-"),
    "opencode": ("--auto",),
}

Text = Annotated[str, Field(max_length=10_000, pattern=r"^[^\x00]*$")]


class RunnerMount(BaseModel):
    """A path that a sandbox shows beside the project."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(min_length=1, max_length=4000, description="An absolute path.")
    writable: bool = False

    @field_validator("path")
    @classmethod
    def _absolute(cls, path: str) -> str:
        if not os.path.isabs(os.path.expanduser(path)) or "\0" in path:
            raise ValueError("give an absolute path")
        return path


class Runner(BaseModel):
    """A command that works on the prompts of a channel. Only the owner sets one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = Field(min_length=1, max_length=1000, pattern=r"^[^\x00]+$", description="A program.")
    args: tuple[Text, ...] = Field(
        (),
        max_length=200,
        description="Its arguments, with {prompt}, {mcp_config} and {mcp_command}; without {prompt} it is "
        "told on standard input. Without any, those that the program is known to need.",
    )
    sandbox: Literal["none", "bwrap", "docker", "podman"] = "none"
    network: bool = Field(True, description="Whether it may use the network in its sandbox.")
    image: str | None = Field(
        None, max_length=500, pattern=r"^[\w][\w./:@-]*$", description="Of a container."
    )
    env: dict[str, Text] = Field(
        default_factory=dict, description="Variables; what is no reference is kept as a secret."
    )
    mounts: tuple[RunnerMount, ...] = Field((), max_length=50)
    memory: str = Field("4g", pattern=r"^\d+[kmg]$", description="At most so much memory, of a container.")
    cpus: float = Field(2.0, gt=0, le=1024)
    processes: int = Field(512, ge=16, le=1_000_000)
    timeout_s: int = Field(7200, ge=1, le=604_800, description="After how many seconds it is ended.")

    @field_validator("env")
    @classmethod
    def _names(cls, env: dict[str, str]) -> dict[str, str]:
        for name in env:
            if not name.isidentifier() or not name.isascii():
                raise ValueError(f"{name!r} is no name of a variable")
        return env

    @model_validator(mode="after")
    def _has_image(self) -> Runner:
        if self.engine is not None and self.image is None:
            raise ValueError(f"{self.engine} needs an image")
        return self

    @property
    def engine(self) -> Engine | None:
        """Which one makes the containers that it runs in."""
        return self.sandbox if self.sandbox in ("docker", "podman") else None

    @property
    def name(self) -> str:
        """The program, without its directory."""
        return os.path.basename(self.command)

    @property
    def arguments(self) -> tuple[str, ...]:
        if self.args:
            return self.args
        allowed = ALONE if self.sandbox == "none" else SANDBOXED
        return (*PRESETS.get(self.name, ()), *allowed.get(self.name, ()))


def read_runner(stored: Mapping[str, Any]) -> Runner:
    """What a channel has."""
    try:
        return Runner.model_validate(stored)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidError(
            f"The channel's runner is not valid: {first['msg']}.", hint="Set it again, or take it away."
        ) from error

"""Containers for other people's commands: the command lines of Docker and Podman. Pure; nothing starts here.

Values of the environment are never on the command line: the engine takes them from its own, by their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from manyhands.errors import InvalidError
from manyhands.sandbox import Mount

Engine = Literal["docker", "podman"]
ENGINE_FAILED = 125
"""The exit code when it was the engine that failed, and nothing of the command was run."""


@dataclass(frozen=True, slots=True)
class Container:
    """What runs where, with what in sight and how much of the machine."""

    name: str
    image: str
    directory: str
    mounts: tuple[Mount, ...]
    variables: tuple[str, ...] = ()
    """Names; their values come from the environment of the engine's client."""
    network: bool = False
    memory: str = "4g"
    cpus: float = 2.0
    processes: int = 512
    user: str | None = None
    """`uid:gid`: what it writes into the project belongs to whoever owns that."""


def container_arguments(
    engine: Engine, program: str, command: Sequence[str], container: Container
) -> list[str]:
    """The command line that runs a command in a new container and waits for its end."""
    return [
        program,
        "run",
        *["--rm", "--interactive", "--init", "--name", container.name],
        *["--pull", "missing"],
        *["--network", _network(container)],
        *["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only"],
        *["--tmpfs", "/tmp:rw,exec,size=1g"],  # noqa: S108 (the container's own)
        *["--memory", container.memory, "--cpus", f"{container.cpus:g}"],
        *["--pids-limit", str(container.processes)],
        *_user(engine, container),
        *[argument for mount in container.mounts for argument in ("--mount", _mount(mount))],
        *[argument for name in container.variables for argument in ("--env", name)],
        *["--workdir", container.directory],
        *["--entrypoint", command[0]],
        container.image,
        *command[1:],
    ]


def removal_arguments(program: str, name: str) -> list[str]:
    """Ends the container with everything in it; killing the engine's client would not."""
    return [program, "rm", "--force", "--volumes", name]


def _network(container: Container) -> str:
    return "bridge" if container.network else "none"


def _user(engine: Engine, container: Container) -> list[str]:
    if container.user is None:
        return []
    # Podman gives people who are not root other numbers inside, unless told so; of root it refuses that.
    kept = ["--userns", "keep-id"] if engine == "podman" and not container.user.startswith("0:") else []
    return [*kept, "--user", container.user]


def _mount(mount: Mount) -> str:
    for path in (mount.source, mount.target):
        if any(sign in path for sign in ',"\n'):
            raise InvalidError(
                f"{path!r} cannot be mounted into a container.", hint="Its path holds a comma or a quote."
            )
    reading = "" if mount.writable else ",readonly"
    return f"type=bind,source={mount.source},target={mount.target}{reading}"

"""The command lines of Docker and Podman; no engine is needed to read them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from manyhands.containers import Container, container_arguments, removal_arguments
from manyhands.errors import InvalidError
from manyhands.sandbox import Mount

BOX = Container(
    "box-1",
    "example/agent:1",
    "/p",
    (Mount("/p", "/p", writable=True), Mount("/h/mcp.json", "/run/m/mcp.json")),
    ("KEY", "HOME=/tmp"),
    user="1000:1000",
)


def test_the_command_line_is_complete() -> None:
    assert container_arguments("docker", "docker", ["claude", "-p", "--image"], BOX) == [
        *["docker", "run", "--rm", "--interactive", "--init", "--name", "box-1", "--pull", "missing"],
        *["--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only"],
        *["--tmpfs", "/tmp:rw,exec,size=1g", "--memory", "4g", "--cpus", "2", "--pids-limit", "512"],
        *["--user", "1000:1000"],
        *["--mount", "type=bind,source=/p,target=/p"],
        *["--mount", "type=bind,source=/h/mcp.json,target=/run/m/mcp.json,readonly"],
        *["--env", "KEY", "--env", "HOME=/tmp", "--workdir", "/p"],
        *["--entrypoint", "claude", "example/agent:1", "-p", "--image"],
    ]


def test_podman_keeps_the_person_who_owns_the_files() -> None:
    arguments = container_arguments("podman", "podman", ["x"], BOX)
    assert ("--userns", "keep-id") in list(pairwise(arguments))


def test_podman_is_not_asked_to_keep_root_which_it_refuses() -> None:
    arguments = container_arguments("podman", "podman", ["x"], replace(BOX, user="0:0"))
    assert "--userns" not in arguments
    assert ("--user", "0:0") in list(pairwise(arguments))


def test_the_network_is_there_when_it_is_wanted() -> None:
    open_box = Container("b", "i", "/p", (), network=True)
    assert ("--network", "bridge") in list(pairwise(container_arguments("docker", "docker", ["x"], open_box)))


@pytest.mark.parametrize("path", ["/a,readonly=false", '/a"b', "/a\nb"])
def test_a_path_that_would_say_more_than_where_it_is_is_refused(path: str) -> None:
    box = Container("b", "i", "/p", (Mount(path, "/x"),))
    with pytest.raises(InvalidError):
        container_arguments("docker", "docker", ["x"], box)


def test_a_container_is_removed_with_everything_in_it() -> None:
    assert removal_arguments("docker", "box-1") == ["docker", "rm", "--force", "--volumes", "box-1"]

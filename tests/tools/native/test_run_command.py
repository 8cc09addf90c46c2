"""`run_command` runs what it is told, in its sandbox, and leaves nothing running, however it ends."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.guardian import guardian
from manyhands.home import Home
from manyhands.sandbox import Bubblewrap, sandbox_for
from manyhands.settings import Settings
from manyhands.tools.native.run_command import DEFINITION, TIMEOUT_MS, RunCommand
from manyhands.tools.types import ToolResult
from tests.tools.desk import ChangingSettings
from tests.tools.native.calling import Call

pytestmark = pytest.mark.anyio

WITHIN = 20.0
# Why there is no sandbox on this machine, if there is none. What holds without one holds in one, too.
NO_SANDBOX = anyio.run(Bubblewrap().problem, sandbox_for(str(Path(__file__).parent)))
SANDBOXES = ["off"] if NO_SANDBOX else ["off", "required"]

# A family that does not care for SIGTERM; the last of it leaves the process group, too.
FAMILY = """
trap '' TERM
sleep {mark} &
(trap '' TERM; (trap '' TERM; sleep {mark}) & sleep {mark}) &
setsid sh -c "trap '' TERM; sleep {mark}" >/dev/null 2>&1 &
echo started
"""

# A daemon in miniature that is killed while a command runs.
DAEMON = """
import sys, anyio
from manyhands.guardian import guardian
from manyhands.settings import Settings
from manyhands.tools.native.run_command import RunCommand
from tests.tools.desk import ChangingSettings
from tests.tools.native.calling import Call

async def main():
    call = Call(sys.argv[1])
    settings = ChangingSettings(Settings(command_sandbox=sys.argv[2]))
    async with guardian() as guard, anyio.create_task_group() as tasks:
        tasks.start_soon(RunCommand(settings, guard), {"command": sys.argv[3]}, call)
        await call.told("started")
        print("ready", flush=True)

anyio.run(main)
"""


@pytest.fixture
def mark(request: pytest.FixtureRequest) -> str:
    """A number of seconds to sleep that only this test's processes have on their command line."""
    return f"6000.{time.time_ns()}"


def sleepers(mark: str) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if mark in " ".join(process.info["cmdline"] or []) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def runner(sandbox: str = "off", hidden: Path | None = None, **settings: Any) -> RunCommand:
    chosen = Settings(command_sandbox=sandbox, **settings)  # type: ignore[arg-type]
    return RunCommand(ChangingSettings(chosen), hidden=[str(hidden)] if hidden else [])


async def run(root: Path, command: str, *, work: RunCommand | None = None, **more: Any) -> ToolResult:
    return await (work or runner())({"command": command, **more}, Call(root))


def facts(result: ToolResult) -> dict[str, Any]:
    assert isinstance(result.structured, dict)
    return result.structured


def test_it_says_that_it_may_do_anything() -> None:
    assert DEFINITION.annotations.says_destructive
    assert DEFINITION.annotations.open_world
    assert not DEFINITION.annotations.read_only
    assert DEFINITION.input_schema["properties"]["timeout_ms"]["maximum"] < TIMEOUT_MS


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_output_and_errors_come_as_one_stream_with_the_exit_code(tmp_path: Path, sandbox: str) -> None:
    result = await run(tmp_path, "echo one; echo two >&2; echo three; exit 3", work=runner(sandbox))
    assert result.text.startswith("one\ntwo\nthree\n[exit code 3 after ")
    assert (result.is_error, result.code) == (True, "exit_code")
    assert facts(result)["exit_code"] == 3
    assert facts(result)["size"] == len("one\ntwo\nthree\n")
    assert facts(result)["sandboxed"] is (sandbox != "off")


async def test_success_is_no_error_and_silence_is_said(tmp_path: Path) -> None:
    result = await run(tmp_path, "true")
    assert (result.is_error, result.code) == (False, None)
    assert "; no output]" in result.text


async def test_a_command_that_a_signal_ended_says_which(tmp_path: Path) -> None:
    result = await run(tmp_path, "kill -9 $$")
    assert result.is_error
    assert "[killed by SIGKILL after " in result.text


async def test_it_runs_in_the_channels_directory_or_below(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert str(tmp_path) in (await run(tmp_path, "pwd")).text.splitlines()
    assert str(tmp_path / "sub") in (await run(tmp_path, "pwd", directory="sub")).text.splitlines()
    with pytest.raises(ToolRefusal, match="outside"):
        await run(tmp_path, "pwd", directory="..")
    with pytest.raises(ToolFault, match="There is no 'gone'"):
        await run(tmp_path, "pwd", directory="gone")


async def test_it_gets_no_input_and_none_of_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush")
    result = await run(tmp_path, "cat; env")
    assert "hush" not in result.text
    assert "PATH=" in result.text
    assert "TERM=dumb" in result.text


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_output_is_told_while_the_command_runs(tmp_path: Path, sandbox: str) -> None:
    call = Call(tmp_path)
    command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runner(sandbox), {"command": command}, call)
        assert "second" not in await call.told("first")
        (tmp_path / "go").touch()
        await call.told("second")


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_a_command_whose_time_is_over_ends_with_its_whole_family(
    tmp_path: Path, sandbox: str, mark: str
) -> None:
    command = FAMILY.format(mark=mark) + "wait"
    result = await run(tmp_path, command, work=runner(sandbox), timeout_ms=3000)
    assert sleepers(mark) == []
    lines = result.text.splitlines()
    assert lines[0] == "Tool execution timed out after 3000ms"
    assert '"timeout_ms"' in lines[1]
    assert "started" in lines
    assert (result.is_error, result.code, facts(result)["timed_out"]) == (True, "timeout", True)


async def test_the_hard_cap_counts_more_than_what_is_asked_for(tmp_path: Path) -> None:
    work = runner(tool_timeout_max=1000)
    result = await run(tmp_path, "sleep 600", work=work, timeout_ms=700_000)
    assert "timed out after 1000ms" in result.text
    assert "tool_timeout_max); 700000ms had been asked for" in result.text


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize("native", [False, True])
async def test_a_command_that_is_stopped_ends_with_its_whole_family(
    tmp_path: Path, sandbox: str, native: bool, mark: str
) -> None:
    call = Call(tmp_path)
    work = runner(sandbox)({"command": FAMILY.format(mark=mark) + "wait"}, call)
    task = asyncio.ensure_future(work)
    if native:
        await call.told("started")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        with anyio.CancelScope() as scope:
            await call.told("started")
            scope.cancel()
            await task
    assert sleepers(mark) == []


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_what_it_leaves_in_the_background_is_ended_with_it(
    tmp_path: Path, sandbox: str, mark: str
) -> None:
    result = await run(tmp_path, FAMILY.format(mark=mark), work=runner(sandbox))
    assert facts(result)["exit_code"] == 0
    assert sleepers(mark) == []
    if sandbox == "off":
        assert "[processes that it had left running were ended: " in result.text


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_daemon_killed_outright_takes_the_command_with_it(tmp_path: Path, sandbox: str, mark: str) -> None:
    command = [sys.executable, "-c", DAEMON, str(tmp_path), sandbox, FAMILY.format(mark=mark) + "wait"]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as daemon:
        assert daemon.stdout
        assert daemon.stdout.readline() == b"ready\n"
        assert len(sleepers(mark)) >= 4
        daemon.kill()
    deadline = time.monotonic() + WITHIN
    while sleepers(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sleepers(mark) == []


async def test_the_guardian_is_told_of_the_command_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Call(tmp_path)
    async with guardian() as guard, anyio.create_task_group() as tasks:
        watched: list[int] = []
        released: list[int] = []
        monkeypatch.setattr(guard, "watch", watched.append)
        monkeypatch.setattr(guard, "release", released.append)
        work = RunCommand(ChangingSettings(Settings(command_sandbox="off")), guard)
        command = "echo $$ $MANYHANDS_GUARD; while [ ! -e go ]; do sleep 0.01; done"
        tasks.start_soon(work, {"command": command}, call)
        pid, marker = (await call.told("\n")).split()
        assert ([int(pid)], []) == (watched, released)
        assert marker.startswith(f"{guard.marker}.")
        (tmp_path / "go").touch()
    assert released == watched


@pytest.mark.parametrize("sandbox", SANDBOXES)
async def test_a_flood_is_counted_and_only_its_ends_are_kept(tmp_path: Path, sandbox: str) -> None:
    result = await run(tmp_path, "echo begin; yes | head -c 20000000; echo end", work=runner(sandbox))
    assert facts(result)["size"] == 20_000_010
    assert result.text.startswith("begin\ny\n")
    assert "bytes of output left out" in result.text
    assert "\nend\n[exit code 0" in result.text
    assert len(result.text) < 1_100_000


@pytest.mark.parametrize(
    ("command", "message"),
    [(" ", "empty"), ("echo \0", "NUL"), ("echo \ud800", "surrogate"), ("x" * 3_000_000, "too long")],
)
async def test_what_no_shell_can_run_is_refused(tmp_path: Path, command: str, message: str) -> None:
    with pytest.raises(ToolFault, match=message):
        await run(tmp_path, command)


# --- the sandbox


async def sandboxed_or_told(project: Path, home: Path, command: str, **settings: Any) -> ToolResult | None:
    """What a command says in its sandbox. Without one nothing, when the result said that there was none."""
    result = await run(project, command, work=runner("auto", home, **settings))
    assert facts(result)["sandboxed"] is (NO_SANDBOX is None)
    if NO_SANDBOX is None:
        return result
    assert f"[it ran without a sandbox: {NO_SANDBOX}]" in result.text
    return None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "token").write_text("the-token")
    (tmp_path / "other.txt").write_text("unchanged")
    return tmp_path / "project"


async def test_the_project_can_be_written_and_nothing_else(project: Path) -> None:
    other = project.parent / "other.txt"
    command = f"echo made > made.txt; test -w /usr && echo usr is writable; echo changed > {other}; true"
    result = await sandboxed_or_told(project, project.parent / "home", command)
    assert (project / "made.txt").read_text() == "made\n"
    assert result is None or (other.read_text() == "unchanged" and "writable" not in result.text)


async def test_the_home_of_the_hub_cannot_be_seen(project: Path) -> None:
    home = project.parent / "home"
    result = await sandboxed_or_told(project, home, f"cat {home}/token; ls -A {home}; touch {home}/x")
    assert result is None or ("the-token" not in result.text and not (home / "x").exists())


async def test_a_home_that_is_found_in_the_project_cannot_be_seen_either(project: Path) -> None:
    home = Home(project / "moved" / "hub")
    token = home.token()
    result = await sandboxed_or_told(project, project.parent / "home", "cat moved/hub/token; ls -A moved/hub")
    assert result is None or (token not in result.text and "token\n" not in result.text)


@pytest.fixture
def temporary_file() -> Iterator[str]:
    """One of somebody else."""
    with tempfile.NamedTemporaryFile("w", dir="/tmp") as file:
        file.write("of somebody else")
        file.flush()
        yield file.name


async def test_temporary_files_are_its_own(project: Path, temporary_file: str) -> None:
    command = f"cat {temporary_file}; echo mine > {temporary_file}; cat {temporary_file}"
    result = await sandboxed_or_told(project, project.parent / "home", command)
    assert result is None or ("somebody" not in result.text and "\nmine\n[exit code 0" in result.text)


async def test_other_processes_cannot_be_seen(project: Path) -> None:
    result = await sandboxed_or_told(project, project.parent / "home", "echo /proc/[0-9]*")
    assert result is None or result.text.startswith("/proc/1 /proc/2\n")  # the sandbox's own, and the shell


async def test_the_network_can_be_switched_off(project: Path) -> None:
    command = "tail -n +3 /proc/net/dev | cut -d: -f1"
    closed = await sandboxed_or_told(project, project.parent / "home", command, command_network=False)
    assert closed is None or closed.text.partition("[exit code 0")[0].split() == ["lo"]
    opened = await sandboxed_or_told(project, project.parent / "home", command)
    here = {name for _, name in socket.if_nameindex()}
    assert opened is None or set(opened.text.partition("[exit code 0")[0].split()) == here


async def test_a_sandbox_that_is_required_and_missing_refuses(project: Path) -> None:
    settings = ChangingSettings(Settings(command_sandbox="required"))
    work = RunCommand(settings, bubblewrap=Bubblewrap(lambda: None))
    with pytest.raises(ToolRefusal, match="must run in a sandbox here, and bwrap is not installed"):
        await run(project, "touch x", work=work)
    assert not (project / "x").exists()


async def test_a_sandbox_that_is_missing_is_told(project: Path) -> None:
    work = RunCommand(ChangingSettings(), bubblewrap=Bubblewrap(lambda: None))
    result = await run(project, "echo x", work=work)
    assert result.text.endswith("[it ran without a sandbox: bwrap is not installed]")

"""`run_command`: runs a shell command in the channel's directory, in a sandbox where there is one.

Its time is its own affair, so that what it had written by then is not lost: the caller's time limit for it
(`TIMEOUT_MS`) only stands behind that.
"""

from __future__ import annotations

import errno
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from manyhands.command_process import Ended, run_command_process
from manyhands.errors import ToolFault, ToolRefusal
from manyhands.guardian import Guardian
from manyhands.sandbox import Bubblewrap, Mount, Sandbox, sandbox_for, sandboxed_environment
from manyhands.secrets import Redactor
from manyhands.settings import CurrentSettings
from manyhands.system import child_environment
from manyhands.tools.native.command_output import KeptOutput, LiveOutput
from manyhands.tools.native.definition import define
from manyhands.tools.native.homes import find_homes
from manyhands.tools.native.paths import explained, find_place, root_of
from manyhands.tools.types import Annotations, Invocation, ToolResult, text_result

DEFAULT_MS = 120_000
LONGEST_MS = 3_600_000
TIMEOUT_MS = LONGEST_MS + 15_000
"""The time limit under which the tool is registered."""
LOOKED_AT = 5_000
"""In so many directories homes are looked for before each command, which takes a moment."""

DEFINITION = define(
    "run_command",
    "Run a shell command (bash, else sh) in the channel's directory and answer with what it writes and its"
    " exit code. It gets no input. What it leaves running in the background is ended with it. Where"
    " bubblewrap is installed, it can write to the channel's directory and its own /tmp only.",
    {
        "command": {
            "type": "string",
            "minLength": 1,
            "description": "The command line, as one would type it.",
        },
        "timeout_ms": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": LONGEST_MS,
            "default": None,
            "description": f"After how many milliseconds it is ended (default {DEFAULT_MS}).",
        },
        "directory": {
            "type": "string",
            "default": ".",
            "description": "Where to run it, inside the channel's directory.",
        },
    },
    required=("command",),
    annotations=Annotations(
        read_only=False,
        destructive=True,
        idempotent=False,
        open_world=True,
        says_destructive=True,
        says_open_world=True,
    ),
)

# No colours, no pagers, no questions: nobody sits in front of it.
_UNATTENDED = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
}


@dataclass(frozen=True, slots=True)
class _Launch:
    """How a command is started."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    unprotected: str | None
    """Why it runs without a sandbox."""


MountsOf = Callable[[str], Sequence[Mount]]


def no_mounts(directory: str) -> Sequence[Mount]:
    return ()


@dataclass(frozen=True, slots=True)
class RunCommand:
    """The work of `run_command`. `hidden`: directories that no sandboxed command may see.

    Nor may one see another home of a hub that is found in its channel's directory.
    `mounts_of`: what else a command there needs.
    """

    settings: CurrentSettings
    guardian: Guardian | None = None
    hidden: Sequence[str] = ()
    bubblewrap: Bubblewrap = field(default_factory=Bubblewrap)
    mounts_of: MountsOf = no_mounts
    redactor: Redactor = field(default_factory=Redactor)

    async def __call__(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        launch = await self._launch(arguments, root_of(invocation))
        limit = self._limit(arguments, invocation)
        kept = KeptOutput()
        live = LiveOutput(lambda size, text: invocation.progress(size, message=text))

        clean = self.redactor.hidden_bytes()

        def take(data: bytes) -> None:
            kept.feed(data)
            live.feed(data)

        try:
            ended = await run_command_process(
                launch.argv,
                environment=launch.environment,
                directory=launch.directory,
                timeout_s=limit.ms / 1000,
                feed=lambda data: take(clean.feed(data)),
                guardian=self.guardian,
            )
        except (OSError, ValueError) as error:
            raise _cannot_start(error) from error
        finally:
            take(clean.rest)
            live.close()
        return _result(ended, kept, limit, launch.unprotected)

    def _limit(self, arguments: Mapping[str, Any], invocation: Invocation) -> _TimeLimit:
        asked, cap = arguments.get("timeout_ms"), self.settings.current.tool_timeout_max
        granted = invocation.context.granted_ms
        return _TimeLimit(asked or DEFAULT_MS, cap) if granted is None else _TimeLimit(granted, granted, True)

    async def _launch(self, arguments: Mapping[str, Any], root: str) -> _Launch:
        command = arguments["command"]
        if not command.strip():
            raise ToolFault("The command is empty.", hint="Say what to run.")
        sandbox = await anyio.to_thread.run_sync(self._sandbox, root, arguments.get("directory") or ".")
        environment = child_environment(_UNATTENDED)
        argv = [_shell(environment), "-c", command]
        unprotected = await self._unprotected(sandbox)
        if unprotected is None:
            argv, environment = self.bubblewrap.wrap(argv, sandbox), sandboxed_environment(environment)
        return _Launch(argv, environment, sandbox.directory, unprotected)

    def _sandbox(self, root: str, path: str) -> Sandbox:
        place = find_place(root, path)
        network = self.settings.current.command_network
        with explained(place.shown), place.directory():
            return sandbox_for(
                root,
                directory=place.path,
                hidden=[*self.hidden, *self._homes(root)],
                network=network,
                mounts=self.mounts_of(root),
            )

    def _homes(self, root: str) -> Sequence[str]:
        return () if self.settings.current.command_sandbox == "off" else find_homes(root, LOOKED_AT).paths

    async def _unprotected(self, sandbox: Sandbox) -> str | None:
        """Why this command is to run without a sandbox; nothing when it is to run in one."""
        wanted = self.settings.current.command_sandbox
        if wanted == "off":
            return "the setting command_sandbox is off"
        problem = await self.bubblewrap.problem(sandbox)
        if problem and wanted == "required":
            raise ToolRefusal(
                f"Commands must run in a sandbox here, and {problem}.",
                hint="A person has to mend that, or change the setting command_sandbox.",
            )
        return problem


@dataclass(frozen=True, slots=True)
class _TimeLimit:
    """What was asked for, and the cap. `granted`: a person said so, and no cap holds."""

    asked_ms: int
    cap_ms: int
    granted: bool = False

    @property
    def ms(self) -> int:
        return min(self.asked_ms, self.cap_ms)

    def text(self) -> str:
        """What a model is told when it is over."""
        first = f"Tool execution timed out after {self.ms}ms"
        if self.granted:
            return first
        if self.asked_ms > self.cap_ms:
            return (
                f"{first}\nThat is the hard cap (the setting tool_timeout_max); "
                f"{self.asked_ms}ms had been asked for."
            )
        most = min(self.cap_ms, LONGEST_MS)
        return f'{first}\nGive it more with "timeout_ms" (up to {most}), or do less at once.'


def _shell(environment: Mapping[str, str]) -> str:
    for name in ("bash", "sh"):
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    raise ToolRefusal("There is no shell on this machine.", hint="A person has to install bash.")


def _cannot_start(error: OSError | ValueError) -> ToolFault:
    if isinstance(error, ValueError):
        return ToolFault("The command holds a NUL or half of a surrogate pair.", hint="Correct it.")
    if error.errno == errno.E2BIG:
        return ToolFault(
            "The command is too long for this system.", hint="Write it into a file and run that."
        )
    return ToolFault(f"The command could not be started: {error.strerror}.", hint="Try again later.")


def _result(ended: Ended, kept: KeptOutput, limit: _TimeLimit, unprotected: str | None) -> ToolResult:
    output = kept.text()
    timed_out = ended.exit_code is None
    facts = {
        "exit_code": ended.exit_code,
        "timed_out": timed_out,
        "size": kept.size,
        "duration_ms": round(ended.duration_s * 1000),
        "sandboxed": unprotected is None,
    }
    notes = [f"[{_ending(ended)} after {ended.duration_s:.1f} s{'' if kept.size else '; no output'}]"]
    if ended.left_running:
        notes.append(f"[processes that it had left running were ended: {ended.left_running}]")
    if unprotected is not None:
        notes.append(f"[it ran without a sandbox: {unprotected}]")
    lines = [*([limit.text()] if timed_out else []), output.rstrip("\n"), *notes]
    code = "timeout" if timed_out else "exit_code" if ended.exit_code else None
    text = "\n".join(line for line in lines if line)
    return text_result(text, is_error=code is not None, code=code, structured=facts)


def _ending(ended: Ended) -> str:
    if ended.exit_code is None:
        return "ended with everything it had started"
    if ended.exit_code >= 0:
        return f"exit code {ended.exit_code}"
    try:
        return f"killed by {signal.Signals(-ended.exit_code).name}"
    except ValueError:
        return f"killed by signal {-ended.exit_code}"

"""Command agents: a run that is worked on by a program of the channel instead of the built-in loop.

Its token and its file live as long as the run. Whatever ends the run ends the program and all it started.
"""

from __future__ import annotations

import errno
import glob
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import anyio.to_thread
from sqlalchemy import Connection

from manyhands.chat import message_store, run_store
from manyhands.chat.agent_launch import Hands, Launch, Task, agent_sandbox, mcp_config, plan, write_bridge
from manyhands.chat.agent_output import KeptText, Report, plain_text
from manyhands.chat.agent_prompt import compose_prompt
from manyhands.chat.agent_streams import output_of
from manyhands.chat.history import select_history
from manyhands.chat.loop import Ending
from manyhands.chat.runners import Runner, read_runner
from manyhands.chat.types import Channel, Message, Run, RunStatus
from manyhands.chat.views import message_json
from manyhands.clock import Clock
from manyhands.command_process import Ended, run_command_process
from manyhands.containers import ENGINE_FAILED, removal_arguments
from manyhands.errors import InvalidError, ManyhandsError, UnavailableError
from manyhands.events import EventBus
from manyhands.guardian import Guardian
from manyhands.home import Home
from manyhands.ids import new_id
from manyhands.sandbox import Bubblewrap, Mount
from manyhands.secrets import Redactor
from manyhands.store.engine import Store
from manyhands.system import child_environment, write_private

STDERR_TAIL = 4_000
MOST_SHOWN = 10_000_000
"""Characters that are told while they come; the record has the last part of what comes after."""
END_S = 15.0
CUT = (
    "The hub was stopped while this agent worked. What it did until then is there; it was not started again. "
    "Say “go on” to let it continue."
)


class Tokens(Protocol):
    """Tokens that are good for one channel."""

    async def issue(self, channel_id: str, author_id: str) -> tuple[str, str]:
        """The token and its id."""
        ...

    async def revoke(self, token_id: str) -> None: ...


class Secrets(Protocol):
    """References in a runner's environment."""

    async def reveal(self, values: Mapping[str, str]) -> dict[str, str]: ...


@dataclass
class CommandAgents:
    """Everything that such runs are made of."""

    store: Store
    bus: EventBus
    clock: Clock
    home: Home
    secrets: Secrets
    tokens: Tokens
    hands: Callable[[], Hands | None]
    mounts_of: Callable[[str], Sequence[Mount]]
    redactor: Redactor
    guardian: Guardian | None = None
    bubblewrap: Bubblewrap = field(default_factory=Bubblewrap)

    def clear(self) -> None:
        """Files of runs that a crash has ended."""
        for path in glob.glob(os.path.join(glob.escape(str(self.home.run)), "mcp-*.json")):
            with suppress(OSError):
                os.unlink(path)

    async def work(self, run: Run, channel: Channel) -> Ending:
        """Let the channel's command work on it."""
        runner = read_runner(channel.runner or {})
        if run.iterations:
            return Ending(RunStatus.FAILED, CUT)
        values = {"model": f"command:{runner.name}", "iterations": 1}
        await self.store.write(lambda conn: run_store.update_run(conn, run.id, values))
        async with self._task(run, channel, runner) as task:
            launch = await self._plan(task)
            return await self._watch(run, task, launch)

    # --- before

    @asynccontextmanager
    async def _task(self, run: Run, channel: Channel, runner: Runner) -> AsyncIterator[Task]:
        hands = self.hands()
        if hands is None:
            raise UnavailableError(
                "The agent of this channel needs the daemon, which is how it reaches the hub.",
                hint="Start it with `manyhands up`.",
            )
        if channel.dir_path is None:
            raise InvalidError("A command needs a directory, and this channel has none.", hint="Give it one.")
        history = await self.store.read(lambda conn: select_history(conn, run))
        environment = child_environment(await self.secrets.reveal(runner.env))
        token, token_id = await self.tokens.issue(channel.id, runner.name)
        task = Task(
            runner,
            run.id,
            channel.id,
            channel.dir_path,
            compose_prompt(history, run.id, channel.system_prompt),
            token,
            runner.name,
            environment,
            str(self.home.path),
            str(self.home.run),
            hands,
            self.mounts_of(channel.dir_path),
        )
        try:
            await anyio.to_thread.run_sync(_write_files, task)
            yield task
        finally:
            with anyio.move_on_after(END_S, shield=True):
                with suppress(OSError):
                    os.unlink(task.config_file)
                await self.tokens.revoke(token_id)

    async def _plan(self, task: Task) -> Launch:
        if task.runner.sandbox == "bwrap":
            problem = await self.bubblewrap.problem(agent_sandbox(task))
            if problem:
                raise UnavailableError(
                    f"The agent of this channel is to run in a sandbox, and {problem}.",
                    hint="Install bubblewrap, or set the runner's sandbox to none.",
                )
        return plan(task, self.bubblewrap)

    # --- meanwhile

    async def _watch(self, run: Run, task: Task, launch: Launch) -> Ending:
        output, errors = output_of(task.runner.name, task.runner.arguments), KeptText(STDERR_TAIL)

        clean, clean_errors = self.redactor.hidden_pieces(), self.redactor.hidden_bytes()
        shown = 0

        def tell(text: str) -> None:
            nonlocal shown
            shown += len(text)
            if text and shown <= MOST_SHOWN:
                told = {"run_id": run.id, "iteration": 1, "text": self.redactor.redact(text)}
                self.bus.publish("run.delta", told, channel_id=run.channel_id)

        def note(data: bytes) -> None:
            errors.add(data.decode(errors="replace"))

        ended: Ended | None = None
        try:
            ended = await self._run(
                task,
                launch,
                lambda data: tell(clean.feed(output.feed(data))),
                lambda data: note(clean_errors.feed(data)),
            )
        finally:
            tell(clean.rest)
            note(clean_errors.rest)
            with anyio.move_on_after(END_S, shield=True):
                await self._end_container(task)
                report = output.report()
                await self._record(run, task.runner, report)
        return self._ending(task.runner, ended, report, plain_text(errors.text).strip())

    async def _run(
        self, task: Task, launch: Launch, feed: Callable[[bytes], None], feed_errors: Callable[[bytes], None]
    ) -> Ended:
        try:
            return await run_command_process(
                launch.argv,
                environment=launch.environment,
                directory=launch.directory,
                timeout_s=task.runner.timeout_s,
                feed=feed,
                feed_errors=feed_errors,
                stdin=launch.stdin,
                guardian=self.guardian,
            )
        except (OSError, ValueError) as error:
            raise _cannot_start(task.runner, launch.argv[0], error) from error

    async def _end_container(self, task: Task) -> None:
        """Its client is gone; the container itself may not be."""
        if task.runner.engine is not None:
            with suppress(OSError, ManyhandsError):
                await run_command_process(
                    removal_arguments(task.runner.engine, task.container_name),
                    environment=child_environment(),
                    directory=task.run_directory,
                    timeout_s=END_S,
                    feed=lambda data: None,
                )

    # --- afterwards

    async def _record(self, run: Run, runner: Runner, report: Report) -> None:
        """What it said becomes a message, also when it was stopped."""
        text = self._clean(report.text)
        values: dict[str, Any] = {}
        if report.usage or report.cost is not None:
            values = {"usage": dict(report.usage), "cost": report.cost}
        message = Message(
            id=new_id("msg"),
            channel_id=run.channel_id,
            role="assistant",
            content=text,
            at=self.clock.now(),
            author_id=runner.name,
            run_id=run.id,
            iteration=1,
            model=f"command:{runner.name}",
            usage=dict(report.usage) or None,
            finish_reason="stop",
        )

        def work(conn: Connection) -> None:
            if text:
                message_store.insert_messages(conn, [message])
            if values:
                run_store.update_run(conn, run.id, values)

        await self.store.write(work)
        if text:
            self.bus.publish("message.created", message_json(message), channel_id=run.channel_id)
        told = {"run_id": run.id, "iteration": 1, "finish_reason": "stop", "usage": dict(report.usage)}
        self.bus.publish("run.iteration", told, channel_id=run.channel_id)

    def _clean(self, text: str) -> str:
        """Of a very long text the beginning was cut off, maybe in the middle of a secret."""
        return self.redactor.redact(self.redactor.hide_cut(text))

    def _ending(self, runner: Runner, ended: Ended, report: Report, errors: str) -> Ending:
        if ended.exit_code == 0 and report.failed is None:
            return Ending(RunStatus.COMPLETED, self._clean(report.text))
        if ended.exit_code is None:
            how = f"{runner.name} did not end within {runner.timeout_s} s and was ended."
        elif runner.engine is not None and ended.exit_code == ENGINE_FAILED:
            how = f"{runner.engine} could not start a container. Start its engine, or choose another sandbox."
        elif ended.exit_code:
            how = f"{runner.name} ended with {_code(ended.exit_code)}."
        else:
            how = f"{runner.name} says that it failed: {report.failed}"
        return Ending(RunStatus.FAILED, self.redactor.redact(f"{how}\n{errors}".strip()))


def _write_files(task: Task) -> None:
    os.makedirs(task.run_directory, mode=0o700, exist_ok=True)
    from pathlib import Path

    write_private(Path(task.config_file), mcp_config(task))
    if task.sandboxed:
        write_bridge(task.run_directory)


def _cannot_start(runner: Runner, program: str, error: OSError | ValueError) -> ManyhandsError:
    if isinstance(error, FileNotFoundError):
        other = "choose another sandbox" if runner.engine else "give its whole path in the channel's runner"
        return UnavailableError(
            f"{program} is not installed, or not on the PATH of the daemon.", hint=f"Install it, or {other}."
        )
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return InvalidError("The prompt is too long for this system.", hint="Leave {prompt} out of the args.")
    return UnavailableError(f"{runner.name} cannot be started: {error}.", hint="Check the channel's runner.")


def _code(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"the signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"

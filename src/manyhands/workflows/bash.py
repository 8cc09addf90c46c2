"""Scripts of `bash` nodes: run to their end with everything that they start, their output kept in bounds.

What is too long for a template is on disk in full, and its head goes on with a note that says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import anyio
import anyio.to_thread

from manyhands.command_process import Ended, run_command_process
from manyhands.guardian import Guardian
from manyhands.sandbox import sandboxed_environment
from manyhands.secrets import Redactor
from manyhands.system import child_environment, open_private
from manyhands.workflows.shelter import Wrap
from manyhands.workflows.texts import storable
from manyhands.workflows.types import Json, NodeStatus, Outcome

KEPT = 100_000
"""Bytes of output that templates see."""
LOGGED = 64_000
LARGEST = 1_000_000_000
LONGEST_ARGUMENT = 100_000
FOR_EVER_S = 366 * 86_400.0
_QUIET = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class _Output:
    """Standard output: its head in memory, all of it in a file once it is long."""

    def __init__(self, spool: Path, redactor: Redactor) -> None:
        self._clean = redactor.hidden_bytes()
        self._clean_log = redactor.hidden_bytes()
        self.head = bytearray()
        self.size = 0
        self._spool = spool
        self._file: IO[bytes] | None = None
        self.log = bytearray()

    @property
    def path(self) -> Path | None:
        return self._spool if self._file is not None else None

    def feed(self, data: bytes) -> None:
        self._keep(self._clean.feed(data))

    def _keep(self, data: bytes) -> None:
        self._log(data)
        if self._file is None and self.size + len(data) > KEPT:
            self._file = open_private(self._spool)
            self._file.write(self.head[: self.size])
        if self._file is not None and self.size < LARGEST:
            self._file.write(data)
        if len(self.head) < KEPT:
            self.head += data[: KEPT - len(self.head)]
        self.size += len(data)

    def feed_log(self, data: bytes) -> None:
        """The same for the other output, which is kept in the log alone."""
        self._log(self._clean_log.feed(data))

    def _log(self, data: bytes) -> None:
        self.log += data[-LOGGED:]
        if len(self.log) > 2 * LOGGED:
            del self.log[:-LOGGED]

    def close(self) -> None:
        self._keep(self._clean.rest)
        self._log(self._clean_log.rest)
        if self._file is not None:
            self._file.close()

    def text(self) -> str:
        text = self.head.decode("utf-8", "replace")
        if self.path is None:
            return text.removesuffix("\n").removesuffix("\r")
        return f"{text}\n… the first {KEPT:,} of {self.size:,} bytes; all of it is in {self.path}"


async def run_script(
    script: str,
    *,
    directory: str,
    variables: Mapping[str, str],
    spool: Path,
    guardian: Guardian | None,
    redactor: Redactor,
    wrap: Wrap | None = None,
) -> Outcome:
    """Run it with bash, which ends at the first command that fails.

    `redactor` takes secrets out of its output, `wrap` puts it into a sandbox.
    """
    output = _Output(spool, redactor)
    environment = child_environment({**_QUIET, **variables})
    aside = await _aside(script, spool)
    try:
        ended = await run_command_process(
            wrap(_command(script, aside)) if wrap else _command(script, aside),
            environment=sandboxed_environment(environment) if wrap else environment,
            directory=directory,
            timeout_s=FOR_EVER_S,  # its time is the node's, whose scope is round this
            feed=output.feed,
            feed_errors=output.feed_log,
            guardian=guardian,
        )
    except (OSError, ValueError) as error:
        said = f"The script could not be started: {error}."
        return Outcome(NodeStatus.FAILED, error=said, error_class="error")
    finally:
        output.close()
        if aside is not None:
            aside.unlink(missing_ok=True)
    return _outcome(ended, output)


async def _aside(script: str, spool: Path) -> Path | None:
    """A script that is too long for an argument goes into a file."""
    if len(script.encode("utf-8", "replace")) <= LONGEST_ARGUMENT:
        return None
    path = spool.with_suffix(".sh")
    await anyio.to_thread.run_sync(lambda: path.write_text(script, encoding="utf-8", errors="replace"))
    return path


def _command(script: str, aside: Path | None) -> list[str]:
    shell = shutil.which("bash") or "/bin/bash"
    options = [shell, "-eo", "pipefail"]
    return [*options, str(aside)] if aside else [*options, "-c", script]


def _outcome(ended: Ended, output: _Output) -> Outcome:
    log = storable(output.log[-LOGGED:].decode("utf-8", "replace"))
    detail: Json = {"exit_code": ended.exit_code, "log": log, "size": output.size}
    if output.path is not None:
        detail["output_file"] = str(output.path)
    if ended.left_running:
        detail["left_running"] = ended.left_running
    text = storable(output.text())
    if ended.exit_code == 0:
        return Outcome(NodeStatus.SUCCESS, text, detail=detail)
    last = log.strip().splitlines()[-1:] or [""]
    code = ended.exit_code
    said = (
        f"The script ended with code {code}"
        if code is not None and code >= 0
        else f"The script was killed ({code})"
    )
    return Outcome(
        NodeStatus.FAILED, text, f"{said}{': ' + last[0][:500] if last[0] else ''}.", "error", detail
    )

"""Commands that run: what they read and write; how they end is seen in `test_run_command`."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from manyhands.command_process import run_command_process
from manyhands.system import child_environment

pytestmark = pytest.mark.anyio


async def run(script: str, tmp_path: Path, stdin: bytes | None = None) -> tuple[bytes, bytes, int | None]:
    out, errors = bytearray(), bytearray()
    with anyio.fail_after(60):
        ended = await run_command_process(
            [sys.executable, "-c", script],
            environment=child_environment(),
            directory=str(tmp_path),
            timeout_s=60,
            feed=out.extend,
            feed_errors=errors.extend,
            stdin=stdin,
        )
    return bytes(out), bytes(errors), ended.exit_code


async def test_standard_output_and_error_are_told_apart(tmp_path: Path) -> None:
    script = "import sys; print('out'); print('bad', file=sys.stderr); sys.exit(4)"
    assert await run(script, tmp_path) == (b"out\n", b"bad\n", 4)


async def test_it_reads_what_it_is_given_to_the_end(tmp_path: Path) -> None:
    text = b"x" * 3_000_000
    out, _, code = await run("import sys; print(len(sys.stdin.buffer.read()))", tmp_path, text)
    assert (out, code) == (b"3000000\n", 0)


async def test_one_that_does_not_read_what_it_is_given_is_no_failure(tmp_path: Path) -> None:
    assert await run("pass", tmp_path, b"x" * 3_000_000) == (b"", b"", 0)


async def test_without_input_there_is_an_end_of_it_at_once(tmp_path: Path) -> None:
    out, _, _ = await run("import sys; print(repr(sys.stdin.read()))", tmp_path)
    assert out == b"''\n"

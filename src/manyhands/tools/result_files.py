"""Large results on disk: `results/<call id>.txt` holds the text that is paged, `.json` beside it the rest.

Private files, written in a worker thread. How long they are kept is not decided here.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio

from manyhands.errors import InvalidError, NotFoundError, UnavailableError
from manyhands.tools.types import ToolResult

CHUNK = 1 << 20
PAGED = "paged"
"""In place of the text of a block: it is all of the file beside it, and is not written twice."""
_CALL_ID = re.compile(r"[a-z0-9_]{1,64}\Z")


class ResultFiles:
    """The directory of large results."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def keep(self, call_id: str, result: ToolResult, text: str) -> str:
        """Write a result; the answer is the name of its file."""
        return await anyio.to_thread.run_sync(self._keep, call_id, result, text)

    async def load(self, call_id: str) -> ToolResult:
        """All of a kept result."""
        return await anyio.to_thread.run_sync(self._load, call_id)

    async def page(self, call_id: str, offset: int, limit: int) -> tuple[str, int]:
        """Some characters of a kept text, and how many it has in all."""
        return await anyio.to_thread.run_sync(self._page, call_id, offset, limit)

    def _keep(self, call_id: str, result: ToolResult, text: str) -> str:
        whole = {
            "id": call_id,
            "content": [_without_paged(block, text) for block in result.content],
            "structuredContent": result.structured,
            "isError": result.is_error,
            "code": result.code,
        }
        path = self._path(call_id, ".json")
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(self._path(call_id, ".txt"), text)
            _write(path, json.dumps(whole, ensure_ascii=False))
        except OSError as error:
            for half_done in (path, self._path(call_id, ".txt")):
                with suppress(OSError):
                    half_done.unlink()
            raise _unwritable(self._directory, error) from error
        return path.name

    def _load(self, call_id: str) -> ToolResult:
        try:
            raw: dict[str, Any] = json.loads(self._path(call_id, ".json").read_bytes())
            content = [self._with_paged(block, call_id) for block in raw["content"]]
        except FileNotFoundError:
            raise _gone(call_id) from None
        return ToolResult(content, raw["structuredContent"], raw["isError"], raw["code"])

    def _with_paged(self, block: dict[str, Any], call_id: str) -> dict[str, Any]:
        if PAGED not in block:
            return block
        text = self._path(call_id, ".txt").read_bytes().decode()
        return {"type": "text", "text": text} | {name: block[name] for name in block if name != PAGED}

    def _page(self, call_id: str, offset: int, limit: int) -> tuple[str, int]:
        """Read through the file in pieces: characters have no fixed place in it, and it may be huge."""
        wanted: list[str] = []
        position = 0
        try:
            with self._path(call_id, ".txt").open(encoding="utf-8", newline="") as file:
                while chunk := file.read(CHUNK):
                    start, end = max(offset - position, 0), max(offset + limit - position, 0)
                    wanted.append(chunk[start:end])
                    position += len(chunk)
        except FileNotFoundError:
            raise _gone(call_id) from None
        return "".join(wanted), position

    def _path(self, call_id: str, suffix: str) -> Path:
        if not _CALL_ID.match(call_id):
            raise InvalidError(f"{call_id!r} is not the id of a call.", hint="Ids look like call_01j….")
        return self._directory / f"{call_id}{suffix}"


def _without_paged(block: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    if block.get("type") != "text" or block.get("text") != text:
        return block
    return {name: block[name] for name in block if name not in ("type", "text")} | {PAGED: True}


def _write(path: Path, text: str) -> None:
    """Under its name only when it is complete. Not synced: the log's row is not either."""
    partial = path.with_suffix(f"{path.suffix}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _unwritable(directory: Path, error: OSError) -> UnavailableError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return UnavailableError(
        f"The result could not be kept in {directory}: {error.strerror or error}.",
        hint="Free some disk space." if full else "Check that the directory can be written.",
        data={"disk_full": full},
    )


def _gone(call_id: str) -> NotFoundError:
    return NotFoundError(
        f"The large result of {call_id} is not kept any more.",
        hint="Run the call again, or raise retention_results_days or retention_results_bytes.",
    )

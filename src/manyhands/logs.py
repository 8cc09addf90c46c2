"""The daemon's log: one JSON object a line in the home's `logs/`, rotated, and short lines for a person.

Everything passes through the redactor. A program that uses the hub as a library keeps its own logging; only
the daemon and the command line call this.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from manyhands.clock import rfc3339
from manyhands.errors import InvalidError
from manyhands.secrets import RedactingFilter, Redactor

FILE_NAME = "manyhands.log"
FILE_BYTES = 10_000_000
FILES_KEPT = 5
LEVELS = ("debug", "info", "warning", "error")

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
_COLOURS = {"warning": "\033[33m", "error": "\033[31m", "critical": "\033[31m"}


def check_level(name: str) -> str:
    """The name of a level, as it is written in `config.toml`."""
    if name.lower() not in LEVELS:
        raise InvalidError(f"There is no log level {name!r}.", hint=f"Use one of {', '.join(LEVELS)}.")
    return name.lower()


@contextmanager
def logging_to(
    directory: Path, redactor: Redactor, *, level: str = "info", console: TextIO | None = None
) -> Iterator[None]:
    """Log into `directory`, and to `console` if there is one, as long as the block lasts."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    handlers: list[logging.Handler] = [_file_handler(directory / FILE_NAME)]
    if console is not None:
        handlers.append(_console_handler(console))
    for handler in handlers:
        handler.addFilter(RedactingFilter(redactor))
    root, ours = logging.getLogger(), logging.getLogger("manyhands")
    before = root.level, ours.level
    root.setLevel(logging.WARNING)
    ours.setLevel(check_level(level).upper())
    for handler in handlers:
        root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(before[0])
        ours.setLevel(before[1])
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


class _RotatingFile(logging.handlers.RotatingFileHandler):
    """A rotated file that only its owner reads; when the disk is full, lines are lost and nothing else."""

    def _open(self) -> Any:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def close(self) -> None:
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def _file_handler(path: Path) -> logging.Handler:
    handler = _RotatingFile(path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT)
    handler.setFormatter(JsonLines())
    return handler


def _console_handler(stream: TextIO) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(ShortLines(colour=stream.isatty() and "NO_COLOR" not in os.environ))
    return handler


class JsonLines(logging.Formatter):
    """A record as one JSON object: at, level, logger, message, the extra fields, the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": rfc3339(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if trace := _trace(record):
            line["exception"] = trace
        return json.dumps(line, ensure_ascii=False, default=str)


class ShortLines(logging.Formatter):
    """A record as a person reads it: the time of day, the message, the kind of trouble."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        level = record.levelname.lower()
        kind = "" if level in ("info", "debug") else f"{level}: "
        line = f"{datetime.fromtimestamp(record.created).astimezone():%H:%M:%S} {kind}{record.getMessage()}"
        if trace := _trace(record):
            # A person wants the last line; the whole is in the file.
            line += f" ({trace.splitlines()[-1]})"
        return f"{_COLOURS[level]}{line}\033[0m" if self._colour and level in _COLOURS else line


def _trace(record: logging.LogRecord) -> str:
    if record.exc_text:
        return record.exc_text
    if record.exc_info and record.exc_info[0] is not None:
        return logging.Formatter().formatException(record.exc_info)
    return ""


def log_size(directory: Path) -> int:
    """Bytes that the logs take."""
    return sum(path.stat().st_size for path in directory.glob("*") if path.is_file())

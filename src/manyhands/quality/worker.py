"""One process that measures files: batches come on stdin, facts go to stdout, both pickled by our own side.

A plain child of `scan`: it imports no main module of anybody and leaves no helper process behind.
"""

from __future__ import annotations

import gc
import pickle
import sys
from pathlib import Path
from typing import BinaryIO

from manyhands.quality.digests import content_hash
from manyhands.quality.enumerate import is_generated
from manyhands.quality.languages import language_of
from manyhands.quality.parsing import FileFacts, parse

Measured = tuple[str, str, FileFacts | None]
"""Path, hash of the content, facts; none when it was not to be measured."""

UNMEASURED = "unmeasured:"
"""In place of a hash, before the path: it could not be measured."""


def measure(root: str, path: str) -> Measured:
    """Read and measure one file; an unreadable or generated one has no facts."""
    try:
        source = (Path(root) / path).read_bytes()
    except OSError:
        return path, f"{UNMEASURED}{path}", None
    return path, content_hash(source, path), measure_source(source, path)


def measure_source(source: bytes, path: str) -> FileFacts | None:
    language = language_of(path)
    return None if language is None or is_generated(source) else parse(source, language)


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answer batches until there are no more."""
    while True:
        try:
            root, paths = pickle.load(incoming)  # noqa: S301 (our own parent wrote it)
        except EOFError:
            return
        pickle.dump([measure(root, path) for path in paths], outgoing, protocol=5)
        outgoing.flush()


if __name__ == "__main__":
    gc.disable()  # what is made here has no cycles and lives for one batch
    serve(sys.stdin.buffer, sys.stdout.buffer)

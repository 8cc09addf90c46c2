"""Lines of a scanned file, to be shown: bounded, and never of a file outside of the scanned directory."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from manyhands.errors import InvalidError, NotFoundError
from manyhands.quality.digests import content_hash
from manyhands.quality.types import Source

MOST_LINES = 500
MOST_CHARS = 100_000


def read(root: Path, path: str, language: str, digest: str, start_line: int, end_line: int) -> Source:
    """The lines from `start_line` to `end_line`, both counted from one."""
    if start_line < 1 or end_line < start_line:
        raise InvalidError(f"Lines {start_line} to {end_line} are no lines.", hint="Count from 1.")
    place = root / path
    if not place.resolve().is_relative_to(root.resolve()):
        raise NotFoundError(f"{path} leads out of the directory.", hint="Scan again.")
    try:
        content = place.read_bytes()
    except OSError:
        raise NotFoundError(f"{path} is no longer there.", hint="Scan again.") from None
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    wanted = min(end_line, start_line + MOST_LINES - 1)
    whole = "".join(islice(lines, start_line - 1, wanted))
    text = whole[:MOST_CHARS]
    return Source(
        path=path,
        language=language,
        start_line=start_line,
        end_line=min(wanted, len(lines)),
        text=text,
        changed=content_hash(content, path) != digest,
        cut=wanted < end_line or len(text) < len(whole),
    )

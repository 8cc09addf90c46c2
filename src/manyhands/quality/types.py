"""What is kept of a scan, and what is asked of one. Frozen, and without the engine behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from manyhands.clock import rfc3339

Part = Literal["functions", "clones", "cycles", "files", "graph", "unused"]
"""The lists of a snapshot, each in an order of its own: see `contents`."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a part, packed. `start` is the position of the first."""

    part: str
    start: int
    count: int
    data: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one scan said. `branch`: empty without a repository, `HEAD` where none is checked out."""

    id: str
    channel_id: str
    branch: str
    commit_id: str | None
    directory: str
    signal: int
    summary: Mapping[str, Any]
    scanned_at: datetime

    def wire(self) -> Json:
        """All of it but the lists."""
        return {
            "id": self.id,
            "channel_id": self.channel_id,
            "directory": self.directory,
            "branch": self.branch or None,
            "commit": self.commit_id,
            "scanned_at": rfc3339(self.scanned_at),
            **self.summary,
        }


@dataclass(frozen=True, slots=True)
class Shown:
    """A snapshot as it is shown now: of which branch the directory is, and what the scan before it said."""

    snapshot: Snapshot
    current_branch: str
    before: Snapshot | None = None

    @property
    def branch_mismatch(self) -> bool:
        return self.snapshot.branch != self.current_branch

    def wire(self) -> Json:
        whole = self.snapshot.wire()
        whole["branch_mismatch"] = self.branch_mismatch
        whole["current_branch"] = self.current_branch or None
        whole["previous"] = None if self.before is None else _score(self.before)
        whole["change"] = None if self.before is None else self.snapshot.signal - self.before.signal
        return whole


def _score(snapshot: Snapshot) -> Json:
    metrics = snapshot.summary["metrics"]
    return {
        "id": snapshot.id,
        "quality_signal": snapshot.signal,
        "scanned_at": rfc3339(snapshot.scanned_at),
        "metrics": {name: metric["score"] for name, metric in metrics.items()},
    }


def trend_point(snapshot: Snapshot) -> Json:
    """A snapshot as a point of the trend."""
    counts = ("files", "functions", "loc", "geo_mean")
    return {
        **_score(snapshot),
        "branch": snapshot.branch or None,
        "commit": snapshot.commit_id,
        **{name: snapshot.summary[name] for name in counts},
    }


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a part of a snapshot, and how many there are."""

    shown: Shown
    items: Sequence[Json]
    total: int


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file as they are now. `changed`: the file is not the one that was scanned."""

    path: str
    language: str
    start_line: int
    end_line: int
    text: str
    changed: bool
    cut: bool

    def wire(self) -> Json:
        return {name: getattr(self, name) for name in Source.__slots__}


@dataclass(frozen=True, slots=True)
class Running:
    """A scan that goes on."""

    phase: str = "starting"
    done: int = 0
    total: int = 0

    def wire(self) -> Json:
        share = self.done / self.total if self.total else 0.0
        return {"phase": self.phase, "done": self.done, "total": self.total, "share": round(share, 4)}

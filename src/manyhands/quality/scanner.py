"""A process that scans: requests come as lines of JSON on stdin, what it finds goes as lines to stdout.

It lives longer than a scan and remembers what it read, so that the next scan is short. It owns its workers
and the file of facts on disk; it ends when its stdin does.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from manyhands.errors import ManyhandsError
from manyhands.quality import contents, delta, kept
from manyhands.quality.enumerate import Limits
from manyhands.quality.gate import GateRules, decide, parse_rules
from manyhands.quality.kept import Kept
from manyhands.quality.packing import pack
from manyhands.quality.scan import Control, Scan, scan
from manyhands.quality.types import Json

TELL_EVERY_S = 0.1
REST_AFTER_S = 0.5
MOST_CHANGES = 2_000
MOST_PROBLEMS = 1_000

Tell = Callable[[Json], None]


@dataclass
class Scanner:
    """Scans for one caller, one request after the other."""

    tell: Tell
    left: dict[str, Kept] = field(default_factory=dict)
    """What the last scan of each root has left."""
    unsaved: dict[str, Path] = field(default_factory=dict)
    """Where to put on disk what was learned of a root."""
    _told: float = 0.0

    def answer(self, request: Json) -> None:
        """Do what is asked and tell how it ended."""
        try:
            work = {"scan": self._scan, "compare": self._compare}[request["kind"]]
            work(request)
            self.tell({"end": True})
        except ManyhandsError as error:
            self.tell({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
        except MemoryError:
            self.tell({"error": {"code": "too_large", "message": "There is not enough memory for it."}})
        except Exception as error:  # noqa: BLE001 (border: the hub gets every end as a message)
            message = f"The scan failed: {type(error).__name__}: {error}"
            self.tell({"error": {"code": "error", "message": message}})

    def rest(self) -> None:
        """Put on disk what was learned, and tidy up: what nobody should wait for."""
        while self.unsaved:
            root, cache = self.unsaved.popitem()
            kept.save(self.left[root], kept.place_of(cache, Path(root)))
            kept.forget_old(cache, time.time())
        gc.collect()

    def _scan(self, request: Json) -> None:
        began = time.perf_counter()
        found = self._measure(Path(request["root"]), request)
        self._progress("writing", 0, 0, always=True)
        for part, rows in contents.lists(found).items():
            for piece in pack(part, rows):
                self.tell(
                    {"part": piece.part, "start": piece.start, "count": piece.count, "data": piece.data}
                )
        took = round((time.perf_counter() - began) * 1000)
        self.tell({"summary": {**contents.summarize(found), "duration_ms": took}})

    def _compare(self, request: Json) -> None:
        rules = parse_rules(request["rules"])
        root, base_root = Path(request["root"]), Path(request["base_root"])
        after = self._measure(root, request, rules)
        known = Kept(after.kept.facts)
        before = self._run(base_root, request, rules, known, phase="measuring the base", stands_for=root)
        self._progress("comparing", 0, 0, always=True)
        self.tell({"compared": _compared(before, after, rules)})

    def _measure(self, root: Path, request: Json, rules: GateRules | None = None) -> Scan:
        found = self._run(root, request, rules, self._known(root, request))
        self.left[str(root)] = found.kept
        if request.get("cache"):
            self.unsaved[str(root)] = Path(request["cache"])
        return found

    def _run(
        self,
        root: Path,
        request: Json,
        rules: GateRules | None,
        known: Kept,
        *,
        phase: str = "measuring",
        stands_for: Path | None = None,
    ) -> Scan:
        limits = Limits(**request.get("limits", {}))
        exclude = (*request.get("exclude", ()), *(rules.exclude if rules else ()))
        control = Control(progress=lambda done, total: self._progress(phase, done, total))
        self._progress(phase, 0, 0, always=True)
        return scan(
            root,
            kept=known,
            limits=limits,
            exclude=exclude,
            stands_for=stands_for,
            workers=request.get("workers") or None,
            control=control,
        )

    def _known(self, root: Path, request: Json) -> Kept:
        if str(root) not in self.left and request.get("cache"):
            return kept.load(kept.place_of(Path(request["cache"]), root))
        return self.left.get(str(root), Kept())

    def _progress(self, phase: str, done: int, total: int, *, always: bool = False) -> None:
        now = time.monotonic()
        if always or done == total or now - self._told >= TELL_EVERY_S:
            self._told = now
            self.tell({"progress": {"phase": phase, "done": done, "total": total}})


def _compared(before: Scan, after: Scan, rules: GateRules) -> Json:
    signal, base_signal = before_after = (
        after.report.scores.quality_signal,
        before.report.scores.quality_signal,
    )
    passed, problems, summary = decide(
        delta.new_problems(before.report, after.report, rules), rules, *before_after
    )
    changes = delta.compare(before.report, after.report)
    scores = after.report.scores.by_name()
    base_scores = before.report.scores.by_name()
    return {
        "passed": passed,
        "problems": [
            [problem.kind, problem.path, problem.line, problem.message, problem.name]
            for problem in problems[:MOST_PROBLEMS]
        ],
        "quality_signal": signal,
        "base_signal": base_signal,
        "summary": summary,
        "metrics": {
            name: {"score": round(scores[name].score, 6), "base": round(base_scores[name].score, 6)}
            for name in scores
        },
        "changes": [change.wire() for change in changes[:MOST_CHANGES]],
        "total_changes": len(changes),
    }


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answer requests until there are no more."""

    def tell(message: Json) -> None:
        text = json.dumps(message, separators=(",", ":"))  # ASCII: lone surrogates of file names pass, too
        outgoing.write(text.encode() + b"\n")
        outgoing.flush()

    scanner = Scanner(tell)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(incoming, lines), daemon=True).start()
    while line := _next(lines, scanner):
        request: Any = json.loads(line)
        scanner.answer(request)
    scanner.rest()


def _read(incoming: BinaryIO, lines: queue.SimpleQueue[bytes]) -> None:
    for line in incoming:
        lines.put(line)
    lines.put(b"")


def _next(lines: queue.SimpleQueue[bytes], scanner: Scanner) -> bytes:
    """The next request; when none comes for a moment there is time for what can wait."""
    with suppress(queue.Empty):
        return lines.get(timeout=REST_AFTER_S)
    scanner.rest()
    return lines.get()


def main() -> None:
    gc.disable()  # facts have no cycles; between scans the rest is collected
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever writes to stdout by mistake does not disturb the talk
    try:
        serve(sys.stdin.buffer, out)
    except BrokenPipeError:  # nobody is there any more
        os._exit(0)


if __name__ == "__main__":
    main()

"""Scanning a directory: list, measure what is new over the cores, judge. It blocks: callers give it a thread.

Facts are kept by content hash, so that a rescan measures only what has changed. It can be cancelled between
files; it owns its worker processes and ends them.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from manyhands.errors import ManyhandsError
from manyhands.quality import report
from manyhands.quality.digests import content_hash
from manyhands.quality.enumerate import Found, Limits, Listing, Stamp, enumerate_files
from manyhands.quality.imports import Alias
from manyhands.quality.kept import Kept, is_settled
from manyhands.quality.parsing import FileFacts
from manyhands.quality.report import Layout, Report
from manyhands.quality.worker import UNMEASURED, Measured, measure

# Less than this is measured sooner than a worker is started.
_WORTH_WORKERS = 1_500_000
_BATCH = 200_000
_END_SECONDS = 5.0
_ALONE_SECONDS = 60.0
# -P: a module in the current directory, which may be the one that is scanned, must not be imported.
_WORKER = (sys.executable, "-P", "-m", "manyhands.quality.worker")
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)

Known = Mapping[str, FileFacts | None]
Progress = Callable[[int, int], None]


class ScanCancelled(ManyhandsError):
    """The scan was cancelled before it ended."""

    code = "cancelled"
    status = 409


@dataclass(frozen=True)
class Scan:
    """What a scan found, and the facts to hand to the next one."""

    report: Report
    listing: Listing
    hashes: Mapping[str, str]
    kept: Kept
    measured: int
    generated: int
    unmeasured: tuple[str, ...]
    """Files that could not be read, or that ended the process that measured them."""


@dataclass
class Control:
    """How a caller follows a scan and ends it."""

    progress: Progress = field(default=lambda done, total: None)
    cancel: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        if self.cancel.is_set():
            raise ScanCancelled("The scan was cancelled.", hint="Start it again when you want its numbers.")


def scan(
    root: Path,
    *,
    kept: Kept | None = None,
    limits: Limits | None = None,
    exclude: tuple[str, ...] = (),
    stands_for: Path | None = None,
    workers: int | None = None,
    control: Control | None = None,
) -> Scan:
    """Measure a directory; `kept` is what an earlier scan of it, or of a directory like it, has left."""
    control, kept, began = control or Control(), kept or Kept(), time.time_ns()
    listing = enumerate_files(
        root, limits=limits, exclude=exclude, stands_for=stands_for, cancelled=control.cancel.is_set
    )
    control.check()
    hashes = _hashes(root, listing.files, kept, control)
    facts = {digest: kept.facts[digest] for digest in hashes.values() if digest in kept.facts}
    fresh = _first_of_each(listing.files, hashes, facts)
    for path, digest, found in _measure(root, fresh, workers or os.cpu_count() or 1, control):
        hashes[path] = digest
        facts[digest] = found
    control.check()
    files = {path: found for path, digest in hashes.items() if (found := facts.get(digest)) is not None}
    whole = report.build(files, read_layout(root), kept.report)
    without = [path for path in (file.path for file in listing.files) if path not in files]
    lost = tuple(path for path in without if hashes.get(path, UNMEASURED).startswith(UNMEASURED))
    return Scan(
        report=whole,
        listing=listing,
        hashes=hashes,
        kept=Kept(_lasting(facts), _stamps(listing.files, hashes, began), whole),
        measured=len(fresh),
        generated=len(without) - len(lost),
        unmeasured=lost,
    )


def _lasting(facts: Known) -> dict[str, FileFacts | None]:
    return {digest: found for digest, found in facts.items() if not digest.startswith(UNMEASURED)}


def _stamps(files: Iterable[Found], hashes: Mapping[str, str], began: int) -> dict[str, tuple[Stamp, str]]:
    return {
        file.path: (file.stamp, hashes[file.path])
        for file in files
        if file.path in hashes and is_settled(file.stamp, began)
    }


def _hashes(root: Path, files: Iterable[Found], kept: Kept, control: Control) -> dict[str, str]:
    found = {}
    for file in files:
        control.check()
        if digest := kept.hash_of(file):
            found[file.path] = digest
            continue
        with suppress(OSError):  # gone since it was listed
            found[file.path] = content_hash((root / file.path).read_bytes(), file.path)
    return found


def _first_of_each(files: Iterable[Found], hashes: Mapping[str, str], facts: Known) -> list[Found]:
    """One file of each content that is not known yet."""
    first: dict[str, Found] = {}
    for file in files:
        digest = hashes.get(file.path)
        if digest is not None and digest not in facts:
            first.setdefault(digest, file)
    return list(first.values())


def _measure(root: Path, files: list[Found], workers: int, control: Control) -> Iterator[Measured]:
    if workers < 2 or sum(file.size for file in files) < _WORTH_WORKERS:
        for done, file in enumerate(files, 1):
            control.check()
            yield measure(str(root), file.path)
            control.progress(done, len(files))
    else:
        yield from _measure_apart(root, files, workers, control)


def _batches(files: list[Found]) -> Iterator[list[str]]:
    """The largest first: what takes longest must not begin last."""
    batch: list[str] = []
    size = 0
    for file in sorted(files, key=lambda file: (-file.size, file.path)):
        batch.append(file.path)
        size += file.size
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _measure_apart(root: Path, files: list[Found], workers: int, control: Control) -> Iterator[Measured]:
    """Each worker has a thread that feeds it; answers come in any order."""
    work: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
    for batch in _batches(files):
        work.put(batch)
    answers: queue.SimpleQueue[list[Measured] | None] = queue.SimpleQueue()
    processes = [_start() for _ in range(workers)]
    feeders = [
        threading.Thread(target=_feed, args=(process, str(root), work, answers), daemon=True)
        for process in processes
    ]
    try:
        for feeder in feeders:
            feeder.start()
        yield from _collect(answers, len(files), len(feeders), control)
        while not work.empty():  # left behind by a worker that died: one of these files may have killed it
            for path in work.get():
                control.check()
                yield _measure_alone(str(root), path)
    finally:
        _end(processes, feeders)


def _measure_alone(root: str, path: str) -> Measured:
    """In a process for this file alone; a file that ends it has no facts."""
    try:
        done = subprocess.run(
            _WORKER,
            input=pickle.dumps((root, [path])),
            capture_output=True,
            timeout=_ALONE_SECONDS,
            check=True,
        )
        answer: list[Measured] = pickle.loads(done.stdout)  # noqa: S301 (our own worker wrote it)
    except (subprocess.SubprocessError, EOFError, pickle.UnpicklingError):
        return path, f"{UNMEASURED}{path}", None
    return answer[0]


def _collect(
    answers: queue.SimpleQueue[list[Measured] | None], total: int, feeding: int, control: Control
) -> Iterator[Measured]:
    done = 0
    while feeding:
        control.check()
        try:
            answer = answers.get(timeout=0.1)
        except queue.Empty:
            continue
        if answer is None:
            feeding -= 1
            continue
        done += len(answer)
        control.progress(done, total)
        yield from answer


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        _WORKER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _feed(
    process: subprocess.Popen[bytes],
    root: str,
    work: queue.SimpleQueue[list[str]],
    answers: queue.SimpleQueue[list[Measured] | None],
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    batch: list[str] = []
    try:
        while True:
            batch = work.get_nowait()
            pickle.dump((root, batch), process.stdin, protocol=5)
            process.stdin.flush()
            answers.put(pickle.load(process.stdout))  # noqa: S301 (our own worker wrote it)
    except queue.Empty:
        pass
    except (OSError, EOFError, pickle.UnpicklingError, ValueError):
        work.put(batch)
    finally:
        answers.put(None)


def _end(processes: list[subprocess.Popen[bytes]], feeders: list[threading.Thread]) -> None:
    for process in processes:
        process.kill()
    for feeder in feeders:
        feeder.join(_END_SECONDS)
    for process in processes:
        process.wait(_END_SECONDS)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def read_layout(root: Path) -> Layout:
    """The paths of the tsconfig.json at the root and in the folders just below, and the Go modules there."""
    try:
        below = sorted(path for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        below = []
    folders = [root, *below]
    aliases: list[Alias] = []
    modules: list[tuple[str, str]] = []
    for folder in folders:
        base = "" if folder == root else folder.name
        aliases.extend(_aliases(folder, base))
        with suppress(OSError):
            if found := _MODULE.search((folder / "go.mod").read_text(encoding="utf-8", errors="replace")):
                modules.append((found[1], base))
    return Layout(tuple(aliases), tuple(modules))


def _aliases(folder: Path, base: str) -> Iterator[Alias]:
    options: dict[str, object] = {}
    for name in ("tsconfig.json", "tsconfig.app.json", "jsconfig.json"):
        with suppress(OSError, ValueError):
            text = _COMMENT.sub(lambda found: found[1] or "", (folder / name).read_text(encoding="utf-8"))
            read = json.loads(re.sub(r",(\s*[}\]])", r"\1", text)).get("compilerOptions", {})
            options = {**read, **options}
    paths = options.get("paths")
    start = os.path.normpath(os.path.join(base, str(options.get("baseUrl", ".")))).replace(os.sep, "/")
    prefix = "" if start == "." else f"{start}/"
    if isinstance(paths, dict):
        for name, targets in paths.items():
            places = [os.path.normpath(prefix + str(one).removesuffix("*")) for one in targets]
            ends = ["/" if str(one).endswith("/*") else "" for one in targets]
            put = tuple(place + end for place, end in zip(places, ends, strict=True))
            yield Alias(name.removesuffix("*"), put, exact=not name.endswith("*"))
    if "baseUrl" in options:
        yield Alias("", (prefix,))

"""What is kept and shown of a scan: a summary with the reasons of each number, and lists. Pure.

The lists: `functions` worst first, `clones` largest first, `cycles`, `files` by path, `graph` (what each file
imports), `unused` functions by path.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from manyhands.quality import clones, metrics
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.graph import longest_chain
from manyhands.quality.parsing import FileFacts
from manyhands.quality.reasons import explain
from manyhands.quality.report import Report
from manyhands.quality.scan import Scan
from manyhands.quality.types import Json

SHOWN = 10
"""How many of the worst stand in the summary itself."""


def summarize(scan: Scan) -> Json:
    """The numbers and why they are what they are."""
    report = scan.report
    return {
        "quality_signal": report.scores.quality_signal,
        "geo_mean": round(report.scores.geo_mean, 6),
        "metrics": _metrics(report),
        "files": len(report.files),
        "functions": report.functions,
        "loc": report.lines,
        "languages": _languages(report.files),
        "clones": len(report.clusters),
        "duplicated_lines": report.redundancy.duplicated,
        "cycles": len(report.graph.cycles),
        "unused": len(report.unreferenced),
        "syntax_errors": report.syntax_errors,
        "broken_files": [path for path, facts in report.files.items() if facts.syntax_errors][:SHOWN],
        "left_out": _left_out(scan),
        "truncated": scan.listing.truncated,
        "measured": scan.measured,
    }


def _left_out(scan: Scan) -> Json:
    found = dict(scan.listing.left_out)
    if scan.generated:
        found["generated"] = found.get("generated", 0) + scan.generated
    if scan.unmeasured:
        found["unreadable"] = found.get("unreadable", 0) + len(scan.unmeasured)
    return dict(sorted(found.items()))


def _languages(files: Mapping[str, FileFacts]) -> Json:
    count: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for facts in files.values():
        count[facts.language] += 1
        lines[facts.language] += facts.lines
    ordered = sorted(count, key=lambda name: (-lines[name], name))
    return {name: {"files": count[name], "loc": lines[name]} for name in ordered}


def _metrics(report: Report) -> Json:
    worst = {
        "cycles": [{"files": list(cycle)[:SHOWN], "size": len(cycle)} for cycle in _by_size(report)[:SHOWN]],
        "depth": [{"chain": longest_chain(report.edges)}],
        "equality": _largest(report),
        "redundancy": [_unused_row(path, function) for path, function in report.unreferenced[:SHOWN]],
        "complexity": [row for row in map(_function_row, report.worst(SHOWN)) if row["score"] < 1],
    }
    return {
        name: {
            "score": round(metric.score, 6),
            "raw": None if metric.raw is None else round(metric.raw, 6),
            "reasons": explain(name, report),
            "worst": worst.get(name, []),
        }
        for name, metric in report.scores.by_name().items()
    }


def _by_size(report: Report) -> list[tuple[str, ...]]:
    return sorted(report.graph.cycles, key=lambda cycle: (-len(cycle), cycle))


def _largest(report: Report) -> list[Json]:
    ordered = sorted(report.files.items(), key=lambda item: (-item[1].lines, item[0]))
    return [{"path": path, "loc": facts.lines} for path, facts in ordered[:SHOWN]]


# --- lists


def lists(scan: Scan) -> dict[str, list[Json]]:
    """Every list of a snapshot."""
    report = scan.report
    return {
        "functions": [_function_row(row) for row in report.worst_functions()],
        "clones": [_cluster_row(number, cluster) for number, cluster in enumerate(report.clusters, 1)],
        "cycles": [_cycle_row(number, cycle, report) for number, cycle in enumerate(_by_size(report), 1)],
        "files": _file_rows(scan),
        "graph": [{"path": path, "imports": list(targets)} for path, targets in report.edges.items()],
        "unused": [_unused_row(path, function) for path, function in report.unreferenced],
    }


def _function_row(row: tuple[str, FunctionFacts]) -> Json:
    path, function = row
    score = metrics.function_score(function)
    return {
        "path": path,
        "name": function.name,
        "line": function.start_line,
        "end_line": function.end_line,
        "cyclomatic": function.cyclomatic,
        "cognitive": function.cognitive,
        "nesting": function.nesting,
        "parameters": function.parameters,
        "lines": function.lines,
        "score": round(score, 4),
        "over": metrics.over(function) if score < 1 else [],
    }


def _unused_row(path: str, function: FunctionFacts) -> Json:
    return {"path": path, "name": function.name, "line": function.start_line, "lines": function.lines}


def _cluster_row(number: int, cluster: clones.Cluster) -> Json:
    units = [
        {
            "path": unit.path,
            "name": unit.name,
            "line": unit.start_line,
            "end_line": unit.end_line,
            "lines": unit.lines,
        }
        for unit in cluster.units
    ]
    return {"id": number, "lines": cluster.lines, "exact": cluster.exact, "units": units}


def _cycle_row(number: int, cycle: Sequence[str], report: Report) -> Json:
    inside = set(cycle)
    links = [[path, target] for path in cycle for target in report.edges[path] if target in inside]
    return {"id": number, "size": len(cycle), "files": list(cycle), "links": links}


def _file_rows(scan: Scan) -> list[Json]:
    report = scan.report
    copied = _copied_lines(report)
    unused = Counter(path for path, _ in report.unreferenced)
    in_cycle = {path for cycle in report.graph.cycles for path in cycle}
    return [
        {
            "path": path,
            "folder": str(PurePosixPath(path).parent),
            "language": facts.language,
            "loc": facts.lines,
            "functions": len(facts.functions),
            "harm": round(1.0 - metrics.judge_complexity(facts.functions).score, 4),
            "duplicated": min(copied.get(path, 0), facts.lines),
            "unused": unused[path],
            "in_cycle": path in in_cycle,
            "imports": len(report.edges[path]),
            "syntax_errors": facts.syntax_errors,
            "hash": scan.hashes[path],
        }
        for path, facts in report.files.items()
    ]


def _copied_lines(report: Report) -> dict[str, int]:
    units = defaultdict(list)
    for cluster in report.clusters:
        for unit in cluster.units:
            units[unit.path].append(clones.Cluster((unit,)))
    return {path: clones.duplicated_lines(found) for path, found in units.items()}

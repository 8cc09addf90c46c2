"""What is kept and shown of a scan: a summary with the reasons of each number, and lists. Pure.

The lists: `functions` worst first, `clones` largest first, `cycles`, `files` by path, `graph` (what each file
imports), `unused` functions by path.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from posixpath import dirname

from manyhands.quality import clusters
from manyhands.quality.clusters import Cluster
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.graph import Community
from manyhands.quality.packing import write
from manyhands.quality.parsing import FileFacts
from manyhands.quality.reasons import explain
from manyhands.quality.report import Report
from manyhands.quality.scan import Scan
from manyhands.quality.types import Json, Part

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
    many: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for facts in files.values():
        many[facts.language] += 1
        lines[facts.language] += facts.lines
    ordered = sorted(many, key=lambda name: (-lines[name], name))
    return {name: {"files": many[name], "loc": lines[name]} for name in ordered}


def _metrics(report: Report) -> Json:
    worst = {
        "modularity": [_community_row(one) for one in report.graph.communities[:SHOWN]],
        "cycles": [{"files": list(cycle)[:SHOWN], "size": len(cycle)} for cycle in _by_size(report)[:SHOWN]],
        "depth": [{"chain": list(report.graph.chain)}],
        "equality": _largest(report),
        "redundancy": [_unused_row(path, function) for path, function in report.unreferenced[:SHOWN]],
        "complexity": [json.loads(row.text) for row in report.ranking[:SHOWN] if row.score < 1],
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


def lists(scan: Scan) -> dict[Part, list[str]]:
    """Every list of a snapshot, its rows written as JSON."""
    report = scan.report
    rows: dict[Part, Iterable[Json]] = {
        "clones": map(_cluster_row, count(1), report.clusters),
        "cycles": [_cycle_row(number, cycle, report) for number, cycle in enumerate(_by_size(report), 1)],
        "files": _file_rows(scan),
        "graph": _graph_rows(report),
        "unused": (_unused_row(path, function) for path, function in report.unreferenced),
    }
    functions: dict[Part, list[str]] = {"functions": [row.text for row in report.ranking]}
    return functions | {part: [write(row) for row in some] for part, some in rows.items()}


def _community_row(community: Community) -> Json:
    return {
        "size": len(community.files),
        "links": community.links,
        "degree": community.degree,
        "files": list(community.files[:SHOWN]),
    }


def _graph_rows(report: Report) -> Iterator[Json]:
    """`community`: its place among them, the largest first; none for a file without links."""
    home = {path: at for at, one in enumerate(report.graph.communities, 1) for path in one.files}
    for path, targets in report.edges.items():
        yield {"path": path, "imports": targets, "community": home.get(path)}


def _unused_row(path: str, function: FunctionFacts) -> Json:
    return {"path": path, "name": function.name, "line": function.start_line, "lines": function.lines}


def _cluster_row(number: int, cluster: Cluster) -> Json:
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
            "folder": dirname(path) or ".",
            "language": facts.language,
            "loc": facts.lines,
            "functions": len(facts.functions),
            "harm": round(report.ground.portions[path].harm, 4),
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
            units[unit.path].append(Cluster((unit,)))
    return {path: clusters.duplicated_lines(found) for path, found in units.items()}

"""What changed between two reports, function by function, and the gate: new problems only. Pure.

A function is the same one when its file and name are (the second of a name in a file is matched to the
second), or when a function of that name went from one file and came to another. Lines may move freely.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from manyhands.quality.clusters import Cluster, Unit
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.gate import GateProblem, GateRules
from manyhands.quality.metrics import THRESHOLDS, function_score
from manyhands.quality.report import Report
from manyhands.quality.types import Json

_Key = tuple[str, str, int]
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Change:
    """A function that came, went or measures differently. `moved_from`: the file that it was in."""

    path: str
    name: str
    before: FunctionFacts | None
    after: FunctionFacts | None
    moved_from: str | None = None

    def wire(self) -> Json:
        now, then = self.after, self.before
        kind = "added" if then is None else "removed" if now is None else "changed"
        line = now.start_line if now else then.start_line if then else None
        return {
            "kind": kind,
            "path": self.path,
            "name": self.name,
            "line": line,
            "moved_from": self.moved_from,
            "before": _measures(then),
            "after": _measures(now),
            "score_before": None if then is None else round(function_score(then), 4),
            "score_after": None if now is None else round(function_score(now), 4),
        }


def compare(before: Report, after: Report) -> list[Change]:
    """Functions that differ in any of the five dimensions, by path and line."""
    return [change for change in _pairs(before, after) if _measures(change.before) != _measures(change.after)]


def new_problems(before: Report, after: Report, rules: GateRules | None = None) -> list[GateProblem]:
    """What a gate fails on: nothing that was there before, unless it has become worse."""
    rules = rules or GateRules()
    return [
        *(_function_problems(before, after, {**THRESHOLDS, **rules.limits()}) if rules.functions else ()),
        *(_clone_problems(before, after) if rules.clones else ()),
        *(_cycle_problems(before, after) if rules.cycles else ()),
    ]


def _measures(facts: FunctionFacts | None) -> dict[str, int] | None:
    return None if facts is None else {name: getattr(facts, name) for name in THRESHOLDS}


def _keyed(report: Report) -> dict[_Key, FunctionFacts]:
    found = {}
    for path, facts in report.files.items():
        seen: Counter[str] = Counter()
        for function in facts.functions:
            found[path, function.name, seen[function.name]] = function
            seen[function.name] += 1
    return found


def _pairs(before: Report, after: Report) -> list[Change]:
    old, new = _keyed(before), _keyed(after)
    moved = _moved(old, new)
    came = [
        Change(
            key[0], key[1], old.get(moved.get(key, key)), function, moved[key][0] if key in moved else None
        )
        for key, function in new.items()
    ]
    gone = old.keys() - new.keys() - set(moved.values())
    changes = [*came, *(Change(key[0], key[1], old[key], None) for key in gone)]
    return sorted(changes, key=_place)


def _place(change: Change) -> tuple[str, int, str]:
    facts = change.after or change.before
    return change.path, facts.start_line if facts else 0, change.name


def _moved(old: Mapping[_Key, FunctionFacts], new: Mapping[_Key, FunctionFacts]) -> dict[_Key, _Key]:
    """New key to old key, where exactly one function of a name went and one came."""
    went, came = defaultdict(list), defaultdict(list)
    for key in old.keys() - new.keys():
        went[key[1]].append(key)
    for key in new.keys() - old.keys():
        came[key[1]].append(key)
    return {keys[0]: went[name][0] for name, keys in came.items() if len(keys) == 1 and len(went[name]) == 1}


def _function_problems(before: Report, after: Report, limits: Mapping[str, int]) -> Iterator[GateProblem]:
    for change in _pairs(before, after):
        now, then = _measures(change.after), _measures(change.before) or {}
        for name, limit in limits.items():
            if change.after is not None and now is not None and now[name] > max(limit, then.get(name, 0)):
                was = f", it was {then[name]}" if name in then else ""
                message = f"{change.name}: {name} is {now[name]} (at most {limit}{was})"
                yield GateProblem("function", change.path, change.after.start_line, message, change.name)


def _clone_problems(before: Report, after: Report) -> Iterator[GateProblem]:
    """New members of clusters; where one is a copy of what was there before, the older one is not blamed."""
    known = {(unit.path, unit.name) for cluster in before.clusters for unit in cluster.units}
    here = {(unit.path, unit.name) for cluster in after.clusters for unit in cluster.units}
    gone = Counter(
        unit.shingles
        for cluster in before.clusters
        for unit in cluster.units
        if (unit.path, unit.name) not in here
    )
    old = _keyed(before)
    told: set[Unit] = set()  # a function may stand in two clusters
    for cluster in after.clusters:
        fresh = []
        for unit in cluster.units:
            if (unit.path, unit.name) in known or unit in told:
                continue
            told.add(unit)
            if gone[unit.shingles]:  # a copy that was there before, and now stands elsewhere
                gone[unit.shingles] -= 1
            else:
                fresh.append(unit)
        blamed = [unit for unit in fresh if not _was_there(unit, old)] or fresh
        for unit in blamed:
            yield _clone_problem(unit, cluster, blamed)


def _was_there(unit: Unit, old: Mapping[_Key, FunctionFacts]) -> bool:
    return any(
        (found := old.get((unit.path, unit.name, number))) is not None and found.shingles == unit.shingles
        for number in range(2)
    )


def _clone_problem(unit: Unit, cluster: Cluster, blamed: list[Unit]) -> GateProblem:
    others = [one for one in cluster.units if one is not unit]
    other = next((one for one in others if one not in blamed), others[0])
    message = f"{unit.name} is a copy of {other.name} in {other.path}:{other.start_line}"
    return GateProblem("clone", unit.path, unit.start_line, message, unit.name)


def _cycle_problems(before: Report, after: Report) -> Iterator[GateProblem]:
    known = [set(cycle) for cycle in before.graph.cycles]
    for cycle in after.graph.cycles:
        if not any(one.issuperset(cycle) for one in known):
            shown = ", ".join(cycle[:_SHOWN]) + (", …" if len(cycle) > _SHOWN else "")
            yield GateProblem("cycle", cycle[0], None, f"{len(cycle)} files import each other: {shown}")

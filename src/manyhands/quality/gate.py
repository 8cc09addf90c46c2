"""The gate: what a change may do, and whether it kept to it. Pure; it fails on new problems only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from manyhands.errors import InvalidError
from manyhands.quality.types import Json

DIMENSIONS = ("cyclomatic", "cognitive", "nesting", "parameters", "lines")
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class GateRules:
    """What is looked for, and how much of it passes. Thresholds that are not given are the usual ones."""

    functions: bool = True
    clones: bool = True
    cycles: bool = True
    cyclomatic: int | None = None
    cognitive: int | None = None
    nesting: int | None = None
    parameters: int | None = None
    lines: int | None = None
    max_problems: int = 0
    min_signal: int | None = None
    max_drop: int | None = None
    exclude: tuple[str, ...] = field(default=())

    def limits(self) -> dict[str, int]:
        """The thresholds that replace the usual ones."""
        given = {name: getattr(self, name) for name in DIMENSIONS}
        return {name: value for name, value in given.items() if value is not None}

    def wire(self) -> Json:
        return {name: value for name, value in asdict(self).items() if value is not None}


def parse_rules(rules: Mapping[str, Any] | None) -> GateRules:
    """Rules as they come from outside; what is wrong is said with its name."""
    known = {one.name for one in fields(GateRules)}
    given = {name: value for name, value in (rules or {}).items() if value is not None}
    if unknown := sorted(set(given) - known):
        raise InvalidError(
            f"The gate has no rule {unknown[0]!r}.", hint=f"Rules are {', '.join(sorted(known))}."
        )
    for name, value in given.items():
        given[name] = _checked(name, value)
    return GateRules(**given)


def _checked(name: str, value: Any) -> Any:
    if name in ("functions", "clones", "cycles"):
        if not isinstance(value, bool):
            raise InvalidError(f"The rule {name} is {value!r}.", hint="Give true or false.")
        return value
    if name == "exclude":
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise InvalidError(f"The rule exclude is {value!r}.", hint="Give a list of patterns.")
        if not all(isinstance(one, str) for one in value):
            raise InvalidError("The rule exclude holds something that is no text.", hint="Give patterns.")
        return tuple(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise InvalidError(f"The rule {name} is {value!r}.", hint="Give a whole number from 0.")
    return value


@dataclass(frozen=True, slots=True)
class GateProblem:
    """Something that is worse than at the base."""

    kind: str
    path: str
    line: int | None
    message: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """How a gate ended, with everything that changed."""

    passed: bool
    problems: tuple[GateProblem, ...]
    base: str
    base_commit: str
    quality_signal: int
    base_signal: int
    summary: str
    metrics: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[Json, ...] = ()
    total_changes: int = 0

    def wire(self) -> Json:
        return {
            "passed": self.passed,
            "summary": self.summary,
            "base": self.base,
            "base_commit": self.base_commit,
            "quality_signal": self.quality_signal,
            "base_signal": self.base_signal,
            "change": self.quality_signal - self.base_signal,
            "metrics": dict(self.metrics),
            "problems": [asdict(problem) for problem in self.problems],
            "changes": list(self.changes),
            "total_changes": self.total_changes,
        }


def decide(
    found: Sequence[GateProblem], rules: GateRules, signal: int, base_signal: int
) -> tuple[bool, tuple[GateProblem, ...], str]:
    """Whether it passes, the problems with those of the number itself, and a line that says so."""
    problems = [*found, *_signal_problems(rules, signal, base_signal)]
    fatal = [problem for problem in problems if problem.kind == "signal"]
    passed = not fatal and len(problems) <= rules.max_problems
    many = len(problems)
    said = "no new problems" if not many else f"{many} new problem{'' if many == 1 else 's'}"
    allowed = f" (up to {rules.max_problems} are allowed)" if rules.max_problems and many else ""
    signal_said = f"quality signal {signal:,} ({signal - base_signal:+,})"
    return passed, tuple(problems), f"{'passed' if passed else 'failed'}: {said}{allowed}, {signal_said}"


def _signal_problems(rules: GateRules, signal: int, base_signal: int) -> list[GateProblem]:
    found = []
    if rules.min_signal is not None and signal < rules.min_signal:
        message = f"the quality signal is {signal}, below {rules.min_signal}"
        found.append(GateProblem("signal", "", None, message))
    if rules.max_drop is not None and base_signal - signal > rules.max_drop:
        message = f"the quality signal fell by {base_signal - signal}, more than {rules.max_drop}"
        found.append(GateProblem("signal", "", None, message))
    return found

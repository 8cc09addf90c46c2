"""What one file brings to the report of its project, worked out once and when it is asked for. Pure.

A portion depends on its file alone, so that the next report takes those of unchanged files as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring
from typing import NamedTuple

from manyhands.quality import metrics, references
from manyhands.quality.clusters import Unit
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.imports import Source
from manyhands.quality.metrics import Earned
from manyhands.quality.parsing import FileFacts

Harm = tuple[float, int, int, str, int, str]
"""What functions are ordered by: what they earn, then the harder, the longer, the place."""


class Ranked(NamedTuple):
    """A function in the order of the harm that they do."""

    harm: Harm
    portion: Portion
    number: int

    @property
    def path(self) -> str:
        return self.portion.path

    @property
    def function(self) -> FunctionFacts:
        return self.portion.facts.functions[self.number]

    @property
    def score(self) -> float:
        return self.harm[0]

    @property
    def text(self) -> str:
        """It as JSON."""
        return self.portion.texts[self.number]


@dataclass(frozen=True, eq=False)
class Portion:
    """A file of a project; the same one as long as its facts are."""

    path: str
    facts: FileFacts

    @cached_property
    def source(self) -> Source:
        return Source(self.path, self.facts.language, self.facts.imports, self.facts.package)

    @cached_property
    def units(self) -> list[Unit]:
        """Functions that can be copies, in order of their places."""
        found = [
            Unit(
                path=self.path,
                start_line=function.start_line,
                end_line=function.end_line,
                name=function.name,
                lines=function.whole_lines,
                fingerprint=function.fingerprint,
                shingles=function.shingles,
            )
            for function in self.facts.functions
            if function.fingerprint is not None
        ]
        return sorted(found, key=lambda unit: (unit.start_line, unit.end_line, unit.name))

    @cached_property
    def defined(self) -> list[int]:
        """The names of its functions, without what they are in, as `references` counts them."""
        return [references.key_of(function.name.rpartition(".")[2]) for function in self.facts.functions]

    @cached_property
    def judged(self) -> list[tuple[int, FunctionFacts]]:
        """Functions that may be called unused, with their names."""
        if references.is_test_path(self.path):
            return []
        named = zip(self.defined, self.facts.functions, strict=True)
        return [(name, function) for name, function in named if not function.kept]

    @cached_property
    def ranked(self) -> list[Ranked]:
        scores = map(metrics.function_score, self.facts.functions)
        return [
            Ranked((score, -one.cognitive, -one.lines, self.path, one.start_line, one.name), self, number)
            for number, (one, score) in enumerate(zip(self.facts.functions, scores, strict=True))
        ]

    @cached_property
    def earned(self) -> list[Earned]:
        rows = zip(self.ranked, self.facts.functions, strict=True)
        return [metrics.earn(row.score, function) for row, function in rows]

    @cached_property
    def harm(self) -> float:
        """What is missing of full marks for complexity."""
        return 1.0 - metrics.judge_complexity(self.earned).score

    @cached_property
    def texts(self) -> list[str]:
        """Each function as JSON, written by hand: there are many of them."""
        head = f'{{"path":{encode_basestring(self.path)},"name":'
        return [f"{head}{_text(row.function, row.score)}}}" for row in self.ranked]


def _text(function: FunctionFacts, score: float) -> str:
    over = ",".join(f'"{name}"' for name in metrics.over(function)) if score < 1 else ""
    return (
        f'{encode_basestring(function.name)},"line":{function.start_line},"end_line":{function.end_line},'
        f'"cyclomatic":{function.cyclomatic},"cognitive":{function.cognitive},"nesting":{function.nesting},'
        f'"parameters":{function.parameters},"lines":{function.lines},"score":{round(score, 4)},'
        f'"over":[{over}]'
    )


def portions_of(files: Mapping[str, FileFacts], earlier: Mapping[str, Portion]) -> dict[str, Portion]:
    """One for each file, by path; an `earlier` one where the file is as it was."""
    found = {}
    for path, facts in sorted(files.items()):
        known = earlier.get(path)
        found[path] = known if known is not None and known.facts is facts else Portion(path, facts)
    return found

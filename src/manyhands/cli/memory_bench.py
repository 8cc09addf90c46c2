"""Measures how much of the evidence for a person's own questions a search brings back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyhands.errors import InvalidError


@dataclass(frozen=True)
class Question:
    """A question, and the passages that answer it, as they stand in the notes."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """How well it went."""

    recall: float
    """The share of its evidence that a question brought back, mean over all questions."""
    lines: float
    """The share of all evidence."""
    questions: int
    evidence: int
    p50_ms: float
    p99_ms: float
    mode: str
    missed: tuple[str, ...]

    def wire(self) -> dict[str, Any]:
        return asdict(self)


def read_questions(path: str) -> list[Question]:
    """One JSON object on each line; a line that is none is named."""
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            found.append(_question(path, number, line))
    if not found:
        raise InvalidError(f"{path} holds no question.", hint="Write one JSON object on each line.")
    return found


def _question(path: str, number: int, line: str) -> Question:
    try:
        said = json.loads(line)
        question, evidence = said["question"], said["evidence"]
        if not isinstance(question, str) or not isinstance(evidence, list) or not evidence:
            raise TypeError
        return Question(question, tuple(str(passage) for passage in evidence))
    except (ValueError, KeyError, TypeError):
        raise InvalidError(
            f"{path}, line {number} is no question.",
            hint='Write {"question": "…", "evidence": ["a passage of the notes"]}.',
        ) from None


def measure(
    questions: Sequence[Question], ask: Callable[[int, str], dict[str, Any]], budget_chars: int
) -> Score:
    """Ask all questions; evidence counts that stands in the first `budget_chars` of the returned texts."""
    shares, times, found, modes, missed = [], [], 0, set(), []
    for number, question in enumerate(questions, 1):
        began = time.perf_counter()
        answer = ask(number, question.text)
        times.append((time.perf_counter() - began) * 1000)
        text = "\n".join(hit["text"] for hit in answer["results"])[:budget_chars]
        hits = sum(passage in text for passage in question.evidence)
        shares.append(hits / len(question.evidence))
        found += hits
        modes.add(answer["mode"])
        if not hits:
            missed.append(question.text)
    times.sort()
    total = sum(len(question.evidence) for question in questions)
    return Score(
        sum(shares) / len(shares),
        found / total,
        len(questions),
        total,
        times[len(times) // 2],
        times[int(len(times) * 0.99)],
        " and ".join(sorted(modes)),
        tuple(missed),
    )

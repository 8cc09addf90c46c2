"""What Prometheus reads: counted from events as they pass, measured when it is asked."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from manyhands.events import Event, EventBus

BUCKETS_S = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class CallMetrics:
    """How many calls ended how, and how long they took; since this process began."""

    def __init__(self, bus: EventBus) -> None:
        self._ended: Counter[tuple[str, str]] = Counter()
        self._buckets = [0] * (len(BUCKETS_S) + 1)
        self._seconds = 0.0
        bus.observe(self._note, "tool.finished")

    def _note(self, event: Event) -> None:
        self._ended[str(event.data.get("server")), str(event.data.get("status"))] += 1
        seconds = (event.data.get("duration_ms") or 0) / 1000
        self._seconds += seconds
        self._buckets[bisect_left(BUCKETS_S, seconds)] += 1

    def lines(self) -> Iterable[str]:
        name = "manyhands_tool_calls_total"
        yield from head(name, "counter", "Tool calls that have ended.")
        for (server, status), count in sorted(self._ended.items()):
            yield sample(name, count, {"server": server, "status": status})
        yield from self._histogram("manyhands_tool_call_seconds")

    def _histogram(self, name: str) -> Iterable[str]:
        yield from head(name, "histogram", "How long tool calls took.")
        total = 0
        for bound, count in zip((*BUCKETS_S, "+Inf"), self._buckets, strict=True):
            total += count
            yield sample(f"{name}_bucket", total, {"le": str(bound)})
        yield sample(f"{name}_sum", round(self._seconds, 3))
        yield sample(f"{name}_count", total)


def gauge(name: str, text: str, value: float, labels: Mapping[str, str] | None = None) -> Iterable[str]:
    """A value as it is now."""
    yield from head(name, "gauge", text)
    yield sample(name, value, labels)


def gauges(name: str, text: str, label: str, values: Mapping[str, int]) -> Iterable[str]:
    """Several of a kind, told apart by one label."""
    yield from head(name, "gauge", text)
    for key, value in values.items():
        yield sample(name, value, {label: key})


def head(name: str, kind: str, text: str) -> Iterable[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, value: float, labels: Mapping[str, str] | None = None) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in (labels or {}).items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

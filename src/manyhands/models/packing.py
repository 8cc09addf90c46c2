"""What a provider wants back with its own words, packed into `Turn.thinking` and unpacked again.

Signed thinking, signatures on calls and the order of the parts: JSON that only this module reads. It is kept
with the conversation, so what was packed by one version must be readable by the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manyhands.models.types import Turn

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs

_EXTRAS = ("id", "provider_name", "provider_details")
_ANSWER = ("provider_name", "provider_url", "canonical_system", "model_name")
_DROPPED = "input_transformations"


def pack(response: theirs.ModelResponse) -> tuple[Mapping[str, Any], ...]:
    """The parts in their order with what belongs to each; nothing when text and calls alone say it all."""
    from pydantic_core import to_jsonable_python

    parts = [entry for part in response.parts if (entry := _entry(part)) is not None]
    if _says_nothing_new(parts):
        return ()
    header = {"part": "answer"} | _present(response, _ANSWER)
    dropped = (response.provider_details or {}).get(_DROPPED)
    return tuple(to_jsonable_python([header | ({_DROPPED: dropped} if dropped else {}), *parts]))


def unpack(turn: Turn) -> theirs.ModelResponse:
    """An answer as its provider gave it, as far as that is still known."""
    from pydantic_ai.messages import ModelResponse

    kept = [entry for entry in turn.thinking if isinstance(entry, dict)]
    header = next((entry for entry in kept if entry.get("part") == "answer"), {})
    parts = _parts(turn, kept) if _fits(turn, kept) else _plain_parts(turn)
    return ModelResponse(
        parts=list(parts),
        provider_details=_present_in(header, (_DROPPED,)) or None,
        **_present_in(header, _ANSWER),
    )


def _says_nothing_new(parts: Sequence[Mapping[str, Any]]) -> bool:
    kinds = [entry["part"] for entry in parts]
    usual = kinds == sorted(kinds, key=["text", "call"].index) if "thinking" not in kinds else False
    return usual and kinds.count("text") <= 1 and not any(set(_EXTRAS) & entry.keys() for entry in parts)


def _entry(part: theirs.ModelResponsePart) -> dict[str, Any] | None:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    if isinstance(part, TextPart):
        return {"part": "text", "length": len(part.content)} | _present(part, _EXTRAS)
    if isinstance(part, ThinkingPart):
        return {"part": "thinking"} | _present(part, ("content", "signature", *_EXTRAS))
    if isinstance(part, ToolCallPart):
        return {"part": "call"} | _present(part, _EXTRAS)
    return None


def _fits(turn: Turn, kept: Sequence[Mapping[str, Any]]) -> bool:
    """Whether what was packed still describes this turn: its text or calls may have been cut since."""
    length = sum(int(entry.get("length", 0)) for entry in kept if entry.get("part") == "text")
    calls = sum(entry.get("part") == "call" for entry in kept)
    return length == len(turn.text) and calls == len(turn.calls)


def _parts(turn: Turn, kept: Sequence[Mapping[str, Any]]) -> Iterator[theirs.ModelResponsePart]:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    position, calls = 0, iter(turn.calls)
    for entry in kept:
        extras = _present_in(entry, _EXTRAS)
        match entry.get("part"):
            case "text":
                end = position + entry["length"]
                yield TextPart(turn.text[position:end], **extras)
                position = end
            case "thinking":
                yield ThinkingPart(entry.get("content", ""), signature=entry.get("signature"), **extras)
            case "call":
                call = next(calls)
                yield ToolCallPart(call.name, call.arguments, call.id, **extras)


def _plain_parts(turn: Turn) -> Iterator[theirs.ModelResponsePart]:
    from pydantic_ai.messages import TextPart, ToolCallPart

    if turn.text:
        yield TextPart(turn.text)
    for call in turn.calls:
        yield ToolCallPart(call.name, call.arguments, call.id)


def _present(thing: object, names: Sequence[str]) -> dict[str, Any]:
    found = {name: getattr(thing, name) for name in names}
    return {name: value for name, value in found.items() if value not in (None, {}, "")}


def _present_in(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: entry[name] for name in names if name in entry}

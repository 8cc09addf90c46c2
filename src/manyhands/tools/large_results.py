"""When a result is too large, and what stands in for it. Pure.

Text counts by characters, images and other binary blocks by the characters of their data. What is left out is
always counted, and it is said how to read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from manyhands.tools.types import ToolResult

GIVEN_BINARY = 5_000_000
"""Characters of data that one block may have for a caller to get it; model providers refuse larger images."""
LOGGED_BINARY = 65_536
"""Characters of binary data that a row of the log keeps; the caller gets them all the same."""
_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Weight:
    """How large the parts of a result are, in characters."""

    text: str
    binary: int
    largest_binary: int
    structured: int
    limit: int

    @property
    def size(self) -> int:
        return max(len(self.text), self.structured) + self.binary

    @property
    def long_text(self) -> bool:
        return len(self.text) > self.limit

    @property
    def long_structure(self) -> bool:
        return self.structured > self.limit

    @property
    def fits(self) -> bool:
        """Whether caller and log can have all of it."""
        return not (self.long_text or self.long_structure or self.binary > LOGGED_BINARY)


def weigh(result: ToolResult, limit: int) -> Weight:
    """Measure a result against the limit for text."""
    text = result.text
    data = [len(binary_of(block)) for block in result.content]
    structured = 0
    if result.structured is not None:
        structured = len(_JSON.encode(result.structured))
    return Weight(text, sum(data), max(data, default=0), structured, limit)


def binary_of(block: Mapping[str, Any]) -> str:
    """The encoded data of an image, a sound or an embedded file."""
    if block.get("type") in ("image", "audio"):
        return str(block.get("data") or "")
    resource = block.get("resource")
    return str(resource.get("blob") or "") if isinstance(resource, Mapping) else ""


def page_text(result: ToolResult, weight: Weight) -> str:
    """The text that is kept for paging: what a model would read, and structure that it would miss."""
    if weight.long_structure and not weight.long_text:
        return f"{weight.text}\n{_JSON.encode(result.structured)}"
    return weight.text


def stand_in(result: ToolResult, weight: Weight, call_id: str, *, binary_limit: int) -> ToolResult:
    """The result with what is too large replaced by head, tail, true size and the way to the rest."""
    content = [_block(block, binary_limit, call_id) for block in result.content]
    if weight.long_text:
        cut = {"type": "text", "text": cut_text(weight.text, weight.limit, call_id)}
        content = [cut, *(block for block in content if binary_of(block))]
    if not weight.long_structure:
        return replace(result, content=content)
    if not weight.long_text:
        content = [*content, {"type": "text", "text": _structure_note(weight, call_id)}]
    return replace(result, content=content, structured=None)


def cut_text(text: str, limit: int, call_id: str | None) -> str:
    """Head and tail, with a note between them: how to read on, if the result of that call is kept."""
    head, tail = limit * 2 // 3, limit // 4
    note = f"[… {len(text) - head - tail} of {len(text)} characters left out."
    if call_id is not None:
        note += (
            " The whole result is kept; to read on, call"
            f' read_file with {{"path": "result:{call_id}", "offset": {head}, "limit": {limit // 2}}}'
            " (offset and limit count characters here)."
        )
    return f"{text[:head]}\n{note} …]\n{text[len(text) - tail :]}"


def _block(block: Mapping[str, Any], limit: int, call_id: str) -> Mapping[str, Any]:
    data = binary_of(block)
    if len(data) <= limit:
        return block
    resource = block.get("resource") or {}
    kind = block.get("mimeType") or resource.get("mimeType") or "unknown type"
    note = (
        f"[{block.get('type')} of {kind}, about {len(data) * 3 // 4} bytes, left out:"
        f" it is kept in full with the result of {call_id}]"
    )
    return {"type": "text", "text": note}


def _structure_note(weight: Weight, call_id: str) -> str:
    return (
        f"[structured content of {weight.structured} characters left out; to read it, call read_file"
        f' with {{"path": "result:{call_id}", "offset": {len(weight.text) + 1},'
        f' "limit": {weight.limit // 2}}}'
        " (offset and limit count characters here)]"
    )

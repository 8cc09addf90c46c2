"""How the engine writes values: plain JSON, which outlives an upgrade and runs no code when read."""

from __future__ import annotations

import json
from typing import Any

from dbos import Serializer

NAME = "manyhands_json"
_ERROR = "__error__"


def encode(data: Any) -> str:
    """In ASCII: half a character, as file names have them, cannot be stored otherwise."""
    return json.dumps(data, separators=(",", ":"))


class JsonSerializer(Serializer):
    """JSON for values; an exception of the engine's own keeps its kind and its words."""

    def serialize(self, data: Any) -> str:
        if isinstance(data, BaseException):
            data = {_ERROR: {"kind": type(data).__name__, "message": str(data)}}
        return encode(data)

    def deserialize(self, serialized_data: str) -> Any:
        value = json.loads(serialized_data)
        if isinstance(value, dict) and _ERROR in value:
            return RecordedError(**value[_ERROR])
        return value

    def name(self) -> str:
        return NAME


class RecordedError(Exception):
    """An error that was read back from a record."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

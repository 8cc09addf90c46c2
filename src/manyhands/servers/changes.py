"""How what a server offers differs from what it offered before. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyhands.servers.types import Catalogue, ServerTool


@dataclass(frozen=True, slots=True)
class Changes:
    """How a new list differs from the one before it: by name, resources and skills by address."""

    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    changed: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def tool_changes(before: Mapping[str, ServerTool], after: Iterable[ServerTool]) -> Changes:
    """Of tools: a definition is another one when its hash is."""
    return _compare(
        {name: tool.definition_hash for name, tool in before.items()},
        {tool.name: tool.definition_hash for tool in after},
    )


def other_changes(before: Catalogue, after: Catalogue) -> dict[str, Changes]:
    """Of everything else, by list; templates count as resources."""
    old, new = _others(before), _others(after)
    return {area: _compare(old[area], new[area]) for area in new}


def _others(catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    resources = {str(item.get("uri")): item for item in catalogue.resources}
    resources |= {str(item.get("uriTemplate")): item for item in catalogue.resource_templates}
    return {
        "prompts": {str(item.get("name")): item for item in catalogue.prompts},
        "resources": resources,
        "skills": {str(item.get("uri")): item for item in catalogue.skills},
    }


def _compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    return Changes(
        added=[key for key in after if key not in before],
        removed=[key for key in before if key not in after],
        changed=[key for key in after if key in before and before[key] != after[key]],
    )

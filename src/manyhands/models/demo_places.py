"""Places in a sentence, as time zones. Pure."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_WORD = re.compile(r"[A-Za-z_]+(?:/[A-Za-z_]+)*")


@dataclass(frozen=True, slots=True)
class Place:
    """A time zone that was named; `after_to`: in “from A to B” the second one."""

    zone: str
    after_to: bool


def find_places(text: str) -> list[Place]:
    """The zones that a text names, in its order; two words such as New York count as one."""
    words = _WORD.findall(text)
    found = []
    index = 0
    while index < len(words):
        for length in (3, 2, 1):
            zone = _zones().get("_".join(words[index : index + length]).lower())
            if zone is not None and index + length <= len(words):
                found.append(Place(zone, index > 0 and words[index - 1].lower() in ("to", "into")))
                index += length - 1
                break
        index += 1
    return found


@cache
def _zones() -> Mapping[str, str]:
    """Names and cities to zones; the shortest name wins where a city has several."""
    names = sorted(zoneinfo.available_timezones(), key=lambda name: (-len(name), name))
    zones = [name for name in names if "/" in name and not name.startswith(("Etc/", "posix/", "right/"))]
    cities = {name.rsplit("/", 1)[1].lower(): name for name in zones}
    return cities | {name.lower(): name for name in zones} | {"utc": "UTC", "gmt": "UTC"}

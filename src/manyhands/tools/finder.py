"""Tool search over the catalogue as it is: the index is built anew when the catalogue has changed."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from manyhands.chat.types import Channel
from manyhands.tools.catalogue import ToolCatalogue
from manyhands.tools.rulebook import Rulebook
from manyhands.tools.search import ToolIndex
from manyhands.tools.types import Listing, ToolMatch

INDEXES = 8
COMPARED = 2000
"""Comparing spellings holds the event loop for that long: about 10 µs for each name."""


class ToolFinder:
    """Searches what a channel can see."""

    def __init__(self, catalogue: ToolCatalogue, rulebook: Rulebook) -> None:
        self._catalogue = catalogue
        self._rulebook = rulebook
        self._indexes: dict[int, ToolIndex] = {}

    async def search(
        self, query: str, limit: int, channel: Channel | None, *, offered_only: bool = False
    ) -> list[ToolMatch]:
        """The tools that fit best, best first."""
        listings = await self._catalogue.listings(channel, await self._rulebook.policy())
        wanted = [listing for listing in listings if listing.offered or not offered_only]
        by_name = {listing.definition.full_name: listing for listing in wanted}
        hits = self._index(wanted).search(query, limit)
        return [ToolMatch(by_name[hit.definition.full_name], hit.score) for hit in hits]

    async def similar(self, name: str, channel: Channel | None) -> Sequence[str]:
        """Names that whoever wrote an unknown one may have meant: spelled alike, else of like meaning."""
        listings = await self._catalogue.listings(channel, await self._rulebook.policy())
        names = [listing.definition.full_name for listing in listings]
        if len(names) <= COMPARED and (alike := get_close_matches(name, names, n=3, cutoff=0.8)):
            return alike
        found = await self.search(name.removeprefix("mcp__"), 3, channel, offered_only=True)
        return [match.listing.definition.full_name for match in found]

    def _index(self, listings: Sequence[Listing]) -> ToolIndex:
        version = hash(tuple((one.definition.full_name, one.definition.definition_hash) for one in listings))
        index = self._indexes.pop(version, None) or ToolIndex(one.definition for one in listings)
        if len(self._indexes) >= INDEXES:
            del self._indexes[next(iter(self._indexes))]
        self._indexes[version] = index
        return index

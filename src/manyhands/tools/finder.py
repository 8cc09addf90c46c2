"""Tool search over the catalogue as it is: the index is built anew when the catalogue has changed.

Neither numpy nor the word vectors are loaded before somebody searches. Both are in a thread: a search waits a
moment for the vectors and does without them if they take longer; the next one has them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from manyhands import embedding
from manyhands.chat.types import Channel
from manyhands.errors import UnavailableError
from manyhands.tools.catalogue import ToolCatalogue
from manyhands.tools.rulebook import Rulebook
from manyhands.tools.types import Listing, ToolDefinition, ToolMatch

if TYPE_CHECKING:
    from manyhands.tools.search import ToolIndex

log = logging.getLogger(__name__)

INDEXES = 4
PATIENCE_S = 1.0
REMEMBERED = 20_000
"""Texts and words whose vectors are kept: 1 KB each."""
NAMED = 20
COMPARED = 2000
"""Comparing spellings holds the event loop for that long: about 10 µs for each name."""


class ToolFinder:
    """Searches what a channel can see."""

    def __init__(self, catalogue: ToolCatalogue, rulebook: Rulebook) -> None:
        self._catalogue = catalogue
        self._rulebook = rulebook
        self._indexes: dict[int, ToolIndex] = {}
        self._building = anyio.Lock()
        self._vectors: embedding.VectorCache | None = embedding.VectorCache(embedding.embed, REMEMBERED)

    async def search(
        self, query: str, limit: int, channel: Channel | None, *, offered_only: bool = False
    ) -> list[ToolMatch]:
        """The tools that fit best, by words and by meaning, best first."""
        index, by_name = await self._prepare(channel, offered_only=offered_only)
        if not index.learned and self._vectors is not None:
            with anyio.move_on_after(PATIENCE_S):
                await anyio.to_thread.run_sync(self._teach, index, abandon_on_cancel=True)
        return [ToolMatch(by_name[hit.definition.full_name], hit.score) for hit in index.search(query, limit)]

    async def _prepare(
        self, channel: Channel | None, *, offered_only: bool
    ) -> tuple[ToolIndex, dict[str, Listing]]:
        listings = await self._catalogue.listings(channel, await self._rulebook.policy())
        wanted = [listing for listing in listings if listing.offered or not offered_only]
        by_name = {listing.definition.full_name: listing for listing in wanted}
        return await self._index(wanted), by_name

    async def advise(self, name: str, channel: Channel | None) -> str:
        """What to say to whoever called a tool that does not exist."""
        similar = await self.similar(name, channel)
        meant = f"Did you mean {' or '.join(similar)}?" if similar else "Look at the list of tools."
        listings = await self._catalogue.listings(channel, await self._rulebook.policy())
        there = [one.definition for one in listings if _is_of_server(one.definition, name)]
        if not there or any(definition.full_name in similar for definition in there):
            return meant
        more = f" and {len(there) - NAMED} more" if len(there) > NAMED else ""
        names = ", ".join(definition.full_name for definition in there[:NAMED])
        return f"Server {there[0].server} has {names}{more}."

    async def similar(self, name: str, channel: Channel | None) -> Sequence[str]:
        """Names that whoever wrote an unknown one may have meant: spelled alike, else of like meaning."""
        listings = await self._catalogue.listings(channel, await self._rulebook.policy())
        names = [listing.definition.full_name for listing in listings]
        if len(names) <= COMPARED and (alike := get_close_matches(name, names, n=3, cutoff=0.8)):
            return alike
        index, _ = await self._prepare(channel, offered_only=True)
        return [hit.definition.full_name for hit in index.search(name.removeprefix("mcp__"), 3)]

    async def _index(self, listings: Sequence[Listing]) -> ToolIndex:
        version = hash(tuple((one.definition.full_name, one.definition.definition_hash) for one in listings))
        async with self._building:
            index = self._indexes.pop(version, None)
            if index is None:
                index = await anyio.to_thread.run_sync(_build, [one.definition for one in listings])
            if len(self._indexes) >= INDEXES:
                del self._indexes[next(iter(self._indexes))]
            self._indexes[version] = index
        return index

    def _teach(self, index: ToolIndex) -> None:
        vectors = self._vectors
        if vectors is None or index.learned:
            return
        try:
            index.learn(vectors.embed)
        except UnavailableError as error:
            self._vectors = None
            log.warning("Tools are searched by words alone: %s", error)


def _build(definitions: Sequence[ToolDefinition]) -> ToolIndex:
    from manyhands.tools.search import ToolIndex

    return ToolIndex(definitions)


def _is_of_server(definition: ToolDefinition, name: str) -> bool:
    """Whether a name begins as those of this tool's server do, by the server's name or by its number."""
    head = name.removeprefix("mcp__").partition("__")[0]
    by_number = head.isdecimal() and definition.server_id == int(head)
    return by_number or definition.full_name.startswith(f"mcp__{head}__")

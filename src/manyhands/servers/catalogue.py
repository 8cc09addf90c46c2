"""Reading everything that a server offers, to the last page, into one `Catalogue`.

A server is asked only for what it declares. A part that cannot be read keeps what was known of it, and the
catalogue says so; an error of the connection itself is not caught here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread
from mcp.shared.exceptions import MCPError
from mcp.types import METHOD_NOT_FOUND, PaginatedRequest, PaginatedResult
from pydantic import BaseModel, Field, ValidationError

from manyhands.servers.endpoints import Limits
from manyhands.servers.failures import is_connection_error
from manyhands.servers.schemas import clean_text, repair_tools
from manyhands.servers.types import Catalogue, Repair, ServerTool

if TYPE_CHECKING:
    from mcp import Client

SKILLS_EXTENSION = "io.modelcontextprotocol/skills"
_SKILL_SCHEME = "skill://"
_MANY = 500
_DEEPEST = 32
"""How deep a skill may lie: each file is looked for in every directory above it."""

Item = Mapping[str, Any]
Page = tuple[Sequence[Item], str | None]


class _ListSkillsRequest(PaginatedRequest[Literal["skills/list"]]):
    method: Literal["skills/list"] = "skills/list"


class _ListSkillsResult(PaginatedResult):
    skills: list[Any] = Field(default_factory=list)


async def fetch_catalogue(
    client: Client, limits: Limits, seconds: float, known: Catalogue | None = None
) -> Catalogue:
    """What the server offers now. `known`: what it offered before, for parts that cannot be read now."""
    reading = _Reading(client, limits, known or Catalogue())
    with anyio.move_on_after(seconds) as scope:
        await reading.read()
    if scope.cancelled_caught:
        reading.problems.append(f"{reading.method} was not answered within {seconds:.0f} s")
    return reading.catalogue()


@dataclass
class _Reading:
    """One pass over all lists of a server."""

    client: Client
    limits: Limits
    found: Catalogue
    method: str = "tools/list"
    problems: list[str] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)

    async def read(self) -> None:
        """All lists, the tools first: they are what most servers are for."""
        offers = self.client.server_capabilities
        await self._tools(declared=offers.tools is not None)
        prompts = await self._items("prompts/list", self._prompts_page, offers.prompts is not None)
        self.found = replace(self.found, prompts=self.found.prompts if prompts is None else prompts)
        await self._resources(declared=offers.resources is not None)
        await self._skills(declared=SKILLS_EXTENSION in (offers.extensions or {}))

    async def _tools(self, *, declared: bool) -> None:
        items = await self._items("tools/list", self._tools_page, declared)
        if items is None:
            return
        tools, repairs = await _repaired(items)
        self.repairs += repairs
        self.found = replace(self.found, tools=tools)

    async def _resources(self, *, declared: bool) -> None:
        resources = await self._items("resources/list", self._resources_page, declared)
        templates = await self._items("resources/templates/list", self._templates_page, declared)
        self.found = replace(
            self.found,
            resources=self.found.resources if resources is None else resources,
            resource_templates=self.found.resource_templates if templates is None else templates,
        )

    async def _skills(self, *, declared: bool) -> None:
        """From the skills extension, or else from the resources that by their address are skills."""
        if not declared:
            self.found = replace(self.found, skills=skills_among(self.found.resources))
            return
        entries = await self._items("skills/list", self._skills_page, declared)
        if entries is not None:
            self.found = replace(self.found, skills=[entry for entry in entries if self._usable_skill(entry)])

    def _usable_skill(self, entry: Item) -> bool:
        about = entry.get("frontmatter")
        named = isinstance(about, dict) and all(
            isinstance(about.get(key), str) for key in ("name", "description")
        )
        files = entry.get("resources")
        if isinstance(entry.get("uri"), str) and named and (isinstance(files, list) or files == "dynamic"):
            return True
        name = entry.get("uri") or "without address"
        self.repairs.append(Repair(f"skill {name}"[:200], "its entry is not complete", "left out"))
        return False

    async def _items(
        self, method: str, fetch: Callable[[str | None], Awaitable[Page]], declared: bool
    ) -> list[Item] | None:
        """All items of a list; nothing when it could not be read."""
        if not declared:
            return []
        self.method = method
        try:
            return await self._all_pages(method, fetch)
        except MCPError as error:
            if is_connection_error(error):
                raise
            if error.code == METHOD_NOT_FOUND and method != "tools/list":
                return []
            self.problems.append(f"{method} failed: {error.message} ({error.code})")
        except ValidationError as error:
            self.problems.append(f"{method} was answered with something else: {error.errors()[0]['msg']}")
        return None

    async def _all_pages(self, method: str, fetch: Callable[[str | None], Awaitable[Page]]) -> list[Item]:
        items: list[Item] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(self.limits.pages):
            page, cursor = await fetch(cursor)
            items += page
            if not cursor:
                return items
            if cursor in seen:
                self.problems.append(
                    f"{method} names the same next page again and again; reading stopped there"
                )
                return items
            if len(items) >= self.limits.items:
                break
            seen.add(cursor)
        self.problems.append(f"{method} does not end; reading stopped after {len(items)} entries")
        return items

    async def _tools_page(self, cursor: str | None) -> Page:
        result = await self.client.list_tools(cursor=cursor)
        return _wire(result.tools), result.next_cursor

    async def _prompts_page(self, cursor: str | None) -> Page:
        result = await self.client.list_prompts(cursor=cursor)
        return _wire(result.prompts), result.next_cursor

    async def _resources_page(self, cursor: str | None) -> Page:
        result = await self.client.list_resources(cursor=cursor)
        return _wire(result.resources), result.next_cursor

    async def _templates_page(self, cursor: str | None) -> Page:
        result = await self.client.list_resource_templates(cursor=cursor)
        return _wire(result.resource_templates), result.next_cursor

    async def _skills_page(self, cursor: str | None) -> Page:
        from mcp.types import PaginatedRequestParams

        request = _ListSkillsRequest(params=PaginatedRequestParams(cursor=cursor))
        result = await self.client.session.send_request(request, _ListSkillsResult)
        return [clean_text(entry) for entry in result.skills if isinstance(entry, dict)], result.next_cursor

    def catalogue(self) -> Catalogue:
        """What was found, with who said so."""
        about = self.client.server_info
        return replace(
            self.found,
            version=about.version if about else None,
            protocol=self.client.protocol_version,
            capabilities=self.client.server_capabilities.model_dump(
                by_alias=True, mode="json", exclude_none=True
            ),
            instructions=self.client.instructions,
            repairs=tuple(self.repairs),
            problem="; ".join(self.problems) or None,
        )


async def _repaired(items: Sequence[Item]) -> tuple[list[ServerTool], list[Repair]]:
    if len(items) < _MANY:
        return repair_tools(items)
    return await anyio.to_thread.run_sync(repair_tools, items)


def _wire(items: Sequence[BaseModel]) -> list[Item]:
    """As the server wrote them, without what it did not write."""
    return [clean_text(item.model_dump(by_alias=True, mode="json", exclude_unset=True)) for item in items]


def skills_among(resources: Sequence[Item]) -> list[Item]:
    """Skills of a server that lists them as plain resources: each `SKILL.md` with the files below it."""
    listed = {str(resource["uri"]): resource for resource in resources if _is_skill_file(resource)}
    files: dict[str, list[Item]] = {uri.removesuffix("SKILL.md"): [] for uri in listed if _is_main(uri)}
    loose: list[str] = []
    for uri in listed:
        homes = [directory for directory in _directories(uri) if directory in files]
        for directory in homes:
            files[directory].append({"uri": uri})
        if not homes and uri != f"{_SKILL_SCHEME}index.json":
            loose.append(uri)
    return [
        *(_skill(listed, f"{directory}SKILL.md", directory, below) for directory, below in files.items()),
        *(_skill(listed, uri, uri, [{"uri": uri}]) for uri in loose),
    ]


def _skill(listed: Mapping[str, Item], uri: str, address: str, files: list[Item]) -> Item:
    return {"uri": uri, "frontmatter": _front_matter(listed[uri], address), "resources": files}


def _is_main(uri: str) -> bool:
    return uri.endswith("/SKILL.md") and uri.count("/") <= _DEEPEST


def _directories(uri: str) -> Iterator[str]:
    """All that it lies in, from the top."""
    end = 0
    for _ in range(_DEEPEST):
        end = uri.find("/", end) + 1
        if not end:
            return
        yield uri[:end]


def _is_skill_file(resource: Item) -> bool:
    return str(resource.get("uri", "")).startswith(_SKILL_SCHEME)


def _front_matter(resource: Item, address: str) -> dict[str, Any]:
    """A skill's name is the last part of its path; what a resource is called may be anything."""
    name = address.removeprefix(_SKILL_SCHEME).rstrip("/").rpartition("/")[2]
    return {
        "name": name or str(resource.get("name", "")),
        "description": str(resource.get("description", "")),
    }

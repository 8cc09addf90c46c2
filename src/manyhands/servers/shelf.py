"""The tools of all servers as one channel sees them: which server a name means, what is listed and callable.

Everything is read from memory. Inside a project's channel an approved server of the project takes the place
of a global one with the same name; the global one's tools can still be called by its id.
"""

from __future__ import annotations

from collections.abc import Iterator

from manyhands.chat.types import Channel
from manyhands.servers.listings import Situation, list_left_out, list_tool, list_tools, list_unread
from manyhands.servers.mcp_tools import McpTool
from manyhands.servers.naming import Namespace, name_key, split_name
from manyhands.servers.project_servers import ProjectServers
from manyhands.servers.registry import Known, Registry
from manyhands.servers.supervision import Supervision
from manyhands.servers.types import ServerTool
from manyhands.settings import CurrentSettings
from manyhands.tools.types import Listing


class ToolShelf:
    """Finds and lists tools."""

    def __init__(
        self, registry: Registry, live: Supervision, projects: ProjectServers, settings: CurrentSettings
    ) -> None:
        self._registry = registry
        self._live = live
        self._projects = projects
        self._settings = settings

    def version(self) -> tuple[object, ...]:
        """Another one as soon as anything could be listed in another way."""
        return (
            self._registry.changes,
            self._live.changes,
            self._projects.changes,
            self._settings.current.tool_namespace,
        )

    def visible(self, channel: Channel | None) -> list[Known]:
        """The servers of a channel, those of its project first."""
        directory = channel.dir_path if channel else None
        if directory is None:
            return self._registry.of_project(None)
        own = self._registry.of_project(directory)
        present = [known for known in own if self._projects.is_present(known.server)]
        return present + self._registry.of_project(None)

    def listings(self, channel: Channel | None) -> list[Listing]:
        shadows = self._shadows(channel)
        found: list[Listing] = []
        for known in self.visible(channel):
            found += list_tools(known, self._situation(known, shadows), self._form(known, shadows))
        return found

    def of_server(self, known: Known) -> list[Listing]:
        return list(list_tools(known, self._situation(known, set()), self._form(known, set())))

    def listing(self, full_name: str, channel: Channel | None) -> Listing | None:
        shadows = self._shadows(channel)
        if (found := self._find(full_name, channel, shadows)) is None:
            return self._left_out(full_name, channel, shadows) or self._unread(full_name, channel, shadows)
        known, tool = found
        return list_tool(known, tool, self._situation(known, shadows), self._form(known, shadows))

    def _left_out(self, full_name: str, channel: Channel | None, shadows: set[str]) -> Listing | None:
        for known in self._candidates(full_name, channel, shadows):
            for listing in list_left_out(known, self._situation(known, shadows), self._form(known, shadows)):
                if listing.definition.full_name == full_name:
                    return listing
        return None

    def _unread(self, full_name: str, channel: Channel | None, shadows: set[str]) -> Listing | None:
        """A tool of a server whose list has never been read: whether it exists nobody knows, but why."""
        _, name = split_name(full_name) or ("", "")
        known = self.server_of(full_name, channel)
        if known is None or known.fetched_at is not None:
            return None
        return list_unread(known, self._situation(known, shadows), name, full_name)

    def server_of(self, full_name: str, channel: Channel | None) -> Known | None:
        """The server that a name points to, whether or not it has such a tool."""
        server, _ = split_name(full_name) or ("", "")
        for known in self._candidates(full_name, channel, self._shadows(channel)):
            if server in (known.server.safe_name, str(known.server.id)):
                return known
        return None

    def tool(self, listing: Listing, channel: Channel | None) -> McpTool | None:
        """What is listed, to be called."""
        definition = listing.definition
        known = None if definition.server_id is None else self._registry.find(definition.server_id)
        if known is None or definition.name not in known.tools:
            return None
        server_id, directory = known.server.id, channel.dir_path if channel else None
        listed = known.tools[definition.name]
        return McpTool(
            definition,
            known.server.config.tool_timeout,
            at_hand=lambda: self._live.at_hand(server_id, directory),
            reach=lambda: self._live.reach(server_id, directory),
            is_current=lambda: self._is_listed(server_id, listed),
        )

    def _is_listed(self, server_id: int, tool: ServerTool) -> bool:
        """Whether the server has this tool, and as it was."""
        known = self._registry.find(server_id)
        now = known.tools.get(tool.name) if known else None
        return now is tool or (now is not None and now.definition_hash == tool.definition_hash)

    def _find(
        self, full_name: str, channel: Channel | None, shadows: set[str]
    ) -> tuple[Known, ServerTool] | None:
        for known in self._candidates(full_name, channel, shadows):
            name = known.names.find(full_name)
            if name is not None:
                return known, known.tools[name]
        return None

    def _candidates(self, full_name: str, channel: Channel | None, shadows: set[str]) -> Iterator[Known]:
        """The server that the name says; when it was cut too short to say so, all of them."""
        visible = self.visible(channel)
        server, _ = split_name(full_name) or ("", "")
        if server.isdecimal():
            yield from (known for known in visible if known.server.id == int(server))
            return
        for named in (True, False):
            for known in visible:
                if (known.server.safe_name == server) is named and not self._is_aside(known, shadows):
                    yield known

    def _shadows(self, channel: Channel | None) -> set[str]:
        return self._projects.shadows(channel.dir_path if channel else None)

    def _is_aside(self, known: Known, shadows: set[str]) -> bool:
        """Whether its name means another server here."""
        if known.server.project is not None:
            return not self._projects.is_trusted(known.server)
        return name_key(known.server.safe_name) in shadows

    def _form(self, known: Known, shadows: set[str]) -> Namespace:
        return "id" if self._is_aside(known, shadows) else self._settings.current.tool_namespace

    def _situation(self, known: Known, shadows: set[str]) -> Situation:
        return Situation(
            self._live.state(known.server.id),
            trusted=self._projects.is_trusted(known.server),
            shadowed=known.server.project is None and name_key(known.server.safe_name) in shadows,
        )

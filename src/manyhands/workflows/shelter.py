"""Where scripts run that did not come on the owner's word: in the sandbox of commands, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manyhands.sandbox import Bubblewrap, Mount, Sandbox, sandbox_for
from manyhands.settings import CurrentSettings

Wrap = Callable[[Sequence[str]], list[str]]


class Shelter:
    """`hidden`: directories that nothing in it sees. `mounts_of`: what else a project's commands need."""

    def __init__(
        self,
        settings: CurrentSettings,
        hidden: Sequence[str],
        mounts_of: Callable[[str], Sequence[Mount]],
    ) -> None:
        self._settings = settings
        self._hidden = hidden
        self._mounts_of = mounts_of
        self._bubblewrap = Bubblewrap()

    async def wrap(self, project: str | None, directory: str | None = None) -> Wrap | None:
        """How a command is run in it; nothing when there is no sandbox here."""
        if project is None or self._settings.current.command_sandbox == "off":
            return None
        sandbox = self._sandbox(project, directory)
        if await self._bubblewrap.problem(sandbox) is not None:
            return None
        return lambda command: self._bubblewrap.wrap(command, sandbox)

    def _sandbox(self, project: str, directory: str | None) -> Sandbox:
        return sandbox_for(
            project,
            directory=directory,
            hidden=self._hidden,
            network=self._settings.current.command_network,
            mounts=self._mounts_of(project),
        )

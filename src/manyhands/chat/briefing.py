"""Gathers what a model is told: the channel's prompt, the project's instructions, the servers' words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from manyhands.chat.prompt import PROJECT_LIMIT, Briefing, Skill, system_prompt
from manyhands.chat.types import Channel

PROJECT_FILES = ("AGENTS.md", "CLAUDE.md")


class Speakers(Protocol):
    """Connected servers, as far as a briefing needs them."""

    async def instructions(self, channel: Channel | None) -> Sequence[tuple[str, str]]:
        """Names of connected servers with their instructions."""
        ...

    async def all_skills(self, channel: Channel | None) -> Sequence[Skill]:
        """Skills of connected servers."""
        ...

    async def read_skill(self, name: str, channel: Channel | None) -> str:
        """The text of one of them."""
        ...

    async def up_to_date(self, timeout_s: float) -> None:
        """Wait a moment for lists of tools that have changed and are being read."""
        ...

    async def settled(self, timeout_s: float) -> Sequence[str]:
        """Wait until no server is connecting any more; the answer names those that still are."""
        ...


async def brief(
    channel: Channel, speakers: Speakers, profile: str | None = None, notices: Sequence[str] = ()
) -> str:
    """The system prompt of a channel as it is now; `profile`: what the person says about themselves."""
    name, text = None, None
    if channel.dir_path is not None:
        name, text = await anyio.to_thread.run_sync(_project_text, channel.dir_path)
    return system_prompt(
        Briefing(
            profile=profile,
            channel_prompt=channel.system_prompt,
            directory=channel.dir_path,
            project_file=name,
            project_text=text,
            instructions=await speakers.instructions(channel),
            skills=await speakers.all_skills(channel),
            notices=notices,
        )
    )


def _project_text(directory: str) -> tuple[str | None, str | None]:
    """The first of the project's instruction files that is there."""
    for name in PROJECT_FILES:
        try:
            with (Path(directory) / name).open(encoding="utf-8", errors="replace") as file:
                return name, file.read(4 * PROJECT_LIMIT)
        except OSError:
            continue
    return None, None

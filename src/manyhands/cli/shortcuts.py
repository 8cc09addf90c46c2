"""What `manyhands run` asks of a hub in its own process, answered without the API: importing that takes long.

Two questions, asked in one form each. Everything else is the API's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from manyhands.cli.client import Json
    from manyhands.hub import Hub

OPTIONS = ("model", "max_iterations", "allow", "attended")


async def take_shortcut(hub: Hub, method: str, path: str, body: Any) -> Json | None:
    """What the API would answer, or nothing: then it has to be asked."""
    match method, path.split("/"), body:
        case "POST", ["", "channels"], {"dir_path": str(directory)} if len(body) == 1:
            return await _channel_of(hub, directory)
        case "POST", ["", "channels", channel, "runs"], {"prompt": str(prompt), "attachments": []}:
            if body.keys() == {"prompt", "attachments", *OPTIONS}:
                return await _start_run(hub, unquote(channel), prompt, body)
    return None


async def _channel_of(hub: Hub, directory: str) -> Json:
    from manyhands.chat.service import channel_json

    channel, _ = await hub.channels.find_or_create(dir_path=directory)
    return channel_json(channel)


async def _start_run(hub: Hub, channel_id: str, prompt: str, body: Json) -> Json:
    from manyhands.chat.types import RunOptions

    options = RunOptions(body["model"], body["max_iterations"], tuple(body["allow"]), body["attended"])
    run = await hub.runs.start(channel_id, prompt, options)
    return {"run_id": run.id}

"""Manyhands: a hub for MCP servers. The public names of the library are imported on first use."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` for it would take longer than `manyhands mcp` may

if TYPE_CHECKING:
    from typing import Any

    from manyhands.hub import Hub
    from manyhands.mcp_server.agent_server import AgentServer

__version__ = "0.1.0"

__all__ = ["AgentServer", "Hub", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "Hub":
        from manyhands.hub import Hub

        return Hub
    if name == "AgentServer":
        from manyhands.mcp_server.agent_server import AgentServer

        return AgentServer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

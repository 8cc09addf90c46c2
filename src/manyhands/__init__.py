"""Manyhands: a hub for MCP servers. The public names of the library are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyhands.hub import Hub

__version__ = "0.1.0"

__all__ = ["Hub", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "Hub":
        from manyhands.hub import Hub

        return Hub
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The comparison with other programs that give a model tools."""

from bench.peers.race import run

__all__ = ["run"]

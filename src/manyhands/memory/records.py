"""The database as memory uses it: what this process writes is counted, so that nobody reads it in vain."""

from __future__ import annotations

from typing import TypeVar

from manyhands.store.engine import Store, Work

T = TypeVar("T")


class Records:
    """Reads and writes; `writes` grows with each write, whether or not it worked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.writes = 0

    @property
    def alone(self) -> bool:
        """Whether nobody else can write there."""
        return self._store.dialect == "sqlite"

    async def write(self, work: Work[T]) -> T:
        try:
            return await self._store.write(work)
        finally:
            self.writes += 1

    def post(self, work: Work[object]) -> None:
        """Write it without waiting."""
        self._store.post(work)
        self.writes += 1

    async def read(self, work: Work[T]) -> T:
        return await self._store.read(work)

    async def read_apart(self, work: Work[T]) -> T:
        """The same for work whose statements need not see one moment, in a thread."""
        return await (self._store.read if self.alone else self._store.read_now)(work)

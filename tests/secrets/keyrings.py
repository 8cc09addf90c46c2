"""Keyrings for tests, as the `keyring` package knows them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import keyring
import keyring.backends.fail
import keyring.backends.null
from keyring.backend import KeyringBackend

FailKeyring: Callable[[], KeyringBackend] = keyring.backends.fail.Keyring
NullKeyring: Callable[[], KeyringBackend] = keyring.backends.null.Keyring


class MemoryKeyring(KeyringBackend):
    """A keyring that works."""

    priority = 5.0

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.passwords: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.passwords[service, username]


class PlainTextKeyring(MemoryKeyring):
    """One that rates itself as a last resort."""

    priority = 0.5


class RefusingKeyring(MemoryKeyring):
    """One that may be read and not written."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise OSError("the collection is read-only")


class LockedKeyring(MemoryKeyring):
    """One that answers nothing until somebody unlocks it."""

    def __init__(self) -> None:
        super().__init__()
        self.unlocked = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.unlocked.wait()
        return super().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.unlocked.wait()
        super().set_password(service, username, password)


@contextmanager
def installed(backend: KeyringBackend) -> Iterator[KeyringBackend]:
    """Make it the machine's keyring for a while."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield backend
    finally:
        keyring.set_keyring(before)

"""The operating system's keyring, if there is one worth trusting, with every wait bounded.

A keyring may wait for somebody to unlock it, and a desktop's message bus may never answer: each call runs in
a thread of its own that is left to itself when it takes too long. Blocking: call it from a worker thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from manyhands.errors import UnavailableError

T = TypeVar("T")

# Backends that keep secrets in plain text, or nowhere, rate themselves below this.
_LEAST_PRIORITY = 1.0
# Time for a person to answer the question of a keyring that is locked.
_SECONDS = 20.0


class SystemKeyring:
    """Passwords under one service name; each falls back to `shared`, which a person can fill by hand."""

    def __init__(self, service: str, shared: str = "manyhands", seconds: float = _SECONDS) -> None:
        self._service = service
        self._shared = shared
        self._seconds = seconds
        self._turn = threading.Lock()
        self._stuck: threading.Thread | None = None
        self._backend: Any = None
        self._looked = False

    def available(self) -> bool:
        """Whether there is a keyring. One that does not answer counts as none, until it answers."""
        try:
            return self._find() is not None
        except UnavailableError:
            return False

    def get(self, name: str) -> str | None:
        """The secret, or nothing when there is none of that name or no keyring."""
        backend = self._find()
        if backend is None:
            return None
        found = self._bounded(lambda: backend.get_password(self._service, name))
        if found is None and self._shared != self._service:
            found = self._bounded(lambda: backend.get_password(self._shared, name))
        return None if found is None else str(found)

    def set(self, name: str, value: str) -> None:
        """Keep it; an error when the keyring refuses."""
        backend = self._find()
        if backend is None:
            raise UnavailableError("This machine has no keyring.")
        self._bounded(lambda: backend.set_password(self._service, name, value))

    def delete(self, name: str) -> None:
        """Remove it; harmless when it is not there."""
        backend = self._find()
        if (
            backend is not None
            and self._bounded(lambda: backend.get_password(self._service, name)) is not None
        ):
            self._bounded(lambda: backend.delete_password(self._service, name))

    def _find(self) -> Any:
        if not self._looked:
            self._backend = self._bounded(_trusted_backend)
            self._looked = True
        return self._backend

    def _bounded(self, call: Callable[[], T]) -> T:
        if not self._turn.acquire(timeout=self._seconds):
            raise self._silent()
        try:
            if self._stuck is not None and self._stuck.is_alive():
                raise self._silent()
            answer: Future[T] = Future()
            thread = threading.Thread(target=_settle, args=(answer, call), name="keyring", daemon=True)
            thread.start()
            try:
                return answer.result(self._seconds)
            except TimeoutError:
                self._stuck = thread
                raise self._silent() from None
        finally:
            self._turn.release()

    def _silent(self) -> UnavailableError:
        return UnavailableError(
            f"The system's keyring did not answer within {self._seconds:g} s.",
            hint="Unlock it, or do without it: PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring.",
        )


def _settle(answer: Future[T], call: Callable[[], T]) -> None:
    try:
        answer.set_result(call())
    except Exception as error:  # noqa: BLE001 (each backend has errors of its own kind)
        refusal = UnavailableError(f"The system's keyring failed: {str(error) or type(error).__name__}.")
        refusal.__cause__ = error
        answer.set_exception(refusal)


def _trusted_backend() -> Any:
    import keyring

    backend = keyring.get_keyring()
    return backend if backend.priority >= _LEAST_PRIORITY else None

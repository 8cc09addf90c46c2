"""Secrets in one encrypted file, for machines without a keyring.

Owns the file, its key and their safety: whole-file writes, one writer at a time across processes, and a file
that cannot be read is left exactly as it is. Blocking: call it from a worker thread.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyhands.errors import ConflictError, InvalidError, UnavailableError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

    from manyhands.system import HomeLock

Values = dict[str, str | None]

KEY_VARIABLE = "MANYHANDS_SECRETS_KEY"
_FORMAT = "manyhands-secrets-1"
_LOCK_SECONDS = 10.0
_SHORTEST_PASSPHRASE = 12


class EncryptedFile:
    """Names and values, encrypted with the key file's key or one derived from `MANYHANDS_SECRETS_KEY`.

    A name without a value says that the secret is kept elsewhere.
    """

    def __init__(self, path: Path, key_file: Path, env: Mapping[str, str]) -> None:
        self._path = path
        self._key_file = key_file
        self._env = env
        self._derived: dict[tuple[str, bytes], bytes] = {}

    def read(self) -> Values:
        """Everything in it; nothing when there is no file."""
        try:
            envelope = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UnavailableError(f"{self._path} cannot be read: {error.strerror}.") from error
        return self._open(envelope)

    def update(self, change: Callable[[Values], None]) -> None:
        """Read, change and write it as one step that no other writer can come between."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                values = self.read()
                before = dict(values)
                change(values)
                if values != before:
                    self._write(values)
        except OSError as error:  # of the file, its key or its lock
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> UnavailableError:
        hint = "Nothing was changed. Correct the permissions, then try again."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "Free some disk space; nothing stored is lost."
        return UnavailableError(f"{self._path} cannot be written: {error.strerror}.", hint=hint)

    # --- format

    def _open(self, envelope: bytes) -> Values:
        from cryptography.fernet import InvalidToken

        parts = self._parse(envelope)
        try:
            salt = base64.b64decode(parts["salt"], validate=True)
            values = json.loads(self._cipher(parts["key"], salt).decrypt(parts["data"]))
        except InvalidToken:
            raise InvalidError(
                f"{self._path} cannot be decrypted: it is damaged, or was written with another key.",
                hint=f"It was left as it is. {self._remedy(parts['key'])}",
            ) from None
        except ValueError as error:
            raise self._damaged() from error
        return {name: None if value is None else str(value) for name, value in values.items()}

    def _parse(self, envelope: bytes) -> dict[str, str]:
        try:
            parts: Any = json.loads(envelope)
        except ValueError:
            parts = None
        wanted = ("key", "salt", "data")
        if not isinstance(parts, dict) or parts.get("format") != _FORMAT:
            raise self._damaged()
        if not all(isinstance(parts.get(name), str) for name in wanted):
            raise self._damaged()
        return {name: parts[name] for name in wanted}

    def _damaged(self) -> InvalidError:
        return InvalidError(
            f"{self._path} is damaged.",
            hint="It was left as it is. Restore a backup, or move it away and enter the values again.",
        )

    def _remedy(self, kind: str) -> str:
        anew = f"or move {self._path.name} away and enter the values again."
        if kind == "environment":
            return f"Set {KEY_VARIABLE} to the value it was written with, restore a backup, {anew}"
        return f"Restore {self._path.name} and {self._key_file.name} from the same backup, {anew}"

    def _write(self, values: Values) -> None:
        from manyhands.system import write_private

        kind = "environment" if self._env.get(KEY_VARIABLE) else "file"
        salt = os.urandom(16)
        data = self._cipher(kind, salt, create=True).encrypt(json.dumps(values).encode()).decode()
        envelope = {"format": _FORMAT, "key": kind, "salt": base64.b64encode(salt).decode(), "data": data}
        write_private(self._path, json.dumps(envelope))

    # --- keys

    def _cipher(self, kind: str, salt: bytes, *, create: bool = False) -> Fernet:
        from cryptography.fernet import Fernet

        key = self._passphrase_key(salt) if kind == "environment" else self._file_key(create=create)
        try:
            return Fernet(key)
        except ValueError:
            raise InvalidError(f"{self._key_file} does not hold a key.", hint=self._remedy(kind)) from None

    def _passphrase_key(self, salt: bytes) -> bytes:
        passphrase = self._env.get(KEY_VARIABLE, "")
        if len(passphrase) < _SHORTEST_PASSPHRASE:
            raise InvalidError(
                f"{KEY_VARIABLE} is not set or too short, and {self._path} is encrypted with it.",
                hint=f"Set it to the same text as before, at least {_SHORTEST_PASSPHRASE} characters.",
            )
        known = self._derived.get((passphrase, salt))
        if known is None:
            raw = hashlib.scrypt(passphrase.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32)
            known = base64.urlsafe_b64encode(raw)
            self._derived = {(passphrase, salt): known}
        return known

    def _file_key(self, *, create: bool) -> bytes:
        # With secrets there and the key gone a new key would only hide that they are lost.
        if create and not self._path.exists() and not self._key_file.exists():
            self._new_key()
        try:
            return self._key_file.read_bytes().strip()
        except FileNotFoundError:
            raise InvalidError(
                f"{self._key_file} is missing, and without it {self._path} cannot be read.",
                hint=self._remedy("file"),
            ) from None

    def _new_key(self) -> None:
        from cryptography.fernet import Fernet

        from manyhands.system import write_private

        write_private(self._key_file, Fernet.generate_key().decode() + "\n")

    # --- one writer at a time

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from manyhands.system import HomeLock

        lock = HomeLock(self._path.with_name(self._path.name + ".lock"))
        try:
            self._wait_for(lock)
            yield
        finally:
            lock.release()

    def _wait_for(self, lock: HomeLock) -> None:
        deadline = time.monotonic() + _LOCK_SECONDS
        while True:
            with suppress(ConflictError):
                lock.acquire()
                return
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"{self._path} is being written by another process.", hint="Try again in a moment."
                )
            time.sleep(0.01)

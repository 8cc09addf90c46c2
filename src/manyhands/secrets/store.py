"""Where secrets live and how they come back: in the keyring, else in the encrypted file.

The file also names what is in the keyring, so that nobody is asked to unlock it for what was never there.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import anyio.to_thread

from manyhands.errors import InvalidError, NotConfiguredError, UnavailableError
from manyhands.home import Home
from manyhands.secrets.encrypted_file import EncryptedFile, Values
from manyhands.secrets.kinds import secrets_in
from manyhands.secrets.redaction import MASK, Redactor, is_mask
from manyhands.secrets.references import checked_name, expand, has_reference, reference_to
from manyhands.secrets.system_keyring import SystemKeyring

logger = logging.getLogger(__name__)

# Windows keeps at most 2560 bytes in a credential, two for each character.
_LARGEST_IN_KEYRING = 1200
# Variables that say where things are: hiding their values would blank out every path in the logs.
_PUBLIC_VARIABLES = frozenset(
    {"APPDATA", "COMPUTERNAME", "HOME", "HOSTNAME", "LANG", "LOCALAPPDATA", "LOGNAME", "PATH", "PROGRAMDATA"}
    | {
        "PROGRAMFILES",
        "PWD",
        "SHELL",
        "TEMP",
        "TERM",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
        "USERNAME",
        "USERPROFILE",
    }
)


class SecretStore:
    """The secrets of one home. What it hands out is registered with `redactor`."""

    def __init__(
        self,
        home: Home,
        *,
        redactor: Redactor | None = None,
        keyring: SystemKeyring | None = None,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        self.redactor = redactor or Redactor()
        self._env = env
        self._keyring = keyring or SystemKeyring(_service_name(home.path))
        self._file = EncryptedFile(home.secrets_file, home.secrets_key_file, env)

    # --- references

    def resolve(self, value: str, env: Mapping[str, str] | None = None) -> str:
        """The value with its references replaced. May read the keyring: in async code use `expand`."""
        variables = self._env if env is None else env

        def variable(name: str, default: str | None) -> str:
            found = variables.get(name)
            if default is not None and not found:
                return default
            if found is None:
                hint = f"Set it before the hub starts, or write ${{{name}:-default}}."
                raise NotConfiguredError(f"The environment variable {name} is not set.", hint=hint)
            if not _is_public(name, found):
                self.redactor.register(found)
                self.redactor.guard(*secrets_in(name, found, referred=True))
            return found

        return expand(value, variable, self._required)

    async def expand(self, values: Mapping[str, str], env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Every value with its references replaced."""

        def work() -> dict[str, str]:
            return {name: self.resolve(value, env) for name, value in values.items()}

        found = await anyio.to_thread.run_sync(work)
        for value in found.values():
            self.redactor.guard(*secrets_in("", value) - {value})
        return found

    async def reveal(self, values: Mapping[str, str]) -> dict[str, str]:
        """The same for values that are kept secret as such, whether or not they came by a reference."""
        found = await self.expand(values)
        for name, value in found.items():
            if value == values[name]:
                self.redactor.register(value)
            self.redactor.guard(*secrets_in(name, value))
        return found

    async def protect(self, name: str, value: str) -> str:
        """What may be written down for a value: itself if it refers to secrets, else a reference to it."""
        if is_mask(value):
            hint = "Send the real value, or leave the old one in place."
            raise InvalidError(f"{name} is {MASK}, which stands for a secret and is none.", hint=hint)
        if not value or has_reference(value):
            return value
        return await self.put(name, value)

    # --- stored secrets

    async def put(self, name: str, value: str, *, redact: bool = True) -> str:
        """Keep a secret; answers the reference to it. `redact=False`: the caller registers its parts."""
        if redact:
            self.redactor.register(value)
        await anyio.to_thread.run_sync(self._write, checked_name(name), value)
        return reference_to(name)

    async def get(self, name: str, *, redact: bool = True) -> str | None:
        """The secret, or nothing when there is none of that name."""
        value = await anyio.to_thread.run_sync(self._read, checked_name(name))
        if redact and value is not None:
            self.redactor.register(value)
        return value

    async def delete(self, name: str) -> None:
        """Forget a secret; harmless when there is none."""
        await anyio.to_thread.run_sync(self._remove, checked_name(name))

    async def place(self) -> str:
        """Where new secrets go: `keyring` or `file`."""
        usable = await anyio.to_thread.run_sync(self._keyring.available)
        return "keyring" if usable else "file"

    def _required(self, name: str) -> str:
        # A person may have put it into the keyring by hand, so it is asked for names that we do not know too.
        ours = name in self._file.read()
        value = self._read(name) if ours else self._keyring.get(name)
        if value is None:
            hint = f"Store it with `keyring set manyhands {name}`, or save the server again with the value."
            raise NotConfiguredError(f"There is no secret named {name}.", hint=hint)
        if ours:
            self.redactor.register(value)
        else:
            self.redactor.guard(value)
        return value

    def _read(self, name: str) -> str | None:
        values = self._file.read()
        if name not in values:
            return None
        kept = values[name]
        return kept if kept is not None else self._keyring.get(name)

    def _write(self, name: str, value: str) -> None:
        kept = None if self._keyring_takes(name, value) else value
        was_in_keyring = kept is not None and self._file.read().get(name, kept) is None
        self._file.update(lambda values: values.__setitem__(name, kept))
        if was_in_keyring:
            with suppress(UnavailableError):
                self._keyring.delete(name)

    def _keyring_takes(self, name: str, value: str) -> bool:
        if len(value) > _LARGEST_IN_KEYRING or not self._keyring.available():
            return False
        try:
            self._keyring.set(name, value)
        except UnavailableError as error:
            logger.warning("secret %s goes to the encrypted file: %s", name, error)
            return False
        return True

    def _remove(self, name: str) -> None:
        values = self._file.read()
        if name in values and values[name] is None:
            self._keyring.delete(name)
        self._file.update(lambda values: _drop(values, name))


def _drop(values: Values, name: str) -> None:
    values.pop(name, None)


def _is_public(name: str, value: str) -> bool:
    return name.upper() in _PUBLIC_VARIABLES or (os.path.isabs(value) and Path(value).exists())


def _service_name(home: Path) -> str:
    """Homes do not share secrets, except what a person stored under the plain name for all of them."""
    if home == Path("~/.manyhands").expanduser():
        return "manyhands"
    return f"manyhands-{hashlib.sha256(str(home).encode()).hexdigest()[:16]}"

"""Pictures and files of a conversation, kept once by what is in them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from manyhands.errors import InvalidError, NotFoundError, TooLargeError
from manyhands.models.types import Attachment

MAX_BYTES = 20_000_000


class AttachmentStore:
    """A directory of files named by their hash; a reference is small JSON that a message carries."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def keep(self, attachment: Attachment) -> dict[str, Any]:
        """Store it and answer with its reference."""
        if len(attachment.data) > MAX_BYTES:
            raise TooLargeError(
                f"{attachment.name} has {len(attachment.data):,} bytes.",
                hint=f"Up to {MAX_BYTES:,} are taken; attach a smaller one, or put it into the directory.",
            )
        digest = hashlib.sha256(attachment.data).hexdigest()
        await anyio.to_thread.run_sync(self._write, digest, attachment.data)
        return {
            "sha256": digest,
            "name": attachment.name,
            "mime": attachment.mime,
            "size": len(attachment.data),
        }

    async def load(self, reference: Mapping[str, Any]) -> Attachment:
        """The attachment behind a reference."""
        digest = str(reference.get("sha256", ""))
        if len(digest) != 64 or not all(character in "0123456789abcdef" for character in digest):
            raise InvalidError("An attachment's reference is not valid.", hint="Attach the file again.")
        try:
            data = await anyio.to_thread.run_sync((self._directory / digest).read_bytes)
        except FileNotFoundError:
            raise NotFoundError(
                f"The attachment {reference.get('name', digest)!r} is gone.", hint="Attach it again."
            ) from None
        return Attachment(str(reference.get("name", "file")), str(reference.get("mime", "")), data)

    def _write(self, digest: str, data: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = self._directory / digest
        if target.exists():
            os.utime(target)  # it is wanted again: what is old and unused is removed
            return
        partial = target.with_suffix(f".{os.getpid()}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        partial.replace(target)

"""What a file's facts are kept under: a hash of its content and its language."""

from __future__ import annotations

import hashlib

from manyhands.quality.languages import language_of


def content_hash(source: bytes, path: str) -> str:
    """What facts are kept under: the bytes and the language that they were read in."""
    language = language_of(path)
    salt = (language.name if language else "").encode()
    return hashlib.blake2b(source, digest_size=16, person=salt[:16]).hexdigest()

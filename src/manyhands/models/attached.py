"""Pictures and files as a model can take them: as they are, as text, or as a note about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manyhands.models.types import Attachment

if TYPE_CHECKING:
    from pydantic_ai.messages import BinaryContent

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_SOUNDS = frozenset({"audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/aac", "audio/aiff"})


def shown(attachment: Attachment, modalities: Sequence[str]) -> str | BinaryContent:
    """What the model gets for an attachment."""
    from pydantic_ai.messages import BinaryContent

    mime = attachment.mime.partition(";")[0].strip().lower()
    needed = _modality(mime)
    if needed is not None and needed in modalities:
        return BinaryContent(attachment.data, media_type=mime, identifier=attachment.name)
    text = None if needed is not None else _text(attachment.data)
    if text is not None:
        return f'<attachment name="{attachment.name}">\n{text}\n</attachment>'
    return (
        f"[The attachment {attachment.name} ({mime or 'of unknown kind'}, {len(attachment.data):,} bytes) "
        "is not shown: this model cannot read that kind.]"
    )


def _modality(mime: str) -> str | None:
    if mime in _PICTURES:
        return "image"
    if mime in _SOUNDS:
        return "audio"
    return "pdf" if mime == "application/pdf" else None


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text

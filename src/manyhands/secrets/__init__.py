"""Secrets: references to them, where they are kept, and keeping them out of everything that is shown.

Nothing here knows which part of the hub a secret belongs to.
"""

from manyhands.secrets.pieces import BytePieces, TextPieces
from manyhands.secrets.redaction import HIDDEN, MASK, RedactingFilter, Redactor, is_mask, mask
from manyhands.secrets.references import has_reference, reference_to
from manyhands.secrets.store import SecretStore

__all__ = [
    "HIDDEN",
    "MASK",
    "BytePieces",
    "RedactingFilter",
    "Redactor",
    "SecretStore",
    "TextPieces",
    "has_reference",
    "is_mask",
    "mask",
    "reference_to",
]

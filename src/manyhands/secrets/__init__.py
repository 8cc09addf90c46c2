"""Secrets: references to them, where they are kept, and keeping them out of everything that is shown.

Nothing here knows which part of the hub a secret belongs to.
"""

from manyhands.secrets.redaction import HIDDEN, MASK, RedactingFilter, Redactor, is_mask, mask
from manyhands.secrets.references import has_reference, reference_to
from manyhands.secrets.store import SecretStore

__all__ = [
    "HIDDEN",
    "MASK",
    "RedactingFilter",
    "Redactor",
    "SecretStore",
    "has_reference",
    "is_mask",
    "mask",
    "reference_to",
]

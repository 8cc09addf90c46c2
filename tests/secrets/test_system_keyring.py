from __future__ import annotations

import pytest
from keyring.backend import KeyringBackend

from manyhands.errors import UnavailableError
from manyhands.secrets.system_keyring import SystemKeyring
from tests.secrets.keyrings import (
    FailKeyring,
    LockedKeyring,
    MemoryKeyring,
    NullKeyring,
    PlainTextKeyring,
    RefusingKeyring,
    installed,
)


def test_a_secret_that_was_set_is_got_and_deleted() -> None:
    with installed(MemoryKeyring()):
        ours = SystemKeyring("ours")
        ours.set("name", "value")
        assert ours.get("name") == "value"
        ours.delete("name")
        ours.delete("name")
        assert ours.get("name") is None


def test_what_a_person_stored_for_all_homes_is_found_and_not_deleted() -> None:
    with installed(MemoryKeyring()) as backend:
        backend.set_password("manyhands", "name", "by hand")
        ours = SystemKeyring("manyhands-of-this-home")
        ours.delete("name")
        assert ours.get("name") == "by hand"


@pytest.mark.parametrize(
    "backend",
    [FailKeyring(), NullKeyring(), PlainTextKeyring()],
    ids=["fail", "null", "plain text"],
)
def test_a_backend_that_keeps_nothing_or_keeps_it_in_plain_text_counts_as_none(
    backend: KeyringBackend,
) -> None:
    with installed(backend):
        ours = SystemKeyring("ours")
        assert not ours.available()
        assert ours.get("name") is None
        with pytest.raises(UnavailableError, match="no keyring"):
            ours.set("name", "value")


def test_a_backend_that_fails_says_so_in_one_of_our_errors() -> None:
    with installed(RefusingKeyring()), pytest.raises(UnavailableError, match="collection is read-only"):
        SystemKeyring("ours").set("name", "value")


def test_a_keyring_that_never_answers_is_given_up_and_used_again_once_it_answers() -> None:
    with installed(LockedKeyring()) as backend:
        assert isinstance(backend, LockedKeyring)
        ours = SystemKeyring("ours", seconds=0.05)
        try:
            with pytest.raises(UnavailableError, match=r"did not answer within 0\.05 s.*Unlock it"):
                ours.get("name")
            patient = SystemKeyring("ours", seconds=30)
            patient._stuck = ours._stuck
            with pytest.raises(UnavailableError, match="did not answer"):
                patient.get("name")
        finally:
            backend.unlocked.set()
        assert ours._stuck is not None
        ours._stuck.join()
        assert ours.get("name") is None

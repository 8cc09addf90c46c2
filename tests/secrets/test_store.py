from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manyhands.errors import InvalidError, NotConfiguredError, UnavailableError
from manyhands.home import Home
from manyhands.secrets import MASK, SecretStore
from manyhands.secrets.system_keyring import SystemKeyring
from tests.secrets.keyrings import LockedKeyring, MemoryKeyring, NullKeyring, RefusingKeyring, installed

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def without_keyring() -> Iterator[None]:
    with installed(NullKeyring()):
        yield


@pytest.fixture
def with_keyring() -> Iterator[MemoryKeyring]:
    backend = MemoryKeyring()
    with installed(backend):
        yield backend


# --- references


def test_variables_defaults_and_literals_are_resolved(home: Home) -> None:
    store = SecretStore(home, env={"TOKEN": "t0ken-value", "EMPTY": ""})
    assert (
        store.resolve("Bearer ${TOKEN}, ${NONE:-x}, ${EMPTY:-y}, ${EMPTY}.") == "Bearer t0ken-value, x, y, ."
    )
    assert store.resolve("${TOKEN}", env={"TOKEN": "other"}) == "other"


def test_a_variable_that_is_not_set_is_named(home: Home) -> None:
    with pytest.raises(NotConfiguredError, match="variable GITHUB_TOKEN is not set"):
        SecretStore(home, env={}).resolve("x${GITHUB_TOKEN}")


@pytest.mark.usefixtures("without_keyring")
def test_a_secret_that_is_not_stored_is_named_with_how_to_store_it(home: Home) -> None:
    with pytest.raises(NotConfiguredError, match=r"no secret named github.*keyring set manyhands github"):
        SecretStore(home).resolve("${keyring:github}")


@pytest.mark.requirement("L28")
@pytest.mark.usefixtures("without_keyring")
async def test_what_was_resolved_is_redacted_from_then_on(home: Home) -> None:
    store = SecretStore(home, env={"TOKEN": "from-environment"})
    await store.put("stored", "from-storage")
    again = SecretStore(home, env={"TOKEN": "from-environment"})
    await again.expand({"A": "${TOKEN}", "B": "${keyring:stored}"})
    assert again.redactor.redact("from-environment from-storage") == f"{MASK} {MASK}"


def test_values_that_are_no_secrets_stay_legible(home: Home) -> None:
    store = SecretStore(home, env={"HOME": "/home/somebody", "DATA": str(home.path)})
    store.resolve("${HOME} ${DATA} ${LEVEL:-very-verbose}")
    text = f"/home/somebody {home.path} very-verbose"
    assert store.redactor.redact(text) == text


# --- storing


@pytest.mark.usefixtures("without_keyring")
async def test_without_a_keyring_secrets_are_kept_in_the_encrypted_file(home: Home) -> None:
    store = SecretStore(home)
    assert await store.place() == "file"
    reference = await store.put("name", "some value")
    assert reference == "${keyring:name}"
    assert SecretStore(home).resolve(reference) == "some value"
    assert "some value" not in home.secrets_file.read_text()


async def test_with_a_keyring_secrets_are_kept_there(home: Home, with_keyring: MemoryKeyring) -> None:
    store = SecretStore(home)
    assert await store.place() == "keyring"
    await store.put("name", "some value")
    assert list(with_keyring.passwords.values()) == ["some value"]
    assert await SecretStore(home).get("name") == "some value"
    await store.delete("name")
    assert not with_keyring.passwords
    assert await store.get("name") is None


async def test_two_homes_do_not_see_each_others_secrets(tmp_path: Path, with_keyring: MemoryKeyring) -> None:
    await SecretStore(Home(tmp_path / "a")).put("name", "value of a")
    await SecretStore(Home(tmp_path / "b")).put("name", "value of b")
    assert await SecretStore(Home(tmp_path / "a")).get("name") == "value of a"
    assert len(with_keyring.passwords) == 2


def test_what_a_person_put_into_the_keyring_can_be_referred_to(
    home: Home, with_keyring: MemoryKeyring
) -> None:
    with_keyring.set_password("manyhands", "github", "by hand")
    assert SecretStore(home).resolve("${keyring:github}") == "by hand"


async def test_a_value_too_large_for_some_keyrings_goes_to_the_file(
    home: Home, with_keyring: MemoryKeyring
) -> None:
    store = SecretStore(home)
    await store.put("name", "small value")
    await store.put("name", "x" * 3000)
    assert await store.get("name") == "x" * 3000
    assert not with_keyring.passwords
    await store.put("name", "small again")
    assert await SecretStore(home).get("name") == "small again"


async def test_a_keyring_that_refuses_a_value_leaves_it_to_the_file(home: Home) -> None:
    with installed(RefusingKeyring()):
        store = SecretStore(home)
        await store.put("name", "some value")
        assert await store.get("name") == "some value"


async def test_a_locked_keyring_hinders_nobody_who_does_not_need_it(home: Home) -> None:
    with installed(LockedKeyring()) as backend:
        assert isinstance(backend, LockedKeyring)
        bounded = SystemKeyring("ours", seconds=0.05)
        store = SecretStore(home, keyring=bounded)
        try:
            assert await store.get("never-stored") is None
            await store.put("name", "some value")
            assert await store.get("name") == "some value"
            with pytest.raises(UnavailableError, match="did not answer"):
                await store.expand({"A": "${keyring:by-hand}"})
        finally:
            backend.unlocked.set()


@pytest.mark.usefixtures("without_keyring")
async def test_a_deleted_secret_is_gone_and_deleting_it_twice_is_harmless(home: Home) -> None:
    store = SecretStore(home)
    await store.put("name", "some value")
    await store.delete("name")
    await store.delete("name")
    assert await SecretStore(home).get("name") is None


# --- protecting what a config holds


@pytest.mark.requirement("L28")
@pytest.mark.usefixtures("without_keyring")
async def test_a_literal_becomes_a_reference_and_a_reference_stays(home: Home) -> None:
    store = SecretStore(home, env={})
    assert await store.protect("server/1/env/KEY", "literal") == "${keyring:server/1/env/KEY}"
    assert await store.protect("server/1/env/A", "Bearer ${TOKEN}") == "Bearer ${TOKEN}"
    assert await store.protect("server/1/env/B", "") == ""
    assert store.resolve("${keyring:server/1/env/KEY}") == "literal"


@pytest.mark.usefixtures("without_keyring")
async def test_a_mask_is_never_stored_as_if_it_were_the_secret(home: Home) -> None:
    with pytest.raises(InvalidError, match="stands for a secret"):
        await SecretStore(home).protect("name", MASK)

"""Secrets of a configuration are kept as references, and a mask that comes back means what it hid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manyhands.errors import InvalidError
from manyhands.home import Home
from manyhands.secrets import MASK, SecretStore
from manyhands.secrets.system_keyring import SystemKeyring
from manyhands.servers.config_secrets import forget_unused, mask_literals, protect_config
from manyhands.servers.types import ServerConfig

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("L28")]

CONFIG = ServerConfig(
    "git hub", command="x", env={"TOKEN": "ghp-literal", "USER": "${USER}"}, headers={"X-Key": "k-literal"}
)


class NoKeyring(SystemKeyring):
    """A machine without a keyring."""

    def __init__(self) -> None:
        super().__init__("test")

    def available(self) -> bool:
        return False

    def get(self, name: str) -> str | None:
        return None


@pytest.fixture
def secrets(tmp_path: Path) -> SecretStore:
    return SecretStore(Home(tmp_path), keyring=NoKeyring(), env={})


async def test_literals_become_references_that_lead_back_to_them(secrets: SecretStore) -> None:
    saved = await protect_config(secrets, CONFIG, None)
    assert saved.env["TOKEN"].startswith("${keyring:server/git-hub/TOKEN/")
    assert saved.env["USER"] == "${USER}"
    assert "literal" not in repr(saved)
    assert secrets.resolve(saved.env["TOKEN"]) == "ghp-literal"
    assert secrets.resolve(saved.headers["X-Key"]) == "k-literal"


async def test_a_mask_that_is_sent_back_keeps_the_value(secrets: SecretStore) -> None:
    saved = await protect_config(secrets, CONFIG, None)
    edited = replace(CONFIG, env={"TOKEN": MASK, "USER": MASK}, headers={"X-Key": "new-literal"})
    after = await protect_config(secrets, edited, saved)
    assert after.env == saved.env
    assert secrets.resolve(after.headers["X-Key"]) == "new-literal"
    assert secrets.resolve(saved.headers["X-Key"]) == "k-literal"


async def test_a_mask_that_hides_nothing_is_refused(secrets: SecretStore) -> None:
    with pytest.raises(InvalidError, match=r"env\.NEW is"):
        await protect_config(secrets, replace(CONFIG, env={"NEW": MASK}), CONFIG)
    with pytest.raises(InvalidError, match=r"args\[1\] of server 'git hub'"):
        await protect_config(secrets, replace(CONFIG, args=("--token", MASK)), None)


async def test_what_is_no_longer_used_is_forgotten_and_a_persons_own_secret_is_not(
    secrets: SecretStore,
) -> None:
    await secrets.put("MINE", "my-own-secret")
    saved = await protect_config(secrets, replace(CONFIG, env={**CONFIG.env, "OWN": "${keyring:MINE}"}), None)
    after = replace(saved, env={}, headers=saved.headers)
    await forget_unused(secrets, saved, after)
    assert secrets.resolve(saved.headers["X-Key"]) == "k-literal"
    name = saved.env["TOKEN"].removeprefix("${keyring:").removesuffix("}")
    assert await secrets.get(name) is None
    await forget_unused(secrets, after, None)
    assert await secrets.get("MINE") == "my-own-secret"


def test_what_may_be_written_down_of_a_projects_secrets_are_references() -> None:
    assert mask_literals(CONFIG).env == {"TOKEN": MASK, "USER": "${USER}"}

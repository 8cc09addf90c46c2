"""References are resolved just before they are used, and what is shown of a command has none of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from manyhands.clock import SystemClock
from manyhands.errors import NotConfiguredError
from manyhands.home import Home
from manyhands.secrets import SecretStore
from manyhands.servers.sign_in import SignIn
from manyhands.servers.targets import Targets
from manyhands.servers.types import Server, ServerConfig
from tests.servers.hubs import NoKeyring

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@pytest.fixture
def secrets(tmp_path: Path) -> SecretStore:
    return SecretStore(
        Home(tmp_path), keyring=NoKeyring(), env={"WHERE": "example.com", "KEY": "the-key-value"}
    )


@pytest.fixture
def targets(secrets: SecretStore) -> Targets:
    return Targets(secrets, SignIn(secrets, SystemClock()))


def server(config: ServerConfig, project: str | None = None) -> Server:
    return Server(1, config, config.name, project, False, None, NOW, NOW)


@pytest.mark.requirement("L28")
async def test_what_is_shown_of_a_command_holds_references_and_not_what_they_stand_for(
    targets: Targets,
) -> None:
    target = targets.of(server(ServerConfig("x", command="run", args=("--key", "${KEY}"))))
    assert (await target.open()).diagnostics().target == "run --key '${KEY}'"
    assert (target.name, target.transport, target.connect_timeout_s) == ("x", "stdio", 30.0)


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_an_address_may_hold_references(targets: Targets, transport: str) -> None:
    config = ServerConfig("x", transport, url="https://${WHERE}/mcp", headers={"X": "${KEY}"})  # type: ignore[arg-type]
    handle = await targets.of(server(config)).open()
    assert "example.com" in handle.diagnostics().target


async def test_a_reference_to_nothing_says_what_is_missing(targets: Targets) -> None:
    target = targets.of(server(ServerConfig("x", command="run", env={"A": "${NOT_SET}"})))
    with pytest.raises(NotConfiguredError, match="NOT_SET"):
        await target.open()


@pytest.mark.requirement("L28")
async def test_a_literal_secret_of_a_project_is_kept_out_of_what_is_shown(
    targets: Targets, secrets: SecretStore
) -> None:
    config = ServerConfig("x", command="run", env={"TOKEN": "literal-secret-value"})
    await targets.of(server(config, "/home/me/project")).open()
    assert "literal-secret-value" not in secrets.redactor.redact("it said literal-secret-value")

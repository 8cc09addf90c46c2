"""`manyhands servers login|logout`, with a real authorization server and a real MCP endpoint behind it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import anyio.to_thread
import httpx2
import pytest

from tests.cli.conftest import ENOUGH_S, CommandLine, Ran, running_daemon
from tests.servers.authorization_server import AuthorizationServer, DocsServer, running_authorization_server

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("L27")]


@pytest.fixture
async def docs() -> AsyncIterator[AuthorizationServer]:
    async with running_authorization_server(DocsServer) as running:
        yield running


@pytest.fixture
def line(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line of a home with a running daemon."""
    made = CommandLine(tmp_path / "home")
    with running_daemon(made):
        yield made


async def run(line: CommandLine, *arguments: str, stdin: str | None = None) -> Ran:
    """As a process, while the servers of this test go on in this one."""
    return await anyio.to_thread.run_sync(partial(line, *arguments, stdin=stdin))


async def started(line: CommandLine, *options: str) -> tuple[subprocess.Popen[str], str]:
    """A login that waits, and the address that it shows."""
    return await anyio.to_thread.run_sync(start_login, line, *options)


def start_login(line: CommandLine, *options: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        line.argv("servers", "login", "docs", *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=line.environment,
    )
    assert process.stderr is not None
    for shown in process.stderr:
        if found := re.search(r"http://\S+/as/authorize\S+", shown):
            return process, found[0]
    raise AssertionError("it ended without an address")


async def test_adding_a_server_that_wants_a_sign_in_says_how(
    line: CommandLine, docs: AuthorizationServer
) -> None:
    ran = await run(line, "servers", "add", "docs", "--url", docs.mcp)
    assert ran.code == 1
    assert ran.err.endswith("error: docs wants you to sign in. Run `manyhands servers login docs`.\n")
    assert "manyhands servers login docs" in (await run(line, "servers", "list")).out


async def test_the_browser_comes_back_to_the_daemon_and_the_command_ends(
    line: CommandLine, docs: AuthorizationServer
) -> None:
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    process, address = await started(line)
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        page = await browser.get(address)
    assert "Signed in to docs" in page.text
    out, err = await anyio.to_thread.run_sync(partial(process.communicate, timeout=ENOUGH_S))
    assert out.startswith("✓ docs is signed in: 1 tool"), err
    assert process.returncode == 0


async def test_a_browser_on_another_machine_pastes_its_address(
    line: CommandLine, docs: AuthorizationServer
) -> None:
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    process, address = await started(line, "--paste")
    async with httpx2.AsyncClient(trust_env=False) as browser:
        pasted = (await browser.get(address)).headers["location"]
    out, err = await anyio.to_thread.run_sync(partial(process.communicate, f"{pasted}\n", timeout=ENOUGH_S))
    assert out.startswith("✓ docs is signed in: 1 tool"), err


async def test_a_wrong_paste_is_refused_in_one_line(line: CommandLine, docs: AuthorizationServer) -> None:
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    process, _ = await started(line, "--paste")
    pasted = "http://127.0.0.1/?code=x&state=not-ours\n"
    out, err = await anyio.to_thread.run_sync(partial(process.communicate, pasted, timeout=ENOUGH_S))
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in err


async def test_a_sign_in_that_the_person_refuses_in_the_browser_ends_the_wait(
    line: CommandLine, docs: AuthorizationServer
) -> None:
    docs.consents = False
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    process, address = await started(line)
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        await browser.get(address)
    _, err = await anyio.to_thread.run_sync(partial(process.communicate, timeout=ENOUGH_S))
    assert process.returncode == 1
    assert err.splitlines()[-1].startswith("error: The sign-in was refused: The person said no.")


async def test_without_a_daemon_the_address_is_asked_for(docs: AuthorizationServer, tmp_path: Path) -> None:
    line = CommandLine(tmp_path / "home")
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    ran = await run(line, "servers", "login", "docs", stdin="")
    assert ran.code == 1
    assert "copy that address" in ran.err
    assert "error: Nothing was pasted. Paste the whole address" in ran.err


async def test_a_wait_without_a_browser_ends_and_says_what_to_do(
    line: CommandLine, docs: AuthorizationServer
) -> None:
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    ran = await run(line, "servers", "login", "docs", "--timeout", "1")
    assert ran.code == 1
    assert "--paste" in ran.err.splitlines()[-1]


async def test_signing_out_forgets_the_sign_in(line: CommandLine, docs: AuthorizationServer) -> None:
    await run(line, "servers", "add", "docs", "--url", docs.mcp)
    process, address = await started(line)
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        await browser.get(address)
    await anyio.to_thread.run_sync(partial(process.communicate, timeout=ENOUGH_S))
    ran = await run(line, "servers", "logout", "docs")
    assert ran.out == "✓ signed out of docs\n"
    assert (await run(line, "servers", "show", "docs", "--json")).json["status"] in (
        "needs_auth",
        "disconnected",
    )

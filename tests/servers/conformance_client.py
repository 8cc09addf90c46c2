"""A client for the MCP conformance suite that is made of our own connection and sign-in, without a person.

It connects to the suite's server, signs in when it is asked to (following the authorization address as a
browser would), calls every tool, and signs in again where a call wants more rights. Whether that should have
succeeded is for the suite to say.

The suite starts a command for each scenario: `conformance_command.py`, which hands it over to this program,
so that the imports are paid for once.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from anyio.abc import SocketAttribute, SocketStream

from manyhands.approvals.types import Answer, Question
from manyhands.errors import ManyhandsError, NeedsAuthError, UnavailableError
from manyhands.home import Home
from manyhands.secrets import SecretStore
from manyhands.servers.connection import Connection
from manyhands.servers.endpoints import ConnectionKey, Target
from manyhands.servers.sign_in import SignIn
from manyhands.servers.transports.http import HttpTransport
from manyhands.servers.types import Server, ServerConfig
from manyhands.tools.types import CallContext

METADATA_URL = "https://conformance-test.local/client-metadata.json"
SECONDS = 20.0
MOST_SIGN_INS = 3


class Unattended:
    """One call with nobody to ask."""

    call_id = "call_conformance"
    context = CallContext(attended=False)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody watches."""

    async def ask(self, question: Question) -> Answer:
        raise NotImplementedError

    @contextmanager
    def pause(self) -> Iterator[None]:
        yield


NAMES = {
    "client_id": "OAUTH_CLIENT_ID",
    "client_secret": "OAUTH_CLIENT_SECRET",
    "private_key_pem": "OAUTH_PRIVATE_KEY",
    "signing_algorithm": "OAUTH_KEY_ALGORITHM",
}


async def issuer_of(url: str) -> str:
    """What whoever was given credentials was told with them."""
    address = httpx2.URL(url)
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        answer = await client.get(
            address.copy_with(path=f"/.well-known/oauth-protected-resource{address.path}")
        )
        return str(answer.json()["authorization_servers"][0])


async def configured(url: str, scenario: str, context: Mapping[str, Any]) -> Server:
    """The suite's server as a person would have saved it."""
    settings = {NAMES[key]: str(value) for key, value in context.items() if key in NAMES}
    if scenario.startswith("auth/client-credentials"):
        settings |= {"OAUTH_GRANT": "client_credentials", "OAUTH_ISSUER": await issuer_of(url)}
    if scenario == "auth/basic-cimd":
        settings = {"OAUTH_CLIENT_METADATA_URL": METADATA_URL}
    config = ServerConfig("conformance", transport="http", url=url, env=settings)
    now = datetime.now(UTC)
    return Server(1, config, "conformance", None, False, None, now, now)


async def use_browser(sign_in: SignIn, server: Server) -> None:
    """Sign in as a person would: open the address, and come back with where it leads."""
    start = await sign_in.start(server)
    async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
        response = await browser.get(start.url)
    await sign_in.finish(start.state, response.headers["location"])


async def use_server(sign_in: SignIn, server: Server) -> bool:
    """Connect once and call every tool; False when the server wants a sign-in."""

    async def transport() -> HttpTransport:
        url = server.config.url or ""
        return HttpTransport(url, auth=sign_in.auth(server, url))

    connection = Connection(ConnectionKey(server.id), Target("conformance", transport, "http"))
    outcome: bool | ManyhandsError
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        try:
            outcome = await call_all(connection)
        except ManyhandsError as error:
            outcome = error
        connection.stop()
        await connection.stopped()
    if isinstance(outcome, ManyhandsError):
        raise outcome
    return outcome


async def call_all(connection: Connection) -> bool:
    try:
        await connection.connected(SECONDS)
    except NeedsAuthError:
        return False
    assert connection.catalogue is not None
    for tool in connection.catalogue.tools:
        result = await connection.call_tool(tool.name, {}, Unattended())
        if result.code == "needs_auth":
            return False
        if result.is_error:
            raise UnavailableError(result.text)
    return True


async def run_scenario(url: str, scenario: str, context: Mapping[str, Any]) -> str | None:
    """What went wrong, if anything did."""
    server = await configured(url, scenario, context)
    with tempfile.TemporaryDirectory() as directory:
        async with SignIn(SecretStore(Home(Path(directory)))) as sign_in:
            try:
                for _ in range(MOST_SIGN_INS):
                    if await use_server(sign_in, server):
                        return None
                    await use_browser(sign_in, server)
            except ManyhandsError as error:
                return str(error)
    return "The server goes on asking for sign-ins."


async def answer(stream: SocketStream) -> None:
    async with stream:
        asked = json.loads(await stream.receive())
        problem = await run_scenario(asked["url"], asked["scenario"], asked["context"])
        await stream.send(json.dumps({"problem": problem}).encode())


async def serve() -> None:
    """Run what comes in until standard input ends; the port is the first line of output."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        print(listener.extra(SocketAttribute.local_port), flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    anyio.run(serve)

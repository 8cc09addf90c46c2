"""Trying a server before it is saved: connect once, see what it offers, leave nothing behind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from manyhands.errors import ManyhandsError
from manyhands.imports import import_aside
from manyhands.secrets import Redactor
from manyhands.servers.backoff import BackOff
from manyhands.servers.endpoints import ConnectionKey, Limits
from manyhands.servers.targets import Targets
from manyhands.servers.types import Catalogue, Server, ServerStatus
from manyhands.servers.views import TestReport

if TYPE_CHECKING:
    from manyhands.servers.connection import Connection

UNSAVED = 0
"""The id of a server that is only tried."""
_GRACE_S = 2.0


async def probe(server: Server, targets: Targets, redactor: Redactor) -> TestReport:
    """How connecting went and what was found, or the whole reason why it failed."""
    module = await import_aside("manyhands.servers.connection")
    key, limits = ConnectionKey(server.id), Limits(backoff=BackOff(attempts=0))
    target = replace(targets.of(server), is_saved=server.id != UNSAVED)
    connection: Connection = module.Connection(key, target, limits=limits)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        try:
            report = await _report(connection, server, redactor)
        finally:
            connection.stop()
    return report


async def _report(connection: Connection, server: Server, redactor: Redactor) -> TestReport:
    began = anyio.current_time()
    error: str | None = None
    try:
        await connection.connected(server.config.connect_timeout / 1000 + _GRACE_S)
    except ManyhandsError as refusal:
        error = redactor.redact(str(refusal))
    state = connection.state
    return TestReport(
        ok=error is None,
        elapsed_ms=round((anyio.current_time() - began) * 1000),
        error=error,
        catalogue=connection.catalogue or Catalogue(),
        stderr=redactor.redact(connection.stderr_tail),
        exit_code=state.exit_code,
        needs_auth=state.status is ServerStatus.NEEDS_AUTH,
    )

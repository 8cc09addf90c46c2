"""Writes calls down: that one begins, before it starts; how it ended; the events about both, and the file
when the result is too large for a row.

A call starts only when a kill would leave a trace of it, be that a row or a note (`begun_calls`). A result is
handed out only when its end is committed. What cannot be written down becomes an error that says so.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import anyio
from sqlalchemy import Connection

from manyhands.errors import ManyhandsError, ToolFault, UnavailableError
from manyhands.events import EventBus
from manyhands.secrets import Redactor
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store, Work
from manyhands.tools import call_log as rows
from manyhands.tools.begun_calls import BegunCalls
from manyhands.tools.large_results import GIVEN_BINARY, Weight, cut_text, page_text, stand_in, weigh
from manyhands.tools.outcomes import Outcome, error_of, named_tool, of_error
from manyhands.tools.result_files import ResultFiles
from manyhands.tools.storable import storable, storable_text
from manyhands.tools.types import CallRecord, CallStatus, ToolResult, text_result

log = logging.getLogger(__name__)

END_LIMIT_S = 60.0
SETTLE_LIMIT_S = 1.0
LOGGED_BLOCK = 8192
EVENT_TEXT = 4000
FEW = 4

T = TypeVar("T")


class CallBook:
    """The log of calls as the pipeline writes it."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        settings: CurrentSettings,
        files: ResultFiles,
        begun: BegunCalls,
        redactor: Redactor | None = None,
    ) -> None:
        self._store = store
        self._bus = bus
        self._settings = settings
        self._files = files
        self._begun = begun
        self._redactor = redactor or Redactor()
        self._underway: set[str] = set()
        self._unwritten: dict[str, CallRecord] = {}
        """What the database may not have: that a noted call began, or how one ended while it failed."""
        self._in_doubt = False
        """Whether the last row could not be written: then no call goes out before its own is."""

    async def _write(self, work: Work[object]) -> None:
        """A few calls want their rows at once; many are better served by one commit for all of them."""
        write = self._store.write_row if len(self._underway) <= FEW else self._store.write_soon
        try:
            await write(work)
        except Exception:
            self._in_doubt = True
            raise
        works_again, self._in_doubt = self._in_doubt, False
        if works_again:
            await self.settle()

    async def begin(self, record: CallRecord, *, new: bool) -> CallRecord | None:
        """Put a call on record that is about to start; if that fails, answer with how it failed.

        `new`: its id was made for it just now; with one that somebody has written down before, only the
        database can tell that the call was not made already.
        """
        self._underway.add(record.id)
        try:
            await self._put_on_record(record, new)
        except Exception as error:  # noqa: BLE001 - border: a call that cannot be logged does not start
            failed = _unlogged(
                record, f"{_who(record)} was not called because that could not be logged: {_why(error)}"
            )
            log.error("%s: %s", record.id, failed.error)
            self._underway.discard(record.id)
            self._forget(record.id)
            self._publish("tool.finished", failed)
            return failed
        return None

    async def _put_on_record(self, record: CallRecord, new: bool) -> None:
        """By a note if there is a place and the database works, with the row behind it; else by the row."""
        if not new or self._in_doubt or not self._begun.note(record):
            await self._write(lambda conn: rows.begin_call(conn, record))
            return
        self._unwritten[record.id] = record
        self._store.post(lambda conn: self._write_begun(conn, record))

    def _write_begun(self, conn: Connection, record: CallRecord) -> None:
        """For whoever looks while it runs; most calls are over by now, and written with their end."""
        if record.id in self._underway:
            rows.add_begun(conn, [record])

    def _forget(self, call_id: str) -> None:
        """The database has it, or it never began."""
        self._begun.forget(call_id)
        self._unwritten.pop(call_id, None)

    async def settle(self) -> None:
        """Write what is not written yet, for somebody who is about to read, or once that works again."""
        unwritten = list(self._unwritten.values())
        if not unwritten:
            return
        # What is there can be read all the same.
        with suppress(UnavailableError), anyio.move_on_after(SETTLE_LIMIT_S):
            await self._store.write(lambda conn: rows.add_calls(conn, unwritten))
            for one in unwritten:
                self._wrote(one)

    def _wrote(self, record: CallRecord) -> None:
        """Unless it has ended meanwhile, and that is not written."""
        if self._unwritten.get(record.id) is record:
            del self._unwritten[record.id]
            if record.status is not CallStatus.PENDING:
                self._begun.forget(record.id)

    def started(self, record: CallRecord) -> None:
        """Tell that the call goes out."""
        self._publish("tool.started", record)

    async def end(self, record: CallRecord, outcome: Outcome, duration_ms: int) -> CallRecord:
        """Commit how it ended and hand out the record. Cancelled on the way, it can be done again."""
        given, logged = await self._finished(record, outcome, duration_ms)
        self._underway.discard(record.id)  # whose posted row is not needed any more
        try:
            await self._write(lambda conn: rows.end_call(conn, logged))
        except Exception as error:  # noqa: BLE001 - border: the tool has run, so its result is handed out
            text = f"{_who(record)} was called, but how it ended could not be logged: {_why(error)}"
            log.error("%s: %s", record.id, text)
            given, logged = _unlogged(given, text), _unlogged(logged, text)
            if isinstance(error, UnavailableError):  # and nothing is wrong with the row
                self._unwritten[record.id] = logged
        else:
            self._forget(record.id)
        self._publish("tool.finished", logged)
        return given

    async def end_cancelled(self, record: CallRecord, outcome: Outcome, duration_ms: int) -> None:
        """The same for a caller who is gone: nothing but time comes between the end and its being written."""
        with anyio.move_on_after(END_LIMIT_S, shield=True):
            await self.end(record, outcome, duration_ms)
        self._underway.discard(record.id)

    async def _finished(
        self, record: CallRecord, outcome: Outcome, duration_ms: int
    ) -> tuple[CallRecord, CallRecord]:
        """The record as it is given and as it is logged."""
        outcome = _cleaned(outcome)
        if record.server_id is None:  # what servers say is free of secrets when it comes in
            outcome = self._hidden(outcome)
        result = outcome.result
        weight = weigh(result, self._settings.current.result_limit_chars)
        if weight.fits:
            given = _ended(record, outcome.status, result, weight, duration_ms)
            return given, self._logged(given)
        try:
            name = await self._files.keep(record.id, result, page_text(result, weight))
        except UnavailableError as error:
            lost = _not_kept(weight, record, error)
            given = _ended(record, CallStatus.ERROR, lost, weight, duration_ms)
            return given, self._logged(given)
        shown = stand_in(result, weight, record.id, binary_limit=GIVEN_BINARY)
        given = replace(_ended(record, outcome.status, shown, weight, duration_ms), result_file=name)
        small = stand_in(result, weight, record.id, binary_limit=LOGGED_BLOCK)
        return given, self._logged(replace(given, content=small.content))

    def redacted(self, value: T) -> T:
        """Something of a call, such as its arguments, as it is shown."""
        shown: T = self._redactor.redact_json(value)
        return shown

    def _hidden(self, outcome: Outcome) -> Outcome:
        """The outcome without what surely is a secret: nobody gets that, and it is stored nowhere."""
        result, hide = outcome.result, self._redactor.hide_cut_json
        clean = replace(result, content=hide(result.content), structured=hide(result.structured))
        return Outcome(outcome.status, clean)

    def _logged(self, record: CallRecord) -> CallRecord:
        """The record without anything that may be a secret; its arguments hold none."""
        redact = self._redactor.redact_json
        result, structured = redact(record.result), redact(record.structured_content)
        plain = all(block.get("type") == "text" for block in record.content or ())
        if plain and result == record.result and structured == record.structured_content:
            return record
        return replace(
            record,
            result=result,
            content=redact(record.content),
            structured_content=structured,
            error=redact(record.error),
        )

    def _publish(self, event: str, record: CallRecord) -> None:
        """Soon: neither the tool nor the caller waits for those who watch."""
        self._bus.publish_soon(event, lambda: _told(record), channel_id=record.channel_id)


def _ended(
    record: CallRecord, status: CallStatus, result: ToolResult, weight: Weight, duration_ms: int
) -> CallRecord:
    text = weight.text if weight.fits else result.text
    return CallRecord(  # and not `replace`, which takes three times as long
        id=record.id,
        tool=record.tool,
        server=record.server,
        server_id=record.server_id,
        channel_id=record.channel_id,
        run_id=record.run_id,
        iteration=record.iteration,
        arguments=record.arguments,
        at=record.at,
        status=status,
        result=text,
        content=result.content,
        structured_content=result.structured,
        is_error=result.is_error,
        code=result.code,
        error=error_of(Outcome(status, result)),
        duration_ms=duration_ms,
        size=weight.size,
    )


def _not_kept(weight: Weight, record: CallRecord, error: UnavailableError) -> ToolResult:
    shown = cut_text(weight.text, weight.limit, None) if weight.long_text else weight.text
    lost = f"its result of {weight.size} characters was not kept: {error}"
    text = f"{_who(record)} ran, but {lost} What is left:\n"
    code = "disk_full" if error.data.get("disk_full") else error.code
    return text_result(text + shown, is_error=True, code=code)


def _unlogged(record: CallRecord, text: str) -> CallRecord:
    """An error in place of what could not be written down, with what there is of a result."""
    whole = f"{text}\n{record.result}" if record.result else text
    return replace(
        record,
        status=CallStatus.ERROR,
        is_error=True,
        code="not_logged",
        error=text,
        result=whole,
        content=[{"type": "text", "text": whole}],
        duration_ms=record.duration_ms or 0,
    )


def _who(record: CallRecord) -> str:
    return named_tool(record.tool, record.server)


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, ManyhandsError) else type(error).__name__


def _cleaned(outcome: Outcome) -> Outcome:
    """The outcome as it can be stored and sent on."""
    result = outcome.result
    try:
        content = [storable(block) for block in result.content]
        structured = storable(result.structured)
    except ToolFault as error:
        return of_error(error)
    code = None if result.code is None else storable_text(result.code)[:64]
    return Outcome(outcome.status, ToolResult(content, structured, result.is_error, code))


def _told(record: CallRecord) -> dict[str, Any]:
    """A call as its events tell it."""
    data = record.wire()
    data["arguments"] = _short(record.arguments)
    return data


def _short(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for an event: whoever wants all of a long one finds it in the log."""
    return {name: _short_value(value) for name, value in arguments.items()}


def _short_value(value: Any) -> Any:
    if not isinstance(value, str | list | dict):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= EVENT_TEXT else f"{text[:EVENT_TEXT]}… ({len(text)} characters)"

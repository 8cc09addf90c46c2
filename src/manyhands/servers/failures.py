"""Why a connection failed, as a person reads it: what happened, to what, and what to do next. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from manyhands.errors import ManyhandsError, NeedsAuthError, NotConfiguredError
from manyhands.servers.endpoints import Target
from manyhands.servers.transports.types import (
    STALE_SESSION,
    TRANSPORT_FAILED,
    UNAUTHORIZED,
    TransportDiagnostics,
)

_CONNECTION_ERRORS = frozenset({TRANSPORT_FAILED, STALE_SESSION, UNAUTHORIZED})
_HUNG_UP = "Connection closed"
_UNKNOWN_VERSION = "Unsupported protocol version from the server: "
_LONGEST_VERSION = 40
_LAST_WORDS = 2000
_LAST_LINES = 5
_BY_HAND = "Run the command by hand to see why."
_LOOK = "Check that it runs and that its address is right."
_BAD_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
_UNKNOWN_ISSUERS = ("self-signed", "self signed", "unable to get local issuer", "unable to verify the first")
_CHECK = "Check that this is an MCP server and that its transport is the one it speaks."

Kind = Literal["failed", "hopeless", "needs_auth", "stale"]
"""`hopeless`: trying again changes nothing. `stale`: connect anew at once."""


def has_hung_up(error: MCPError) -> bool:
    """Whether the connection is closed. The SDK's words say so: its code is one that servers use, too."""
    return error.code == CONNECTION_CLOSED and error.message == _HUNG_UP


def is_connection_error(error: MCPError) -> bool:
    """Whether a request failed because of the connection and not because of what was asked."""
    return has_hung_up(error) or error.code in _CONNECTION_ERRORS


@dataclass(frozen=True, slots=True)
class Failure:
    """How a connection, or an attempt to make one, ended."""

    text: str
    kind: Kind = "failed"
    exit_code: int | None = None
    stderr_tail: str = ""
    sign_in_url: str | None = None


def explain(
    target: Target,
    error: BaseException | None,
    facts: TransportDiagnostics | None,
    *,
    was_up: bool,
    timed_out: bool = False,
) -> Failure:
    """One message from all that is known. `was_up`: it had been connected."""
    cause = _telling(error)
    # A server may refuse the first request and answer the second as if it did not know it.
    if _refused_us(cause) or (facts is not None and facts.refused and not was_up):
        return _sign_in(target, cause, facts)
    if isinstance(cause, MCPError) and cause.code == STALE_SESSION and was_up:
        return Failure(f"Server {target.name!r} no longer knows our session.", "stale")
    story, hint = _story(target, cause, facts, was_up, timed_out)
    hint = _certificate_advice(story) or hint
    kind: Kind = "hopeless" if isinstance(cause, NotConfiguredError) else "failed"
    text = "\n".join(part for part in (story, _last_words(facts), hint) if part)
    return Failure(
        text,
        kind,
        exit_code=facts.exit_code if facts else None,
        stderr_tail=facts.stderr_tail if facts else "",
    )


def _story(
    target: Target,
    cause: BaseException | None,
    facts: TransportDiagnostics | None,
    was_up: bool,
    timed_out: bool,
) -> tuple[str, str]:
    name, where = f"Server {target.name!r}", _where(target, facts)
    log = (
        f"`manyhands servers log {quote(target.name)}` shows what it wrote." if target.is_saved else _BY_HAND
    )
    if isinstance(cause, ManyhandsError):
        what = "reached" if target.remote else "started"
        return f"{name} could not be {what}: {cause.message}", cause.hint or log
    if facts and facts.problem:
        return f"{name} failed after {_took(facts)}: {facts.problem} {where}", _LOOK if target.remote else log
    if (version := _unknown_version(cause)) is not None:
        said = f"{name} answered that it speaks version {version!r} of MCP, which we do not know. {where}"
        return (
            said,
            f"Known are {', '.join(HANDSHAKE_PROTOCOL_VERSIONS)}: use a server that speaks one of them.",
        )
    if timed_out:
        slow = f"If it needs longer to start: `{_longer(target)}`. {log}"
        loud = "On stdio a server may write nothing but MCP messages to stdout; logs belong on stderr."
        return (
            f"{name} did not answer within {target.connect_timeout_s:g} s. {where}",
            f"{loud} {slow}" if facts and facts.garbage else slow,
        )
    if facts and facts.exit_code is not None:
        when = "while it was connected" if was_up else "before it was ready"
        return (
            f"{name} ended {when}, {_exit(facts.exit_code)} after {_took(facts)}. {where}",
            f"{_BY_HAND[:-1]}; {log}" if target.is_saved else _BY_HAND,
        )
    if isinstance(cause, MCPError) and not is_connection_error(cause):
        said = cause.message.rstrip(".")
        return f"{name} refused the connection: {said} ({cause.code}). {where}", _CHECK
    if isinstance(cause, ValidationError):
        return f"{name} answered with something that is not MCP: {_first_fault(cause)}. {where}", _CHECK
    if target.remote:
        reason = f": {_plain(cause)}" if cause else "."
        what = "was lost" if was_up else "could not be reached"
        return f"{name} {what}{reason} {where}", _LOOK
    what = "hung up" if was_up else "hung up before it was ready"
    return (
        f"{name} {what} after {_took(facts) if facts else 'a moment'}. {where}",
        f"{log[0].upper()}{log[1:]}",
    )


def _certificate_advice(story: str) -> str | None:
    """Only OpenSSL's words say what it has against a certificate."""
    if _BAD_CERTIFICATE not in story:
        return None
    if any(words in story for words in _UNKNOWN_ISSUERS):
        return (
            "Its certificate is not trusted here. If it is the right server, start the hub with SSL_CERT_FILE"
            " set to a file of the certificates to trust, with that of its issuer among them."
        )
    return "Its certificate is not valid for this address or at this time: correct the one or the other."


def _unknown_version(cause: BaseException | None) -> str | None:
    """The version that a server answered with, if that ended it. Only the SDK's words say so."""
    text = str(cause)
    if not isinstance(cause, RuntimeError) or not text.startswith(_UNKNOWN_VERSION):
        return None
    return text.removeprefix(_UNKNOWN_VERSION)[:_LONGEST_VERSION]


def _where(target: Target, facts: TransportDiagnostics | None) -> str:
    if facts is None:
        return ""
    return f"(address: {facts.target})" if target.remote else f"(command: {facts.target})"


def _longer(target: Target) -> str:
    option = f"--connect-timeout {round(target.connect_timeout_s * 4000)}"
    return f"manyhands servers edit {quote(target.name)} {option}" if target.is_saved else option


def _exit(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"with exit code {code}"


def _took(facts: TransportDiagnostics) -> str:
    return f"{facts.elapsed:.1f} s"


def _plain(cause: BaseException) -> str:
    text = str(cause).strip() or type(cause).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _last_words(facts: TransportDiagnostics | None) -> str:
    if facts is None:
        return ""
    parts = []
    if facts.stderr_tail.strip():
        parts.append(f"Its last words on stderr:\n{_end_of(facts.stderr_tail)}")
    if facts.garbage:
        last = _end_of("\n".join(facts.garbage_tail.strip().split("\n")[-_LAST_LINES:]), 400)
        lines = "1 line to stdout that is no MCP message:"
        if facts.garbage > 1:
            lines = f"{facts.garbage} lines to stdout that are not MCP messages, the last:"
        parts.append(f"It wrote {lines}\n{last}")
    return "\n".join(parts)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    return ": ".join(filter(None, [".".join(map(str, fault["loc"])), fault["msg"]]))


def _end_of(text: str, most: int = _LAST_WORDS) -> str:
    text = text.strip()
    return text if len(text) <= most else f"…{text[-most:]}"


def _refused_us(cause: BaseException | None) -> bool:
    return isinstance(cause, NeedsAuthError) or (isinstance(cause, MCPError) and cause.code == UNAUTHORIZED)


def _sign_in(target: Target, cause: BaseException | None, facts: TransportDiagnostics | None) -> Failure:
    url = cause.data.get("url") if isinstance(cause, NeedsAuthError) else None
    reason = cause.message if isinstance(cause, NeedsAuthError | MCPError) else "it refused us"
    what, command = "wants a sign-in", f"manyhands servers login {quote(target.name)}"
    hint = f"Sign in with `{command}`, or correct its headers."
    if target.has_authorization:
        what, hint = "refuses its Authorization header", "Give it another one, or remove it and sign in."
    text = f"Server {target.name!r} {what}: {reason} {_where(target, facts)}\n{hint}"
    return Failure(text, "needs_auth", sign_in_url=url if isinstance(url, str) else None)


def _telling(error: BaseException | None) -> BaseException | None:
    """Of all that was raised at once, what says most."""
    leaves = list(_leaves(error)) if error else []
    ranks: tuple[type[BaseException], ...] = (NeedsAuthError, ManyhandsError, MCPError, Exception)
    return next((leaf for rank in ranks for leaf in leaves if isinstance(leaf, rank)), None)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error

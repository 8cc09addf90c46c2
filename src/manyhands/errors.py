"""The one tree of errors, branched by what the receiver should do.

Every message says what is wrong and `hint` says what to do next. Each way in turns an error into its own
form once: problem+json, an exit code with one line on stderr, a tool result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class ManyhandsError(Exception):
    """Something went wrong that we understand."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(
        self, message: str, *, hint: str | None = None, data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.data: dict[str, Any] = dict(data or {})

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class InvalidError(ManyhandsError):
    """The input is wrong: correct it and send it again."""

    code = "invalid"
    status = 422


class UnauthorizedError(ManyhandsError):
    """The caller is not known: bring a token."""

    code = "unauthorized"
    status = 401


class NotAllowedError(ManyhandsError):
    """The caller is known and may not do this."""

    code = "not_allowed"
    status = 403


class NotFoundError(ManyhandsError):
    """There is no such thing, or none that this caller may see."""

    code = "not_found"
    status = 404


class ConflictError(ManyhandsError):
    """It clashes with what is there."""

    code = "conflict"
    status = 409


class TooLargeError(ManyhandsError):
    """It is over a limit."""

    code = "too_large"
    status = 413


class NotConfiguredError(ManyhandsError):
    """It needs a setting that nobody has made."""

    code = "not_configured"
    status = 501


class UnavailableError(ManyhandsError):
    """It cannot be reached now: try again later."""

    code = "unavailable"
    status = 503

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        data: Mapping[str, Any] | None = None,
        retry_after: float = 1.0,
    ) -> None:
        super().__init__(message, hint=hint, data=data)
        self.retry_after = retry_after


class NeedsAuthError(UnavailableError):
    """A server wants a person to sign in first."""

    code = "needs_auth"


class TooManyError(UnavailableError):
    """Too much of it at once: wait for some of it to end."""

    code = "too_many"
    status = 429


class InterruptedByCrashError(ManyhandsError):
    """A process ended in the middle of it."""

    code = "interrupted"


class ToolFault(ManyhandsError):
    """A tool could not do it; the model reads why and may try again with a change."""

    code = "tool_fault"
    status = 422


class ToolRefusal(ToolFault):
    """A tool may not do it; the model is told not to try again."""

    code = "tool_refused"
    status = 403


def innermost(error: BaseException) -> BaseException:
    """What task groups have wrapped: the first of what they hold."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error

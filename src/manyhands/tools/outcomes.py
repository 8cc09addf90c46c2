"""How a call ended, as results that a model can act on. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from manyhands.approvals.types import Answer, ApprovalState
from manyhands.errors import ManyhandsError, ToolRefusal, innermost
from manyhands.tools.policy import Decision
from manyhands.tools.types import NATIVE, CallStatus, ToolResult, text_result

ERROR_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result and the status it stands for."""

    status: CallStatus
    result: ToolResult


def named_tool(tool: str, server: str) -> str:
    """A tool as errors name it."""
    return f"Tool {tool!r}" if server == NATIVE else f"Tool {tool!r} of server {server!r}"


def of_result(result: ToolResult) -> Outcome:
    if result.is_error:
        # Some tools end themselves when their time is over, to keep what there was by then.
        return Outcome(CallStatus.TIMEOUT if result.code == "timeout" else CallStatus.ERROR, result)
    return Outcome(CallStatus.SUCCESS, result)


def of_error(error: BaseException) -> Outcome:
    """What a tool raised. Our own messages are meant to be read; of others only the first line is told."""
    error = innermost(error)
    if isinstance(error, ManyhandsError):
        text, code = str(error), error.code
        if isinstance(error, ToolRefusal):
            text = f"{text} Do not try this again."
    else:
        said = str(error).strip().splitlines()
        text = f"The tool failed: {type(error).__name__}" + (f": {said[0]}" if said else "") + "."
        code = "failed"
    return Outcome(CallStatus.ERROR, text_result(text, is_error=True, code=code))


def of_timeout(text: str, tool: str, server: str) -> Outcome:
    told = f"{text}\n{named_tool(tool, server)} was told to stop."
    told += " Ask for less at once, or have tool_timeout raised."
    return Outcome(CallStatus.TIMEOUT, text_result(told, is_error=True, code="timeout"))


def of_cancellation() -> Outcome:
    text = "The call was stopped before it had ended."
    return Outcome(CallStatus.CANCELLED, text_result(text, is_error=True, code="cancelled"))


def of_denial(decision: Decision) -> Outcome:
    text = (
        f"The call was denied: {decision.reason}. Do not try it again; go on without it or say what you need."
    )
    return Outcome(CallStatus.DENIED, text_result(text, is_error=True, code="denied"))


def of_refusal(answer: Answer) -> Outcome:
    """What a person's no, or their silence, means for the call."""
    said = f": {answer.reason}" if answer.reason else ""
    text = {
        ApprovalState.REJECTED: f"The person refused this call{said}. Do not try it again; ask for advice.",
        ApprovalState.EXPIRED: "Nobody answered whether this call may run, so it did not. Go on without it.",
    }.get(answer.state, f"The question whether this call may run was withdrawn{said}; it did not run.")
    return Outcome(CallStatus.DENIED, text_result(text, is_error=True, code="denied"))


def of_fault(text: str, code: str, status: CallStatus = CallStatus.ERROR) -> Outcome:
    """A call that did not start."""
    return Outcome(status, text_result(text, is_error=True, code=code))


def error_of(outcome: Outcome) -> str | None:
    """The error field of a record."""
    return outcome.result.text[:ERROR_LIMIT] if outcome.result.is_error else None

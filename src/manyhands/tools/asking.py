"""Asking a person whether a call may run, and keeping what they said for longer than once."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from manyhands.approvals.service import ApprovalService
from manyhands.approvals.types import Question, Scope
from manyhands.errors import ManyhandsError, UnavailableError
from manyhands.tools import outcomes
from manyhands.tools.outcomes import Outcome
from manyhands.tools.policy import Decision, Facts, rule_of_answer
from manyhands.tools.rulebook import Rulebook
from manyhands.tools.types import Effect, ToolSource

log = logging.getLogger(__name__)

SCOPES: Sequence[Scope] = ("once", "session", "tool", "server")


class Permission:
    """Decides about calls, with the person's help where the policy says so."""

    def __init__(self, approvals: ApprovalService, rulebook: Rulebook, source: ToolSource) -> None:
        self._approvals = approvals
        self._rulebook = rulebook
        self._source = source
        self._waiting: dict[str, Facts] = {}

    async def decide(self, facts: Facts) -> Decision:
        return (await self._rulebook.policy()).decide(facts)

    async def ask(self, call_id: str, facts: Facts, diff: str | None) -> Scope | Outcome:
        """For how long it may run, or how the call ended."""
        self._waiting[call_id] = facts
        try:
            # The rules may have changed while the call's row was being written.
            decision = await self.decide(facts)
            if decision.effect is Effect.DENY:
                return outcomes.of_denial(decision)
            if decision.effect is Effect.ALLOW:
                return "once"
            answer = await self._approvals.ask(_question(call_id, facts, decision, diff))
        except UnavailableError as error:
            return outcomes.of_error(error)
        finally:
            del self._waiting[call_id]
        if answer.approved:
            return answer.scope
        decision = await self.decide(facts)  # a rule may have answered in the person's place
        return outcomes.of_denial(decision) if decision.effect is Effect.DENY else outcomes.of_refusal(answer)

    async def reconsider(self) -> None:
        """After a change of the rules: settle what waits for a person and no longer needs to."""
        for call_id, facts in list(self._waiting.items()):
            decision = await self.decide(facts)
            if decision.effect is not Effect.ASK:
                await self._approvals.settle_call(call_id, decision.effect is Effect.ALLOW, decision.reason)

    async def remember(self, facts: Facts, scope: Scope) -> None:
        """Keep the answer, about the definition as it is now. The call runs even if this fails."""
        definition = facts.definition
        rule = rule_of_answer(scope, definition, facts.session_id)
        if rule is None:
            return
        try:
            if definition.server_id is not None:  # first, before it can become another one
                await self._source.accept_definition(definition.server_id, definition.name)
            await self._rulebook.add(rule)
            await self.reconsider()
        except ManyhandsError as error:
            log.warning("the answer for %s holds for this call only: %s", definition.full_name, error)


def _question(call_id: str, facts: Facts, decision: Decision, diff: str | None) -> Question:
    definition, context = facts.definition, facts.context
    owner = "" if definition.server_id is None else f" of {definition.server}"
    return Question(
        kind="tool",
        title=f"Run {definition.name}{owner}?",
        detail={
            "tool": definition.name,
            "server": definition.server,
            "full_name": definition.full_name,
            "description": definition.description,
            "project": definition.project,
            "annotations": definition.annotations.wire(),
            "says_destructive": definition.annotations.says_destructive,
            "arguments": dict(facts.arguments),
            "directory": context.directory,
            "author_id": context.author_id,
            "reason": decision.reason,
            "rule_id": decision.rule_id,
            "diff": diff if facts.changed else None,
            "scopes": list(SCOPES),
        },
        channel_id=context.channel_id,
        run_id=context.run_id,
        call_id=call_id,
    )

"""A run as a machine of states: what follows from what has happened. Pure; whoever drives it does the deeds.

It is made from the run and the attempts on record, is told what happened (`begin`, `finish`, `answer`,
`stop`, `retry`), and collects what must be written and done in `deeds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

from manyhands.errors import ConflictError, NotFoundError
from manyhands.workflows import rules, templates
from manyhands.workflows.flow_bodies import FlowBodies
from manyhands.workflows.frames import CONTAINERS, Frame, rendered
from manyhands.workflows.types import (
    Decision,
    Json,
    Node,
    NodeRun,
    NodeStatus,
    Outcome,
    RunStatus,
    WorkflowRun,
)
from manyhands.workflows.validation import looks_at_decision, reject_to

_BEGUN_AGAIN = (NodeStatus.FAILED, NodeStatus.CANCELLED)


class Flow(FlowBodies):
    """One run."""

    def __init__(self, run: WorkflowRun, records: Iterable[NodeRun], parallel: int, now: datetime) -> None:
        super().__init__(run, records, parallel, now)
        self.root = self._frame("", self.definition.nodes, run.inputs)
        self._reopen(self.root)
        if self.current and not run.ended:
            self._settle_all(self.root)

    # --- what happened

    def begin(self) -> None:
        """Everything that can run, runs."""
        self._settle_all(self.root)
        self._step()

    def finish(self, path: str, attempt: int, outcome: Outcome) -> bool:
        """An attempt ended. Whether that was news: an attempt that was sent back or stopped is not."""
        record = self.current.get(path)
        if record is None or record.attempt != attempt or record.status.ended:
            return False
        frame, node = self._find(path)
        if record.type not in CONTAINERS and record.status is NodeStatus.RUNNING:
            self._busy -= 1
        self._conclude(frame, node, record, outcome)
        self._step()
        return True

    def note(self, path: str, attempt: int, detail: Mapping[str, Any]) -> bool:
        """Write something down with an attempt that goes on; whether it does."""
        record = self.current.get(path)
        if record is None or record.attempt != attempt or record.status is not NodeStatus.RUNNING:
            return False
        self._put(replace(record, detail={**record.detail, **detail}))
        return True

    def ask_again(self, path: str, attempt: int, detail: Mapping[str, Any]) -> bool:
        """An attempt cannot go on before a person has said so: it waits, and its place is free."""
        record = self.current.get(path)
        if record is None or record.attempt != attempt or record.status is not NodeStatus.RUNNING:
            return False
        self._busy -= 1
        record = replace(record, status=NodeStatus.WAITING, detail={**record.detail, **detail})
        self._put(record)
        self.deeds.questions.append(record)
        self._step()
        return True

    def answer(self, path: str, attempt: int, decision: Decision | None, response: Any) -> bool:
        """A person answered; nobody did when `decision` is nothing."""
        record = self.current.get(path)
        if record is None or record.attempt != attempt or record.status is not NodeStatus.WAITING:
            return False
        frame, node = self._find(path)
        if record.type == "approval":
            self._approved(frame, node, record, decision, response)
        elif decision == "approve":
            self._allow(record)
        else:
            said = f": {response}" if response else ""
            why = "A person said no" if decision == "reject" else "Nobody answered in time"
            kind = "interrupted" if record.detail.get("asked") == "interrupted" else "denied"
            self._conclude(
                frame, node, record, Outcome(NodeStatus.FAILED, error=f"{why}{said}.", error_class=kind)
            )
        self._step()
        return True

    def _allow(self, record: NodeRun) -> None:
        """A new attempt after one that a person had to be asked about."""
        asked = record.detail.get("asked")
        self._write(
            replace(record, status=NodeStatus.CANCELLED, reason=f"{asked}; allowed", ended_at=self.now)
        )
        allowed = replace(
            record,
            attempt=record.attempt + 1,
            status=NodeStatus.RUNNING,
            started_at=self.now,
            detail={"allowed": asked},
        )
        self._put(allowed)
        self._busy += 1
        self.deeds.starts.append(allowed)

    def stop(self, ending: Literal["cancelled", "timeout"], error: str | None = None) -> None:
        """End everything but what always runs; asked twice, that too."""
        again = self.run.ending is not None
        self.run = replace(self.run, ending=self.run.ending or ending, error=self.run.error or error)
        self._queue.clear()
        self._queued.clear()
        self._stop_frame(self.root, force=again)
        self._settle_all(self.root)
        self._step()

    def expire(self, path: str, attempt: int) -> bool:
        """The time of a node with a body is over."""
        record = self.current.get(path)
        if record is None or record.attempt != attempt or record.status is not NodeStatus.RUNNING:
            return False
        frame, node = self._find(path)
        self._drop_below(path)
        said = f"It took longer than {node.timeout_s:g} s."
        self._conclude(frame, node, record, Outcome(NodeStatus.FAILED, error=said, error_class="timeout"))
        self._step()
        return True

    # --- beginning again

    def retry(self, from_node: str | None, from_failed: bool) -> None:
        """Go on with a run that has ended."""
        if not self.run.ended:
            raise ConflictError(
                f"The run is {self.run.status.value}.", hint="Cancel it first, or answer what it waits for."
            )
        self.run = replace(
            self.run,
            status=RunStatus.RUNNING,
            ending=None,
            error=None,
            ended_at=None,
            retries=self.run.retries + 1,
            deadline=self.deadline(),
        )
        if from_node is not None:
            self._reset_named(from_node)
        elif from_failed and not self._reset_failed(self.root):
            from_failed = False
        if from_node is None and not from_failed:
            self._reset(self.root, {node.id for node in self.root.nodes})
        self._settle_all(self.root)
        self._step()

    def _reset_named(self, path: str) -> None:
        if path not in self.current and path not in self.root.by_id:
            known = ", ".join(node.id for node in self.root.nodes)
            raise NotFoundError(f"There is no node {path!r} in this run.", hint=f"Its nodes: {known}.")
        frame, node = self._find(path)
        self._reset(frame, frame.below(node.id))
        while frame.container is not None and frame.above is not None:
            record = self.current[frame.container]
            above, holder = self._find(frame.container)
            self._reset(above, above.below(holder.id) - {holder.id})
            if record.status.ended:
                above.left += 1
                self._put(
                    replace(record, status=NodeStatus.RUNNING, error=None, error_class=None, ended_at=None)
                )
            frame = above

    def _reset_failed(self, frame: Frame) -> bool:
        """Begin anew what failed or was stopped, and what came after it; what is done stays."""
        bad = [node for node in frame.nodes if self._status(frame, node) in _BEGUN_AGAIN]
        for node in bad:
            record = self.current[frame.path(node.id)]
            inner = [one for one in self.frames.values() if one.container == record.path]
            begun = [self._reset_failed(one) for one in inner]
            if any(begun):
                self._reset(frame, frame.below(node.id) - {node.id})
                frame.left += 1
                self._put(
                    replace(record, status=NodeStatus.RUNNING, error=None, error_class=None, ended_at=None)
                )
            else:
                self._reset(frame, frame.below(node.id))
        return bool(bad)

    # --- deciding

    def _settle_all(self, frame: Frame) -> None:
        """Look at everything of a body, and of the bodies in it."""
        for inner in [one for one in self.frames.values() if one.above is frame]:
            record = self.current.get(inner.container or "")
            if record is not None and not record.status.ended:
                self._settle_all(inner)
        self._todo.extend((frame, node) for node in frame.nodes)

    def _look(self, frame: Frame, node: Node) -> None:
        """At a node that may run now, or whose body may have moved."""
        if self.frames.get(frame.prefix) is not frame:
            return
        record = self.current.get(frame.path(node.id))
        if record is None:
            self._settle(frame, node)
        elif node.type in CONTAINERS and record.status is NodeStatus.RUNNING:
            self._continue(frame, node, record)

    def _settle(self, frame: Frame, node: Node) -> None:
        """Decide about a node that is pending."""
        if frame.path(node.id) in self._queued:
            return
        before = {name: self._status(frame, frame.by_id[name]) for name in node.depends_on}
        if self.run.ending is not None and not node.always_run:
            self._end_unrun(frame, node, NodeStatus.CANCELLED, "the run was stopped")
            return
        decided = rules.decide(node, before, self._refused(frame, node))
        if decided.verdict == "skip":
            self._end_unrun(frame, node, NodeStatus.SKIPPED, decided.reason)
        elif decided.verdict == "run":
            self._ready(frame, node)

    def _refused(self, frame: Frame, node: Node) -> list[str]:
        """The approvals before it that said no, unless it looks at what they said."""
        found = []
        for name in node.depends_on:
            record = self.current.get(frame.path(name))
            if (
                record is not None
                and record.detail.get("decision") == "reject"
                and not looks_at_decision(node, name)
            ):
                found.append(name)
        return found

    def _ready(self, frame: Frame, node: Node) -> None:
        values = frame.values(self.shown)
        try:
            if node.when is not None and not templates.holds(node.when, values):
                self._end_unrun(frame, node, NodeStatus.SKIPPED, f"when is false: {node.when}")
                return
        except templates.TemplateFault as fault:
            self._fail_unrun(frame, node, f"when: {fault.message}")
            return
        if node.type in CONTAINERS or node.type == "approval":
            self._launch(frame, node)
        else:
            self._queue.append((frame, node))
            self._queued.add(frame.path(node.id))

    def _step(self) -> None:
        """Start what is ready while there is room; then see whether the run is over."""
        while self._todo or (self._queue and self._busy < self.parallel):
            if self._todo:
                self._look(*self._todo.popleft())
                continue
            frame, node = self._queue.popleft()
            self._queued.discard(frame.path(node.id))
            self._launch(frame, node)
        self._judge_run()

    def _launch(self, frame: Frame, node: Node, tries: int = 1, not_before: datetime | None = None) -> None:
        try:
            inputs = rendered(node, frame.values(self.shown))
        except templates.TemplateFault as fault:
            self._fail_unrun(frame, node, fault.message)
            return
        record = self._new(frame, node, NodeStatus.RUNNING, tries=tries, inputs=inputs, not_before=not_before)
        if node.type == "approval":
            record = replace(record, status=NodeStatus.WAITING, detail=_approval_detail(node))
            self.deeds.questions.append(record)
        self._put(record)
        if node.type in CONTAINERS:
            self._open(frame, node, record)
        elif node.type != "approval":
            self._busy += 1
            self.deeds.starts.append(record)

    # --- endings

    def _conclude(self, frame: Frame, node: Node, record: NodeRun, outcome: Outcome) -> None:
        """An attempt is over: it is tried again, or that was it."""
        if outcome.status is NodeStatus.SUCCESS:
            output, misfit = rules.given_output(node, outcome.output)
            if misfit:
                outcome = replace(outcome, status=NodeStatus.FAILED, error=misfit, error_class="output")
            else:
                outcome = replace(outcome, output=output)
        ended = replace(
            record,
            status=outcome.status,
            output=outcome.output,
            error=outcome.error,
            error_class=outcome.error_class if outcome.status is NodeStatus.FAILED else None,
            detail={**record.detail, **outcome.detail},
            ended_at=self.now,
        )
        again = outcome.status is NodeStatus.FAILED and self.run.ending is None
        if again and rules.tries_again(node.retry, record.tries, outcome.error_class):
            self._try_again(frame, node, ended)
            return
        self._put(ended)
        self._ended(frame, node)

    def _try_again(self, frame: Frame, node: Node, ended: NodeRun) -> None:
        self._drop_below(ended.path)
        self._put(ended)
        wait = timedelta(seconds=rules.delay_before(node.retry, ended.tries))
        self._launch(frame, node, ended.tries + 1, self.now + wait)

    def _ended(self, frame: Frame, node: Node) -> None:
        """A node has ended for good: others may follow, or its body be complete."""
        frame.left -= 1
        self._todo.extend((frame, later) for later in frame.dependents[node.id])
        if frame.left == 0 and frame.container is not None:
            if begun := self._items.get(frame.container):
                begun[1] -= 1
            self._todo.append(self._find(frame.container))

    def _end_unrun(self, frame: Frame, node: Node, status: NodeStatus, reason: str | None) -> None:
        self._put(replace(self._new(frame, node, status), reason=reason, ended_at=self.now))
        self._ended(frame, node)

    def _fail_unrun(self, frame: Frame, node: Node, error: str) -> None:
        """It could not even be rendered."""
        record = self._new(frame, node, NodeStatus.FAILED)
        self._put(replace(record, error=error, error_class="template", ended_at=self.now))
        self._ended(frame, node)

    def _approved(
        self, frame: Frame, node: Node, record: NodeRun, decision: Decision | None, response: Any
    ) -> None:
        by_default = decision is None
        decision = decision or node.values.get("default")
        if decision is None:
            late = Outcome(NodeStatus.FAILED, error="Nobody answered in time.", error_class="timeout")
            self._conclude(frame, node, record, late)
            return
        detail: Json = {"decision": decision, "by_default": by_default}
        given = Outcome(NodeStatus.SUCCESS, "" if response is None else response, detail=detail)
        back = reject_to(node)
        if decision == "approve" or back is None:
            self._conclude(frame, node, record, given)
            return
        self._send_back(frame, node, record, given, back)

    def _send_back(
        self, frame: Frame, node: Node, record: NodeRun, given: Outcome, back: tuple[str, int]
    ) -> None:
        """A rejection that begins the work anew at an earlier node."""
        target, most = back
        if self.rejections.get(record.path, 0) >= most:
            said = f"It was rejected {most + 1} times; the work goes back at most {most} times."
            failed = Outcome(NodeStatus.FAILED, error=said, error_class="rejected", detail=given.detail)
            self._conclude(frame, node, record, failed)
            return
        self.rejections[record.path] = self.rejections.get(record.path, 0) + 1
        detail = {**record.detail, **given.detail}
        done = replace(
            record, status=NodeStatus.SUCCESS, output=given.output, detail=detail, ended_at=self.now
        )
        self._put(done)
        frame.left -= 1
        self._reset(frame, frame.below(target))
        self._todo.extend((frame, frame.by_id[name]) for name in frame.below(target))

    def _stop_frame(self, frame: Frame, *, force: bool) -> None:
        for node in frame.nodes:
            record = self.current.get(frame.path(node.id))
            if record is None or record.status.ended:
                continue
            if node.type in CONTAINERS:
                for inner in [one for one in self.frames.values() if one.container == record.path]:
                    self._stop_frame(inner, force=force)
            elif force or not node.always_run:
                stopped = replace(self._halted(record), error="The run was stopped.")
                self._put(stopped)
                self._ended(frame, node)

    def _judge_run(self) -> None:
        """The state of the run, from those of its nodes."""
        if self.run.ended:
            return
        if self.root.left == 0:
            self._end_run()
            return
        going = self._busy > 0 or bool(self._queue)
        status = RunStatus.RUNNING if going else RunStatus.PAUSED
        if not going and not any(one.status is NodeStatus.WAITING for one in self.current.values()):
            said = "The run cannot go on: nothing runs and nothing waits."
            self.run = replace(self.run, status=RunStatus.FAILED, error=said, ended_at=self.now)
            return
        self.run = replace(self.run, status=status)

    def _end_run(self) -> None:
        outcome = self._outcome_of(self.root)
        status, error = RunStatus.COMPLETED, None
        if self.run.ending == "cancelled":
            status, error = RunStatus.CANCELLED, self.run.error
        elif self.run.ending == "timeout":
            status, error = RunStatus.FAILED, self.run.error
        elif outcome.status is not NodeStatus.SUCCESS:
            status, error = RunStatus.FAILED, outcome.error
        self.run = replace(self.run, status=status, error=error, ended_at=self.now)


def _approval_detail(node: Node) -> Json:
    return {"asked": "approval", "timeout_s": node.timeout_s}

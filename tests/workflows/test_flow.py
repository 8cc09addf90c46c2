"""What follows from what: order, skipping, retries, answers, bodies, stopping, beginning again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from manyhands.errors import ConflictError, NotFoundError
from manyhands.workflows.flow import Flow
from manyhands.workflows.types import NodeRun, Outcome
from tests.workflows.flows import NOW, Driven, bad, echo, good, run_of


def nodes(*lines: str) -> str:
    return "name: demo\ninputs: {list: {}, flag: {}}\nnodes:\n" + "".join(
        f"  - {{{line}}}\n" for line in lines
    )


def fails(*paths: str, times: int = 99) -> object:
    def act(record: NodeRun) -> Outcome:
        return bad() if record.path in paths and record.attempt <= times else echo(record)

    return act


BOTH = pytest.mark.parametrize("reload", [False, True], ids=["held", "read anew"])

WHOLE = nodes(
    "id: a, type: bash, script: a",
    "id: l, type: loop, depends_on: [a], max_iterations: 5, condition: 'iteration == 3', body: ["
    "{id: b, type: bash, script: '{{ iteration }}{{ nodes.a.output }}{{ previous.c if previous else 0 }}'},"
    "{id: c, type: bash, depends_on: [b], script: '{{ nodes.b.output }}'}]",
    "id: e, type: foreach, depends_on: [l], items: '{{ inputs.list }}', parallel: 2, body: ["
    "{id: f, type: bash, script: '{{ item }}-{{ index }}'}]",
    "id: s, type: workflow, workflow: sub, depends_on: [a], inputs: {x: '{{ nodes.a.output }}'}",
    "id: z, type: bash, depends_on: [e, s], script: '{{ nodes.e.output }} {{ nodes.s.output }}',"
    " when: nodes.l.iterations == 3",
)
SUB = "name: sub\ninputs: {x: {}}\nnodes:\n  - {id: g, type: bash, script: 'sub {{ inputs.x }}'}\n"


@BOTH
def test_bodies_go_on_until_their_end(reload: bool) -> None:
    done = Driven(run_of(WHOLE, {"list": ["x y", 2, 3], "flag": 1}, {"sub": SUB}), reload=reload)
    assert done.status == "completed"
    assert set(done.states.values()) == {"success"}
    assert done.output("l") == "3a2a1a0"
    assert done.output("e") == ["'x y'-0", "2-1", "3-2"]
    assert done.output("s") == "sub a"
    assert sorted(done.began) == sorted(set(done.began))
    assert {path for path in done.began if path.startswith("e")} == {"e/0/f", "e/1/f", "e/2/f"}


@BOTH
def test_no_more_than_the_limit_run_side_by_side(reload: bool) -> None:
    many = nodes(*(f"id: n{i}, type: bash, script: x" for i in range(20)))
    done = Driven(run_of(many), parallel=3, reload=reload)
    assert (done.most, done.status, len(done.began)) == (3, "completed", 20)


@BOTH
def test_a_foreach_works_on_so_many_items_at_once(reload: bool) -> None:
    text = nodes(
        "id: e, type: foreach, items: '{{ inputs.list }}', parallel: 2,"
        " body: [{id: b, type: bash, script: x}]"
    )
    done = Driven(run_of(text, {"list": list(range(9))}), reload=reload)
    assert (done.most, done.status, len(done.began)) == (2, "completed", 9)


def test_an_empty_list_is_a_success_and_no_list_is_an_error() -> None:
    text = nodes("id: e, type: foreach, items: '{{ inputs.list }}', body: [{id: b, type: bash, script: x}]")
    assert Driven(run_of(text, {"list": []})).output("e") == []
    failed = Driven(run_of(text, {"list": "abc"}))
    assert failed.status == "failed"
    assert "not a list" in str(failed.flow.run.error)


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        ("all_success", "skipped"),
        ("none_failed", "skipped"),
        ("all_done", "success"),
        ("one_success", "success"),
    ],
)
def test_trigger_rules_after_a_failure(rule: str, state: str) -> None:
    text = nodes(
        "id: a, type: bash, script: a",
        "id: b, type: bash, script: b",
        f"id: c, type: bash, script: c, depends_on: [a, b], trigger_rule: {rule}",
    )
    done = Driven(run_of(text), fails("a"))  # type: ignore[arg-type]
    assert done.states == {"a": "failed", "b": "success", "c": state}


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        ("all_success", "skipped"),
        ("none_failed", "success"),
        ("all_done", "success"),
        ("one_success", "success"),
    ],
)
def test_trigger_rules_after_a_skip(rule: str, state: str) -> None:
    text = nodes(
        "id: a, type: bash, script: a, when: inputs.flag",
        "id: b, type: bash, script: b",
        f"id: c, type: bash, script: c, depends_on: [a, b], trigger_rule: {rule}",
    )
    done = Driven(run_of(text, {"flag": False}))
    assert done.states == {"a": "skipped", "b": "success", "c": state}
    assert done.flow.current["a"].reason == "when is false: inputs.flag"


@pytest.mark.requirement("L36")
def test_a_failed_node_never_ends_as_a_completed_run() -> None:
    text = nodes(
        "id: a, type: bash, script: a",
        "id: b, type: bash, script: b, depends_on: [a], trigger_rule: all_done",
        "id: c, type: bash, script: c, depends_on: [b], always_run: true",
    )
    done = Driven(run_of(text), fails("a"))  # type: ignore[arg-type]
    assert done.states == {"a": "failed", "b": "success", "c": "success"}
    assert (done.status, done.flow.run.error) == ("failed", "a: bad")


@pytest.mark.requirement("L36")
def test_what_ended_ends_once_and_a_late_answer_resumes_nothing() -> None:
    text = nodes("id: g, type: approval, message: go", "id: a, type: bash, script: a, depends_on: [g]")
    done = Driven(run_of(text))
    assert done.status == "paused"
    done.answer("g", "approve", "yes")
    assert (done.status, done.states) == ("completed", {"g": "success", "a": "success"})
    assert not done.flow.answer("g", 1, "reject", "no")
    assert not done.flow.finish("a", 1, bad())
    assert not done.flow.finish("a", 7, bad())
    assert done.status == "completed"


@pytest.mark.requirement("L38")
@pytest.mark.parametrize("first", ["one", "two"])
@BOTH
def test_two_gates_wait_at_once_and_are_answered_in_any_order(first: str, reload: bool) -> None:
    text = nodes(
        "id: one, type: approval, message: first",
        "id: two, type: approval, message: second",
        "id: a, type: bash, depends_on: [one], script: '{{ nodes.one.output }}'",
        "id: b, type: bash, depends_on: [two], script: '{{ nodes.two.output }}'",
    )
    done = Driven(run_of(text), reload=reload)
    assert (done.status, done.states) == ("paused", {"one": "waiting", "two": "waiting"})
    second = {"one": "two", "two": "one"}[first]
    done.answer(first, "approve", "yes")
    assert (done.status, done.states[second]) == ("paused", "waiting")
    done.answer(second, "approve", "also")
    assert (done.status, {done.output("a"), done.output("b")}) == ("completed", {"yes", "also"})


@pytest.mark.requirement("L38")
def test_a_rejection_is_an_answer_of_its_own() -> None:
    text = nodes(
        "id: gate, type: approval, message: ship",
        "id: ship, type: bash, depends_on: [gate], script: ship",
        "id: say, type: bash, depends_on: [gate], when: nodes.gate.decision == 'reject',"
        " script: 'not because {{ nodes.gate.output }}'",
        "id: after, type: bash, depends_on: [ship], script: x",
    )
    done = Driven(run_of(text))
    done.answer("gate", "reject", "too early")
    assert done.status == "completed"
    assert done.states == {"gate": "success", "ship": "skipped", "say": "success", "after": "skipped"}
    assert done.flow.current["ship"].reason == "gate was rejected"
    assert done.output("say") == "not because 'too early'"


BACK = nodes(
    "id: draft, type: bash, script: 'draft {{ nodes.gate.output if nodes.gate is defined else 0 }}'",
    "id: side, type: bash, script: side",
    "id: gate, type: approval, message: ok, depends_on: [draft], on_reject: {to: draft, max: 2}",
    "id: ship, type: bash, depends_on: [gate, side], script: '{{ nodes.draft.output }}'",
)


@BOTH
def test_a_rejection_can_send_the_work_back_with_its_reason(reload: bool) -> None:
    done = Driven(run_of(BACK), reload=reload)
    done.answer("gate", "reject", "longer")
    assert (done.status, done.states["gate"]) == ("paused", "waiting")
    assert done.flow.current["draft"].attempt == 2
    done.answer("gate", "approve")
    assert done.output("ship") == "'draft longer'"
    assert done.began == ["draft", "side", "draft", "ship"]


@BOTH
def test_the_work_goes_back_only_so_often(reload: bool) -> None:
    done = Driven(run_of(BACK), reload=reload)
    for _ in range(3):
        done.answer("gate", "reject", "no")
    assert (done.status, done.states["gate"], done.states["ship"]) == ("failed", "failed", "skipped")
    assert "rejected 3 times" in str(done.flow.run.error)


def test_nobody_answering_takes_the_default_or_fails() -> None:
    asked = nodes("id: g, type: approval, message: x, timeout: 5, default: approve")
    done = Driven(run_of(asked))
    done.answer("g", None)
    assert (done.status, done.flow.current["g"].detail["decision"]) == ("completed", "approve")
    failed = Driven(run_of(nodes("id: g, type: approval, message: x, timeout: 5")))
    failed.answer("g", None)
    assert (failed.status, failed.flow.current["g"].error_class) == ("failed", "timeout")


def test_a_node_is_tried_again_after_the_errors_that_it_names() -> None:
    text = nodes("id: a, type: bash, script: a, retry: {attempts: 3, delay: 10, backoff: 3, on: [timeout]}")
    done = Driven(run_of(text), lambda one: bad("slow", "timeout") if one.attempt < 3 else good("ok"))
    assert (done.status, done.output("a"), done.began) == ("completed", "ok", ["a"] * 3)
    waits = [one.not_before for one in done.records.values()]
    assert waits == [None, NOW + timedelta(seconds=10), NOW + timedelta(seconds=30)]
    other = Driven(run_of(text), lambda one: bad("broken", "error"))
    assert (other.status, other.began) == ("failed", ["a"])


def test_an_output_must_fit_its_schema() -> None:
    text = nodes("id: a, type: bash, script: a, output: {type: object, required: [n]}")
    done = Driven(run_of(text), lambda one: good('```json\n{"n": 1}\n```'))
    assert done.output("a") == {"n": 1}
    wrong = Driven(run_of(text), lambda one: good('{"m": 1}'))
    assert (wrong.status, wrong.flow.current["a"].error_class) == ("failed", "output")


def test_a_template_that_fails_fails_its_node_and_nothing_else() -> None:
    text = nodes(
        "id: a, type: bash, script: '{{ nodes.s.output }}', depends_on: [s], trigger_rule: all_done",
        "id: s, type: bash, script: s, when: 'false'",
        "id: b, type: bash, script: b",
    )
    done = Driven(run_of(text))
    assert done.states == {"s": "skipped", "a": "failed", "b": "success"}
    assert done.flow.current["a"].error_class == "template"


def test_a_loop_that_reaches_its_limit_fails_unless_that_is_meant() -> None:
    body = "body: [{id: b, type: bash, script: '{{ iteration }}'}]"
    failed = Driven(run_of(nodes(f"id: l, type: loop, condition: 'false', max_iterations: 3, {body}")))
    assert (failed.status, len(failed.began)) == ("failed", 3)
    assert "did not hold after 3 iterations" in str(failed.flow.run.error)
    fine = Driven(
        run_of(nodes(f"id: l, type: loop, condition: 'false', max_iterations: 3, on_limit: continue, {body}"))
    )
    assert (fine.status, fine.output("l")) == ("completed", "3")
    counted = Driven(run_of(nodes(f"id: l, type: loop, max_iterations: 4, {body}")))
    assert (counted.status, counted.output("l")) == ("completed", "4")


def test_a_long_chain_of_skips_and_of_empty_iterations_ends() -> None:
    chain = nodes(
        "id: n0, type: bash, script: x",
        *(f"id: n{i}, type: bash, script: x, depends_on: [n{i - 1}]" for i in range(1, 1500)),
    )
    done = Driven(run_of(chain), fails("n0"))  # type: ignore[arg-type]
    assert (done.status, done.states["n1499"]) == ("failed", "skipped")
    empty = nodes(
        "id: l, type: loop, max_iterations: 2000, body: [{id: b, type: bash, script: x, when: 'false'}]"
    )
    assert Driven(run_of(empty)).status == "completed"


STOPPED = nodes(
    "id: a, type: bash, script: a",
    "id: g, type: approval, message: x",
    "id: l, type: loop, max_iterations: 3, body: [{id: b, type: bash, script: b}]",
    "id: c, type: bash, script: c, depends_on: [a]",
    "id: clean, type: bash, script: clean, depends_on: [c, l], always_run: true",
)


def test_stopping_ends_everything_but_what_always_runs() -> None:
    flow = Flow(run_of(STOPPED), (), 8, NOW)
    flow.begin()
    flow.take_deeds()
    flow.stop("cancelled")
    deeds = flow.take_deeds()
    assert [one.path for one in deeds.stops] == ["a", "l/1/b"]
    assert [one.path for one in deeds.withdrawn] == ["g"]
    assert [one.path for one in deeds.starts] == ["clean"]
    assert flow.run.status.value == "running"
    flow.finish("clean", 1, good())
    assert flow.run.status.value == "cancelled"
    assert {one.status.value for path, one in flow.current.items() if path != "clean"} == {"cancelled"}


def test_stopping_twice_ends_that_too() -> None:
    flow = Flow(run_of(STOPPED), (), 8, NOW)
    flow.begin()
    flow.stop("timeout", "too long")
    flow.stop("cancelled")
    assert (flow.run.status.value, flow.run.error) == ("failed", "too long")


@BOTH
def test_a_retry_goes_on_where_it_failed(reload: bool) -> None:
    run = run_of(WHOLE, {"list": [1, 2, 3], "flag": 1}, {"sub": SUB})
    done = Driven(run, fails("e/1/f", "s/g", times=1), reload=reload)  # type: ignore[arg-type]
    assert (done.status, done.states["z"]) == ("failed", "skipped")
    done.began.clear()
    if reload:
        done.flow = Flow(done.flow.run, done.records.values(), 8, NOW)
    done.flow.retry(None, from_failed=True)
    done.drive()
    assert sorted(done.began) == ["e/1/f", "s/g", "z"]
    assert (done.status, done.flow.run.retries) == ("completed", 1)


def test_a_retry_begins_at_a_node_or_from_the_start() -> None:
    done = Driven(run_of(WHOLE, {"list": [1], "flag": 1}, {"sub": SUB}))
    everything = sorted(done.began)
    done.began.clear()
    done.flow.retry("e", from_failed=True)
    done.drive()
    assert (done.began, done.status) == (["e/0/f", "z"], "completed")
    done.began.clear()
    done.flow.retry("l/2/c", from_failed=True)
    done.drive()
    assert (done.began, done.status) == (["l/2/c", "e/0/f", "z"], "completed")
    done.began.clear()
    done.flow.retry(None, from_failed=True)
    done.drive()
    assert (sorted(done.began), done.status) == (everything, "completed")
    with pytest.raises(NotFoundError, match="no node 'nope'"):
        done.flow.retry("nope", from_failed=True)


def test_a_run_that_goes_on_is_not_retried() -> None:
    done = Driven(run_of(nodes("id: g, type: approval, message: x")))
    with pytest.raises(ConflictError, match="paused"):
        done.flow.retry(None, from_failed=True)


def test_a_cancelled_run_goes_on_with_what_was_not_done() -> None:
    done = Driven(
        run_of(nodes("id: a, type: bash, script: a", "id: g, type: approval, message: x, depends_on: [a]"))
    )
    done.flow.stop("cancelled")
    done.drive()
    done.flow.retry(None, from_failed=True)
    done.drive()
    assert (done.status, done.began, done.states["g"]) == ("paused", ["a"], "waiting")


def test_the_time_of_a_body_ends_it_with_what_is_in_it() -> None:
    text = nodes("id: l, type: loop, timeout: 5, max_iterations: 3, body: [{id: b, type: bash, script: b}]")
    flow = Flow(run_of(text), (), 8, NOW)
    flow.begin()
    flow.take_deeds()
    assert flow.expire("l", 1)
    assert [one.path for one in flow.take_deeds().stops] == ["l/1/b"]
    assert (flow.run.status.value, flow.current["l"].error_class) == ("failed", "timeout")


def test_an_attempt_that_needs_a_person_waits_and_gives_its_place_to_others() -> None:
    text = nodes("id: a, type: bash, script: a", "id: b, type: bash, script: b")
    flow = Flow(run_of(text), (), 1, NOW)
    flow.begin()
    flow.take_deeds()
    assert flow.ask_again("a", 1, {"asked": "interrupted"})
    deeds = flow.take_deeds()
    assert ([one.path for one in deeds.questions], [one.path for one in deeds.starts]) == (["a"], ["b"])
    flow.finish("b", 1, good())
    assert flow.run.status.value == "paused"
    flow.answer("a", 1, "approve", None)
    assert [(one.path, one.attempt) for one in flow.take_deeds().starts] == [("a", 2)]
    flow.ask_again("a", 2, {"asked": "interrupted"})
    flow.answer("a", 2, "reject", "leave it")
    assert (flow.run.status.value, flow.current["a"].error_class) == ("failed", "interrupted")

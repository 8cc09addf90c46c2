"""Workflows on a real hub with both databases: scripts, agents, tools, gates, stopping, beginning again."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import psutil
import pytest
from sqlalchemy import Connection, update

from manyhands.approvals.types import ApprovalState
from manyhands.errors import ConflictError, InvalidError, NotAllowedError, NotFoundError, UnavailableError
from manyhands.secrets import HIDDEN
from manyhands.store.tables import workflow_nodes, workflow_runs
from manyhands.testing.clock import START
from manyhands.workflows import store as rows
from manyhands.workflows.types import NodeRun, WorkflowRun
from tests.workflows.conftest import SOON_S, Bench

pytestmark = pytest.mark.anyio


def flow(name: str, *nodes: str, head: str = "") -> str:
    return f"name: {name}\n{head}nodes:\n" + "".join(f"  - {{{node}}}\n" for node in nodes)


async def test_a_run_goes_through_every_kind_of_step(bench: Bench) -> None:
    run = await bench.run(
        flow(
            "whole",
            'id: list, type: bash, script: \'printf "%s\\n" a b "c d"\'',
            "id: each, type: foreach, depends_on: [list], items: '{{ nodes.list.output.splitlines() }}',"
            " body: [{id: say, type: prompt, prompt: 'about {{ item }}'}]",
            "id: search, type: tool, depends_on: [list], tool: search_files, arguments: {pattern: x}",
            "id: sum, type: bash, depends_on: [each, search],"
            " script: 'echo {{ nodes.each.output | length }} {{ inputs.n }}'",
            head="inputs: {n: {type: integer, default: 7}}\n",
        )
    )
    nodes = await bench.nodes(run)
    assert (run.status, run.error) == ("completed", None), {key: one["error"] for key, one in nodes.items()}
    assert nodes["sum"]["output"] == "3 7"
    assert nodes["each"]["output"] == ["1: about a", "1: about b", "1: about c d"]
    assert nodes["each/2/say"]["detail"]["thread_id"] != nodes["each/1/say"]["detail"]["thread_id"]
    assert nodes["search"]["detail"]["call_id"].startswith("call_")


async def test_a_later_prompt_goes_on_with_an_earlier_conversation(bench: Bench) -> None:
    run = await bench.run(
        flow(
            "talk",
            "id: one, type: prompt, prompt: first",
            "id: two, type: prompt, prompt: second, session: one, depends_on: [one]",
        )
    )
    nodes = await bench.nodes(run)
    assert (nodes["one"]["output"], nodes["two"]["output"]) == ("1: first", "2: second")


async def test_a_gate_waits_in_the_inbox_and_goes_on_with_the_answer(bench: Bench) -> None:
    run = await bench.run(
        flow(
            "gated",
            "id: gate, type: approval, message: 'Ship {{ run.workflow }}?'",
            "id: ship, type: bash, depends_on: [gate], script: 'echo {{ nodes.gate.output }}'",
        )
    )
    assert run.status == "paused"
    asked = (await bench.hub.approvals.list(ApprovalState.PENDING)).items
    assert [(one.question.kind, one.question.run_id, one.expires_at) for one in asked] == [
        ("workflow", run.id, None)
    ]
    assert asked[0].question.title == "gated: Ship gated?"
    await bench.hub.approvals.answer(asked[0].id, True, response="with care")
    run = await bench.ended(run)
    assert (run.status, (await bench.nodes(run))["ship"]["output"]) == ("completed", "with care")


@pytest.mark.requirement("L38")
async def test_several_gates_are_answered_in_any_order_by_their_names(bench: Bench) -> None:
    text = flow(
        "gates",
        "id: one, type: approval, message: first",
        "id: two, type: approval, message: second",
        "id: end, type: bash, depends_on: [one, two],"
        " script: 'echo {{ nodes.one.output }} {{ nodes.two.output }}'",
    )
    run = await bench.run(text)
    with pytest.raises(InvalidError, match="Several nodes wait: one, two"):
        await bench.hub.workflows.resume(run.id)
    run = await bench.hub.workflows.resume(run.id, "approve", "B", "two")
    assert run.status == "paused"
    with pytest.raises(ConflictError, match="waits for no answer"):
        await bench.hub.workflows.resume(run.id, "approve", "B", "two")
    await bench.hub.workflows.resume(run.id, "approve", "A")
    run = await bench.ended(run)
    assert (await bench.nodes(run))["end"]["output"] == "A B"
    with pytest.raises(ConflictError, match="The run is completed"):
        await bench.hub.workflows.resume(run.id)


async def test_a_gate_that_nobody_answers_takes_its_default(bench: Bench) -> None:
    run = await bench.run(
        flow(
            "late",
            "id: gate, type: approval, message: x, timeout: 2h, default: reject",
            "id: no, type: bash, depends_on: [gate], when: nodes.gate.decision == 'reject', script: echo no",
        )
    )
    bench.clock.advance(3 * 3600)
    run = await bench.ended(run)
    nodes = await bench.nodes(run)
    assert (run.status, nodes["gate"]["decision"], nodes["no"]["status"]) == (
        "completed",
        "reject",
        "success",
    )


async def test_cancelling_ends_the_whole_tree_of_processes(bench: Bench) -> None:
    run = await bench.start(
        flow(
            "slow",
            "id: a, type: bash, script: 'sleep 600 & sleep 601 & echo $! > pid; touch began; wait'",
            "id: g, type: approval, message: x",
            "id: b, type: bash, depends_on: [a], script: echo",
            "id: clean, type: bash, depends_on: [a, b, g], always_run: true, script: touch cleaned",
        )
    )
    await bench.until("began")
    pid = int(bench.made("pid")[0])
    run = await bench.hub.workflows.cancel(run.id)
    assert run.status == "cancelled"
    assert await bench.states(run) == {
        "a": "cancelled",
        "g": "cancelled",
        "b": "cancelled",
        "clean": "success",
    }
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert (bench.directory / "cleaned").exists()
    assert (await bench.hub.approvals.list(ApprovalState.PENDING)).items == []
    assert (await bench.hub.workflows.cancel(run.id)).status == "cancelled"


async def test_cancelling_stops_the_agent_of_a_prompt(bench: Bench) -> None:
    run = await bench.start(flow("asks", "id: a, type: prompt, prompt: wait for it"))

    async def chat_of() -> Any:
        named = ((await bench.nodes(run))["a"]["detail"] or {}).get("chat_run_id")
        begun = {one.id for one in (await bench.hub.runs.list()).items}  # its name is noted before it begins
        return named if named in begun else None

    async def is_over() -> Any:
        return (await bench.hub.runs.get(chat)).status.ended

    chat = await bench.when(chat_of)
    assert (await bench.hub.workflows.cancel(run.id)).status == "cancelled"
    await bench.when(is_over)
    assert (await bench.hub.runs.get(chat)).status == "cancelled"


async def test_times_run_out_for_a_node_a_body_and_a_run(bench: Bench) -> None:
    run = await bench.run(flow("node_time", "id: a, type: bash, timeout: 0.2, script: sleep 600"))
    assert ((await bench.nodes(run))["a"]["error_class"], run.status) == ("timeout", "failed")
    body = "body: [{id: b, type: bash, script: 'touch body; sleep 600'}]"
    run = await bench.start(flow("body_time", f"id: a, type: loop, timeout: 1h, max_iterations: 2, {body}"))
    await bench.until("body")
    bench.clock.advance(3601)
    run = await bench.ended(run)
    assert ((await bench.nodes(run))["a"]["error_class"], run.status) == ("timeout", "failed")
    run = await bench.start(
        flow("run_time", "id: a, type: bash, script: 'touch whole; sleep 600'", head="timeout: 1h\n")
    )
    await bench.until("whole")
    bench.clock.advance(3601)
    run = await bench.ended(run)
    assert (run.status, run.error) == ("failed", "The run took longer than 3600 s.")


async def test_a_failed_run_goes_on_where_it_failed(bench: Bench) -> None:
    run = await bench.run(
        flow(
            "again",
            "id: a, type: bash, script: 'echo a >> log'",
            "id: b, type: bash, depends_on: [a], script: 'echo b >> log; test -e fixed'",
            "id: c, type: bash, depends_on: [b], script: 'echo c >> log'",
        )
    )
    assert run.status == "failed"
    (bench.directory / "fixed").touch()
    run = await bench.settled(await bench.hub.workflows.retry(run.id))
    assert (run.status, bench.made("log")) == ("completed", ["a", "b", "b", "c"])
    run = await bench.settled(await bench.hub.workflows.retry(run.id, from_node="c"))
    assert bench.made("log")[4:] == ["c"]
    run = await bench.settled(await bench.hub.workflows.retry(run.id))
    assert (run.status, bench.made("log")[5:]) == ("completed", ["a", "b", "c"])
    assert [one["attempt"] for one in (await bench.nodes(run))["b"]["history"]] == [1, 2, 3]


async def test_a_node_is_tried_again_after_a_while(bench: Bench) -> None:
    text = flow(
        "tried",
        "id: a, type: bash, retry: {attempts: 3, delay: 1h},"
        " script: 'echo x >> log; test $(wc -l < log) = 3'",
    )
    run = await bench.start(text)
    for count in (1, 2):

        async def is_next(count: int = count) -> Any:
            return (await bench.nodes(run))["a"]["attempt"] > count

        await bench.when(is_next)
        bench.clock.advance(2 * 3600)
        await bench.clock.someone_sleeps()
        bench.clock.advance(2 * 3600)
    run = await bench.ended(run)
    assert (run.status, bench.made("log")) == ("completed", ["x"] * 3)


async def test_fifty_megabytes_are_stored_aside_and_cut_for_templates(bench: Bench) -> None:
    run = await bench.run(
        flow(
            "large",
            "id: a, type: bash, script: 'head -c 52428800 /dev/zero | tr \"\\0\" x'",
            "id: b, type: bash, depends_on: [a], script: 'printf %s {{ nodes.a.output }} | tail -c 200'",
        )
    )
    nodes = await bench.nodes(run)
    file = nodes["a"]["detail"]["output_file"]
    assert (run.status, (await anyio.Path(file).stat()).st_size, nodes["a"]["detail"]["size"]) == (
        "completed",
        52_428_800,
        52_428_800,
    )
    assert "the first 100,000 of 52,428,800 bytes" in nodes["b"]["output"]
    await bench.hub.workflows.delete(run.id)
    assert not await anyio.Path(file).exists()


@pytest.mark.requirement("L28")
async def test_secrets_are_hidden_in_what_a_script_prints(bench: Bench) -> None:
    bench.hub.secrets.redactor.guard("plain-words")
    told = "echo plain-words; echo plain-words >&2"
    run = await bench.run(
        flow(
            "tells",
            f"id: a, type: bash, script: '{told}'",
            f"id: b, type: bash, depends_on: [a], script: '{told}; head -c 200000 /dev/zero; {told}'",
        )
    )
    nodes = await bench.nodes(run)
    assert (run.status, nodes["a"]["output"]) == ("completed", HIDDEN)
    kept = await anyio.Path(nodes["b"]["detail"]["output_file"]).read_bytes()
    assert kept.count(HIDDEN.encode()) == 2
    assert kept.count(b"\0") == 200_000
    assert "plain-words" not in f"{nodes['a']['detail']}{nodes['b']['detail']}{kept!r}"


@pytest.mark.requirement("L28")
async def test_secrets_are_hidden_in_what_a_script_has_printed_when_its_time_is_over(bench: Bench) -> None:
    bench.hub.secrets.redactor.guard("plain-words")
    script = "head -c 99995 /dev/zero; printf plain-; sleep 0.1; echo words; printf plain-word; sleep 60"
    run = await bench.run(flow("late", f"id: a, type: bash, timeout: 1, script: '{script}'"))
    assert (await bench.nodes(run))["a"]["error_class"] == "timeout"
    kept = [path.read_bytes() for path in bench.hub.home.results.iterdir()]
    assert [text.count(HIDDEN.encode()) for text in kept] == [2]
    assert b"plain" not in b"".join(kept)


async def test_a_failing_script_says_why(bench: Bench) -> None:
    run = await bench.run(flow("fails", "id: a, type: bash, script: 'echo out; echo trouble >&2; exit 3'"))
    node = (await bench.nodes(run))["a"]
    assert (run.status, node["detail"]["exit_code"]) == ("failed", 3)
    assert (node["error"], node["output"]) == ("The script ended with code 3: trouble.", "out")
    assert node["log"] == "out\ntrouble\n"


async def test_a_script_ends_at_its_first_command_that_fails(bench: Bench) -> None:
    run = await bench.run(flow("first", "id: a, type: bash, script: 'false; echo on'"))
    assert run.status == "failed"


async def test_a_run_is_pinned_to_its_definition_and_those_below(bench: Bench) -> None:
    await bench.save(flow("below", "id: x, type: bash, depends_on: [], script: echo old"))
    text = flow(
        "above",
        "id: gate, type: approval, message: x",
        "id: sub, type: workflow, workflow: below, depends_on: [gate]",
        "id: own, type: bash, depends_on: [sub], script: 'echo old {{ nodes.sub.output }}'",
    )
    run = await bench.run(text)
    await bench.save(text.replace("echo old", "echo new"))
    await bench.save(flow("below", "id: y, type: bash, script: echo new"))
    await bench.hub.workflows.delete_definition("below")
    await bench.hub.workflows.resume(run.id)
    run = await bench.ended(run)
    nodes = await bench.nodes(run)
    assert (nodes["own"]["output"], nodes["sub/x"]["parent"]) == ("old old", "sub")


@pytest.mark.requirement("L37")
async def test_what_cannot_run_is_refused_when_it_is_saved_or_started(bench: Bench) -> None:
    with pytest.raises(InvalidError, match=r"line 3: .*depends on 'z'") as caught:
        await bench.save(flow("bad", "id: a, type: bash, script: x, depends_on: [z]"))
    assert caught.value.data["problems"][0]["path"] == "nodes[0].depends_on[0]"
    with pytest.raises(NotFoundError, match="no workflow 'bad'"):
        await bench.hub.workflows.start("bad")
    await bench.save(flow("needs", "id: a, type: bash, script: x", head="inputs: {n: {type: integer}}\n"))
    with pytest.raises(InvalidError, match="The input 'n' is missing"):
        await bench.hub.workflows.start("needs")
    with pytest.raises(InvalidError, match="not of type 'integer'"):
        await bench.hub.workflows.check("needs", {"n": "x"})
    await bench.save(flow("one", "id: a, type: bash, script: x"))
    await bench.save(flow("two", "id: a, type: workflow, workflow: one"))
    with pytest.raises(InvalidError, match="circle"):
        await bench.save(flow("one", "id: a, type: workflow, workflow: two"))
    with pytest.raises(ConflictError, match="already"):
        await bench.hub.workflows.save("add", flow("one", "id: a, type: bash, script: x"))
    with pytest.raises(NotFoundError, match="action add"):
        await bench.hub.workflows.save("update", flow("three", "id: a, type: bash, script: x"))


@pytest.mark.requirement("L36")
async def test_states_are_exact_in_events_and_on_record(bench: Bench) -> None:
    told: list[tuple[str, str, str]] = []

    def hear(event: Any) -> None:
        if event.type.startswith("workflow.") and event.data.get("workflow_name") == "exact":
            told.append(
                (event.type.removeprefix("workflow."), event.data["id"], event.data.get("status", ""))
            )

    bench.hub.bus.observe(hear)
    run = await bench.run(
        flow(
            "exact",
            "id: a, type: bash, script: echo",
            "id: gate, type: approval, message: x, depends_on: [a]",
            "id: b, type: bash, depends_on: [gate], script: exit 1",
            "id: c, type: bash, depends_on: [b], script: echo",
        )
    )
    await bench.hub.workflows.resume(run.id, "approve", "yes")
    run = await bench.ended(run)
    assert (run.status, run.error) == ("failed", "b: The script ended with code 1.")
    assert told == [
        ("run_started", run.id, "running"),
        ("node_started", "a", "running"),
        ("node_finished", "a", "success"),
        ("node_started", "gate", "waiting"),
        ("run_paused", run.id, "paused"),
        ("node_finished", "gate", "success"),
        ("node_started", "b", "running"),
        ("node_finished", "b", "failed"),
        ("node_finished", "c", "skipped"),
        ("run_finished", run.id, "failed"),
    ]


async def test_without_a_sandbox_a_script_that_the_owner_did_not_start_asks_first(bench: Bench) -> None:
    await bench.hub.settings.patch({"command_sandbox": "off"})
    try:
        run = await bench.run(flow("stranger", "id: a, type: bash, script: touch made"), authority="agent")
        assert (run.status, (bench.directory / "made").exists()) == ("paused", False)
        asked = (await bench.hub.approvals.list(ApprovalState.PENDING)).items[0]
        assert asked.question.detail["script"] == "touch made"
        with pytest.raises(NotAllowedError, match="for a person"):
            await bench.hub.workflows.resume(run.id, by_agent=True)
        await bench.hub.workflows.resume(run.id)
        run = await bench.ended(run)
        assert (run.status, (bench.directory / "made").exists()) == ("completed", True)
        text = flow("alone", "id: a, type: bash, script: echo")
        alone = await bench.run(text, authority="schedule", attended=False)
        assert (alone.status, (await bench.nodes(alone))["a"]["error_class"]) == ("failed", "denied")
    finally:
        await bench.hub.settings.patch({"command_sandbox": "auto"})


async def test_in_the_sandbox_such_a_script_changes_its_project_alone(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    text = flow("inside", f"id: a, type: bash, script: 'touch here; touch {outside} || true'")
    run = await bench.run(text, authority="agent")
    there = shutil.which("bwrap") is not None
    assert run.status == ("completed" if there else "paused")
    assert ((bench.directory / "here").exists(), outside.exists()) == (there, False)


async def test_an_agent_changes_no_global_workflow_that_a_person_wrote(bench: Bench) -> None:
    service, text = bench.hub.workflows, flow("shared", "id: a, type: bash, script: echo")
    await service.save("add", text.replace("shared", "mine"))
    with pytest.raises(NotAllowedError, match="A person wrote"):
        await service.save("update", text.replace("shared", "mine"), by_agent=True)
    with pytest.raises(NotAllowedError, match="A person wrote"):
        await service.delete_definition("mine", "global", by_agent=True)
    await service.save("add", text, by_agent=True)
    await service.save("update", text + "# more\n", by_agent=True)
    planned = await service.start("shared", authority="schedule", dir_path=str(bench.directory))
    assert planned.authority == "agent"
    await bench.ended(planned)
    await service.save("update", text + "# a person was here\n")
    with pytest.raises(NotAllowedError):
        await service.delete_definition("shared", "global", by_agent=True)


async def test_the_same_run_is_not_begun_twice(bench: Bench) -> None:
    text = flow("once", "id: a, type: bash, script: 'echo x >> log'")
    first = await bench.start(text, run_id="task/2030")
    second = await bench.start(text, run_id="task/2030")
    assert first.id == second.id == "task/2030"
    await bench.ended(first)
    assert bench.made("log") == ["x"]


async def test_runs_are_listed_newest_first_and_deleted_with_what_they_do(bench: Bench) -> None:
    text = flow("listed", "id: g, type: approval, message: x")
    made = [(await bench.run(text)).id for _ in range(3)]
    page = await bench.hub.workflows.runs(workflow="listed", limit=2)
    rest = await bench.hub.workflows.runs(workflow="listed", limit=2, cursor=page.next_cursor)
    assert [one["id"] for one in (*page.items, *rest.items)] == made[::-1]
    assert page.items[0]["nodes"] == {"waiting": 1}
    await bench.hub.workflows.delete(made[0])
    assert len((await bench.hub.workflows.runs(workflow="listed", status="paused")).items) == 2
    with pytest.raises(NotFoundError):
        await bench.hub.workflows.get(made[0])


async def test_a_project_hides_a_global_workflow_and_comments_stay(bench: Bench) -> None:
    directory = str(bench.directory)
    await bench.save(flow("shared", "id: a, type: bash, script: echo global"))
    stored = await bench.hub.workflows.save(
        "add", "# mine\nname: shared\nnodes:\n  - id: a  # step\n    type: bash\n    script: echo project\n",
        "project", directory,
    )  # fmt: skip
    assert stored.path == bench.directory / ".manyhands" / "workflows" / "shared.yaml"
    run = await bench.hub.workflows.start("shared", dir_path=directory)
    assert (await bench.nodes(await bench.ended(run)))["a"]["output"] == "project"
    changed = json.loads(json.dumps(stored.reading.data)) | {"description": "new"}
    await bench.hub.workflows.save("update", changed, "project", directory)
    text = stored.path.read_text()
    assert "# mine" in text
    assert "# step" in text
    assert "description: new" in text
    await bench.hub.workflows.delete_definition("shared", "project", directory)
    assert (await bench.hub.workflows.find("shared", directory)).scope == "global"


async def test_what_steps_came_to_is_written_when_the_database_is_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, refused, save = True, 0, rows.save

    def refuse(conn: Connection, run: WorkflowRun, new: list[NodeRun], changed: list[NodeRun]) -> None:
        nonlocal refused
        if away and any(one.status.ended for one in changed):
            refused += 1
            raise UnavailableError("It is away.")
        save(conn, run, new, changed)

    async def is_refused() -> int:
        await anyio.lowlevel.checkpoint()
        return refused

    async def has_ended() -> bool:
        bench.clock.advance(1)
        return (await bench.hub.workflows.get(run.id)).ended

    monkeypatch.setattr(rows, "save", refuse)
    scripts = [f"id: n{n}, type: bash, script: 'echo {n} >> log{n}'" for n in range(3)]
    run = await bench.start(flow("away", *scripts))
    await bench.when(is_refused)
    away = False
    await bench.when(has_ended)
    assert (await bench.ended(run)).status == "completed"
    assert [bench.made(f"log{n}") for n in range(3)] == [["0"], ["1"], ["2"]]


async def test_what_could_not_begin_begins_when_the_database_is_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_away(orders: object) -> set[str]:
        raise UnavailableError("It is away.")

    with monkeypatch.context() as patch:
        patch.setattr(bench.hub.durable, "start_all", is_away)
        with pytest.raises(UnavailableError):
            await bench.start(flow("begun", "id: one, type: bash, script: echo begun"), run_id="wfr_begun")

    async def has_ended() -> bool:
        bench.clock.advance(1)
        return (await bench.hub.workflows.get("wfr_begun")).ended

    await bench.when(has_ended)
    assert (await bench.hub.workflows.get("wfr_begun")).status == "completed"


@pytest.mark.parametrize("kept", ["the end", "nothing"])
async def test_a_node_whose_end_a_power_cut_took_is_done_again_or_asked_about(
    bench: Bench, kept: str
) -> None:
    """What the engine has of it on the disk; of ours only that it was to begin."""

    def lose(conn: Connection) -> None:
        lost = {"status": "running", "ended_at": None}
        mine = workflow_nodes.c.run_id == run.id
        before = {"detail": {}, "started_at": START - timedelta(seconds=1)}
        conn.execute(update(workflow_nodes).where(mine).values(lost | before))
        conn.execute(update(workflow_runs).where(workflow_runs.c.id == run.id).values(lost))

    script = "id: {0}, type: bash, on_interrupt: {0}, script: 'echo again >> {0}'"
    run = await bench.run(flow("cut", script.format("rerun"), script.format("ask")))
    await bench.hub.store.write(lose)
    if kept == "nothing":
        await bench.hub.durable.forget([f"{run.id}/{name}/1" for name in ("rerun", "ask")])
    await bench.hub.workflows._recover()
    assert (await bench.settled(run)).status == "paused"
    assert [bench.made("rerun"), bench.made("ask")] == [["again", "again"], ["again"]]


@pytest.mark.parametrize("cut", ["before its thread", "after its thread"])
async def test_a_prompt_that_was_cut_while_it_began_has_one_thread(
    bench: Bench, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, add = anyio.Event(), bench.hub.channels.add

    async def breaks_off(*given: Any, **more: Any) -> None:
        if cut == "after its thread":
            await add(*given, **more)
        begun.set()
        await anyio.sleep_forever()

    with monkeypatch.context() as patch:
        patch.setattr(bench.hub.channels, "add", breaks_off)
        run = await bench.start(flow("begins", "id: ask, type: prompt, prompt: hello"))
        with anyio.fail_after(SOON_S):
            await begun.wait()
        key = f"{run.id}/ask/1"
        await bench.hub.durable.cancel([key])
        await bench.hub.durable.stopped(key)
    await bench.hub.workflows._recover()
    assert (await bench.ended(run)).status == "completed"
    thread = await bench.hub.channels.get((await bench.nodes(run))["ask"]["detail"]["thread_id"])
    threads = (await bench.hub.channels.list()).items
    assert [one.id for one in threads if one.parent_id == thread.parent_id] == [thread.id]


async def test_many_nodes_side_by_side_and_in_a_chain_all_run(bench: Bench) -> None:
    (bench.directory / "x.txt").write_text("x")
    lines = [f"id: n{i}, type: tool, tool: read_file, arguments: {{path: x.txt}}" for i in range(50)]
    run = await bench.run(flow("wide", *lines))
    assert run.status == "completed"
    chain = [f"{line}, depends_on: [n{i - 1}]" if i else line for i, line in enumerate(lines)]
    run = await bench.run(flow("chain", *chain))
    assert (run.status, set((await bench.states(run)).values())) == ("completed", {"success"})


async def test_a_dry_run_shows_the_order_what_goes_in_and_what_is_skipped(bench: Bench) -> None:
    text = flow(
        "dry",
        "id: b, type: bash, depends_on: [a], script: 'echo {{ nodes.a.output }}'",
        "id: a, type: bash, script: 'echo {{ inputs.x }}'",
        "id: c, type: bash, when: inputs.x == 'go', script: echo",
        "id: d, type: bash, depends_on: [c], script: echo",
        head="inputs: {x: {type: string}}\n",
    )
    shown = await bench.hub.workflows.dry_run(text, {"x": "a b"})
    facts = {one["id"]: (one["wave"], one["skipped"], one["unknown"]) for one in shown["nodes"]}
    assert facts == {"a": (1, False, []), "b": (2, False, ["script"]), "c": (1, True, []), "d": (2, True, [])}
    assert shown["nodes"][0]["inputs"] == {"script": "echo 'a b'"}
    assert (await bench.hub.workflows.runs()).items == []

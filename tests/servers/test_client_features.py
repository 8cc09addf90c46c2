"""What servers may ask of us, asked by real servers: roots, forms, addresses, a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, ErrorData

from manyhands.approvals.types import Answer, Question
from manyhands.errors import NotConfiguredError
from manyhands.servers.calls import CallsInFlight
from manyhands.servers.client_features import ServerRequests
from manyhands.servers.endpoints import ClientFeatures
from tests.servers.rig import BOUND, Caller, Rig, Seen, gone, no, plain, running, sdk, web_server, yes

pytestmark = pytest.mark.anyio

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "age": {"type": "integer", "minimum": 0},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
    },
    "required": ["name"],
}


async def declared(rig: Rig) -> dict[str, Any]:
    """What we told the server that we can do."""
    client = json.loads((await rig.call("client")).text)
    return dict(client["capabilities"])


async def ask(rig: Rig, tool: str, *answers: Answer, **arguments: Any) -> tuple[Any, list[Question]]:
    """What the server was told in the end, and what the person was asked on the way."""
    caller = Caller(list(answers))
    result = await rig.call(tool, caller, **arguments)
    return (json.loads(result.text) if result.text.startswith("{") else result.text), caller.questions.all


# --- what is declared


async def test_only_what_is_done_is_declared() -> None:
    async with running(plain()) as rig:
        said = await declared(rig)
    assert set(said) == {"roots", "elicitation", "extensions"}
    assert said["roots"] == {"listChanged": True}
    assert set(said["elicitation"]) == {"form", "url"}
    assert set(said["extensions"]) == {"io.modelcontextprotocol/skills", "claude/channel"}


async def test_sampling_is_declared_when_there_is_a_model() -> None:
    async def sampler(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        raise AssertionError("not asked here")

    async with running(plain(), features=ClientFeatures(sampler=sampler)) as rig:
        assert "sampling" in await declared(rig)


# --- roots


async def test_the_directory_of_a_connection_is_its_root(tmp_path: Path) -> None:
    directory = tmp_path / "two words"
    async with running(plain(), root=str(directory)) as rig:
        said, _ = await ask(rig, "roots")
    assert said == {"roots": [{"uri": directory.as_uri(), "name": "two words"}]}
    assert "%20" in directory.as_uri()


async def test_a_connection_for_everyone_has_no_roots() -> None:
    async with running(plain()) as rig:
        said, _ = await ask(rig, "roots")
    assert said == {"roots": []}


@pytest.mark.parametrize("server", ["plain", "modern", "legacy"])
async def test_a_server_that_asks_for_roots_is_known_to_want_them(server: str) -> None:
    target = plain() if server == "plain" else sdk(*(["--legacy"] if server == "legacy" else []))
    async with running(target) as rig:
        await rig.up()
        assert not rig.catalogues.all[0].wants_roots
        await rig.call("roots")
        assert rig.connection.wants_roots
        await rig.catalogues.until(lambda catalogue: catalogue.wants_roots)


async def test_a_server_that_asks_for_roots_when_it_is_connected_is_known_to_want_them() -> None:
    async with running(plain("--wants-roots")) as rig:
        await rig.catalogues.until(lambda catalogue: catalogue.wants_roots)


async def test_a_root_that_moves_is_announced_and_answered(tmp_path: Path) -> None:
    methods = tmp_path / "methods"
    async with running(plain("--methods", str(methods)), root=str(tmp_path / "old")) as rig:
        await rig.up()
        await rig.connection.roots_changed(str(tmp_path / "new"))
        said, _ = await ask(rig, "roots")
    assert said["roots"][0]["name"] == "new"
    asked = [json.loads(line)[0] for line in methods.read_text().splitlines()]
    assert "notifications/roots/list_changed" in asked


# --- forms


async def test_a_form_is_shown_with_who_asks_and_its_data_reaches_the_server() -> None:
    async with running(plain()) as rig:
        said, (question,) = await ask(rig, "form", yes({"name": "Ada", "age": 36}), schema=FORM)
    assert said == {"action": "accept", "content": {"name": "Ada", "age": 36, "color": "blue"}}
    assert question.kind == "elicitation"
    assert question.detail == {
        "server": "plain",
        "tool": "form",
        "mode": "form",
        "message": "Who are you?",
        "schema": FORM,
    }
    assert (question.channel_id, question.run_id, question.call_id) == ("c1", "r1", "call-1")


async def test_a_question_is_taken_back_when_its_call_is_stopped() -> None:
    class Leaving(Caller):
        taken_back = anyio.Event()

        async def ask(self, question: Question) -> Answer:
            try:
                return await super().ask(question)
            finally:
                self.taken_back.set()

    caller = Leaving()
    async with running(plain()) as rig:
        await rig.up()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: rig.call("form", caller, schema=FORM))
            await caller.questions.until(lambda _: True)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(BOUND):
            await caller.taken_back.wait()


async def test_data_that_does_not_fit_is_asked_for_again_with_the_reason() -> None:
    async with running(plain()) as rig:
        said, questions = await ask(
            rig,
            "form",
            yes({"name": "A"}),
            yes({"name": "Ada", "age": -1}),
            yes({"name": "Ada"}),
            schema=FORM,
        )
    assert said["content"]["name"] == "Ada"
    problems = [question.detail.get("problem") for question in questions]
    assert problems[0] is None
    assert "name" in str(problems[1])
    assert "age" in str(problems[2])


async def test_data_that_never_fits_cancels_the_question() -> None:
    async with running(plain()) as rig:
        said, questions = await ask(rig, "form", *[yes({})] * 3, schema=FORM)
    assert said == {"action": "cancel"}
    assert len(questions) == 3


@pytest.mark.parametrize(("answer", "action"), [(no(), "decline"), (gone(), "cancel")])
async def test_a_refusal_and_no_answer_are_told_apart(answer: Answer, action: str) -> None:
    async with running(plain()) as rig:
        said, _ = await ask(rig, "form", answer, schema=FORM)
    assert said == {"action": action}


async def test_a_form_that_is_no_schema_is_refused_without_asking() -> None:
    async with running(plain()) as rig:
        said, questions = await ask(rig, "form", schema={"type": "object", "properties": {"a": {"type": 7}}})
    assert said["error"]["code"] == -32602
    assert not questions


@pytest.mark.parametrize("field", [{"type": "object"}, {"$ref": "http://127.0.0.1:9/schema.json"}])
async def test_a_form_that_is_not_flat_is_refused_without_asking(field: dict[str, Any]) -> None:
    async with running(plain()) as rig:
        said, questions = await ask(rig, "form", schema={"type": "object", "properties": {"a": field}})
    assert said["error"]["code"] == -32602
    assert "not flat" in said["error"]["message"]
    assert not questions


async def test_questions_that_are_too_many_are_refused_until_some_are_answered() -> None:
    asked: Seen[Question] = Seen()
    answers = anyio.Event()

    async def asking(question: Question) -> Answer:
        asked.add(question)
        await answers.wait()
        return yes({"name": "Ada"})

    requests = ServerRequests(
        "busy",
        None,
        ClientFeatures(asking=asking),
        CallsInFlight(),
        on_log=lambda _: None,
        on_roots_wanted=lambda: None,
    )
    form = ElicitRequestFormParams(message="Who are you?", requested_schema=FORM)
    visit = ElicitRequestURLParams(message="Go", url="https://example.org/", elicitation_id="1")
    context: Any = None
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(requests.elicit, context, form)
        await asked.until(lambda _: len(asked.all) == 20)
        for params in (form, visit):
            refused = await requests.elicit(context, params)
            assert isinstance(refused, ErrorData)
            assert "20 questions" in refused.message
        answers.set()
    assert isinstance(await requests.elicit(context, form), ElicitResult)


async def test_calls_side_by_side_are_asked_for_each_on_its_own_over_http() -> None:
    one, two = Caller([yes({"name": "One"})], call_id="one"), Caller([yes({"name": "Two"})], call_id="two")
    answers: dict[str, str] = {}
    for flags in ((), ("--legacy",)):
        one.answers, two.answers = [yes({"name": "One"})], [yes({"name": "Two"})]
        async with web_server("--transport", "http", *flags) as server, running(server.target()) as rig:
            await rig.up()

            async def form(rig: Rig, caller: Caller) -> None:
                answers[caller.call_id] = (await rig.call("form", caller)).text

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(form, rig, one)
                tasks.start_soon(form, rig, two)
        assert json.loads(answers["one"])["content"] == {"name": "One"}
        assert json.loads(answers["two"])["content"] == {"name": "Two"}


async def test_a_question_of_nobody_knows_which_call_is_asked_without_one_and_all_calls_wait() -> None:
    asked: Seen[Question] = Seen()

    async def asking(question: Question) -> Answer:
        asked.add(question)
        return yes({"name": "Ada"})

    one, two = Caller(), Caller()
    async with running(plain(), features=ClientFeatures(asking=asking)) as rig:
        await rig.up()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: rig.call("wait", one))
            await anyio.wait_all_tasks_blocked()
            result = await rig.call("form", two, schema=FORM)
            tasks.cancel_scope.cancel()
    assert json.loads(result.text)["action"] == "accept"
    assert asked.all[0].call_id is None
    assert asked.all[0].detail["tool"] is None
    assert (one.pauses, two.pauses) == (1, 1)
    assert not two.questions.all


async def test_without_anybody_to_ask_the_answer_is_no() -> None:
    async with running(plain()) as rig:
        await rig.up()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: rig.call("wait"))
            await anyio.wait_all_tasks_blocked()
            result = await rig.call("form", schema=FORM)
            tasks.cancel_scope.cancel()
    assert json.loads(result.text) == {"action": "decline"}


@pytest.mark.parametrize("flags", [("stdio",), ("http",), ("http", "--legacy"), ("sse", "--legacy")])
async def test_forms_work_over_every_transport_and_revision(flags: tuple[str, ...]) -> None:
    caller = Caller([yes({"name": "Ada"})])
    if flags[0] == "stdio":
        async with running(sdk()) as rig:
            result = await rig.call("form", caller)
    else:
        async with web_server("--transport", *flags) as server, running(server.target()) as rig:
            result = await rig.call("form", caller)
    assert json.loads(result.text) == {"action": "accept", "content": {"name": "Ada"}}
    assert caller.questions.all[0].call_id == "call-1"


# --- addresses


async def test_an_address_is_shown_and_never_opened() -> None:
    async with running(plain()) as rig:
        said, (question,) = await ask(rig, "visit", yes(), url="https://pay.example.org/x?y=1")
    assert said == {"action": "accept"}
    assert question.title == "plain asks you to visit pay.example.org"
    assert question.detail["mode"] == "url"
    assert question.detail["url"] == "https://pay.example.org/x?y=1"
    assert question.detail["message"] == "Pay here"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "vnc://host",
        "http://",
        "https://evil.example\\@example.org/",
        "https://example.org@evil.example/",
    ],
)
async def test_an_address_that_a_browser_should_not_visit_is_refused(url: str) -> None:
    async with running(plain()) as rig:
        said, questions = await ask(rig, "visit", url=url)
    assert said["error"]["code"] == -32602
    assert not questions


async def test_a_call_that_needs_a_visit_first_is_repeated_after_it() -> None:
    async with running(plain()) as rig:
        said, questions = await ask(rig, "needs_visit", yes(), yes(), visits=2)
    assert said == "signed in"
    assert [question.detail["elicitation_id"] for question in questions] == ["sign-1", "sign-2"]
    assert questions[0].detail["tool"] == "needs_visit"


async def test_a_call_that_needs_one_visit_after_the_other_is_given_up() -> None:
    caller = Caller([yes()] * 10)
    async with running(plain()) as rig:
        result = await rig.call("needs_visit", caller, visits=10)
    assert result.code == "elicitation_required"
    assert len(caller.questions.all) == 3


async def test_a_visit_that_is_refused_ends_the_call_and_says_so() -> None:
    caller = Caller([no()])
    async with running(plain()) as rig:
        result = await rig.call("needs_visit", caller, url="https://bank.example.org/")
    assert result.is_error
    assert "did not agree to visit https://bank.example.org/" in result.text


async def test_a_server_that_says_a_visit_is_done_answers_the_question_itself() -> None:
    caller = Caller()  # this person never answers
    async with running(plain()) as rig:
        results: list[str] = []

        async def call() -> None:
            results.append((await rig.call("needs_visit", caller)).text)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await caller.questions.until(lambda question: True)
            await rig.call("visited", id="sign-1")
    assert results == ["signed in"]


# --- sampling


def model(said: str) -> tuple[ClientFeatures, list[Mapping[str, Any]]]:
    seen: list[Mapping[str, Any]] = []

    async def sampler(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        seen.append(wanted)
        return {"role": "assistant", "model": "tiny", "content": {"type": "text", "text": said}}

    return ClientFeatures(sampler=sampler), seen


async def test_a_model_is_asked_when_the_person_agrees() -> None:
    features, seen = model("hello yourself")
    async with running(plain(), features=features) as rig:
        said, (question,) = await ask(rig, "sample", yes())
    assert said["content"]["text"] == "hello yourself"
    assert question.kind == "sampling"
    assert question.detail["server"] == "plain"
    assert question.detail["messages"][0]["content"]["text"] == "hello"
    assert seen[0]["maxTokens"] == 10


async def test_a_model_is_not_asked_when_the_person_refuses() -> None:
    features, seen = model("never")
    async with running(plain(), features=features) as rig:
        said, _ = await ask(rig, "sample", no())
    assert "refused" in said["error"]["message"]
    assert not seen


async def test_tools_for_a_model_are_refused_since_they_are_not_declared() -> None:
    features, seen = model("never")
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    async with running(plain(), features=features) as rig:
        said, questions = await ask(rig, "sample", tools=[tool])
    assert said["error"]["code"] == -32602
    assert not questions
    assert not seen


async def test_a_model_that_is_missing_is_a_clear_error() -> None:
    async def sampler(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        raise NotConfiguredError("There is no model.", hint="Add one.")

    async with running(plain(), features=ClientFeatures(sampler=sampler)) as rig:
        said, _ = await ask(rig, "sample", yes())
    assert said["error"]["message"] == "There is no model. Add one."

"""Definitions are refused when they cannot run, each mistake with its place."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from manyhands.workflows.types import Reading
from manyhands.workflows.validation import check_inputs, read_definition

HEAD = "name: demo\ninputs:\n  path: {type: string}\nnodes:\n"


def read(nodes: str, **more: Any) -> Reading:
    return read_definition(HEAD + nodes, **more)


def bash(node_id: str, script: str = "echo", **more: str) -> str:
    lines = [f"  - id: {node_id}", "    type: bash", f"    script: {script}"]
    return "\n".join([*lines, *(f"    {key}: {value}" for key, value in more.items())]) + "\n"


@pytest.mark.requirement("L37")
@pytest.mark.parametrize(
    ("nodes", "said", "line"),
    [
        (
            bash("a", depends_on="[c]") + bash("b", depends_on="[a]") + bash("c", depends_on="[b]"),
            "wait for each other: a -> c -> b -> a",
            8,
        ),
        (bash("a", depends_on="[a]"), "depends on itself", 8),
        (
            bash("a") + bash("b", depends_on="[a, nope]"),
            "'b' depends on 'nope', and there is no such node",
            11,
        ),
        (bash("a") + bash("a"), "'a' is there twice; the other is at nodes[0]", 8),
        ("  - id: a\n    type: bsh\n", "no node type 'bsh'; the types are prompt, bash", 6),
        ("  - id: a\n", "needs a type", 5),
        (bash("A-1"), "cannot be an id", 5),
        (bash("a", whn="x"), "Did you mean 'when'?", 8),
        (bash("a", "echo {{ inputs.nope }}"), "no input 'nope'; declare it", 7),
        (bash("a", "echo {{ nodes.nope.output }}"), "no node 'nope' here", 7),
        (bash("a", "echo {{ nope }}"), "no name 'nope'", 7),
        (bash("a", "echo {{ nodes.a.output }}"), "nodes.a is this node itself", 7),
        (bash("a", "echo {{ run.id.__class__ }}"), "sandbox of templates forbids '__class__'", 7),
        (bash("a", "\"{% include 'x' %}\""), "cannot bring in another", 7),
        (bash("a", "echo {{ item }}"), "only in the body of a foreach", 7),
        (bash("a", "echo {{ iteration }}"), "only in a loop", 7),
        (bash("a", "'echo {{ x'"), "cannot be read", 7),
        (bash("a", when="'1 +'"), "cannot be read", 8),
        (bash("a", when="inputs.nope == 1"), "no input 'nope'", 8),
        (bash("a", "|\n      echo 1\n      echo {{ inputs.nope }}"), "no input 'nope'", 9),
        (bash("a", "|\n      cat <<E\n      {{ inputs.path }}\n      E"), "here-document", 9),
        (bash("a", timeout="5 parsecs"), "is no span of time", 8),
        (bash("a", trigger_rule="sometimes"), "must be one of all_success", 8),
        (bash("a", retry="{attempts: 0}"), "from 1 to 100", 8),
        (bash("a", retry="{tries: 3}"), "no field 'tries'", 8),
        (bash("a", retry="{on: [bad]}"), "no class of error 'bad'", 8),
        (bash("a", output="{type: nonsense}"), "no JSON Schema", 8),
        (bash("a", '""'), "something in it", 7),
        ("  - {id: a, type: bash}\n", "needs 'script'", 5),
        ("  - {id: a, type: approval, message: ok, on_reject: z}\n", "no node before it", 5),
        ("  - {id: a, type: prompt, prompt: x, session: z}\n", "no prompt node before it", 5),
        ("  - {id: a, type: loop, body: [{id: b, type: bash, script: x}]}\n", "needs a condition", 5),
        ("  - {id: a, type: workflow, workflow: demo}\n", "cannot run itself", 5),
        ("  - {id: a, type: workflow, workflow: gone}\n", "no workflow 'gone'", 5),
        ("  - {id: a, type: workflow, workflow: other}\n", "needs the input 'must'", 5),
        ("  - {id: a, type: workflow, workflow: other, inputs: {must: 1, no: 2}}\n", "no input 'no'", 5),
        ("  - {id: a, type: foreach, items: [1], body: []}\n", "no nodes in it", 5),
        ("  []\n", "no nodes in it", 4),
        ("  - just text\n", "a mapping", 5),
    ],
)
def test_a_mistake_is_refused_with_its_place(nodes: str, said: str, line: int) -> None:
    known = {"other": {"must": {"type": "integer"}, "may": {"default": 1}}}.get
    reading = read(nodes, known=known)
    assert reading.definition is None
    found = [one for one in reading.errors if said in one.message]
    assert found, [str(one) for one in reading.problems]
    assert found[0].line == line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes: [{id: a, type: bash, script: x}]", "needs 'name'"),
        ("name: runs\nnodes: [{id: a, type: bash, script: x}]", "cannot be a name"),
        ("name: ../x\nnodes: [{id: a, type: bash, script: x}]", "cannot be a name"),
        ("name: x", "needs 'nodes'"),
        ("name: x\ninputs: {a-b: {}}\nnodes: [{id: a, type: bash, script: x}]", "cannot be an input"),
        ("name: x\ninputs: {a: {type: 7}}\nnodes: [{id: a, type: bash, script: x}]", "no JSON Schema"),
        ("just text", "a mapping with name and nodes"),
        ("name: x\nnodes: {a: 1}", "must be a list"),
    ],
)
def test_a_definition_needs_its_head(text: str, said: str) -> None:
    reading = read_definition(text)
    assert reading.definition is None
    assert any(said in one.message for one in reading.errors), reading.problems


def test_data_are_judged_like_a_text_with_paths_in_place_of_lines() -> None:
    reading = read_definition({"name": "x", "nodes": [{"id": "a", "type": "bash", "script": "{{ nope }}"}]})
    assert [(one.path, one.line) for one in reading.errors] == [("nodes[0].script", None)]


def test_what_may_not_be_meant_is_a_warning() -> None:
    reading = read(bash("a", "echo '\"{{ inputs.path }}\"'") + bash("b", "echo {{ nodes.a.output }}"))
    assert reading.definition is not None
    said = [one.message for one in reading.problems]
    assert "the quotes round it are not needed" in said[0]
    assert "add 'a' to depends_on" in said[1]


def test_the_line_of_every_node_is_known() -> None:
    text = (
        bash("a")
        + "  - {id: l, type: loop, max_iterations: 2,\n     body: [{id: b, type: bash, script: x}]}\n"
    )
    lines = read(text).lines
    assert (lines["nodes[0]"], lines["nodes[1]"], lines["nodes[1].body[0]"]) == (5, 8, 9)
    assert read_definition({"name": "x", "nodes": []}).lines == {}


def test_a_thousand_nodes_work_and_ten_thousand_are_refused() -> None:
    def chain(count: int) -> str:
        return bash("n0") + "".join(bash(f"n{i}", depends_on=f"[n{i - 1}]") for i in range(1, count))

    assert read(chain(1000)).definition is not None
    refused = read(chain(10_000))
    assert [one.message for one in refused.errors] == [
        "It has 10,000 nodes; at most 2,000 work. Use foreach, or split it."
    ]


def test_a_circle_in_a_thousand_nodes_is_found() -> None:
    nodes = "".join(bash(f"n{i}", depends_on=f"[n{(i + 1) % 1000}]") for i in range(1000))
    assert "wait for each other" in read(nodes).errors[0].message


def test_every_part_of_a_whole_definition_is_understood() -> None:
    reading = read(
        bash(
            "a",
            retry="{attempts: 4, delay: 500, backoff: 3, on: timeout}",
            timeout="1h30m",
            always_run="true",
        )
        + bash("b", retry="2", depends_on="a", on_interrupt="fail", trigger_rule="none_failed")
    )
    assert reading.definition is not None
    first, second = reading.definition.nodes
    assert (first.retry.attempts, first.retry.delay_s, first.retry.on, first.timeout_s) == (
        4,
        500,
        ["timeout"],
        5400,
    )
    assert (second.retry.attempts, second.depends_on, second.on_interrupt) == (3, ["a"], "fail")


def test_a_schema_of_an_input_fetches_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema"
        check_inputs({"a": {"$ref": address}}, {"a": 1})
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_inputs_are_checked_and_defaults_put_in() -> None:
    inputs: dict[str, dict[str, Any]] = {
        "must": {"type": "integer"},
        "may": {"type": "string", "default": "x"},
        "free": {"required": False},
    }
    assert check_inputs(inputs, {"must": 1}) == ({"must": 1, "may": "x", "free": None}, [])
    _, wrong = check_inputs(inputs, {"may": 3, "other": 1})
    assert wrong == [
        "There is no input 'other'.",
        "The input 'must' is missing.",
        "The input 'may': 3 is not of type 'string'.",
    ]

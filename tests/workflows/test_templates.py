"""Templates: strict, in a sandbox, with types kept and conditions that are expressions."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.workflows import templates
from manyhands.workflows.templates import Names, TemplateFault, Text, evaluate, holds, references, render

VALUES: dict[str, Any] = {
    "inputs": Names("input", {"name": "Ada", "items": [1, 2], "count": 3, "none": None}),
    "nodes": Names("node", {"build": {"output": Text('{"ok": true}'), "status": "success"}}),
}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ inputs.items }}", [1, 2]),
        ("  {{- inputs.count -}} ", 3),
        ("{{ inputs.none }}", None),
        ("{{ nodes.build.output.json.ok }}", True),
        ("{{ inputs.items | length > 1 }}", True),
        ("a {{ inputs.name }} b", "a Ada b"),
        ("{{ inputs.items }}{{ inputs.count }}", "[1, 2]3"),
        ("{{ inputs.none }} is null", "null is null"),
        ("no template", "no template"),
        ({"a": ["{{ inputs.count }}", {"b": "x{{ inputs.count }}"}]}, {"a": [3, {"b": "x3"}]}),
        ("{% for one in inputs.items %}{{ one }},{% endfor %}", "1,2,"),
        ('{{ "}}" }}', "}}"),
        ("{{ nodes.build.output | from_json }}", {"ok": True}),
    ],
)
def test_a_value_is_rendered_and_one_expression_keeps_its_type(template: Any, value: Any) -> None:
    assert render(template, VALUES) == value


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ nope }}", "'nope' is undefined"),
        ("x{{ inputs.nope }}", "no input 'nope'. Known: count, items, name, none"),
        ("{{ nodes.test.output }}", "no node 'test'"),
        ("{{ nodes['test'] }}", "no node 'test'"),
        ("{{ nodes.build.nope }}", "no attribute 'nope'"),
        ("{{ inputs.name.json }}", "no attribute 'json'"),
        ("{{ nodes.build.output.json.nope }}", "no attribute 'nope'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ open", "cannot be read"),
    ],
)
def test_what_is_missing_or_wrong_is_an_error_and_never_an_empty_text(template: str, said: str) -> None:
    with pytest.raises(TemplateFault, match=said):
        render(template, VALUES)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ inputs.__class__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ range.__self__ }}",
        "{% for a in range(999999) %}{% for b in range(999999) %}x{% endfor %}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{{ 9 ** 99999999 }}",
        "{{ inputs['items'].append(3) }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ ''|attr('__class__') }}",
        "{% include 'secret' %}",
    ],
)
def test_a_template_cannot_get_out_of_its_sandbox(template: str) -> None:
    with pytest.raises(TemplateFault):
        render(template, VALUES)
    assert VALUES["inputs"]["items"] == [1, 2]


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("inputs.count > 2", True),
        ("{{ inputs.count > 3 }}", False),
        ("inputs.none", False),
        ("inputs.items", True),
        ("'ok' in nodes.build.output", True),
        ("nodes.test is defined", False),
        ("nodes.build.status == 'success' and not inputs.none", True),
        ("true", True),
    ],
)
def test_a_condition_is_an_expression(condition: str, answer: bool) -> None:
    assert holds(condition, VALUES) is answer


def test_a_text_that_says_true_is_no_condition() -> None:
    with pytest.raises(TemplateFault, match="not a truth value"):
        holds("nodes.a.output", {"nodes": {"a": {"output": Text("false\n")}}})


def test_an_output_that_is_no_json_says_so() -> None:
    with pytest.raises(TemplateFault, match="no JSON"):
        evaluate("x.json", {"x": Text("not json")})


def test_what_a_template_refers_to_is_known_without_rendering_it() -> None:
    found = references(
        "{{ nodes.a.output.json[0] }}{% for f in inputs['list'] %}{{ f.x }}{% endfor %}\n{{ run.id }}"
    )
    assert [one.parts for one in found] == [
        ("nodes", "a", "output", "json"),
        ("inputs", "list"),
        ("run", "id"),
    ]
    assert found[-1].line == 2
    condition = references("{{ nodes.gate.decision == 'approve' }}", expression=True)
    assert [one.parts for one in condition] == [("nodes", "gate", "decision")]


def test_only_values_that_can_be_kept_come_out() -> None:
    with pytest.raises(TemplateFault, match="no value"):
        evaluate("f", {"f": object()})
    assert evaluate("range(3)", {}) == [0, 1, 2]
    assert templates.plain(Text("x")).__class__ is str

"""Definitions as text: places of everything, and comments that outlive a change."""

from __future__ import annotations

import pytest

from manyhands.workflows.source import merge_yaml, read_text, write_yaml

TEXT = """\
# What this is for
name: demo   # the name
# before nodes
nodes:
  # the first
  - id: a   # called a
    type: bash
    script: |
      echo hi
      # part of the script
  # the second
  - id: b
    type: bash
    script: echo b   # trailing
    depends_on: [a]
"""


def test_every_value_has_its_place() -> None:
    found = read_text(TEXT)
    assert found.data["nodes"][1] == {"id": "b", "type": "bash", "script": "echo b", "depends_on": ["a"]}
    assert found.places["nodes[1].script"] == (14, 5)
    problem = found.problem("wrong", "nodes[1].depends_on[0].deeper")
    assert (problem.line, problem.column) == (15, 18)
    assert str(problem) == "line 15: nodes[1].depends_on[0].deeper: wrong"


def test_json_is_read_too_with_its_places() -> None:
    found = read_text('{"name": "x",\n "nodes": [true, 1.5, null, "yes", 0x10]}')
    assert found.data == {"name": "x", "nodes": [True, 1.5, None, "yes", 16]}
    assert found.places["nodes[1]"] == (2, 18)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("a: {{ x }}", "needs quotes", 1),
        ("a: 1\nb: [1, 2", "neither YAML nor JSON", 3),
        ("a: 1\na: 2", "'a' is there twice", 2),
        ("a: !!python/name:os.system x", "tag", 1),
        ("", "nothing in it", None),
        ("a: &a [*a]", "nested too deeply", 1),
        ("\t- x", "neither YAML nor JSON", 1),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, said: str, line: int | None) -> None:
    problem = read_text(text).problems[0]
    assert said in problem.message
    assert problem.line == line


def test_aliases_cannot_make_a_few_lines_into_billions_of_values() -> None:
    lines = ["a: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    assert "more than" in read_text("\n".join(lines)).problems[0].message


def test_comments_stay_when_data_change_a_text() -> None:
    data = read_text(TEXT).data
    data["nodes"][1]["script"] = "echo changed"
    data["nodes"].append({"id": "c", "type": "bash", "script": "one\ntwo\n"})
    data["timeout"] = "5m"
    merged = merge_yaml(TEXT, data)
    for comment in (
        "# What this is for",
        "# the name",
        "# the first",
        "# called a",
        "# the second",
        "# trailing",
    ):
        assert comment in merged
    assert "    script: |\n      one\n      two\n" in merged
    assert read_text(merged).data == data


def test_nodes_that_move_take_their_comments_along() -> None:
    data = read_text(TEXT).data
    data["nodes"].reverse()
    del data["nodes"][0]["depends_on"]
    merged = merge_yaml(TEXT, data)
    assert "- id: a   # called a" in merged
    assert "# trailing" in merged
    assert read_text(merged).data == data


def test_json_stays_json_and_what_is_broken_is_written_anew() -> None:
    assert merge_yaml('{"name": "x"}', {"name": "y"}) == '{\n  "name": "y"\n}\n'
    assert merge_yaml("a: [", {"name": "y"}) == "name: y\n"
    assert read_text(write_yaml({"name": "x", "on": "yes", "n": 1})).data == {
        "name": "x",
        "on": "yes",
        "n": 1,
    }

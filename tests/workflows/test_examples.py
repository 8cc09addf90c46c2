"""The workflows that ship do what they say, with a model that does what the test says."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from manyhands.testing.scripted import calls
from manyhands.workflows.types import WorkflowRun
from tests.workflows.conftest import Bench

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("open_bench", ["sqlite"], indirect=True, scope="module"),
]


async def begin(bench: Bench, name: str, **inputs: Any) -> WorkflowRun:
    found = {one.name: one for one in await bench.hub.workflows.examples()}[name]
    return await bench.run(found.reading.text, inputs)


def git(bench: Bench, *arguments: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", *who, *arguments], cwd=bench.directory, check=True, capture_output=True)


async def test_all_of_them_are_without_a_remark(bench: Bench) -> None:
    found = await bench.hub.workflows.examples()
    assert [one.name for one in found] == ["fan-out", "nightly-report", "review-loop", "test-and-fix"]
    assert [problem for one in found for problem in one.reading.problems] == []


async def test_a_review_loop_writes_until_the_review_is_content_and_a_person_too(bench: Bench) -> None:
    no, yes = {"good": False, "advice": "shorter"}, {"good": True, "advice": ""}
    bench.replies = ["first", json.dumps(no), "second", f"```json\n{json.dumps(yes)}\n```"]
    run = await begin(bench, "review-loop", task="Write a haiku.")
    nodes = await bench.nodes(run)
    assert (run.status, nodes["write_and_review"]["iterations"]) == ("paused", 2)
    assert "shorter" in nodes["write_and_review/2/write"]["inputs"]["prompt"]
    assert bench.made("draft.md") == ["second"]
    bench.replies = ["third", json.dumps(yes)]
    run = await bench.settled(await bench.hub.workflows.resume(run.id, "reject", "more rain"))
    nodes = await bench.nodes(run)
    assert (run.status, bench.made("draft.md")) == ("paused", ["third"])
    assert "more rain" in nodes["write_and_review/1/write"]["inputs"]["prompt"]
    run = await bench.settled(await bench.hub.workflows.resume(run.id))
    assert run.status == "completed"


async def test_the_tests_are_run_and_the_code_is_mended_until_they_pass(bench: Bench) -> None:
    bench.replies = [
        calls(("write_file", {"path": "answer.txt", "content": "41"})),
        "A first try.",
        calls(("write_file", {"path": "answer.txt", "content": "42"})),
        "Now it is right.",
    ]
    command = "grep -q 42 answer.txt || { echo no 42 >&2; false; }"
    run = await begin(bench, "test-and-fix", command=command)
    nodes = await bench.nodes(run)
    assert (run.status, run.error) == ("completed", None)
    assert nodes["verdict"]["output"] == "3 rounds"
    assert "no 42" in nodes["until_green/1/mend"]["inputs"]["prompt"]
    assert nodes["until_green/3/mend"]["status"] == "skipped"


async def test_a_nightly_report_is_written_when_there_is_something_to_tell(bench: Bench) -> None:
    git(bench, "init", "-q")
    (bench.directory / "a.py").write_text("# TODO: more\n")
    git(bench, "add", ".")
    git(bench, "commit", "-q", "-m", "Begin")
    bench.replies = ["# What is new\n\nIt's begun."]
    run = await begin(bench, "nightly-report")
    nodes = await bench.nodes(run)
    assert (run.status, run.error) == ("completed", None)
    assert "Ada: Begin" in nodes["summary"]["inputs"]["prompt"]
    assert bench.made(nodes["keep"]["output"]) == ["# What is new", "", "It's begun."]
    quiet = await begin(bench, "nightly-report", since="2099-01-01")
    assert (quiet.status, (await bench.states(quiet))["keep"]) == ("completed", "skipped")


async def test_a_question_is_asked_about_many_files_and_kept_after_the_gate(bench: Bench) -> None:
    for name in ("one.py", "two words.py", "three.txt"):
        (bench.directory / name).write_text(f"this is {name}\n")
    run = await begin(bench, "fan-out")
    assert run.status == "paused"
    run = await bench.settled(await bench.hub.workflows.resume(run.id))
    assert (run.status, len(bench.made("answers.md"))) == ("completed", 2)
    assert bench.made("answers.md")[1].startswith("- ./two words.py: 1: What does this file do")

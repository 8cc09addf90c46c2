"""Every definition in the documentation is one, and runs to its end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from manyhands.workflows.fields import NODE, TYPES, WORKFLOW
from manyhands.workflows.types import NodeStatus, RunStatus
from tests.docs import Page
from tests.workflows.conftest import Bench

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("open_bench", ["sqlite"], indirect=True, scope="module"),
]
DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "workflows.md", *sorted((DOCS / "workflows").glob("*.md"))]


@pytest.fixture(scope="module", autouse=True)
async def scanner(open_bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The process that looks at code stays for the next time; it belongs to no test."""
    directory = tmp_path_factory.mktemp("code")
    _repository(directory)
    await open_bench.hub.quality.gate(str(directory), "HEAD", {})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
async def test_every_example_runs_to_its_end(bench: Bench, path: Path) -> None:
    _repository(bench.directory)
    blocks = [block.text for block in Page(path).blocks if block.language == "yaml"]
    assert blocks
    for text in blocks:
        reading = await bench.hub.workflows.validate(text)
        assert reading.problems == [], [str(one) for one in reading.problems]
        assert reading.definition is not None
        await bench.save(text)
        if "{word: hello}" not in text and any(
            "default" not in one for one in reading.definition.inputs.values()
        ):
            continue  # it is there for the next one, which runs it
        bench.replies = ['{"stars": 4}'] if "stars" in text else []
        run = await bench.run(text)
        if run.status == "paused":
            run = await bench.settled(await bench.hub.workflows.resume(run.id, "approve", "it is time"))
        assert (run.status, run.error) == ("completed", None)


def _repository(directory: Path) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    (directory / "code.py").write_text("def one():\n    return 1\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *who, *command], cwd=directory, check=True, capture_output=True)


async def test_every_field_state_and_type_is_explained(bench: Bench) -> None:
    overview = Page(DOCS / "workflows.md")
    assert set(WORKFLOW) <= set(overview.rows("Definitions"))
    assert set(NODE) - {"description"} <= set(overview.rows("Definitions"))
    states = [*RunStatus, *NodeStatus]
    assert {state.value for state in states} <= set(overview.rows("Runs"))
    for kind, fields in TYPES.items():
        page = Page(DOCS / "workflows" / f"{kind}.md")
        assert set(fields) <= set(page.rows(kind)), kind

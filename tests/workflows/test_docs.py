"""Every definition in the documentation is one, and runs to its end."""

from __future__ import annotations

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
RUN = [path for path in PAGES if path.stem != "quality"]  # that one has a test of its own, with a scanner


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
async def test_every_example_runs_to_its_end(bench: Bench, path: Path) -> None:
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


async def test_every_field_state_and_type_is_explained(bench: Bench) -> None:
    overview = Page(DOCS / "workflows.md")
    assert set(WORKFLOW) <= set(overview.rows("Definitions"))
    assert set(NODE) - {"description"} <= set(overview.rows("Definitions"))
    states = [*RunStatus, *NodeStatus]
    assert {state.value for state in states} <= set(overview.rows("Runs"))
    for kind, fields in TYPES.items():
        page = Page(DOCS / "workflows" / f"{kind}.md")
        assert set(fields) <= set(page.rows(kind)), kind

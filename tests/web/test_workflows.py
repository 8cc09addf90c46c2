"""Workflows in a browser: written beside their graph, run with a form, watched, answered, retried."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\">"
RELEASE = f"""\
name: release
description: {json.dumps(MARKUP)}
inputs:
  branch: {{type: string, description: What goes out.}}
  files: {{type: array, items: {{type: string}}, default: [a.py, b.py]}}
nodes:
  - id: each
    type: foreach
    items: "{{{{ inputs.files }}}}"
    body:
      - id: read
        type: bash
        script: echo read {{{{ item }}}}
  - id: fix
    type: loop
    depends_on: [each]
    max_iterations: 5
    condition: iteration == 2
    body:
      - id: mend
        type: bash
        script: echo pass {{{{ iteration }}}}
  - id: gate
    type: approval
    depends_on: [fix]
    message: {json.dumps("Release {{ inputs.branch }}? " + MARKUP)}
    on_reject: fix
  - id: publish
    type: bash
    depends_on: [gate]
    script: echo published {{{{ nodes.gate.output }}}}
"""
BELOW = """\
name: below
nodes:
  - id: inside
    type: bash
    script: echo from below
"""
BREAKS = """\
name: breaks
nodes:
  - id: first
    type: bash
    script: echo one
  - id: sub
    type: workflow
    workflow: below
  - id: second
    type: bash
    depends_on: [first]
    script: echo why it failed; exit 3
"""
WRONG = """\
name: mine
nodes:
  - id: one
    type: bahs
  - id: two
    type: bash
    script: ls
"""
RIGHT = """\
name: mine
inputs: {who: string}
nodes:
  - id: one
    type: bash
    script: echo {{ inputs.who }}
  - id: two
    type: bash
    depends_on: [one]
    script: ls
"""


def save(daemon: Daemon, text: str) -> None:
    status, made = daemon.request("POST", "/workflows", {"action": "add", "workflow": text})
    assert status == 201, made


def start(daemon: Daemon, name: str, inputs: dict[str, Any] | None = None) -> str:
    body = {"workflow_name": name, "inputs": inputs or {}}
    status, made = daemon.request("POST", "/workflows/runs", body)
    assert status == 201, made
    return str(made["run_id"])


def node(page: Page, *words: str) -> Locator:
    """A node in the graph, by its id, and if wanted its type and its state."""
    graph = page.get_by_role("region", name=re.compile("^Graph of"))
    return graph.get_by_role("button", name=re.compile("^" + r"\W+".join(words)))


def write(page: Page, text: str) -> None:
    """Replace the definition."""
    page.get_by_label("Definition").click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def test_a_workflow_is_written_beside_its_graph_with_mistakes_at_their_place(
    daemon: Daemon, open_page: OpenPage
) -> None:
    page = open_page(address(daemon, "/workflows"))
    expect(page.get_by_text("No workflows yet")).to_be_visible()
    page.get_by_role("link", name="Begin with an example").click()
    expect(node(page, "each", "foreach")).to_be_visible()
    editor = page.get_by_label("Definition")
    write(page, WRONG)
    expect(page.locator(".cm-wrong-error")).to_contain_text("There is no node type 'bahs'")
    node(page, "two", "bash").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("- id: two")
    write(page, RIGHT)
    expect(page.get_by_text("No mistakes")).to_be_visible()
    page.get_by_role("button", name="Dry run").click()
    dry = page.get_by_role("region", name="Dry run")
    dry.get_by_label("who").fill("you")
    expect(dry).to_contain_text("echo you")
    expect(dry.get_by_role("heading", name="Step 2")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="mine")).to_be_visible()
    assert [one["name"] for one in daemon.get("/workflows")["items"]] == ["mine"]

    # What is not saved outlives another page; what is written elsewhere appears.
    write(page, "name: mine\n# half")
    expect(page.get_by_text("Not saved")).to_be_visible()
    page.get_by_role("link", name="All workflows").click()
    page.get_by_role("link", name="mine").click()
    expect(editor).to_contain_text("# half")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Discard changes").click()
    expect(editor).to_contain_text("depends_on: [one]")
    daemon.request("DELETE", "/workflows/mine")
    expect(page.get_by_text("This workflow cannot be shown")).to_be_visible()


def test_a_run_is_started_with_a_form_watched_sent_back_and_approved_in_place(
    daemon: Daemon, open_page: OpenPage
) -> None:
    save(daemon, RELEASE)
    page = open_page(address(daemon, "/workflows"))
    page.get_by_role("button", name="Run release").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Run").click()
    expect(dialog.get_by_role("alert")).to_contain_text("needed")
    dialog.get_by_label("branch").fill("main")
    dialog.get_by_role("button", name="Run").click()

    expect(node(page, "gate", "approval", "Waits for you")).to_be_visible()
    answer = page.get_by_role("region", name="Answer gate")
    expect(answer).to_contain_text("Release main? <img")
    answer.get_by_label("Your words").fill("once more")
    answer.get_by_role("button", name="Reject").click()
    # The work went back to the loop, and the question comes again.
    expect(page.get_by_label("Attempt", exact=True)).to_contain_text("Attempt 2 of 2")
    expect(node(page, "gate", "approval", "Waits for you")).to_be_visible()

    node(page, "fix", "loop").click()
    details = page.get_by_role("complementary", name="Details")
    expect(details.get_by_text("Iteration 1")).to_be_visible()
    details.get_by_role("button", name="mend pass 2").click()
    expect(details.get_by_role("heading", name="mend")).to_be_visible()
    expect(details).to_contain_text("in fix (2)")
    page.get_by_role("button", name="Previous item of each").click()
    node(page, "read", "bash").click()
    expect(details).to_contain_text("read a.py")

    node(page, "gate", "approval").click()
    answer.get_by_label("Your words").fill("with care")
    answer.get_by_role("button", name="Approve").click()
    expect(node(page, "publish", "bash", "Done")).to_be_visible()
    expect(page.get_by_text("Completed")).to_be_visible()
    node(page, "publish").click()
    expect(details).to_contain_text("published with care")
    assert page.title() == "Manyhands"


def test_a_run_that_failed_says_why_and_is_retried_from_a_node_cancelled_and_deleted(
    daemon: Daemon, open_page: OpenPage
) -> None:
    save(daemon, BELOW)
    save(daemon, BREAKS)
    run = start(daemon, "breaks")
    page = open_page(address(daemon, f"/workflows/runs/{run}"))
    details = page.get_by_role("complementary", name="Details")
    expect(node(page, "second", "bash", "Failed")).to_be_visible()
    expect(details.get_by_role("heading", name="second")).to_be_visible()
    expect(details).to_contain_text("why it failed")
    # What a sub-workflow does is drawn in its box, and read like the rest.
    node(page, "inside", "bash", "Done").click()
    expect(details).to_contain_text("bash in sub")
    expect(details).to_contain_text("from below")
    node(page, "first", "bash").click()
    details.get_by_role("button", name="Retry from here").click()
    expect(details.get_by_label("Attempt", exact=True)).to_contain_text("Attempt 2 of 2")
    expect(node(page, "second", "bash", "Failed")).to_be_visible()
    page.get_by_role("button", name="Retry from failed").click()
    node(page, "second", "bash").click()
    expect(details.get_by_label("Attempt", exact=True)).to_contain_text("Attempt 3 of 3")
    expect(page.get_by_role("button", name="Retry from failed")).to_be_visible()

    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing has run yet")).to_be_visible()
    save(daemon, RELEASE)
    waits = start(daemon, "release", {"branch": "main"})
    page.get_by_role("table", name="Runs").get_by_role("link", name="release").click()
    expect(node(page, "gate", "approval", "Waits for you")).to_be_visible()
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel run").click()
    expect(node(page, "gate", "approval", "Cancelled")).to_be_visible()
    assert daemon.get(f"/workflows/runs/{waits}")["run"]["status"] == "cancelled"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_workflows_can_be_used_by_everybody(
    daemon: Daemon, open_page: OpenPage, theme: Literal["light", "dark"]
) -> None:
    save(daemon, RELEASE)
    run = start(daemon, "release", {"branch": "main"})
    page = open_page(address(daemon, "/workflows"), theme=theme, width=390)
    expect(page.get_by_role("link", name="release")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("tab", name="Runs").click()
    expect(page.get_by_role("table", name="Runs")).to_contain_text("Waits for you")
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{daemon.url}/workflows/runs/{run}")
    expect(node(page, "publish", "bash")).to_be_visible()
    node(page, "each", "foreach").press("Enter")
    expect(page.get_by_text("2 of 2 items")).to_be_visible()
    assert serious_findings(page) == []
    page.goto(f"{daemon.url}/workflows/edit?name=release")
    expect(node(page, "publish", "bash")).to_be_visible()
    expect(page.get_by_label("Definition")).to_be_visible()
    assert serious_findings(page) == []

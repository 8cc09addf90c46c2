"""Threads and worktree threads in a browser: made from the channel list, looked at, and deleted knowingly."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.chat.repositories import Repository, make_repository
from tests.test_daemon import Daemon, until
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\">"


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    """A repository with one commit."""
    repository = make_repository(tmp_path / "shop")
    repository.commit("cart.py", "def total(items):\n    return sum(items)\n")
    return repository


@pytest.fixture
def channel(daemon: Daemon, project: Repository) -> str:
    status, made = daemon.request("POST", "/channels", {"dir_path": str(project.path)})
    assert status == 201
    return str(made["id"])


def make_worktree(page: Page, name: str) -> None:
    page.get_by_role("link", name="shop", exact=True).hover()
    page.get_by_role("button", name="New worktree thread in shop").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Create").click()


def test_a_worktree_thread_is_made_changed_and_deleted_with_what_would_be_lost(
    daemon: Daemon, channel: str, open_page: OpenPage
) -> None:
    page = open_page(address(daemon))
    make_worktree(page, "fix carts")
    expect(page.get_by_role("heading", name="fix carts")).to_be_visible()
    expect(page.get_by_role("button", name="Unchanged")).to_be_visible()
    [worktree] = [one for one in daemon.get("/worktrees")["items"] if one["thread"] == "fix carts"]
    tree = Path(worktree["path"])
    (tree / "cart.py").write_text(f"def total(items):\n    return {MARKUP!r}\n")

    page.get_by_role("button", name="show changes").click()
    sheet = page.get_by_role("dialog", name="Worktree")
    expect(sheet.get_by_text("Uncommitted")).to_be_visible()
    expect(sheet.get_by_role("region", name="What changed in cart.py")).to_contain_text("<img src=x")
    assert serious_findings(page) == []
    sheet.get_by_role("button", name="Delete the thread").click()
    question = page.get_by_role("alertdialog")
    expect(question.get_by_text("1 uncommitted file")).to_be_visible()
    assert serious_findings(page) == []
    question.get_by_role("button", name="Cancel").click()
    assert tree.exists()

    page.get_by_role("button", name="More about fix carts").click()
    page.get_by_role("menuitem", name="Delete").click()
    question.get_by_role("button", name="Delete and lose it").click()
    expect(page.get_by_role("link", name="fix carts")).to_have_count(0)
    until(lambda: not tree.exists())
    assert page.title() != "run"


def test_a_thread_begins_with_what_to_do_and_a_wrong_branch_says_so(
    daemon: Daemon, channel: str, open_page: OpenPage
) -> None:
    page = open_page(address(daemon), theme="dark")
    page.get_by_role("link", name="shop", exact=True).focus()
    page.get_by_role("button", name="New thread in shop").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("Name").fill("review")
    dialog.get_by_label("What to do").fill("Say hello")
    assert serious_findings(page) == []
    dialog.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="review")).to_be_visible()
    expect(page.get_by_text("Say hello", exact=True)).to_be_visible()

    page.get_by_role("link", name="shop", exact=True).first.hover()
    page.get_by_role("button", name="New worktree thread in shop").click()
    dialog.get_by_label("Start from").fill("no-such-branch")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("no-such-branch")).to_be_visible()
    assert daemon.get("/worktrees")["items"] == []


def test_worktrees_are_listed_and_merged_ones_removed(
    daemon: Daemon, channel: str, project: Repository, open_page: OpenPage
) -> None:
    for name in ("done", "going on"):
        daemon.request("POST", "/worktrees", {"channel_id": channel, "name": name})
    trees = {one["thread"]: one for one in daemon.get("/worktrees")["items"]}
    done = Path(trees["done"]["path"])
    Repository(done).commit("new.py", "x = 1\n")
    project("merge", "--ff-only", trees["done"]["branch"])
    page = open_page(address(daemon), width=390)
    page.get_by_role("button", name="Open the navigation").click()
    page.get_by_role("button", name="More about channels").click()
    page.get_by_role("menuitem", name="Worktrees").click()
    dialog = page.get_by_role("dialog", name="Worktrees")
    expect(dialog.get_by_text("Merged", exact=True)).to_be_visible()
    assert serious_findings(page) == []
    dialog.get_by_role("button", name="Remove 1 merged").click()
    expect(dialog.get_by_role("button", name="None is merged")).to_be_visible()
    expect(dialog.get_by_text("going on")).to_be_visible()
    assert not done.exists()

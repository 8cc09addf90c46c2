"""Memory in a browser: notes are found by words and meaning, opened at the place, and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\">"
FILLER = "\n".join(f"Line {number} of a long page." for number in range(90))
NOTES = {
    "decisions.md": (
        f"# Decisions\n\n{FILLER}\n\n## Storage\n\nWe keep the orders in PostgreSQL.\n\n{FILLER}\n"
    ),
    "people.md": f"# People\n\nThe clinic team looks after the physicians' portal. {MARKUP}\n",
    "log/2026.txt": "The courier came late twice in May.\n",
    "blob.md": "\0\1\2 no text",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def channel_of(daemon: Daemon, directory: Path) -> str:
    status, made = daemon.request("POST", "/channels", {"name": "Shop", "dir_path": str(directory)})
    assert status in (200, 201), made
    channel_id = made["id"]
    assert isinstance(channel_id, str)
    return channel_id


def indexed(daemon: Daemon, directory: Path) -> str:
    """The channel of a directory whose notes have been read."""
    channel_id = channel_of(daemon, directory)
    status, report = daemon.request("POST", "/memory/index", {"channel_id": channel_id})
    assert status == 200, report
    return channel_id


def hits(page: Page) -> Any:
    return page.get_by_role("region", name="Hits").get_by_role("article")


def ask(page: Page, question: str) -> None:
    page.get_by_role("searchbox", name="Search the memory").fill(question)


def test_notes_are_found_by_words_and_meaning_and_opened_at_the_place(
    daemon: Daemon, open_page: OpenPage, notes: Path
) -> None:
    channel_id = channel_of(daemon, notes)
    page = open_page(address(daemon, f"/c/{channel_id}"))
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Search its memory").click()
    project = page.get_by_role("region", name="This project")
    expect(project).to_contain_text("Not read yet")
    ask(page, "where are the orders kept")
    first = hits(page).first
    expect(first).to_contain_text("decisions.md")
    expect(first).to_contain_text("Decisions › Storage")
    expect(first).to_contain_text("Words")
    expect(project).to_contain_text("all with vectors")
    first.get_by_role("button").click()
    marked = page.get_by_role("dialog").locator("[aria-current]")
    expect(marked.filter(has_text="We keep the orders in PostgreSQL.")).to_be_in_viewport()
    page.keyboard.press("Escape")
    ask(page, "doctors")
    expect(hits(page).first).to_contain_text("people.md")
    expect(hits(page).first).to_contain_text("Meaning")
    expect(hits(page).first).to_contain_text(MARKUP)
    page.reload()
    expect(hits(page).first).to_contain_text("people.md")
    assert page.title() == "Manyhands"


def test_filters_are_part_of_the_address_and_leave_other_files_out(
    daemon: Daemon, open_page: OpenPage, notes: Path
) -> None:
    channel_id = indexed(daemon, notes)
    page = open_page(f"{address(daemon, '/memory')}&channel={channel_id}&q=courier")
    expect(hits(page).first).to_contain_text("2026.txt")
    page.get_by_role("textbox", name="Only in these files").fill("*.md")
    expect(page.get_by_role("article").filter(has_text="2026.txt")).to_have_count(0)
    page.get_by_label("Words only").check()
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()
    assert "words=yes" in page.url
    page.get_by_role("button", name="Search without filters").click()
    expect(hits(page).first).to_contain_text("2026.txt")
    page.get_by_role("combobox", name="When the file was changed").click()
    page.get_by_role("option", name="Between dates").click()
    page.get_by_label("To", exact=True).fill("2001-01-01")
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()


def test_a_file_that_is_deleted_or_written_shows_in_an_open_search(
    daemon: Daemon, open_page: OpenPage, notes: Path
) -> None:
    channel_id = indexed(daemon, notes)
    page = open_page(f"{address(daemon, '/memory')}&channel={channel_id}&q=courier")
    expect(hits(page).first).to_contain_text("2026.txt")
    (notes / "log" / "2026.txt").unlink()
    page.get_by_role("button", name="Re-index").click()
    page.get_by_role("menuitem", name="Look for changes").click()
    expect(page.get_by_role("article").filter(has_text="2026.txt")).to_have_count(0)
    (notes / "fresh.md").write_text("# Fresh\n\nThe courier is on time since June.\n")
    page.get_by_role("button", name="Re-index").click()
    page.get_by_role("menuitem", name="Read everything anew").click()
    expect(hits(page).first).to_contain_text("fresh.md")


def test_files_that_could_not_be_read_and_an_embedder_that_fails_are_told_of(
    daemon: Daemon, open_page: OpenPage, notes: Path
) -> None:
    channel_id = indexed(daemon, notes)
    page = open_page(f"{address(daemon, '/memory')}&channel={channel_id}")
    page.get_by_role("button", name="1 file with problems").click()
    files = page.get_by_role("dialog").get_by_role("list", name="Files")
    expect(files.get_by_role("listitem")).to_have_count(1)
    expect(files).to_contain_text("blob.md")
    page.get_by_role("button", name="All", exact=True).click()
    expect(files.get_by_role("listitem")).to_have_count(4)
    files.get_by_role("button", name="people.md").click()
    expect(page.get_by_role("dialog")).to_contain_text("clinic team looks after")
    page.keyboard.press("Escape")
    nowhere = {"memory_embedder": "openai:none", "memory_embedder_url": "http://127.0.0.1:9/v1"}
    status, answer = daemon.request("PATCH", "/settings", nowhere)
    assert status == 200, answer
    ask(page, "courier")
    expect(hits(page).first).to_contain_text("2026.txt")
    expect(page.get_by_text("by words alone", exact=False).first).to_be_visible()
    page.get_by_role("link", name="Settings").last.click()
    expect(page.get_by_role("heading", name="Memory", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_serves_everybody(
    daemon: Daemon, open_page: OpenPage, notes: Path, theme: Literal["light", "dark"], width: int
) -> None:
    channel_id = indexed(daemon, notes)
    page = open_page(f"{address(daemon, '/memory')}&channel={channel_id}", theme=theme, width=width)
    expect(page.get_by_role("region", name="This project")).to_contain_text("3 files")
    assert serious_findings(page) == []
    ask(page, "where are the orders kept")
    expect(hits(page).first).to_contain_text("decisions.md")
    assert serious_findings(page) == []
    hits(page).first.get_by_role("button").click()
    expect(page.get_by_role("dialog").locator("[aria-current]").first).to_be_visible()
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

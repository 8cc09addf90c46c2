"""The chat in a browser: it streams, calls, asks, stops, goes on after a reload, and keeps its place."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_daemon import HAND_SERVER, Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address
from tests.web.talking_model import Call, Step, TalkingModel, Thought, talking

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# The first question that is wholly seen.
SEEN = """[...document.querySelectorAll("[data-row=user]")]
    .filter((row) => row.getBoundingClientRect().top > 120 && row.getBoundingClientRect().bottom < 650)
    .map((row) => row.innerText.split("\\n")[0])[0]"""
Speak = Callable[..., TalkingModel]


@pytest.fixture
def speak(daemon: Daemon) -> Iterator[Speak]:
    """Gives the daemon a model that says these things."""
    with ExitStack() as stack:

        def start(*steps: Step) -> TalkingModel:
            model = stack.enter_context(talking(*steps))
            status, answer = daemon.request("POST", "/models", model.config)
            assert status == 201, answer
            return model

        yield start


def make_channel(daemon: Daemon, name: str = "Work", directory: Path | None = None) -> str:
    body = {"dir_path": str(directory), "name": name} if directory else {"name": name, "fresh": True}
    _, channel = daemon.request("POST", "/channels", body)
    return str(channel["id"])


def post(daemon: Daemon, channel_id: str, content: str) -> dict[str, Any]:
    status, message = daemon.request("POST", "/messages", {"channel_id": channel_id, "content": content})
    assert status == 201, message
    found: dict[str, Any] = message
    return found


def import_many(daemon: Daemon, name: str, messages: list[tuple[str, str]]) -> str:
    said = [
        {"id": f"m{place:06}", "role": role, "content": content, "at": "2026-01-05T10:00:00Z"}
        for place, (role, content) in enumerate(messages)
    ]
    document = {"format": "manyhands.conversation", "version": 1, "channel": {"name": name}, "messages": said}
    status, channel = daemon.request("POST", "/channels/import", document)
    assert status == 201, channel
    return str(channel["id"])


def composer(page: Page) -> Locator:
    return page.get_by_label("Your message")


def say(page: Page, text: str) -> None:
    composer(page).fill(text)
    composer(page).press("Enter")


def closing(page: Page) -> Locator:
    return page.locator("[data-row=closing]")


def test_the_first_words_begin_a_conversation_and_what_strangers_write_is_only_shown(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    speak([Thought("hm"), f"**Bold** {MARKUP}\n\n", "```python\nprint(1)\n```\n"])
    page = open_page(address(daemon))
    say(page, f"Hello {MARKUP}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Hello")
    expect(page.get_by_role("article", name="You said")).to_contain_text(MARKUP)
    answer = page.get_by_role("article", name="Answer")
    expect(answer.locator("strong")).to_have_text("Bold")
    expect(answer).to_contain_text("onerror")
    expect(answer.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    expect(closing(page)).to_have_text(
        re.compile(r"Talking · .+ · 1 iteration · 4\.2K tokens in, \d+ out · \$")
    )
    expect(page.get_by_role("button", name=re.compile("Context: 4,2.. of 32,000"))).to_be_visible()
    answer.get_by_role("button", name="Thought").click()
    expect(answer).to_contain_text("hm")
    assert page.title() != "run"
    assert page.locator("[role=log] img").count() == 0


@pytest.mark.requirement("L43")
def test_calls_fold_failures_do_not_and_what_asks_is_answered_in_place(
    daemon: Daemon, open_page: OpenPage, speak: Speak, tmp_path: Path
) -> None:
    hand = {"name": "hand", "command": sys.executable, "args": [str(HAND_SERVER)], "trust": "trusted"}
    assert daemon.request("POST", "/servers", hand)[1]["ok"]
    project = tmp_path / "project"
    project.mkdir()
    speak(
        [Call("list_directory", {"path": "."}), Call("mcp__hand__echo", {"text": "hi"})],
        [Call("mcp__hand__fail", {}), Call("mcp__hand__picture", {})],
        ["Writing.", Call("write_file", {"path": "a.txt", "content": "milk"})],
        ["All done."],
    )
    page = open_page(address(daemon, f"/c/{make_channel(daemon, directory=project)}"))
    say(page, "go")
    expect(page.locator("[data-state=waiting]")).to_contain_text("Waits for you")
    expect(page.get_by_role("button", name="2 calls: list_directory, echo")).to_be_visible()
    failed = page.locator("[data-state=error]")
    expect(failed).to_contain_text("fail")
    expect(failed).to_contain_text("Error")
    page.get_by_role("button", name="Allow once").click()
    expect(page.get_by_text("All done.")).to_be_visible()
    assert (project / "a.txt").read_text() == "milk"
    page.get_by_role("button", name="2 calls:").click()
    echo = page.locator("[data-call]").filter(has_text="echo")
    expect(echo.get_by_label("Tool of an MCP server")).to_be_visible()
    echo.get_by_role("button", name="echo").click()
    expect(echo.get_by_role("heading", name="Arguments")).to_be_visible()
    expect(echo.get_by_role("link", name="Full result")).to_be_visible()
    picture = page.locator("[data-call]").filter(has_text="picture")
    picture.get_by_role("button", name="picture").click()
    expect(picture.get_by_role("img", name="Result of picture")).to_be_visible()


@pytest.mark.requirement("L44")
def test_a_reload_and_a_second_window_show_the_same_run_still_streaming_and_escape_stops_it(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    gates = [threading.Event(), threading.Event()]
    speak([Thought("deep"), "One 🦊 two ", gates[0], "three ", gates[1], "never"])
    where = f"/c/{make_channel(daemon)}"
    page = open_page(address(daemon, where))
    say(page, "count")
    expect(page.get_by_text("One 🦊 two")).to_be_visible()
    page.reload()
    expect(page.get_by_text("One 🦊 two")).to_be_visible()
    other = open_page(address(daemon, where))
    expect(other.get_by_text("One 🦊 two")).to_be_visible()
    gates[0].set()
    for window in (page, other):
        expect(window.get_by_text("One 🦊 two three")).to_be_visible()
        expect(window.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    for window in (page, other):
        expect(closing(window)).to_contain_text("Stopped")
        expect(window.get_by_text("One 🦊 two three")).to_be_visible()
        expect(window.get_by_role("button", name="Send", exact=True)).to_be_visible()
    gates[1].set()


def test_what_is_said_meanwhile_is_queued_edited_withdrawn_and_read(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    gate = threading.Event()
    model = speak(["Wait ", gate, Call("list_directory", {"path": "/"})], ["Read."])
    page = open_page(address(daemon, f"/c/{make_channel(daemon)}"))
    say(page, "go")
    expect(page.get_by_text("Wait")).to_be_visible()
    queue = page.get_by_role("region", name="Queued messages")
    for text in ("first", "second"):
        say(page, text)
        expect(queue.get_by_text(text)).to_be_visible()
    queue.get_by_role("listitem").filter(has_text="first").get_by_role("button", name="Withdraw").click()
    expect(queue.get_by_text("first")).to_have_count(0)
    queue.get_by_role("button", name="Edit the queued message").click()
    queue.get_by_label("Queued message").fill("second, better")
    queue.get_by_role("button", name="Save").click()
    expect(queue.get_by_role("textbox")).to_have_count(0)  # it goes when the hub has the new words
    expect(queue.get_by_text("second, better")).to_be_visible()
    gate.set()
    expect(page.get_by_role("article", name="You said")).to_have_text(
        [re.compile("go"), re.compile("second, better")]
    )
    expect(queue).to_have_count(0)
    expect(page.get_by_text("Read.")).to_be_visible()
    assert "second, better" in json.dumps(model.asked[-1]["messages"])


def test_a_message_is_edited_and_sent_again_and_a_conversation_forked(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    speak(["Answer one"], ["Answer two"])
    channel_id = make_channel(daemon, "Plans")
    page = open_page(address(daemon, f"/c/{channel_id}"))
    say(page, "Question one")
    expect(closing(page)).to_be_visible()
    page.get_by_role("article", name="You said").hover()
    page.get_by_role("button", name="Edit and send again").click()
    page.get_by_label("Edit the message").fill("Question two")
    page.get_by_label("Edit the message").press("Enter")
    expect(page.get_by_text("Answer two")).to_be_visible()
    expect(page.get_by_text("Answer one")).to_have_count(0)
    channels = page.get_by_role("navigation", name="Channels")
    channels.get_by_role("link", name="Plans (before an edit)").click()
    expect(page.get_by_text("Answer one")).to_be_visible()
    page.get_by_role("article", name="Answer").hover()
    page.get_by_role("button", name="Fork from here").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Plans (before an edit) (fork)")
    expect(page.get_by_text("Answer one")).to_be_visible()


def test_a_thread_of_2000_messages_opens_at_its_end_and_stays_where_one_reads(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    gate = threading.Event()
    speak(["New words. " * 40, gate, "The end of it."])
    said = [
        pair for n in range(1000) for pair in (("user", f"Question {n}."), ("assistant", f"Answer **{n}**."))
    ]
    channel_id = import_many(daemon, "Long", said)
    page = open_page(address(daemon, f"/c/{channel_id}"))
    expect(page.get_by_text("Answer 999.")).to_be_in_viewport()
    log = page.get_by_role("log")
    log.hover()
    expect(page.get_by_text("Question 985.")).to_have_count(0)
    for _ in range(300):
        page.mouse.wheel(0, -500)
        if "Question 95" in str(page.evaluate(SEEN)):
            break
    seen = page.get_by_text(str(page.evaluate(SEEN)))
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    post(daemon, channel_id, "More, please")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(seen).to_be_in_viewport()
    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_text("More, please")).to_be_visible()
    gate.set()
    expect(page.get_by_text("The end of it.")).to_be_in_viewport()


def test_a_message_of_a_million_characters_is_folded_and_opens_piece_by_piece(
    daemon: Daemon, open_page: OpenPage
) -> None:
    channel_id = import_many(daemon, "Huge", [("user", "word " * 200_000), ("assistant", "*x* " * 250_000)])
    page = open_page(address(daemon, f"/c/{channel_id}"))
    expect(page.get_by_text("1,000,000 characters").last).to_be_visible()
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("994,000 not shown")
    answer.get_by_role("button", name="Show more").click()
    expect(answer).to_contain_text("934,000 not shown")
    assert len(answer.inner_text()) < 100_000


def test_prompts_ask_for_their_arguments_and_resources_are_attached(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    model = speak(["Fine."])
    hand = {"name": "hand", "command": sys.executable, "args": [str(HAND_SERVER)]}
    assert daemon.request("POST", "/servers", hand)[1]["ok"]
    channel_id = make_channel(daemon)
    agent = {"agent_id": "reviewer-1", "name": "Reviewer", "channel_id": channel_id}
    assert daemon.request("POST", "/agents", agent)[0] in (200, 201)
    page = open_page(address(daemon, f"/c/{channel_id}"))
    composer(page).press_sequentially("ask @rev")
    expect(page.get_by_role("option", name="Reviewer")).to_contain_text("Agent")
    composer(page).press("Enter")
    expect(composer(page)).to_have_value("ask @Reviewer ")
    composer(page).fill("")
    composer(page).press_sequentially("/gre")
    expect(page.get_by_role("option", name="/hand:greet")).to_be_visible()
    composer(page).press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("name").fill("Ada Lovelace")
    dialog.get_by_role("button", name="Send").click()
    expect(page.get_by_role("article", name="You said")).to_contain_text("Ada Lovelace")
    expect(closing(page)).to_have_count(1)
    composer(page).press_sequentially("see @on")
    expect(page.get_by_role("option", name="one")).to_be_visible()
    composer(page).press("Tab")
    expect(composer(page)).to_have_value("see @hand:note://one ")
    composer(page).press("Shift+Enter")
    composer(page).press("Enter")
    expect(page.get_by_role("list", name="Attachments")).to_be_visible()
    expect(closing(page)).to_have_count(2)
    assert len(model.asked) == 2


def test_pasted_pictures_and_dropped_files_go_with_a_message(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    speak(["Seen."])
    page = open_page(address(daemon, f"/c/{make_channel(daemon)}"))
    put = """(field, [png, kind]) => {
        const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
        const data = new DataTransfer();
        const isPaste = kind === "paste";
        const name = isPaste ? "dot.png" : "page.html";
        const type = isPaste ? "image/png" : "text/html";
        data.items.add(new File([isPaste ? bytes : "<script>1</script>"], name, { type }));
        const event = isPaste ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true })
            : new DragEvent("drop", { dataTransfer: data, bubbles: true });
        field.dispatchEvent(event);
    }"""
    expect(composer(page)).to_be_visible()
    for kind in ("paste", "drop"):
        composer(page).evaluate(put, [PNG, kind])
    files = page.get_by_role("list", name="Attached files")
    expect(files.get_by_role("listitem")).to_have_count(2)
    say(page, "look")
    sent = page.get_by_role("list", name="Attachments")
    expect(sent.get_by_role("img", name="dot.png")).to_be_visible()
    expect(page.get_by_text("Seen.")).to_be_visible()
    address_of = sent.get_by_role("link", name="page.html").get_attribute("href")
    answer = page.request.get(f"{daemon.url}{address_of}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"


def test_channels_are_made_renamed_found_exported_imported_and_deleted(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path
) -> None:
    import_many(daemon, "Old talk", [("user", "Where is the fox?"), ("assistant", "In the **den**.")])
    page = open_page(address(daemon))
    channels = page.get_by_role("navigation", name="Channels")
    page.get_by_role("button", name="More about channels").click()
    page.get_by_role("menuitem", name="New channel").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Garden")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Garden")
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Kitchen")
    page.get_by_role("button", name="Rename").click()
    expect(channels.get_by_role("link", name="Kitchen")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search all conversations").fill("fox where")
    page.get_by_role("option", name="Old talk").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Old talk")
    with page.expect_download() as download:
        page.get_by_role("button", name="Conversation", exact=True).click()
        page.get_by_role("menuitem", name="Export as JSON").click()
    file = tmp_path / "talk.json"
    download.value.save_as(file)
    page.get_by_role("button", name="More about channels").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("menuitem", name="Import a conversation").click()
    chooser.value.set_files(file)
    expect(page.get_by_role("heading", level=1)).to_have_text("Old talk 2")
    expect(page.get_by_role("article", name="Answer").locator("strong")).to_have_text("den")
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(channels.get_by_role("link", name="Old talk 2")).to_have_count(0)


def test_an_answer_elsewhere_is_unread_until_it_is_looked_at_in_any_window(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    gate = threading.Event()
    speak(["Going", gate, " and done."])
    channel_id = make_channel(daemon, "Elsewhere")
    page = open_page(address(daemon))
    row = page.get_by_role("navigation", name="Channels").get_by_role("link", name="Elsewhere")
    expect(row).to_be_visible()
    post(daemon, channel_id, "go")
    expect(row.get_by_text("Running")).to_be_attached()
    gate.set()
    expect(row.get_by_text("unread")).to_be_attached()
    open_page(address(daemon, f"/c/{channel_id}"))
    expect(row.get_by_text("unread")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_a_phone_shows_all_of_it(
    daemon: Daemon, open_page: OpenPage, speak: Speak, tmp_path: Path, theme: Literal["light", "dark"]
) -> None:
    speak(
        [
            Thought("hm"),
            "Text, `code`, [link](https://example.org).\n\n```js\nx\n```\n",
            Call("write_file", {"path": "a", "content": "b"}),
        ]
    )
    page = open_page(address(daemon), theme=theme, width=390, height=800)
    assert serious_findings(page) == []
    where = f"{daemon.url}/c/{make_channel(daemon, directory=tmp_path)}"
    page.goto(where)
    say(page, "a long_word_that_does_not_break_" * 8)
    expect(page.get_by_role("button", name="Allow once")).to_be_visible()
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1300, "height": 860})
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search all conversations")).to_be_focused()
    assert serious_findings(page) == []

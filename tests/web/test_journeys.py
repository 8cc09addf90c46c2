"""Whole ways through the UI, as people go them, and what must not stop them: a hub that goes, a server that
dies, a token that is wrong, a million characters, names that are scripts."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.test_daemon import HAND_SERVER, Daemon, until
from tests.web.conftest import OpenPage, StartDaemon, address
from tests.web.talking_model import Call, Step, TalkingModel, talking

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
MARKED_SERVER = """
import sys
sys.path[:0] = [sys.argv[1]]
from tests.cli import hand_server
hand_server.TOOLS[:] = [hand_server.tool(sys.argv[2], sys.argv[2], text="string")]
setattr(hand_server.Server, sys.argv[2], lambda *_: hand_server.text(sys.argv[2]))
hand_server.Server().serve()
"""
PASTE = """(field, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""
Speak = Callable[..., TalkingModel]


@pytest.fixture
def speak() -> Iterator[Speak]:
    """Gives a daemon a model that says these things."""
    with ExitStack() as stack:

        def start(daemon: Daemon, *steps: Step) -> TalkingModel:
            model = stack.enter_context(talking(*steps))
            assert daemon.request("POST", "/models", model.config)[0] == 201
            return model

        yield start


def hand(daemon: Daemon, **more: str) -> dict[str, int]:
    body = {"name": "hand", "command": sys.executable, "args": [str(HAND_SERVER)], **more}
    status, outcome = daemon.request("POST", "/servers", body)
    assert (status, outcome.get("ok")) == (201, True), outcome
    server: dict[str, int] = outcome["server"]
    return server


def channel(daemon: Daemon) -> str:
    """Where a new conversation is."""
    return f"/c/{daemon.request('POST', '/channels', {'name': 'Work', 'fresh': True})[1]['id']}"


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")


def test_from_the_printed_address_to_an_approved_call_with_the_mouse_alone(
    new_daemon: Daemon, open_page: OpenPage
) -> None:
    page = open_page(address(new_daemon), welcome=True)
    for name in ("Ask the demo model", "Next: choose who answers", "Stay with the demo", "Time"):
        page.get_by_role("button", name=name).click()
    page.get_by_role("dialog").get_by_role("button", name="Add server").click()
    expect(page.get_by_role("list", name="Your servers")).to_contain_text("Connected")
    page.get_by_role("button", name="Done: to the chat").click()
    page.get_by_role("button", name="What time is it in Tokyo?").click()
    page.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("article", name="Answer").last).to_contain_text("Asia/Tokyo")
    expect(page.get_by_label("Your message")).to_be_focused()
    assert new_daemon.get("/tool-calls?server=time")["items"][0]["status"] == "success"


def test_on_a_phone_json_is_pasted_a_question_asked_and_a_call_approved(
    daemon: Daemon, open_page: OpenPage
) -> None:
    page = open_page(address(daemon), width=390, height=800)
    page.get_by_role("button", name="Open the navigation").click()
    page.get_by_role("dialog").get_by_role("link", name="Servers").click()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Paste JSON").click()
    entry = {"mcpServers": {"hand": {"command": sys.executable, "args": [str(HAND_SERVER)]}}}
    page.get_by_label("JSON", exact=True).fill(json.dumps(entry))
    expect(page.get_by_role("region", name="What will happen")).to_contain_text("Will be added")
    page.get_by_role("dialog").get_by_role("button", name="Add server").click()
    expect(page.get_by_role("list", name="Servers")).to_contain_text("Connected")
    page.get_by_role("button", name="Open the navigation").click()
    page.get_by_role("dialog").get_by_role("link", name="Chat", exact=True).click()
    say(page, '/tool mcp__hand__echo {"text": "from a phone"}')
    expect(page).to_have_title(re.compile(r"^\(1\)"))
    page.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("article", name="Answer").last).to_contain_text("from a phone")
    expect(page).to_have_title("Manyhands")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_calls_run_side_by_side_are_seen_in_two_windows_and_a_stop_in_one_ends_them_in_both(
    daemon: Daemon, open_page: OpenPage, speak: Speak, tmp_path: Path
) -> None:
    hand(daemon, trust="trusted", parallel="all")
    files = [tmp_path / "one", tmp_path / "two"]
    speak(daemon, [Call("mcp__hand__wait", {"file": str(file)}) for file in files])
    where = channel(daemon)
    page, other = (open_page(address(daemon, where)) for _ in range(2))
    say(page, "wait twice")
    until(lambda: all(file.exists() and file.read_text() == "waiting" for file in files))
    for window in (page, other):
        expect(window.get_by_role("button", name="Stop")).to_be_visible()
        expect(window.get_by_role("log")).to_contain_text("wait")
    other.get_by_role("button", name="Stop").click()
    for window in (page, other):
        expect(window.locator("[data-row=closing]")).to_contain_text("Stopped")
        expect(window.get_by_role("button", name="Send", exact=True)).to_be_visible()
    until(lambda: all(file.read_text() == "told to stop" for file in files))


def test_a_server_that_dies_under_a_call_is_told_of_in_the_conversation_and_the_run_goes_on(
    daemon: Daemon, open_page: OpenPage, speak: Speak, tmp_path: Path
) -> None:
    server, file = hand(daemon, trust="trusted"), tmp_path / "one"
    speak(daemon, [Call("mcp__hand__wait", {"file": str(file)})], ["It went away."])
    page = open_page(address(daemon, channel(daemon)))
    say(page, "wait")
    until(file.exists)
    psutil.Process(server["pid"]).kill()
    expect(page.locator("[data-state=error]")).to_contain_text("Error")
    expect(page.get_by_text("It went away.")).to_be_visible()


def test_a_hub_that_is_killed_in_the_middle_of_an_answer_comes_back_under_the_open_conversation(
    start_daemon: StartDaemon, open_page: OpenPage, speak: Speak
) -> None:
    gate, daemon = threading.Event(), start_daemon()
    speak(daemon, ["Half of ", gate, "it."], ["All of it."])
    page = open_page(address(daemon, channel(daemon)))
    say(page, "go")
    expect(page.get_by_text("Half of")).to_be_visible()
    daemon.process.kill()
    daemon.process.wait()
    expect(page.get_by_role("alert")).to_contain_text("The hub does not answer")
    gate.set()
    again = start_daemon(port=urlsplit(daemon.url).port)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("All of it.")).to_be_visible()
    until(lambda: again.get("/runs")["items"][0]["status"] == "completed")  # its last words come before
    say(page, "more")
    expect(page.get_by_text("All of it.")).to_have_count(2)


def test_a_wrong_token_lets_nobody_in_and_one_that_was_replaced_is_asked_for_under_the_open_page(
    start_daemon: StartDaemon, open_page: OpenPage
) -> None:
    daemon = start_daemon()
    stranger = open_page(f"{daemon.url}/servers?token=mh-not-the-token")
    expect(stranger.get_by_role("heading", name="This browser is not signed in")).to_be_visible()
    page = open_page(address(daemon, "/servers"))
    expect(page.get_by_role("heading", name="No servers yet")).to_be_visible()
    daemon.end()
    daemon.home.token_file.unlink()
    again = start_daemon(port=urlsplit(daemon.url).port)
    assert again.token != daemon.token
    expect(page.get_by_role("heading", name="This browser is not signed in")).to_be_visible()
    page.goto(address(again, "/servers"))
    expect(page.get_by_role("heading", name="No servers yet")).to_be_visible()


def test_a_megabyte_of_pasted_text_goes_with_the_message_as_a_file_and_is_read(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    model = speak(daemon, ["That is long."])
    model_id = next(one["id"] for one in daemon.get("/models")["items"] if one["name"] == "Talking")
    assert daemon.request("PATCH", f"/models/{model_id}", {"context": 900_000})[0] == 200
    page = open_page(address(daemon, channel(daemon)))
    field = page.get_by_label("Your message")
    field.evaluate(PASTE, "a line of text\n" * 80_000)
    files = page.get_by_role("list", name="Attached files")
    expect(files).to_contain_text("Pasted text.txt")
    expect(files).to_contain_text("1.2 MB")
    say(page, "What is this?")
    expect(page.get_by_text("That is long.")).to_be_visible()
    expect(page.get_by_role("list", name="Attachments")).to_contain_text("Pasted text.txt")
    assert json.dumps(model.asked[0]).count("a line of text") == 80_000
    field.evaluate(PASTE, "a short one")
    expect(files).to_have_count(0)


def test_scripts_in_the_names_of_servers_tools_and_channels_are_shown_and_never_run(
    daemon: Daemon, open_page: OpenPage, speak: Speak
) -> None:
    root = str(Path(__file__).parents[2])
    body = {"name": MARKUP, "command": sys.executable, "args": ["-c", MARKED_SERVER, root, MARKUP]}
    status, outcome = daemon.request("POST", "/servers", body | {"trust": "trusted"})
    assert (status, outcome.get("ok")) == (201, True), outcome
    tools = daemon.get(f"/servers/{outcome['server']['id']}/tools")["items"]
    name = tools[0]["fullName"]
    speak(daemon, [Call(name, {"text": MARKUP})], ["Done."])
    _, made = daemon.request("POST", "/channels", {"name": MARKUP, "fresh": True})
    page = open_page(address(daemon, f"/c/{made['id']}"))
    say(page, "go")
    expect(page.get_by_text("Done.")).to_be_visible()
    for path in ("/servers", f"/servers/{outcome['server']['id']}", "/log", "/usage", "/status"):
        page.goto(f"{daemon.url}{path}")
        expect(page.get_by_text("<img src=x").first).to_be_visible()
    assert page.title() == "Manyhands"
    assert page.locator("img[src=x]").count() == 0

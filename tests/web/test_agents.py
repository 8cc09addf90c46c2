"""Agents in a browser: who works in a channel, what they say, a line to each, and where they stand."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect
from websockets.sync.client import ClientConnection, connect

from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
CHANNEL_SERVER = Path(__file__).parents[1] / "agents" / "channel_server.py"
BUILD = r"printf '\033[32mok\033[0m step 1\n'; exec sleep 300"


@pytest.fixture
def channel(daemon: Daemon, tmp_path: Path) -> str:
    project = tmp_path / "work"
    project.mkdir()
    return str(made(daemon, "/channels", dir_path=str(project))["id"])


def made(daemon: Daemon, path: str, **body: Any) -> dict[str, Any]:
    status, answer = daemon.request("POST", path, body)
    assert status < 300, answer
    assert isinstance(answer, dict)
    return answer


def line(daemon: Daemon, channel: str, agent: str) -> ClientConnection:
    url = f"{daemon.url.replace('http', 'ws')}/api/ws/agent-channel?agent_id={agent}&channel_id={channel}"
    return connect(url, additional_headers={"Authorization": f"Bearer {daemon.token}"}, proxy=None)


def tile(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=name, exact=True)


def test_an_agent_comes_is_written_to_and_goes_while_one_looks_on(
    daemon: Daemon, channel: str, open_page: OpenPage
) -> None:
    page = open_page(address(daemon, "/agents"))
    expect(page.get_by_text("Nobody works in work yet")).to_be_visible()
    with line(daemon, channel, "builder") as socket:
        mine = tile(page, "builder")
        expect(mine.get_by_text("Listening")).to_be_visible()
        daemon.request(
            "PATCH",
            f"/agents/builder?channel_id={channel}",
            {"name": "Builder", "status": "busy", "work_summary": MARKUP},
        )
        mine = tile(page, "Builder")
        expect(mine.get_by_text(MARKUP)).to_be_visible()
        mine.get_by_role("textbox", name="Message to Builder").fill(f"Hello {MARKUP}")
        mine.get_by_role("button", name="Send to Builder").click()
        frame = json.loads(socket.recv(60))
        assert (frame["from_agent"], frame["content"]) == ("owner", f"Hello {MARKUP}")
        expect(mine.get_by_text("Waiting")).to_be_visible()
        socket.send(json.dumps({"ack": frame["id"]}))
        expect(mine.get_by_text("Delivered")).to_be_visible()
        socket.send(json.dumps({"read": frame["id"]}))
        expect(mine.get_by_text("Read", exact=True)).to_be_visible()
        assert "run" not in page.title()
        mine.get_by_role("button", name="Take Builder off the list").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Take off").click()
        expect(mine).to_have_count(0)


def test_agents_are_started_followed_and_stopped_here(
    daemon: Daemon, channel: str, open_page: OpenPage
) -> None:
    runner = {"command": "/bin/sh", "args": ["-c", BUILD]}
    daemon.request("PATCH", f"/channels/{channel}", {"runner": runner})
    page = open_page(address(daemon, "/agents"))
    page.get_by_role("button", name="Start an agent").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Build it")
    dialog.get_by_label("What it is to do").fill("Build everything.")
    dialog.get_by_role("button", name="Start", exact=True).click()
    mine = tile(page, "Build it")
    expect(mine.get_by_text("Build everything.")).to_be_visible()
    expect(mine.get_by_text("ok", exact=True)).to_have_class("text-good-ink")
    expect(mine.get_by_text("Running")).to_be_visible()
    mine.get_by_role("button", name="Stop Build it").click()
    expect(mine.get_by_text("At rest")).to_be_visible()
    mine.get_by_role("link", name="Open Build it").click()
    expect(page).to_have_url(f"{daemon.url}/c/{made_thread(daemon)}")


def made_thread(daemon: Daemon) -> str:
    _, channels = daemon.request("GET", "/channels")
    assert isinstance(channels, dict)
    return next(str(one["id"]) for one in channels["items"] if one["name"] == "Build it")


def test_the_canvas_remembers_where_tiles_were_put(daemon: Daemon, channel: str, open_page: OpenPage) -> None:
    with line(daemon, channel, "builder"), line(daemon, channel, "tester"):
        page = open_page(address(daemon, "/agents"))
        page.get_by_role("button", name="Canvas").click()
        node = page.locator(".react-flow__node", has=tile(page, "tester"))
        expect(node).to_be_visible()
        node.focus()
        page.keyboard.press("Enter")
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        kept = f"JSON.parse(localStorage.getItem('manyhands.canvas.{channel}') ?? '{{}}')"
        page.wait_for_function(f"{kept}['agent {channel} tester']?.y > 0")
        moved = page.evaluate(kept)
        page.reload()
        expect(node).to_be_visible()
        spot = moved[f"agent {channel} tester"]
        expect(node).to_have_css("transform", f"matrix(1, 0, 0, 1, {spot['x']}, {spot['y']})")


def test_a_server_takes_part_in_a_channel_once_a_person_lets_it(
    daemon: Daemon, channel: str, open_page: OpenPage
) -> None:
    server = made(daemon, "/servers", name="phone", command=sys.executable, args=[str(CHANNEL_SERVER)])[
        "server"
    ]
    page = open_page(address(daemon, f"/servers/{server['id']}"))
    page.get_by_role("tab", name="About").click()
    page.get_by_label("Channel that it takes part in").click()
    page.get_by_role("option", name="work").click()
    expect(page.get_by_label("Channel that it takes part in")).to_have_text("work")
    made(daemon, "/tools/call", name="mcp__phone__push", arguments={"content": f"Build failed {MARKUP}"})
    page.goto(f"{daemon.url}/c/{channel}")
    expect(page.get_by_text("Build failed")).to_be_visible()
    assert "run" not in page.title()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_everybody_can_use_it(
    daemon: Daemon, channel: str, open_page: OpenPage, theme: Literal["light", "dark"], width: int
) -> None:
    made(daemon, "/threads", channel_id=channel, name="Quiet")
    made(daemon, "/agents", channel_id=channel, agent_id="builder", work_summary="the parser")
    page = open_page(address(daemon, "/agents"), theme=theme, width=width)
    expect(tile(page, "Quiet")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("button", name="Canvas").click()
    expect(page.get_by_role("button", name="Show all")).to_be_visible()
    assert serious_findings(page) == []

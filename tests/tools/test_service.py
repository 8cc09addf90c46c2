"""Tools as a whole: listed with reasons, explained, searched, paged; channels remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands.errors import InvalidError, NotFoundError
from manyhands.testing.tools import echo
from manyhands.tools.types import (
    Annotations,
    CallRecord,
    CallStatus,
    Effect,
    Invocation,
    ToolResult,
    text_result,
)
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

NATIVE_NAMES = [
    *("read_file", "write_file", "rename_file", "delete_file", "list_directory", "create_directory"),
    *("fetch_url", "web_search", "read_image", "edit_file", "search_files", "run_command"),
]


async def offered(desk: Desk, channel: Any = None) -> dict[str, tuple[bool, str]]:
    return {
        listing.definition.full_name: (listing.offered, listing.reason)
        for listing in await desk.tools.list(channel)
    }


# --- the list


async def test_native_tools_come_first_and_the_order_is_stable(desk: Desk) -> None:
    desk.source.add("b")
    desk.source.add("a")
    names = list(await offered(desk))
    assert names == [*NATIVE_NAMES, "mcp__memory__b", "mcp__memory__a"]
    assert list(await offered(desk)) == names


@pytest.mark.requirement("L21")
async def test_every_tool_that_is_not_offered_says_why(desk: Desk, tmp_path: Path) -> None:
    listed = await offered(desk)
    assert listed["write_file"] == (False, "it works in a channel's directory, and there is none here")
    assert listed["web_search"] == (False, "the setting searxng_url is not made")
    assert listed["read_file"][0]
    desk.settings.change(searxng_url="http://localhost:8888")
    listed = await offered(desk, desk.channels.add("ch_1", tmp_path))
    assert all(is_offered for is_offered, _ in listed.values())


@pytest.mark.requirement("L21")
async def test_a_tool_that_is_denied_outright_is_not_offered(desk: Desk) -> None:
    desk.source.add("echo")
    desk.source.add("other")
    desk.source.set_policy("mcp__memory__other", Effect.DENY)
    rule = await desk.tools.add_rule(Effect.DENY, server="memory", tool="echo")
    listed = await offered(desk)
    assert listed["mcp__memory__echo"] == (
        False,
        f"denied by the rule {rule.id} (deny echo of memory)",
    )
    assert listed["mcp__memory__other"] == (False, "this tool is set to deny")


async def test_a_native_tool_can_be_switched_off_and_on(desk: Desk) -> None:
    await desk.tools.set_native_enabled("fetch_url", False)
    await desk.tools.set_native_enabled("fetch_url", False)
    assert not (await offered(desk))["fetch_url"][0]
    assert len(await desk.tools.rules()) == 1
    assert (await desk.call("fetch_url", {"url": "http://x"}, direct=True)).status is CallStatus.DENIED
    await desk.tools.set_native_enabled("fetch_url", True)
    assert (await offered(desk))["fetch_url"][0]
    assert await desk.tools.rules() == []
    with pytest.raises(NotFoundError):
        await desk.tools.set_native_enabled("nothing", False)


# --- why


@pytest.mark.requirement("L21")
async def test_why_shows_everything_that_decides_about_a_tool(desk: Desk) -> None:
    name = desk.source.add("wipe", annotations=Annotations.from_wire({"destructiveHint": True}))
    desk.source.trust("memory", "trusted", parallel="none")
    desk.source.change(name, changed=True, diff="-a\n+b", repair="its schema had no type", status="connected")
    answer = await desk.tools.why(name)
    assert answer["exists"]
    assert answer["offered"]
    assert (answer["server_status"], answer["enabled"], answer["trust"]) == ("connected", True, "trusted")
    assert (answer["changed"], answer["diff"]) == (True, "-a\n+b")
    assert answer["repair"] == "its schema had no type"
    assert answer["parallel"] == "none"
    assert answer["decision"]["effect"] == "ask"
    desk.source.change(name, changed=False)
    assert "says it is destructive" in (await desk.tools.why(name))["decision"]["reason"]


@pytest.mark.requirement("L21")
async def test_why_names_the_rule_that_decides(desk: Desk) -> None:
    name = desk.source.add("echo")
    rule = await desk.tools.add_rule(Effect.DENY, tool="mcp__memory__*")
    answer = await desk.tools.why(name)
    assert not answer["offered"]
    assert answer["decision"]["rule_id"] == rule.id
    assert rule.id in answer["reason"]


@pytest.mark.requirement("L21")
async def test_why_of_a_native_tool_and_of_one_that_does_not_exist(desk: Desk) -> None:
    native = await desk.tools.why("delete_file")
    assert native["native"]
    assert native["reason"] == "it works in a channel's directory, and there is none here"
    assert native["decision"]["effect"] == "ask"
    assert (await desk.tools.why("read_file"))["decision"]["effect"] == "allow"
    unknown = await desk.tools.why("deletefile")
    assert not unknown["exists"]
    assert not unknown["offered"]


# --- search


async def test_search_answers_with_listings_best_first(desk: Desk) -> None:
    desk.source.add("create_issue", description="Create a new issue in a repository.", server="github")
    desk.source.add("send_mail", description="Send an email.", server="mail")
    desk.source.change("mcp__mail__send_mail", offered=False, reason="not connected")
    found = await desk.tools.search("open a ticket in the repo", limit=3)
    assert found[0].listing.definition.full_name == "mcp__github__create_issue"
    assert found[0].score > 0
    mails = await desk.tools.search("write an email")
    assert mails[0].listing.reason == "not connected"
    assert not await desk.tools.search("email", offered_only=True)


async def test_search_sees_a_tool_that_came_just_now(desk: Desk) -> None:
    assert not await desk.tools.search("zebra")
    desk.source.add("zebra")
    assert (await desk.tools.search("zebra"))[0].listing.definition.name == "zebra"


# --- large results


def saying(text: str) -> Any:
    async def say(arguments: Any, invocation: Invocation) -> ToolResult:
        return text_result(text)

    return say


@pytest.fixture
async def large(desk: Desk) -> CallRecord:
    """A call with a result far over the limit, in channel ch_1."""
    desk.channels.add("ch_1")
    desk.channels.add("ch_2")
    desk.source.add("talk", saying("".join(f"line {n}\n" for n in range(40_000))))
    return await desk.call("mcp__memory__talk", direct=True, channel_id="ch_1")


@pytest.mark.requirement("L16")
async def test_a_large_result_goes_to_a_file_and_the_caller_gets_head_tail_size_and_the_way_on(
    desk: Desk, large: CallRecord
) -> None:
    assert large.size == 428_890
    assert large.result_file == f"{large.id}.json"
    assert (desk.home.results / large.result_file).exists()
    text = str(large.result)
    assert len(text) <= desk.settings.current.result_limit_chars
    assert text.startswith("line 0\n")
    assert text.endswith("line 39999\n")
    assert "of 428890 characters left out" in text
    assert f'"path": "result:{large.id}"' in text
    assert large.content == [{"type": "text", "text": text}]
    assert await desk.tools.get_call(large.id) == large
    assert (await desk.tools.whole_result(large.id)).text.count("\n") == 40_000


@pytest.mark.requirement("L16")
async def test_a_large_result_is_paged(desk: Desk, large: CallRecord) -> None:
    first = await desk.tools.result_page(large.id)
    assert (first.offset, first.size, first.next_offset) == (0, 428_890, 30_000)
    pages, offset = [], 0
    while True:
        page = await desk.tools.result_page(large.id, offset, 100_000)
        pages.append(page.text)
        if page.next_offset is None:
            break
        offset = page.next_offset
    assert "".join(pages) == (await desk.tools.whole_result(large.id)).text


@pytest.mark.requirement("L16")
async def test_a_model_reads_on_with_read_file(desk: Desk, large: CallRecord) -> None:
    arguments = {"path": f"result:{large.id}", "offset": 20_000, "limit": 50}
    record = await desk.call("read_file", arguments, channel_id="ch_1")
    text = (await desk.tools.whole_result(large.id)).text
    assert record.result == (
        f'{text[20_000:20_050]}\n[characters 20000-20050 of 428890; go on with "offset": 20050]'
    )
    most = await desk.call("read_file", arguments | {"limit": 1_000_000}, channel_id="ch_1")
    assert most.result_file is None  # a page never goes to a file itself


async def test_a_channel_does_not_read_the_results_of_another(desk: Desk, large: CallRecord) -> None:
    record = await desk.call("read_file", {"path": f"result:{large.id}"}, channel_id="ch_2")
    assert record.is_error
    assert "in this channel" in str(record.result)
    assert not (await desk.call("read_file", {"path": f"result:{large.id}"}, direct=True)).is_error


async def test_a_small_result_can_be_paged_too(desk: Desk) -> None:
    desk.source.add("echo", echo)
    record = await desk.call("mcp__memory__echo", {"text": "0123456789"}, direct=True)
    page = await desk.tools.result_page(record.id, 2, 3)
    assert (page.text, page.size, page.next_offset) == ("234", 10, 5)
    assert (await desk.tools.whole_result(record.id)).text == "0123456789"


async def test_pages_that_cannot_be(desk: Desk, large: CallRecord) -> None:
    with pytest.raises(InvalidError):
        await desk.tools.result_page(large.id, -1)
    with pytest.raises(InvalidError):
        await desk.tools.result_page(large.id, 0, 0)
    with pytest.raises(NotFoundError):
        await desk.tools.result_page("call_none")
    for path in desk.home.results.iterdir():
        path.unlink()
    with pytest.raises(NotFoundError, match="not kept any more"):
        await desk.tools.result_page(large.id)


async def test_an_image_is_given_to_the_caller_and_kept_out_of_the_log(desk: Desk) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 200_000}

    async def draw(arguments: Any, invocation: Invocation) -> ToolResult:
        return ToolResult([{"type": "text", "text": "drawn"}, image])

    desk.source.add("draw", draw)
    record = await desk.call("mcp__memory__draw", direct=True)
    assert record.content == [{"type": "text", "text": "drawn"}, image]
    logged = await desk.tools.get_call(record.id)
    assert logged.content is not None
    assert "left out" in logged.content[1]["text"]
    assert (await desk.tools.whole_result(record.id)).content == record.content
    assert "A" * 1000 not in str(desk.events[-1].data)


async def test_a_disk_that_is_full_fails_that_call_alone(desk: Desk, tmp_path: Path) -> None:
    desk.source.add("talk", saying("x" * 100_000))
    desk.source.add("echo", echo)
    results = desk.home.results
    results.rmdir()
    results.write_text("a file where the directory should be")
    record = await desk.call("mcp__memory__talk", direct=True)
    assert (record.status, record.is_error) == (CallStatus.ERROR, True)
    assert "ran, but its result of 100000 characters was not kept" in str(record.result)
    assert "The whole result is kept" not in str(record.result)
    assert "x" * 1000 in str(record.result)
    assert await desk.tools.get_call(record.id) == record
    assert (await desk.call("mcp__memory__echo", direct=True)).status is CallStatus.SUCCESS


# --- channels and pages of the log


async def test_the_channels_directory_is_where_native_tools_work(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hello")
    desk.channels.add("ch_1", tmp_path)
    record = await desk.call("read_file", {"path": "notes.md"}, channel_id="ch_1")
    assert record.result == "hello"
    assert (record.server, record.server_id, record.channel_id) == ("native", None, "ch_1")
    with pytest.raises(NotFoundError):
        await desk.call("read_file", {"path": "notes.md"}, channel_id="ch_none")


async def test_a_channel_is_looked_up_once_until_it_changes(desk: Desk, tmp_path: Path) -> None:
    desk.channels.add("ch_1", tmp_path)
    for _ in range(3):
        await desk.call("list_directory", {}, channel_id="ch_1")
    assert desk.channels.looked_up == 1
    desk.channels.add("ch_1", None)
    desk.bus.publish("channel.updated", {"id": "ch_1"}, channel_id="ch_1")
    record = await desk.call("list_directory", {}, channel_id="ch_1")
    assert "has no directory" in str(record.result)
    assert desk.channels.looked_up == 2


async def test_the_log_is_read_page_by_page(desk: Desk) -> None:
    desk.source.add("echo", echo)
    async with anyio.create_task_group() as group:
        for _ in range(7):
            group.start_soon(lambda: desk.call("mcp__memory__echo", direct=True))
    seen, cursor = [], None
    while True:
        page = await desk.tools.calls(limit=3, cursor=cursor)
        seen += [record.id for record in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 7
    assert seen == sorted(seen, reverse=True)
    with pytest.raises(NotFoundError):
        await desk.tools.get_call("call_none")


async def test_native_tools_that_read_are_allowed_and_others_ask(desk: Desk, tmp_path: Path) -> None:
    channel = desk.channels.add("ch_1", tmp_path)
    effects = {name: (await desk.tools.why(name, channel))["decision"]["effect"] for name in NATIVE_NAMES}
    assert effects == {
        **dict.fromkeys(("read_file", "list_directory", "read_image", "search_files"), "allow"),
        **dict.fromkeys(("write_file", "rename_file", "delete_file", "create_directory"), "ask"),
        **dict.fromkeys(("fetch_url", "web_search", "edit_file", "run_command"), "ask"),
    }

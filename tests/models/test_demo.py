"""The demo model: needs nothing, does something, and says what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from manyhands.models.demo import DEMO, DemoModel
from manyhands.models.demo_ranking import rank_by_words
from manyhands.models.types import ModelRequest, Reply, TextDelta, ToolRequest, ToolSpec, Turn
from tests.models.asked import ask, reply_of, text_of

pytestmark = pytest.mark.anyio


def spec(
    name: str, description: str, required: Sequence[str] = (), **properties: Mapping[str, Any]
) -> ToolSpec:
    return ToolSpec(
        name, description, {"type": "object", "properties": properties, "required": list(required)}
    )


TEXT = {"type": "string"}
TOOLS = [
    spec(
        "read_file",
        "Read a text file of the channel's directory.",
        ["path"],
        path=TEXT,
        offset={"type": "integer"},
    ),
    spec("write_file", "Write a text file as a whole.", ["path", "content"], path=TEXT, content=TEXT),
    spec(
        "rename_file", "Rename or move a file or directory.", ["path", "new_path"], path=TEXT, new_path=TEXT
    ),
    spec("delete_file", "Delete a file or an empty directory for good.", ["path"], path=TEXT),
    spec(
        "list_directory", "List a directory: names, directories, sizes.", path=TEXT, limit={"type": "integer"}
    ),
    spec("create_directory", "Make a directory, and the ones above it.", ["path"], path=TEXT),
    spec("fetch_url", "Fetch a page or file by http or https.", ["url"], url=TEXT),
    spec("web_search", "Search the web. Answers with titles and addresses.", ["query"], query=TEXT),
    spec("search_files", "Search the text files of the directory.", ["pattern"], pattern=TEXT, path=TEXT),
    spec("edit_file", "Change part of a text file.", ["path", "old", "new"], path=TEXT, old=TEXT, new=TEXT),
    spec("run_command", "Run a shell command and answer with what it writes.", ["command"], command=TEXT),
    spec(
        "mcp__time__get_current_time", "Get current time in a specific timezones", ["timezone"], timezone=TEXT
    ),
    spec(
        "mcp__time__convert_time",
        "Convert time between timezones",
        ["source_timezone", "time", "target_timezone"],
        source_timezone=TEXT,
        time=TEXT,
        target_timezone=TEXT,
    ),
]


@pytest.fixture
def demo() -> DemoModel:
    return DemoModel(rank_by_words)


def request(*turns: Turn, tools: Sequence[ToolSpec] = TOOLS) -> ModelRequest:
    return ModelRequest("Be kind.", turns, tools)


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("which files are in this directory?", "list_directory", {}),
        ("list the files", "list_directory", {}),
        ("Show me the folder src/", "list_directory", {"path": "src/"}),
        ("what time is it in Tokyo?", "mcp__time__get_current_time", {"timezone": "Asia/Tokyo"}),
        ("what time is it in New York", "mcp__time__get_current_time", {"timezone": "America/New_York"}),
        ("What time is it?", "mcp__time__get_current_time", {"timezone": "UTC"}),
        (
            "convert 9:30 from Berlin to New York",
            "mcp__time__convert_time",
            {"source_timezone": "Europe/Berlin", "time": "09:30", "target_timezone": "America/New_York"},
        ),
        ("read the file README.md", "read_file", {"path": "README.md"}),
        ("show me README.md", "read_file", {"path": "README.md"}),
        ("What is in src/app/main.py?", "read_file", {"path": "src/app/main.py"}),
        ('write "hello there" to notes.txt', "write_file", {"path": "notes.txt", "content": "hello there"}),
        ("rename a.txt to b.txt", "rename_file", {"path": "a.txt", "new_path": "b.txt"}),
        ("delete old.txt", "delete_file", {"path": "old.txt"}),
        ("create a directory named build", "create_directory", {"path": "build"}),
        ("fetch https://example.com/page?x=1.", "fetch_url", {"url": "https://example.com/page?x=1"}),
        ("search the web for python 3.14", "web_search", {"query": "python 3.14"}),
        ("search for TODO in this project", "search_files", {"pattern": "TODO"}),
        ("run `ls -la`", "run_command", {"command": "ls -la"}),
    ],
)
async def test_it_picks_the_tool_that_fits_and_fills_its_arguments(
    demo: DemoModel, question: str, tool: str, arguments: dict[str, Any]
) -> None:
    [call] = (await reply_of(demo, request(Turn("user", question)))).calls
    assert (call.name, json.loads(call.arguments)) == (tool, arguments)


@pytest.mark.parametrize(
    "question", ["hello", "tell me a joke", "give me an answer", "rename the file", "read the file", ""]
)
async def test_where_nothing_fits_it_says_so_and_what_one_can_do(demo: DemoModel, question: str) -> None:
    reply = await reply_of(demo, request(Turn("user", question)))
    assert reply.calls == ()
    assert "demo model" in reply.text
    assert "manyhands models add" in reply.text


async def test_without_tools_it_answers_too(demo: DemoModel) -> None:
    assert (await reply_of(demo, request(Turn("user", "list files"), tools=()))).finish_reason == "stop"


async def test_it_is_the_same_every_time(demo: DemoModel) -> None:
    asked = request(Turn("user", "which files are in this directory?"))
    assert await ask(demo, asked) == await ask(DemoModel(rank_by_words), asked)


@pytest.mark.parametrize(
    ("written", "name", "arguments"),
    [
        ('/tool write_file {"path": "a", "content": "b c"}', "write_file", '{"path": "a", "content": "b c"}'),
        ("/tool no_such_tool", "no_such_tool", "{}"),
        ("  /tool list_directory  {broken ", "list_directory", "{broken"),
        ('/tool\nlist_directory\n{"path": "."}', "list_directory", '{"path": "."}'),
    ],
)
async def test_it_obeys_whoever_names_a_tool(
    demo: DemoModel, written: str, name: str, arguments: str
) -> None:
    [call] = (await reply_of(demo, request(Turn("user", written)))).calls
    assert (call.name, call.arguments) == (name, arguments)


async def test_a_tool_without_a_name_is_no_call(demo: DemoModel) -> None:
    assert (await reply_of(demo, request(Turn("user", "/tool  ")))).calls == ()


async def test_it_repeats_what_the_tool_said_and_says_that_it_is_a_demo(demo: DemoModel) -> None:
    turns = [
        Turn("user", "which files are in this directory?"),
        Turn("assistant", calls=[ToolRequest("demo_1", "list_directory", "{}")]),
        Turn("tool", "a.txt\nb.txt", call_id="demo_1", tool="list_directory"),
    ]
    *deltas, reply = await ask(demo, request(*turns))
    assert isinstance(reply, Reply)
    assert reply.calls == ()
    assert reply.text.startswith("    a.txt\n    b.txt\n")
    assert "demo model" in reply.text
    assert text_of(deltas) == reply.text
    assert len([piece for piece in deltas if isinstance(piece, TextDelta)]) > 2


async def test_it_says_when_a_tool_failed(demo: DemoModel) -> None:
    turns = [
        Turn("user", "read a.txt"),
        Turn("assistant", calls=[ToolRequest("demo_1", "read_file", "{}")]),
        Turn("tool", "There is no file a.txt.", call_id="demo_1", tool="read_file", is_error=True),
    ]
    assert "read_file failed: There is no file a.txt." in (await reply_of(demo, request(*turns))).text


async def test_a_long_result_is_cut(demo: DemoModel) -> None:
    turns = [Turn("user", "x"), Turn("tool", "y" * 100_000, call_id="1", tool="t")]
    assert len((await reply_of(demo, request(*turns))).text) < 5000


async def test_every_call_of_a_conversation_has_an_id_of_its_own(demo: DemoModel) -> None:
    first = await reply_of(demo, request(Turn("user", "list the files")))
    turns = [
        Turn("user", "list the files"),
        Turn("assistant", calls=first.calls),
        Turn("tool", "a", call_id=first.calls[0].id, tool="list_directory"),
        Turn("assistant", "a"),
        Turn("user", "read a.txt"),
    ]
    second = await reply_of(demo, request(*turns))
    assert second.calls[0].id != first.calls[0].id


async def test_it_counts_tokens_and_costs_nothing(demo: DemoModel) -> None:
    reply = await reply_of(demo, request(Turn("user", "hello " * 100)))
    assert reply.usage.input > 100
    assert reply.usage.output > 10
    assert DEMO.price is None

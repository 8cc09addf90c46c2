"""`web_search`: asks the SearXNG instance of the settings and says clearly when it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from manyhands.errors import NotConfiguredError, ToolFault
from manyhands.testing.tools import QuietInvocation
from manyhands.tools.native.web_search import WebSearch
from manyhands.tools.types import ToolResult
from tests.tools.desk import ChangingSettings
from tests.tools.native.web import Web, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as running:
        yield running


async def search(web: Web, query: str = "cats", **arguments: Any) -> ToolResult:
    settings = ChangingSettings()
    settings.change(searxng_url=web.url("/"))
    return await WebSearch(settings)({"query": query, **arguments}, QuietInvocation())


async def test_results_come_with_title_address_and_extract(web: Web) -> None:
    found = {
        "results": [
            {"title": "Cats\n & dogs", "url": "https://a.example/", "content": "About  cats. " * 100},
            {"title": None, "url": "https://b.example/"},
            {"title": "without an address"},
            "nonsense",
        ]
    }
    web.page("/search", json.dumps(found).encode(), "application/json")
    result = await search(web, "cats & dogs", limit=5, language="de")
    assert result.structured["results"][1] == {
        "title": "https://b.example/",
        "url": "https://b.example/",
        "text": "",
    }
    assert result.text.startswith("1. Cats & dogs\n   https://a.example/\n   About cats.")
    assert len(result.structured["results"]) == 2
    assert web.requests[0][0] == "/search?q=cats+%26+dogs&format=json&language=de"
    assert len((await search(web, limit=1)).structured["results"]) == 1


async def test_nothing_found_is_said(web: Web) -> None:
    web.page("/search", b'{"results": []}', "application/json")
    assert (await search(web)).text == "Nothing was found. Try other words."


async def test_without_the_setting_the_error_names_it() -> None:
    with pytest.raises(NotConfiguredError, match="searxng_url"):
        await WebSearch(ChangingSettings())({"query": "cats"}, QuietInvocation())


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"Forbidden", 403, "search.formats"),
        (b"<html>", 200, "no results"),
        (b"[]", 200, "no results"),
        (b'{"results": 5}', 200, "no results"),
        (b"", 500, "status 500"),
    ],
)
async def test_answers_that_are_none(web: Web, body: bytes, status: int, words: str) -> None:
    web.page("/search", body, "application/json", status)
    with pytest.raises(ToolFault, match=words):
        await search(web)


async def test_an_instance_that_is_not_there_is_named(web: Web) -> None:
    settings = ChangingSettings()
    settings.change(searxng_url="http://127.0.0.1:9")
    with pytest.raises(ToolFault, match=r"http://127.0.0.1:9 does not answer.*searxng_url"):
        await WebSearch(settings)({"query": "cats"}, QuietInvocation())

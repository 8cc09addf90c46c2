"""`web_search`: asks the SearXNG instance that the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manyhands.chat.types import Channel
from manyhands.errors import NotConfiguredError, ToolFault
from manyhands.settings import CurrentSettings
from manyhands.tools.native.definition import FETCHES, define
from manyhands.tools.types import Invocation, ToolResult, text_result

TIMEOUT_S = 20.0
MAX_RESULTS = 30
SNIPPET = 400

DEFINITION = define(
    "web_search",
    "Search the web. Answers with titles, addresses and short extracts; fetch_url reads what was found.",
    {
        "query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_RESULTS,
            "default": 10,
            "description": "How many results to show.",
        },
        "language": {"type": "string", "description": "A language such as `en` or `de` (default: any)."},
    },
    required=("query",),
    annotations=FETCHES,
)


@dataclass(frozen=True, slots=True)
class WebSearch:
    """The work of `web_search`."""

    settings: CurrentSettings

    def missing(self, channel: Channel | None) -> str | None:
        return None if self.settings.current.searxng_url else "the setting searxng_url is not made"

    async def __call__(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        base = self.settings.current.searxng_url
        if not base:
            raise NotConfiguredError(
                "No search engine is set up.",
                hint="A person has to put the address of a SearXNG instance into the setting searxng_url.",
            )
        found = await _search(base.rstrip("/"), arguments)
        shown = [_hit(result) for result in found[: arguments.get("limit") or 10]]
        lines = [f"{n}. {hit['title']}\n   {hit['url']}\n   {hit['text']}" for n, hit in enumerate(shown, 1)]
        text = "\n".join(lines) or "Nothing was found. Try other words."
        return text_result(text, structured={"results": shown})


async def _search(base: str, arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    import httpx2

    query = {"q": arguments["query"], "format": "json"}
    if arguments.get("language"):
        query["language"] = arguments["language"]
    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
            response = await client.get(f"{base}/search", params=query)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        hint = "Check that it runs and that the setting searxng_url is right."
        raise ToolFault(f"The search engine at {base} does not answer: {error}.", hint=hint) from error
    return _results(base, response)


def _results(base: str, response: Any) -> list[Mapping[str, Any]]:
    if response.status_code == 403:
        hint = "Add `json` to `search.formats` in its settings.yml."
        raise ToolFault(f"The search engine at {base} refuses to answer in JSON.", hint=hint)
    try:
        results = response.json()["results"] if response.is_success else None
    except (ValueError, KeyError, TypeError):
        results = None
    if not isinstance(results, list):
        hint = "Check that the setting searxng_url is the address of a SearXNG instance."
        raise ToolFault(f"{base} answered with status {response.status_code} and no results.", hint=hint)
    return [result for result in results if isinstance(result, Mapping) and result.get("url")]


def _hit(result: Mapping[str, Any]) -> dict[str, str]:
    text = " ".join(str(result.get("content") or "").split())
    return {
        "title": " ".join(str(result.get("title") or result["url"]).split()),
        "url": str(result["url"]),
        "text": text if len(text) <= SNIPPET else f"{text[:SNIPPET]}…",
    }

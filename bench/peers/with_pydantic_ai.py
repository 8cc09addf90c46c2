"""The comparison's prompt, worked on with pydantic-ai: arguments are URL, MODEL, PROMPT, COMMAND…"""

from __future__ import annotations

import asyncio
import sys

from fastmcp.client.transports import StdioTransport  # type: ignore[import-not-found]  # not in ours
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def main(url: str, name: str, prompt: str, command: str, *arguments: str) -> None:
    model = OpenAIChatModel(name, provider=OpenAIProvider(base_url=url, api_key="none"))
    tools = MCPToolset(StdioTransport(command, list(arguments)))
    async with (
        Agent(model, toolsets=[tools]) as agent,
        agent.run_stream(prompt) as answer,
    ):
        async for text in answer.stream_text(delta=True, debounce_by=None):
            print(text, end="", flush=True)
    print()


asyncio.run(main(*sys.argv[1:]))

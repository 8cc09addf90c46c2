"""The comparison's prompt, worked on with openai-agents: arguments are URL, MODEL, PROMPT, COMMAND…"""

from __future__ import annotations

import asyncio
import sys

from agents import (  # type: ignore[import-not-found]  # in an environment of its own
    Agent,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
)
from agents.mcp import MCPServerStdio  # type: ignore[import-not-found]
from openai import AsyncOpenAI


async def main(url: str, name: str, prompt: str, command: str, *arguments: str) -> None:
    client = AsyncOpenAI(base_url=url, api_key="none")
    async with MCPServerStdio({"command": command, "args": list(arguments)}, cache_tools_list=True) as server:
        model = OpenAIChatCompletionsModel(name, openai_client=client)
        agent = Agent("bench", model=model, mcp_servers=[server])
        run = Runner.run_streamed(agent, prompt, run_config=RunConfig(tracing_disabled=True))
        async for event in run.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                print(event.data.delta, end="", flush=True)
    print()


asyncio.run(main(*sys.argv[1:]))

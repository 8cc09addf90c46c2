"""What `why` says is what the list shows and what a call meets, with a real server of a project."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from manyhands.tools.types import CallContext, CallStatus, Effect
from tests.cli.conftest import HAND
from tests.homes import ready_home

pytestmark = pytest.mark.anyio

POLICIES = ("default", "allow", "ask", "deny")
RULES: tuple[tuple[Effect | None, dict[str, str]], ...] = (
    (None, {}),
    *((effect, {}) for effect in Effect),
    *((effect, {"text": "hi*"}) for effect in Effect),
)


@dataclass
class Bench:
    """A hub with a project that has one server, and a person who says no to every question."""

    hub: Hub
    project: Path
    channel: Channel
    server_id: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"mcp__{self.server_id}__echo"

    async def bring(self, state: str) -> None:
        if state == "disabled":
            await self.hub.servers.enable(self.server_id, False)
        elif state == "held":
            await self.hub.servers.disconnect(self.server_id)
        elif state == "untrusted":
            write(self.project, env={"OTHER": "value"})
            await self.hub.servers.sync_project(str(self.project))

    @asynccontextmanager
    async def rule(self, effect: Effect | None, arguments: dict[str, str]) -> AsyncIterator[str]:
        """With a rule for the server."""
        if effect is None:
            yield ""
            return
        project = str(self.project)
        added = await self.hub.tools.add_rule(effect, server="hand", arguments=arguments, project=project)
        yield added.id
        await self.hub.tools.remove_rule(added.id)

    async def why(self, name: str | None = None) -> dict[str, Any]:
        return await self.hub.tools.why(name or self.name, self.channel)

    async def listed(self, full_name: str) -> tuple[bool, str]:
        listings = await self.hub.tools.list(self.channel)
        (found,) = [one for one in listings if one.definition.full_name == full_name]
        return found.offered, found.reason

    async def meets(self, text: str) -> str:
        """What a call meets: it is denied, asked about, fails or runs."""
        context = CallContext(channel_id=self.channel.id)
        record = await self.hub.tools.call(self.name, {"text": text}, context)
        if record.id in self.asked:
            return "ask"
        words = {CallStatus.DENIED: "deny", CallStatus.SUCCESS: "allow"}
        return words.get(record.status, "fail")

    async def refuse_all(self, *, task_status: TaskStatus[None]) -> None:
        async with self.hub.bus.subscribe() as events:
            task_status.started()
            async for event in events:
                if event.type == "approval.requested" and event.data["call_id"]:
                    self.asked.append(event.data["call_id"])
                    await self.hub.approvals.answer(event.data["id"], False)


def write(project: Path, **more: Any) -> None:
    entry = {"command": HAND[0], "args": [HAND[1]], **more}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"hand": entry}}))


@asynccontextmanager
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    project = tmp_path / "project"
    project.mkdir()
    write(project)
    async with Hub(await ready_home(tmp_path / "home")) as hub, anyio.create_task_group() as tasks:
        channel, _ = await hub.channels.find_or_create(dir_path=str(project))
        await hub.servers.sync_project(str(project))
        await hub.servers.approve_project(str(project))
        view = await hub.servers.by_name("hand", str(project))
        await hub.servers.connect(view.server.id)
        made = Bench(hub, project, channel, view.server.id)
        await tasks.start(made.refuse_all)
        yield made
        tasks.cancel_scope.cancel()


def said(why: dict[str, Any], *, matching: bool) -> str:
    """What `why` says of a call whose arguments match those of a rule, or not."""
    deciding = why["by_arguments"][0] if matching and why["by_arguments"] else why["decision"]
    if why["obstacle"] and deciding["effect"] != "deny":
        return "fail"
    return str(deciding["effect"])


async def agree(here: Bench, *case: Any) -> set[str]:
    """Compare the three; what calls met."""
    why = await here.why()
    assert (why["offered"], why["reason"]) == await here.listed(why["full_name"]), (case, why)
    met = {text: await here.meets(text) for text in ("hi there", "other")}
    assert met["hi there"] == said(why, matching=True), (case, why)
    assert met["other"] == said(why, matching=False), (case, why)
    return set(met.values())


@pytest.mark.requirement("L21")
@pytest.mark.parametrize(
    ("state", "met"),
    [
        ("connected", {"allow", "ask", "deny"}),
        ("disabled", {"fail", "deny"}),
        ("held", {"fail", "deny"}),
        ("untrusted", {"fail", "deny"}),
    ],
)
async def test_why_agrees_with_the_list_and_with_a_call(tmp_path: Path, state: str, met: set[str]) -> None:
    seen = set()
    async with bench(tmp_path) as here:
        for trust, enabled, policy in product(("ask", "full"), (True, False), POLICIES):
            await here.hub.servers.save({"trust": trust}, server_id=here.server_id)
            await here.bring(state)
            await here.hub.servers.set_preference(here.server_id, "echo", enabled=enabled, policy=policy)
            for effect, arguments in RULES:
                async with here.rule(effect, arguments):
                    seen |= await agree(here, trust, enabled, policy, effect, arguments)
    assert seen == met


@pytest.mark.requirement("L21")
async def test_why_names_the_rules_that_depend_on_arguments(tmp_path: Path) -> None:
    async with bench(tmp_path) as here, here.rule(Effect.DENY, {"text": "hi*"}) as rule:
        why = await here.why()
        assert (why["offered"], why["decision"]["effect"]) == (True, "ask")
        reason = f"depending on their arguments, by the rule {rule} (deny every tool of hand with text=hi*)"
        assert why["by_arguments"] == [{"effect": "deny", "reason": reason, "rule_id": rule}]
        async with here.rule(Effect.DENY, {}):
            assert (await here.why())["by_arguments"] == []


@pytest.mark.requirement("L21")
async def test_why_knows_a_tool_whose_projects_file_is_no_longer_trusted(tmp_path: Path) -> None:
    async with bench(tmp_path) as here:
        await here.bring("untrusted")
        why = await here.why("mcp__hand__echo")
        assert why["full_name"] == here.name
        assert f"comes from {here.project}/.mcp.json, which is not trusted as it is now" in why["reason"]
        assert "is not approved as it is now" in why["obstacle"]
        assert not why["callable"]


@pytest.mark.requirement("L21")
async def test_why_agrees_with_the_list_about_native_tools(tmp_path: Path) -> None:
    async with bench(tmp_path) as here:
        assert (await here.hub.tools.why("delete_file"))[
            "obstacle"
        ] == "it works in a channel's directory, and there is none here"
        assert (await here.why("delete_file"))["obstacle"] is None
        await here.hub.tools.prefer_native("delete_file", enabled=False)
        why = await here.why("delete_file")
        assert (why["offered"], why["reason"]) == (False, "this tool is switched off")
        assert (why["enabled"], why["decision"]["effect"]) == (False, "deny")

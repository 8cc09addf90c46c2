"""Reading what a server offers, to the last page, with real servers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from manyhands.servers.catalogue import skills_among
from manyhands.servers.types import Catalogue, ServerStatus
from tests.servers.rig import QUICK, plain, running, sdk

pytestmark = pytest.mark.anyio


async def catalogue_of(*flags: str) -> Catalogue:
    async with running(plain(*flags)) as rig:
        await rig.up()
        return rig.catalogues.all[0]


async def test_everything_that_a_server_offers_is_read() -> None:
    found = await catalogue_of()
    assert [prompt["name"] for prompt in found.prompts] == [f"prompt_{n}" for n in range(5)]
    assert [resource["uri"] for resource in found.resources] == [f"note://{n}" for n in range(5)]
    assert len(found.resource_templates) == 5
    assert found.version == "1.2.3"
    assert found.protocol == "2025-11-25"
    assert found.instructions == "Be plain."
    assert found.capabilities["resources"] == {"listChanged": True, "subscribe": True}
    assert found.problem is None


@pytest.mark.requirement("L07")
async def test_every_list_is_read_to_its_last_page() -> None:
    found = await catalogue_of("--page", "2", "--skills", "extension")
    whole = await catalogue_of("--skills", "extension")
    assert len(found.prompts) == len(found.resources) == len(found.resource_templates) == 5
    assert len(found.skills) == 3
    assert [tool.name for tool in found.tools] == [tool.name for tool in whole.tools]
    assert found.problem is None


async def test_ten_thousand_tools_are_read() -> None:
    found = await catalogue_of("--tools", "10000", "--page", "1000")
    assert len(found.tools) > 10_000
    assert len({tool.definition_hash for tool in found.tools}) == len(found.tools)
    assert found.problem is None


@pytest.mark.requirement("L07")
async def test_a_server_that_names_the_same_page_for_ever_is_noticed() -> None:
    found = await catalogue_of("--page", "2", "--same-cursor")
    assert len(found.prompts) == 4
    assert found.problem is not None
    assert "prompts/list names the same next page" in found.problem


async def test_a_list_without_end_is_cut() -> None:
    async with running(plain("--endless"), limits=replace(QUICK, pages=7)) as rig:
        await rig.up()
        found = rig.catalogues.all[0]
    assert len(found.prompts) == 35
    assert found.problem is not None
    assert "prompts/list does not end" in found.problem


async def test_a_server_is_asked_only_for_what_it_declares(tmp_path: Path) -> None:
    methods = tmp_path / "methods"
    found = await catalogue_of(
        "--methods", str(methods), "--without", "prompts", "--without", "resources", "--without", "logging"
    )
    asked = {json.loads(line)[0] for line in methods.read_text().splitlines()}
    assert asked == {"server/discover", "initialize", "notifications/initialized", "tools/list"}
    assert not found.prompts
    assert not found.resources


@pytest.mark.requirement("L10")
async def test_a_server_whose_tools_cannot_be_read_is_shown_with_that_problem() -> None:
    async with running(plain("--fail", "tools/list")) as rig:
        await rig.up()
        state = rig.connection.state
        assert state.status is ServerStatus.CONNECTED
        assert state.error is not None
        assert "tools/list failed: tools/list is out of order" in state.error
        assert len(rig.catalogues.all[0].prompts) == 5


@pytest.mark.requirement("L10")
async def test_a_list_that_is_never_answered_costs_the_rest_of_the_time_and_what_was_read_is_kept() -> None:
    async with running(plain("--hang", "prompts/list", timeout=1.5)) as rig:
        await rig.up()
        found = rig.catalogues.all[0]
        assert found.tools
        assert found.problem is not None
        assert "prompts/list was not answered" in found.problem
        assert rig.connection.state.error == found.problem


async def test_a_list_that_a_server_declares_and_does_not_have_is_empty() -> None:
    found = await catalogue_of("--without", "prompts")
    assert not found.prompts
    assert found.problem is None


# --- skills


async def test_skills_are_read_through_the_extension() -> None:
    found = await catalogue_of("--skills", "extension")
    assert [skill["uri"] for skill in found.skills] == [
        f"skill://{n}/SKILL.md" for n in ("one", "two", "three")
    ]
    assert found.skills[0]["frontmatter"]["license"] == "MIT"
    assert [repair.item for repair in found.repairs] == ["skill skill://broken/SKILL.md"]


async def test_skills_without_the_extension_are_found_among_the_resources() -> None:
    found = await catalogue_of("--skills", "resources")
    skill, loose = found.skills
    assert skill["uri"] == "skill://acme/refunds/SKILL.md"
    assert skill["frontmatter"] == {"name": "refunds", "description": "How to refund"}
    assert [file["uri"] for file in skill["resources"]] == [
        "skill://acme/refunds/SKILL.md",
        "skill://acme/refunds/mail.md",
    ]
    assert loose["frontmatter"]["name"] == "loose"


def test_an_index_file_is_no_skill() -> None:
    assert skills_among([{"uri": "skill://index.json", "name": "index"}, {"uri": "note://1"}]) == []


def test_skills_among_many_files_have_their_own() -> None:
    uris = [f"skill://s{n}/{name}" for n in range(20_000) for name in ("SKILL.md", "docs/more.md")]
    skills = skills_among([{"uri": uri, "name": "x"} for uri in uris])
    assert [skill["uri"] for skill in skills] == uris[::2]
    assert skills[7]["resources"] == [{"uri": "skill://s7/SKILL.md"}, {"uri": "skill://s7/docs/more.md"}]


def test_a_skill_within_a_skill_has_its_files_too() -> None:
    uris = ["skill://a/b/SKILL.md", "skill://a/b/x.md", "skill://a/SKILL.md", "skill://loose.md"]
    skills = skills_among([{"uri": uri} for uri in uris])
    assert [(skill["uri"], [file["uri"] for file in skill["resources"]]) for skill in skills] == [
        ("skill://a/b/SKILL.md", uris[:2]),
        ("skill://a/SKILL.md", uris[:3]),
        ("skill://loose.md", uris[3:]),
    ]


async def test_the_lists_of_a_server_of_the_newest_revision_are_read() -> None:
    async with running(sdk()) as rig:
        await rig.up()
        found = rig.catalogues.all[0]
    assert found.version == "3.2.1"
    assert found.protocol == "2026-07-28"
    assert [resource["uri"] for resource in found.resources] == ["note://1"]
    assert found.problem is None

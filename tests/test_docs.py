"""What exists is in the documentation, what is in it exists, and its examples run."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import anyio
import click
import pytest

from bench.__main__ import TOPICS
from bench.report import END, START
from manyhands import Hub, home
from manyhands.api.app import create_app
from manyhands.approvals.types import ApprovalState, Scope
from manyhands.chat.hands import FINDERS
from manyhands.chat.types import RunStatus
from manyhands.cli.chat_commands import WORDS
from manyhands.cli.root import cli as command_line
from manyhands.errors import ManyhandsError
from manyhands.models.clients import KEY_VARIABLES
from manyhands.models.types import Provider
from manyhands.servers.sign_in import CALLBACK_PATH
from manyhands.servers.types import ServerStatus
from manyhands.settings import Settings
from manyhands.tools.types import NATIVE, CallStatus, ToolDefinition
from tests.cli.conftest import CommandLine, running_daemon
from tests.docs import Block, Page, broken_links, read_pages, slug

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "manyhands"
PAGES = read_pages(ROOT)
ENOUGH_S = 120

# Pages whose blocks are run in order, with a daemon; a text block shows lines of the output before it.
WALKED = ("getting-started", "chat", "runs", "openai", "tasks")
USUAL_ADDRESS, USUAL_HOME = "http://127.0.0.1:8222", "~/.manyhands"
KEYS = {name for names in KEY_VARIABLES.values() for name in names} | {"OPENROUTER_API_KEY"}


def page(name: str) -> Page:
    return PAGES[f"docs/{name}.md"]


# --- settings, files, variables


def bounds_of(name: str) -> list[str]:
    schema = Settings.model_json_schema()["properties"][name]
    limits = [str(schema[word]) for word in ("minimum", "maximum") if word in schema]
    return limits + [f"`{choice}`" for choice in schema.get("enum", ())]


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented_with_its_default_and_bounds(name: str) -> None:
    row = page("settings").rows("Settings").get(name)
    assert row is not None, f"docs/settings.md does not have {name}"
    default = Settings().model_dump(mode="json")[name]
    assert f"`{default if isinstance(default, str) else json.dumps(default)}`" == row[0]
    assert [bound for bound in bounds_of(name) if bound not in row[1]] == []


def test_no_setting_is_documented_that_is_not_there() -> None:
    of_servers = {"enabled", "trust", "tool_timeout", "connect_timeout", "parallel"}
    first_cells = re.findall(r"^\| `(\w+)` \|", page("settings").sections["Settings"], re.MULTILINE)
    assert set(first_cells) - of_servers == set(Settings.model_fields)


def test_every_key_of_the_configuration_file_is_documented() -> None:
    assert set(page("settings").rows("config.toml")) >= home._BOOTSTRAP_KEYS


def test_every_environment_variable_is_documented() -> None:
    named = {
        found
        for path in SOURCE.rglob("*.py")
        for found in re.findall(r'(?<!b)"(MANYHANDS_[A-Z_]+)"', read(path))
    }
    assert named <= set(page("settings").rows("Environment variables"))


def test_every_path_of_a_home_is_documented() -> None:
    somewhere = home.Home(Path("/home"))
    paths = {name for name, value in vars(home.Home).items() if isinstance(value, property)}
    documented = {name.rstrip("/") for name in page("settings").rows("Files of the home")}
    places = {getattr(somewhere, name).relative_to(somewhere.path) for name in paths}
    assert {place.parts[0] for place in places} <= documented
    section = page("settings").sections["Files of the home"]
    assert not [place.name for place in places if f"`{place.name}" not in section]


# --- commands


def commands(
    command: click.Command = command_line, path: tuple[str, ...] = ("manyhands",)
) -> Iterator[tuple[str, click.Command]]:
    """Every command with its whole name; groups too."""
    if len(path) > 1:
        yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_with_its_options_and_an_example(name: str) -> None:
    section = page("commands").sections.get(name)
    assert section is not None, f"docs/commands.md has no heading {name!r}"
    options = {
        option
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    missing = {option for option in options - {"--home"} if f"`{option}`" not in section}
    assert not missing
    if not isinstance(COMMANDS[name], click.Group):
        assert re.search(rf"```sh\n(?:.*\n)*?.*{re.escape(name)}\b", section), f"{name} has no example"


def test_no_command_is_documented_that_is_not_there() -> None:
    headings = {heading for heading in page("commands").sections if heading.startswith("manyhands ")}
    assert headings == set(COMMANDS)


def shell_lines() -> Iterator[tuple[str, str]]:
    """Every use of the command in a shell block or an indented example, with its page."""
    for name, found in PAGES.items():
        blocks = [block.text.replace("\\\n", " ") for block in found.blocks if block.language == "sh"]
        indented = re.findall(r"^ {4}(?:\./dev )?(manyhands .+)$", found.prose, re.MULTILINE)
        for line in [*"\n".join(blocks).splitlines(), *indented]:
            if line.startswith("manyhands "):
                yield name, line


@pytest.mark.parametrize(("name", "line"), sorted(set(shell_lines())))
def test_every_example_is_a_command_that_exists(name: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    for sign in ("<", ">", "|"):
        words = words[: words.index(sign)] if sign in words else words
    command: click.Command = command_line
    context = click.Context(command, info_name="manyhands")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        below = command.get_command(context, words[0])
        assert below is not None, f"{name}: there is no command {words[0]!r}"
        command, words = below, words[1:]
        context = click.Context(command, info_name=command.name)
    command.make_parser(context).parse_args(list(words))


# --- tools, routes, events, codes


@dataclass(frozen=True)
class Facts:
    """What a hub says of itself."""

    tools: dict[str, ToolDefinition]
    openapi: dict[str, Any]


@pytest.fixture(scope="module")
def facts() -> Facts:
    async def ask() -> Facts:
        with tempfile.TemporaryDirectory() as directory:
            async with Hub(directory) as hub:
                definitions = [listing.definition for listing in await hub.list_all_tools()]
                native = {tool.name: tool for tool in definitions if tool.server == NATIVE}
                return Facts(native, create_app(hub).openapi())

    return anyio.run(ask)


def test_every_native_tool_and_parameter_is_documented(facts: Facts) -> None:
    rows = page("tools").rows("Native tools")
    for name in facts.tools:
        assert name in rows, f"docs/tools.md does not have {name}"
        parameters = facts.tools[name].input_schema["properties"]
        assert [parameter for parameter in parameters if f"`{parameter}`" not in rows[name][0]] == []


def routes_of(openapi: dict[str, Any]) -> set[str]:
    described = {
        f"{method.upper()} {shape(path)}"
        for path, methods in openapi["paths"].items()
        if path.startswith("/api/")
        for method in methods
    }
    sockets = {
        f"WS {shape(path)}"
        for file in (SOURCE / "api").glob("*.py")
        for path in re.findall(r'\.websocket\("([^"]+)"', read(file))
    }
    hidden = {f"GET {shape(CALLBACK_PATH)}", "GET /openapi.json", "GET /docs"}
    return described | sockets | hidden


def shape(path: str) -> str:
    """The path below `/api`, whatever its parameters are called."""
    return re.sub(r"\{[^}]+\}", "{}", path.removeprefix("/api"))


def test_the_documented_routes_are_those_that_exist(facts: Facts) -> None:
    written = re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE|WS) [^`]+)` \|", page("api").text, re.MULTILINE)
    documented, real = {shape(route) for route in written}, routes_of(facts.openapi)
    assert sorted(real - documented) == [], "not in docs/api.md"
    assert sorted(documented - real) == [], "not in the program"


@cache
def published_types() -> set[str]:
    """The types of events that the source publishes, as literals."""
    found = {"gap"}
    sources = (text for text in map(read, SOURCE.rglob("*.py")) if "publish(" in text or "announce(" in text)
    for text in sources:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if called.lstrip("_") in ("publish", "announce"):
                    found.add(str(node.args[0].value))
    return found


def test_the_documented_events_are_those_that_are_published() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \|", page("api").sections["Events"], re.MULTILINE)
    assert set(rows) == published_types()


def test_the_scan_for_events_finds_them() -> None:
    some = {
        "mcp.status",
        "tool.started",
        "tool.progress",
        "approval.requested",
        "channel.created",
        "run.delta",
    }
    assert some <= published_types()


def kinds(kind: type[ManyhandsError]) -> Iterator[type[ManyhandsError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds(below)


def test_every_code_of_an_error_is_documented_with_its_status() -> None:
    section = page("api").sections["Errors"]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")]
    known = {code: cells[1] for cells in rows if len(cells) > 3 for code in re.findall(r"`(\w+)`", cells[2])}
    ours = {kind for kind in kinds(ManyhandsError) if kind.__module__ == "manyhands.errors"}
    assert {kind.code for kind in ours if str(kind.status) not in known.get(kind.code, "")} == set()


@pytest.mark.parametrize(
    ("name", "heading", "words"),
    [
        ("servers", "States", [status.value for status in ServerStatus]),
        ("tools", "The call log", [status.value for status in CallStatus]),
        ("runs", "States", [status.value for status in RunStatus]),
        ("permissions", "The inbox", [*(state.value for state in ApprovalState), *get_args(Scope)]),
    ],
)
def test_every_state_is_explained(name: str, heading: str, words: list[str]) -> None:
    assert [word for word in words if word not in page(name).rows(heading)] == []


def test_every_command_and_tool_of_a_conversation_is_explained() -> None:
    assert set(WORDS) <= set(page("chat").rows("Talk"))
    assert {tool.name for tool in FINDERS} <= set(page("chat").rows("Many tools"))


def test_every_provider_and_the_variable_of_its_key_is_documented() -> None:
    providers = set(get_args(Provider)) - {"demo"}
    assert providers <= set(page("models").rows("Adding a model"))
    assert [name for name in KEYS if f"`{name}`" not in page("models").sections["Which model is used"]] == []


# --- links, pictures, marks


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    assert broken_links(PAGES[name]) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `two` (three)\n")
    (tmp_path / "page.md").write_text(
        "# Here\n[a](other.md#one-two-three) [b](#here) [c](other.md#four) ![d](gone.svg) [e](https://example.com)\n"
    )
    assert broken_links(Page(tmp_path / "page.md")) == ["other.md#four", "gone.svg"]


def test_every_page_can_be_reached_from_the_readme() -> None:
    linked = {os.path.normpath(link.partition("#")[0]) for link in PAGES["README.md"].links}
    assert "docs/decisions" in linked
    pages = {name for name in PAGES if not name.startswith("docs/decisions/")}
    assert pages - linked == {"README.md"}


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "img").glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_is_light_and_needs_nothing_from_elsewhere(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(text) < 50_000


def test_the_benchmarks_page_has_the_marks_that_figures_are_written_between() -> None:
    lines = page("benchmarks").text.splitlines()
    assert lines.index(START) < lines.index(END)
    assert [topic for topic in TOPICS if f"`{topic}`" not in page("benchmarks").text] == []


def test_a_decision_says_what_it_has_to_say() -> None:
    for name, found in PAGES.items():
        if name.startswith("docs/decisions/"):
            number = int(Path(name).name[:4])
            assert found.text.startswith(f"# {number}. "), name
            for part in ("**Context.**", "**Choice.**", "**Cost.**", "**We would know it was wrong**"):
                assert part in found.text, f"{name}: {part}"


def test_the_anchor_of_a_heading_is_the_one_that_browsers_are_sent_to() -> None:
    assert slug("Why is my tool not there?") == "why-is-my-tool-not-there"
    assert slug("config.toml") == "configtoml"


# --- examples that run


PROGRAMS = [
    block.text
    for name in ("library", "models")
    for block in page(name).blocks
    if block.language == "python" and block.runs
]


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_an_example_of_the_library_runs(program: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "MANYHANDS_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""


@pytest.mark.parametrize("name", WALKED)
def test_a_page_works_as_it_is_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in KEYS:
        monkeypatch.delenv(variable, raising=False)
    line = CommandLine(tmp_path / "home")
    with running_daemon(line) as address:
        # Whoever works on this may have a model server; the pages show what there is without one.
        line.ok("settings", "set", "model_discovery", "false")
        usual = {USUAL_ADDRESS: address.partition("/?")[0], USUAL_HOME: str(line.home)}
        output, directory = "", tmp_path
        for block in page(name).blocks:
            if block.language in RUNNERS and block.runs:
                output, directory = run_block(block, usual, line, directory)
            elif block.language == "text" and output:
                for expected in block.text.splitlines():
                    assert shows(output, expected), f"{expected!r} is not in\n{output}"


RUNNERS = {"sh": ("bash", "-euo", "pipefail", "-c"), "python": (sys.executable, "-c")}


def run_block(block: Block, usual: Mapping[str, str], line: CommandLine, directory: Path) -> tuple[str, Path]:
    """Run it with this daemon in place of the usual one; also tells where that leaves the reader."""
    text, left = block.text, line.home.parent / "left-in"
    if block.language == "sh":
        text = f"trap 'pwd > {left}' EXIT\n{text}"
    for written, real in usual.items():
        text = text.replace(written, real)
    ran = subprocess.run(
        [*RUNNERS[block.language], text],
        cwd=directory,
        env=line.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=ENOUGH_S,
        check=False,
    )
    assert ran.returncode == 0, f"{text}\n{ran.stdout}"
    return ran.stdout, Path(left.read_text().strip()) if left.exists() else directory


def shows(output: str, expected: str) -> bool:
    """Whether a line of the output is the expected one; `…` stands for anything."""
    pattern = ".*".join(map(re.escape, expected.rstrip().split("…")))
    return any(re.fullmatch(pattern, line.rstrip()) for line in output.splitlines())


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")

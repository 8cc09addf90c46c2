"""The house keeps its layout, and each rule of `layout.py` finds what it is there to find."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import layout
from tests.layout import Module, read_package

ROOT = Path(__file__).parents[1]
Rule = Callable[[list[Module]], list[str]]

# Written in two pieces, since this file is one of those that are searched.
ELSEWHERE = re.compile(
    "|".join(
        [
            r"(?<![\w.:/-])/(?:work|root)" + "/",
            r"(?:pypi|pythonhosted)" + r"\.org",
            r"registry\.(?:npmjs|yarnpkg)" + r"\.",
            r"deb(?:ian)?\.debian" + r"\.org",
        ]
    )
)
NOT_OURS = {"node_modules", "__pycache__", "dist", "build", "results"}


@pytest.fixture(scope="module")
def package() -> list[Module]:
    return read_package(ROOT / "src" / layout.PACKAGE)


@pytest.fixture
def house(tmp_path: Path) -> Callable[[dict[str, str]], list[Module]]:
    """Builds a package from its files."""

    def build(files: dict[str, str]) -> list[Module]:
        for name, source in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        return read_package(tmp_path)

    return build


@pytest.mark.parametrize("rule", layout.RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(package: list[Module], rule: Rule) -> None:
    complaints = rule(package)
    assert not complaints, "\n".join([rule.__doc__ or "", *complaints])


def test_tests_benchmarks_and_the_dev_script_keep_their_size() -> None:
    folders = (ROOT / name for name in ("tests", "bench", "tooling"))
    paths = [*(path for folder in folders for path in folder.rglob("*.py")), ROOT / "dev"]
    sources = [Module("tests", path, path.read_text()) for path in paths if not NOT_OURS & set(path.parts)]
    complaints = layout.sizes(sources)
    assert not complaints, "\n".join(complaints)


def test_no_file_names_a_path_of_one_machine_or_a_registry_host() -> None:
    complaints = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in project_files(ROOT)
        for number, line in enumerate(read_text(path).splitlines(), 1)
        if ELSEWHERE.search(line)
    ]
    assert not complaints, "\n".join(complaints)


def test_the_command_line_starts_without_importing_what_is_heavy() -> None:
    heavy = sorted(layout.HEAVY)
    code = (
        f"import sys, manyhands.cli.main\nprint(*[name for name in {heavy} if name in sys.modules], end='')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == ""


# --- each rule finds what it is there to find


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        (layout.rooms, {"kitchen/sink.py": ""}),
        (layout.directions, {"errors.py": "import manyhands.hub", "hub.py": ""}),
        (layout.directions, {"servers/service.py": "from manyhands.api import app", "api/app.py": ""}),
        (
            layout.directions,
            {"servers/service.py": "from manyhands.tools.store import x", "tools/store.py": ""},
        ),
        (
            layout.directions,
            {"servers/store.py": "from manyhands.servers import service", "servers/service.py": ""},
        ),
        (
            layout.directions,
            {"servers/types.py": "from manyhands.servers.rules import x", "servers/rules.py": ""},
        ),
        (
            layout.directions,
            {"servers/rules.py": "from manyhands.tools.service import x", "tools/service.py": ""},
        ),
        (
            layout.directions,
            {"store/engine.py": "def f():\n  import manyhands.tools.types", "tools/types.py": ""},
        ),
        (layout.directions, {"api/app.py": "from manyhands import daemon", "daemon.py": ""}),
        (layout.directions, {"cli/up.py": "from manyhands import daemon", "daemon.py": ""}),
        (layout.directions, {"hub.py": "from manyhands.testing.clock import x", "testing/clock.py": ""}),
        (layout.directions, {"bridge/main.py": "import manyhands.home", "home.py": ""}),
        (layout.pure_rules, {"tools/rules.py": "import anyio"}),
        (layout.pure_rules, {"tools/rules.py": "async def decide(): ..."}),
        (layout.cycles, {"ids.py": "import manyhands.clock", "clock.py": "def f():\n  import manyhands.ids"}),
        (layout.frameworks, {"tools/service.py": "from fastapi import Depends"}),
        (layout.frameworks, {"api/app.py": "def f():\n  import click"}),
        (layout.heavy_imports, {"cli/main.py": "from rich.console import Console"}),
        (layout.heavy_imports, {"system.py": "try:\n  import psutil\nexcept ImportError: ..."}),
        (layout.bridge, {"bridge/main.py": "def f():\n  import anyio"}),
        (layout.names, {"tools/utils.py": ""}),
        (layout.names, {"servers/connection_manager.py": ""}),
        (layout.docstrings, {"ids.py": "x = 1"}),
        (layout.init_files, {"tools/__init__.py": "from x import y\n\ndef f(): ..."}),
        (layout.init_files, {"tools/__init__.py": "x = register()"}),
        (layout.sizes, {"ids.py": "x = 1\n" * 601}),
        (layout.sizes, {"ids.py": "def f():\n" + "  x = 1\n" * 60}),
    ],
)
def test_a_breach_is_found(
    house: Callable[[dict[str, str]], list[Module]], rule: Rule, files: dict[str, str]
) -> None:
    assert len(rule(house(files))) == 1


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        (
            layout.directions,
            {"servers/service.py": "from manyhands.tools.types import x", "tools/types.py": ""},
        ),
        (layout.directions, {"cli/up.py": "def f():\n  from manyhands.daemon import run", "daemon.py": ""}),
        (layout.directions, {"home.py": "from manyhands.errors import InvalidError", "errors.py": ""}),
        (
            layout.cycles,
            {"ids.py": "import manyhands.clock", "clock.py": "if TYPE_CHECKING:\n  import manyhands.ids"},
        ),
        (layout.heavy_imports, {"cli/main.py": "def f():\n  import rich"}),
        (layout.heavy_imports, {"cli/main.py": "if TYPE_CHECKING:\n  import mcp"}),
        (layout.names, {"tools/command.py": ""}),
        (layout.init_files, {"__init__.py": '"""Names."""\nx = 1\n\ndef __getattr__(name): ...'}),
        (layout.sizes, {"ids.py": "x = 1\n" * 600}),
    ],
)
def test_what_is_allowed_is_not_complained_about(
    house: Callable[[dict[str, str]], list[Module]], rule: Rule, files: dict[str, str]
) -> None:
    assert rule(house(files)) == []


@pytest.mark.parametrize(
    "line", ["cd /work" + "/main", "'/root" + "/.cache'", "https://pypi" + ".org/simple"]
)
def test_a_word_of_elsewhere_is_found(line: str) -> None:
    assert ELSEWHERE.search(line)


def project_files(root: Path) -> Iterator[Path]:
    """What would be committed, whether or not there is a repository here."""
    for directory, below, names in os.walk(root):
        below[:] = [name for name in below if name == ".ci" or not (name in NOT_OURS or name.startswith("."))]
        yield from (Path(directory, name) for name in sorted(names))


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # a picture or the like

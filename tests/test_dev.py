"""The `dev` script, what it is made of in `tooling/`, and the locks that it installs from."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.layout import Module
from tooling import packages, parts, running
from tooling.running import Problem

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "requirements"


@pytest.fixture
def dev() -> ModuleType:
    """The script as a module."""
    loader = SourceFileLoader("dev_script", str(ROOT / "dev"))
    spec = importlib.util.spec_from_loader("dev_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout of its own for the script, whose installers write down that they ran."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "lock.txt").write_text("one==1")
    installed = tmp_path / "installed"
    installed.write_text("")
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(running, "LOG", tmp_path / "log")
    monkeypatch.setattr(parts, "PARTS", {"run": [tmp_path / "lock.txt"]})
    monkeypatch.setattr(
        parts, "INSTALLERS", {"run": lambda: installed.write_text(installed.read_text() + "run ")}
    )
    return tmp_path


def run_dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "dev", *arguments], capture_output=True, text=True, check=False
    )


def test_help_names_every_command(dev: ModuleType) -> None:
    shown = run_dev("--help")
    assert shown.returncode == 0
    assert set(re.findall(r"^  (\w+)", shown.stdout, re.MULTILINE)) == set(dev.COMMANDS)


@pytest.mark.parametrize("arguments", [("frob",), ("check", "src")])
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    answer = run_dev(*arguments)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert "./dev --help" in answer.stderr


def test_it_needs_nothing_but_the_standard_library() -> None:
    sources = [ROOT / "dev", *(ROOT / "tooling").glob("*.py")]
    imported = {found.root for path in sources for found in Module(path.name, path, path.read_text()).imports}
    assert imported - sys.stdlib_module_names == {"tooling"}


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    parts.ensure("run")
    parts.ensure("run")
    assert (checkout / "installed").read_text() == "run "


def test_a_changed_lock_is_installed(checkout: Path) -> None:
    parts.ensure("run")
    (checkout / "lock.txt").write_text("one==2")
    parts.ensure("run")
    assert (checkout / "installed").read_text() == "run run "


def test_an_installation_that_failed_is_done_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise Problem("no")

    with monkeypatch.context() as broken:
        broken.setitem(parts.INSTALLERS, "run", fail)
        with pytest.raises(Problem):
            parts.ensure("run")
    parts.ensure("run")
    assert (checkout / "installed").read_text() == "run "


def test_a_part_made_from_a_folder_is_made_again_when_a_file_in_it_changes_or_goes(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = checkout / "source" / "deep" / "page.tsx"
    source.parent.mkdir(parents=True)
    source.write_text("one")
    monkeypatch.setitem(parts.PARTS, "run", [checkout / "source"])
    parts.ensure("run")
    (source.parent / "page.test.tsx").write_text("a test does not change what is built")
    parts.ensure("run")
    assert (checkout / "installed").read_text() == "run "
    source.write_text("two")
    parts.ensure("run")
    source.unlink()
    parts.ensure("run")
    assert (checkout / "installed").read_text() == "run run run "


def test_a_built_ui_that_is_gone_is_built_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = checkout / "ui"
    built.mkdir()
    monkeypatch.setitem(parts.STAMPS, "run", built)
    parts.ensure("run")
    (built / "dev-run.stamp").unlink()
    built.rmdir()
    monkeypatch.setitem(parts.INSTALLERS, "run", built.mkdir)
    parts.ensure("run")
    assert built.is_dir()


def test_everything_that_the_ui_is_built_from_is_looked_at() -> None:
    kept = {path.name for path in (ROOT / "web").iterdir() if path.name not in ("node_modules", "dist")}
    looked_at = {path.name for path in parts.PARTS["web"]}
    only_for_people = {"biome.json", ".npmrc", "README.md"}
    assert kept - only_for_people <= looked_at
    assert "app.py" in looked_at


@pytest.mark.usefixtures("checkout")
def test_a_registry_out_of_reach_is_said_in_one_line_with_what_to_check(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code = "print('error: tcp connect error: Connection refused'); raise SystemExit(2)"
    with pytest.raises(Problem, match=r"registry could not be reached.*HTTPS_PROXY.*again") as caught:
        running.step("installing x", sys.executable, "-c", code)
    assert "\n" not in str(caught.value)
    assert "Connection refused" not in capfd.readouterr().err


def test_another_failure_shows_its_last_lines_and_where_the_rest_is(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Problem, match=r"installing x failed with exit code 3.*log"):
        running.step("installing x", sys.executable, "-c", "print('no room'); raise SystemExit(3)")
    assert "no room" in capfd.readouterr().err
    assert "no room" in (checkout / "log").read_text()


def test_settings_of_pip_reach_uv_and_node_unless_they_have_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "UV_CONFIG_FILE",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("PIP_CERT", "/certificates.pem")
    certificates = {"SSL_CERT_FILE": "/certificates.pem", "NODE_EXTRA_CA_CERTS": "/certificates.pem"}
    assert packages.index_settings() == {"UV_DEFAULT_INDEX": "https://index.example/simple", **certificates}
    monkeypatch.setenv("UV_INDEX_URL", "https://other.example/simple")
    assert packages.index_settings() == certificates
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/own.pem")
    assert packages.index_settings() == {"SSL_CERT_FILE": "/certificates.pem"}


def pinned(lock: str) -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for entry in re.findall(r"^[A-Za-z0-9].*", (LOCKS / lock).read_text(), re.MULTILINE):
        requirement = Requirement(entry.removesuffix("\\"))
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize("lock", ["run.txt", "dev.txt"])
def test_everything_in_a_lock_is_pinned_by_version_and_hash(lock: str) -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", (LOCKS / lock).read_text(), flags=re.MULTILINE)[1:]
    assert entries
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_the_lock_holds_what_the_package_depends_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    assert missing(wanted, pinned("run.txt")) == []


def test_the_lock_holds_what_the_tests_depend_on() -> None:
    lines = (LOCKS / "dev.in").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith(("#", "-"))]
    assert missing(wanted, pinned("dev.txt")) == []


def test_both_locks_agree() -> None:
    run, dev = pinned("run.txt"), pinned("dev.txt")
    versions = {
        name: (str(run[name][0].specifier), str(dev[name][0].specifier)) for name in run.keys() & dev.keys()
    }
    assert {name: pair for name, pair in versions.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize("place", ["tests/node", "web"])
def test_a_node_lock_names_no_place_that_packages_come_from(place: str) -> None:
    packages = json.loads((ROOT / place / "package-lock.json").read_text())["packages"]
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    of_their_own = {name: entry for name, entry in packages.items() if name and not entry.get("inBundle")}
    assert [name for name, entry in of_their_own.items() if "integrity" not in entry] == []


def missing(wanted: list[str], lock: dict[str, list[Requirement]]) -> list[str]:
    """Requirements that the lock does not meet."""
    unmet = []
    for text in wanted:
        requirement = Requirement(text)
        versions = [
            next(iter(entry.specifier)).version for entry in lock.get(canonicalize_name(requirement.name), [])
        ]
        if not versions or not all(requirement.specifier.contains(version) for version in versions):
            unmet.append(f"{text} (locked: {', '.join(versions) or 'nothing'}; run ./dev lock)")
    return unmet

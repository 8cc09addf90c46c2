"""The `dev` script and the locks that it installs from."""

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
def checkout(dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout of its own for the script, whose installers write down that they ran."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "lock.txt").write_text("one==1")
    installed = tmp_path / "installed"
    installed.write_text("")
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev, "LOG", tmp_path / "log")
    monkeypatch.setattr(dev, "PARTS", {"run": [tmp_path / "lock.txt"]})
    monkeypatch.setattr(
        dev, "INSTALLERS", {"run": lambda: installed.write_text(installed.read_text() + "run ")}
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


def test_what_is_installed_is_not_installed_again(dev: ModuleType, checkout: Path) -> None:
    dev.ensure("run")
    dev.ensure("run")
    assert (checkout / "installed").read_text() == "run "


def test_a_changed_lock_is_installed(dev: ModuleType, checkout: Path) -> None:
    dev.ensure("run")
    (checkout / "lock.txt").write_text("one==2")
    dev.ensure("run")
    assert (checkout / "installed").read_text() == "run run "


def test_an_installation_that_failed_is_done_again(
    dev: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise dev.Problem("no")

    with monkeypatch.context() as broken:
        broken.setitem(dev.INSTALLERS, "run", fail)
        with pytest.raises(dev.Problem):
            dev.ensure("run")
    dev.ensure("run")
    assert (checkout / "installed").read_text() == "run "


@pytest.mark.usefixtures("checkout")
def test_a_registry_out_of_reach_is_said_in_one_line_with_what_to_check(
    dev: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "print('error: tcp connect error: Connection refused'); raise SystemExit(2)"
    with pytest.raises(dev.Problem, match=r"registry could not be reached.*HTTPS_PROXY.*again") as caught:
        dev.step("installing x", sys.executable, "-c", code)
    assert "\n" not in str(caught.value)
    assert "Connection refused" not in capfd.readouterr().err


@pytest.mark.usefixtures("checkout")
def test_another_failure_shows_its_last_lines_and_where_the_rest_is(
    dev: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(dev.Problem, match=r"installing x failed with exit code 3.*log"):
        dev.step("installing x", sys.executable, "-c", "print('no room'); raise SystemExit(3)")
    assert "no room" in capfd.readouterr().err
    assert "no room" in dev.LOG.read_text()


def test_settings_of_pip_reach_uv_unless_it_has_its_own(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_CONFIG_FILE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("PIP_CERT", "/certificates.pem")
    expected = {"UV_DEFAULT_INDEX": "https://index.example/simple", "SSL_CERT_FILE": "/certificates.pem"}
    assert dev.index_settings() == expected
    monkeypatch.setenv("UV_INDEX_URL", "https://other.example/simple")
    assert dev.index_settings() == {"SSL_CERT_FILE": "/certificates.pem"}


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


def test_the_node_lock_names_no_place_that_packages_come_from() -> None:
    packages = json.loads((ROOT / "tests/node/package-lock.json").read_text())["packages"]
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    assert [name for name, entry in packages.items() if name and "integrity" not in entry] == []


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

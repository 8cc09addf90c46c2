"""`manyhands doctor` as a process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import HAND, CommandLine, running_daemon, until


def test_a_sound_installation_is_well(cli: CommandLine) -> None:
    ran = cli.ok("doctor")
    subjects = [line.split()[1] for line in ran.out.splitlines() if line.startswith(("✓", "!", "✗"))]
    assert {"python", "home", "daemon", "database", "disk", "uvx", "npx", "node", "secrets"} <= set(subjects)
    assert "✗" not in ran.out


def test_a_broken_server_is_named_with_what_to_do_and_fails(cli: CommandLine) -> None:
    with running_daemon(cli):
        cli.ok("servers", "add", "hand", "--", *HAND)
        cli("servers", "add", "broken", "--", "/nowhere/to/be/found")
        ran = cli("doctor")
        assert ran.code == 1
        assert "✓ hand " in ran.out
        assert "✗ broken " in ran.out
        assert "→ manyhands servers log broken" in ran.out
        found = {finding["subject"]: finding for finding in cli("doctor", "--json").json["findings"]}
        assert found["broken"]["verdict"] == "broken"
        assert found["daemon"]["verdict"] == "ok"


def test_servers_are_tested_when_no_daemon_keeps_them(cli: CommandLine) -> None:
    cli.ok("servers", "add", "hand", "--", *HAND)
    assert "works: 6 tools in" in cli.ok("doctor").out


@pytest.mark.requirement("L29")
def test_a_projects_server_that_nobody_trusts_is_told_and_not_started_and_a_wrong_file_is_told(
    cli: CommandLine, tmp_path: Path
) -> None:
    trace = tmp_path / "started"
    stranger = {"command": sys.executable, "args": ["-c", f"open({str(trace)!r}, 'w')"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"stranger": stranger}}))
    with running_daemon(cli):
        cli.ok("channels", "create", "--dir", str(tmp_path))
        until(lambda: cli.ok("servers", "list", "--json").json)
        found = {one["subject"]: one for one in cli.ok("doctor", "--test", "--json").json["findings"]}
        (tmp_path / ".mcp.json").write_text('{"mcp_servers": {}}')
        wrong = {one["subject"]: one for one in cli.ok("doctor", "--json").json["findings"]}
    assert "project" not in found
    assert "the top key is 'mcp_servers'" in wrong["project"]["text"]
    assert "manyhands channels trust" in found["stranger"]["text"]
    assert not trace.exists()


def test_an_open_token_file_is_broken(cli: CommandLine) -> None:
    cli.ok("servers", "list")
    (cli.home / "token").chmod(0o644)
    report = cli("doctor", "--json").json
    assert report["ok"] is False
    assert next(found for found in report["findings"] if found["subject"] == "home")["fix"].startswith(
        "chmod"
    )


def test_every_model_is_asked_and_one_that_does_not_answer_is_broken(cli: CommandLine) -> None:
    found = {one["subject"]: one for one in cli.ok("doctor", "--json").json["findings"]}
    assert found["models"]["verdict"] == "note"
    assert "answers in" in found["demo"]["text"]
    nowhere = ("--provider", "openai-compatible", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    added = cli.ok("models", "add", "mine", *nowhere, "--json").json
    report = cli("doctor", "--json").json
    assert report["ok"] is False
    assert [one["subject"] for one in report["findings"] if one["verdict"] == "broken"] == [added["id"]]

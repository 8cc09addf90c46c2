"""`manyhands up|down|status` as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

from manyhands import __version__
from tests.cli.conftest import ENOUGH_S, HAND, CommandLine, running_daemon


def test_up_detached_waits_until_it_serves_and_down_ends_it(cli: CommandLine) -> None:
    ran = cli.ok("up", "--detach", "--port", "0")
    try:
        assert ran.out.startswith("ready: http://127.0.0.1:")
        assert f"/?token={(cli.home / 'token').read_text().strip()}\n" in ran.out
        assert cli.ok("status", "--json").json["version"] == __version__
        kept = cli.home / "logs" / "daemon.out"
        assert "\nready: http://127.0.0.1:" in kept.read_text()
        assert "token" not in kept.read_text()
        assert kept.stat().st_mode & 0o077 == 0
    finally:
        down = cli.ok("down")
    assert down.out == "✓ the daemon has ended\n"
    assert cli.ok("down").out == f"No daemon is running for {cli.home}.\n"


def test_the_ready_line_has_the_token_also_when_it_is_redirected(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    with file.open("wb") as output:
        process = subprocess.Popen(cli.argv("up", "--port", "0"), stdout=output, env=cli.environment)
    try:
        deadline = time.monotonic() + ENOUGH_S
        while "ready:" not in file.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert f"/?token={(cli.home / 'token').read_text().strip()}\n" in file.read_text()
    finally:
        process.terminate()
        process.wait(ENOUGH_S)


def test_a_second_daemon_for_a_home_is_refused_and_told_where_the_first_is(served: CommandLine) -> None:
    url = served.ok("status", "--json").json["url"]
    for options in ((), ("--detach",)):
        ran = served("up", "--port", "0", *options)
        assert ran.code == 1
        assert url in ran.err
        assert ran.err.count("\n") == 1


def test_a_taken_port_is_one_line_that_says_what_to_do(served: CommandLine, cli: CommandLine) -> None:
    port = served.ok("status", "--json").json["url"].rpartition(":")[2]
    for options in ((), ("--detach",)):
        ran = cli("up", "--port", port, *options)
        assert ran.code == 1
        assert ran.err.count("\n") == 1
        assert "--port" in ran.err


def test_status_says_what_runs_and_what_is_kept(served: CommandLine) -> None:
    shown = served.ok("status").out
    assert f"running, version {__version__}" in shown
    assert "1 connected" in shown
    assert "database" in shown


def test_status_without_a_daemon_fails_and_says_how_to_start_one(cli: CommandLine) -> None:
    ran = cli("status")
    assert ran.code == 1
    assert "manyhands up" in ran.out
    assert cli("status", "--json").json == {"running": False, "home": str(cli.home)}


def test_the_environment_can_name_another_daemon(served: CommandLine, cli: CommandLine) -> None:
    url = served.ok("status", "--json").json["url"]
    token = (served.home / "token").read_text().strip()
    ran = cli("servers", "list", "--json", env={"MANYHANDS_URL": url, "MANYHANDS_TOKEN": token})
    assert [server["name"] for server in ran.json] == ["hand"]
    ran = cli("servers", "list", env={"MANYHANDS_URL": url})
    assert ran.code == 1
    assert "MANYHANDS_TOKEN" in ran.err or "token" in ran.err


def test_a_named_daemon_that_is_not_there_is_an_error_and_nothing_stands_in_for_it(cli: CommandLine) -> None:
    ran = cli("servers", "list", env={"MANYHANDS_URL": "http://127.0.0.1:1"})
    assert ran.code == 1
    assert "MANYHANDS_URL" in ran.err
    assert not cli.home.exists()


def test_a_killed_daemon_is_no_daemon(cli: CommandLine) -> None:
    cli.ok("up", "--detach", "--port", "0")
    pid = cli.ok("status", "--json").json["pid"]
    os.kill(pid, signal.SIGKILL)
    assert cli("status").code == 1
    assert cli.ok("servers", "list", "--json").json == []


def test_without_a_daemon_another_command_on_the_same_home_is_waited_for(cli: CommandLine) -> None:
    import subprocess

    cli.ok("servers", "add", "hand", "--", *HAND)
    both = [
        subprocess.Popen(
            cli.argv("tools", "call", "mcp__hand__echo", '{"text": "x"}'),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=cli.environment,
        )
        for _ in range(2)
    ]
    assert [process.communicate(timeout=120)[0] for process in both] == ["x\n", "x\n"]


def test_the_address_of_the_ready_line_signs_a_browser_in(cli: CommandLine) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with running_daemon(cli) as address, browser.open(address, timeout=30) as answer:
        assert answer.status == 200
        assert "token" not in answer.url


def test_home_may_stand_before_or_after_the_command(served: CommandLine, tmp_path: Path) -> None:
    elsewhere = CommandLine(tmp_path / "elsewhere")
    before = elsewhere.ok("--home", str(served.home), "servers", "list", "--json").json
    after = elsewhere.ok("servers", "list", "--json", "--home", str(served.home)).json
    assert [server["name"] for server in before] == [server["name"] for server in after] == ["hand"]
    assert json.dumps(before)

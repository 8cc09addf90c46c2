"""The log is structured, rotated, private and free of secrets."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest

from manyhands import logs
from manyhands.errors import InvalidError
from manyhands.secrets import MASK, Redactor

log = logging.getLogger("manyhands.test")


def lines(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (directory / logs.FILE_NAME).read_text().splitlines()]


def test_a_line_is_a_json_object_with_the_extra_fields(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, Redactor()):
        log.info("server %s\nconnected", "time", extra={"server_id": 3, "path": tmp_path})
    [line] = lines(tmp_path)
    assert (line["level"], line["logger"], line["message"]) == (
        "info",
        "manyhands.test",
        "server time\nconnected",
    )
    assert (line["server_id"], line["path"]) == (3, str(tmp_path))
    assert str(line["at"]).endswith("Z")


def test_an_exception_is_in_the_file_whole_and_on_the_console_in_short(tmp_path: Path) -> None:
    console = io.StringIO()
    with logs.logging_to(tmp_path, Redactor(), console=console):
        try:
            raise ValueError("a bad thing")
        except ValueError:
            log.exception("it failed")
    [line] = lines(tmp_path)
    assert "Traceback" in str(line["exception"])
    assert console.getvalue().rstrip().endswith("error: it failed (ValueError: a bad thing)")


@pytest.mark.requirement("L28")
def test_a_secret_reaches_neither_the_file_nor_the_console(tmp_path: Path) -> None:
    redactor, console = Redactor(), io.StringIO()
    redactor.register("hunter2-hunter2")
    with logs.logging_to(tmp_path, redactor, console=console):
        log.warning("opened /?token=%s", "hunter2-hunter2", extra={"header": {"x": "hunter2-hunter2"}})
        try:
            raise ValueError("hunter2-hunter2")
        except ValueError:
            log.exception("it failed")
    written = (tmp_path / logs.FILE_NAME).read_text() + console.getvalue()
    assert "hunter2" not in written
    assert written.count(MASK) >= 4


def test_the_level_holds_for_us_and_others_are_heard_from_warnings_on(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, Redactor(), level="error"):
        log.warning("quiet")
        log.error("loud")
        logging.getLogger("somebody.else").info("chatter")
        logging.getLogger("somebody.else").warning("trouble")
    assert [line["message"] for line in lines(tmp_path)] == ["loud", "trouble"]


def test_an_unknown_level_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidError, match=r"'loud'.*debug, info, warning, error"):
        logs.check_level("loud")


def test_files_are_rotated_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES", 2000)
    with logs.logging_to(tmp_path, Redactor()):
        for number in range(200):
            log.info("line %d", number)
    found = sorted(tmp_path.iterdir())
    assert len(found) == 1 + logs.FILES_KEPT
    assert all(path.stat().st_mode & 0o077 == 0 for path in found)
    assert logs.log_size(tmp_path) <= 2000 * len(found)


def test_a_full_disk_loses_log_lines_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / logs.FILE_NAME).symlink_to("/dev/full")
    with logs.logging_to(tmp_path, Redactor()):
        log.info("this cannot be written")
    assert capsys.readouterr().err == ""


def test_logging_is_as_before_when_it_ends(tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers), logging.getLogger().level
    with logs.logging_to(tmp_path, Redactor(), console=io.StringIO()):
        pass
    assert (list(logging.getLogger().handlers), logging.getLogger().level) == before

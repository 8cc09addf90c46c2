from __future__ import annotations

import errno
import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from manyhands.errors import InvalidError, UnavailableError
from manyhands.secrets.encrypted_file import KEY_VARIABLE, EncryptedFile, Values


def file_in(directory: Path, **env: str) -> EncryptedFile:
    return EncryptedFile(directory / "secrets.enc", directory / "secrets.key", env)


def put(file: EncryptedFile, name: str, value: str) -> None:
    def change(values: Values) -> None:
        values[name] = value

    file.update(change)


WRITE_MANY = """
import sys
from pathlib import Path
from manyhands.secrets.encrypted_file import EncryptedFile

directory, prefix = Path(sys.argv[1]), sys.argv[2]
for number in range(10):
    file = EncryptedFile(directory / "secrets.enc", directory / "secrets.key", {})
    file.update(lambda values: values.__setitem__(f"{prefix}-{number}", "value"))
"""


def test_without_a_file_there_are_no_secrets(tmp_path: Path) -> None:
    assert file_in(tmp_path / "not there").read() == {}


def test_values_are_read_back_by_another_process_of_the_same_home(tmp_path: Path) -> None:
    put(file_in(tmp_path), "name", "välue\n")
    assert file_in(tmp_path).read() == {"name": "välue\n"}


@pytest.mark.requirement("L28")
def test_neither_names_nor_values_are_legible_and_both_files_are_private(tmp_path: Path) -> None:
    put(file_in(tmp_path), "legible-name", "legible-value")
    content = (tmp_path / "secrets.enc").read_text()
    assert "legible" not in content
    for path in (tmp_path / "secrets.enc", tmp_path / "secrets.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_from_the_environment_leaves_no_key_file(tmp_path: Path) -> None:
    env = {KEY_VARIABLE: "correct horse battery staple"}
    put(file_in(tmp_path, **env), "name", "value")
    assert file_in(tmp_path, **env).read() == {"name": "value"}
    assert not (tmp_path / "secrets.key").exists()


def test_secrets_written_with_the_key_file_move_to_the_key_of_the_environment(tmp_path: Path) -> None:
    put(file_in(tmp_path), "old", "1")
    env = {KEY_VARIABLE: "correct horse battery staple"}
    put(file_in(tmp_path, **env), "new", "2")
    (tmp_path / "secrets.key").unlink()
    assert file_in(tmp_path, **env).read() == {"old": "1", "new": "2"}


@pytest.mark.parametrize("passphrase", ["", "short", "another passphrase"])
def test_the_wrong_key_of_the_environment_is_refused_and_nothing_is_written(
    tmp_path: Path, passphrase: str
) -> None:
    put(file_in(tmp_path, **{KEY_VARIABLE: "correct horse battery staple"}), "name", "value")
    before = (tmp_path / "secrets.enc").read_bytes()
    with pytest.raises(InvalidError, match=KEY_VARIABLE):
        put(file_in(tmp_path, **{KEY_VARIABLE: passphrase}), "other", "value")
    assert (tmp_path / "secrets.enc").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"{}", b"[1]", b'{"format": "manyhands-secrets-1"}'])
def test_a_damaged_file_is_named_and_never_overwritten(tmp_path: Path, content: bytes) -> None:
    put(file_in(tmp_path), "name", "value")
    (tmp_path / "secrets.enc").write_bytes(content)
    with pytest.raises(InvalidError, match=r"secrets\.enc is damaged.*left as it is"):
        put(file_in(tmp_path), "other", "value")
    assert (tmp_path / "secrets.enc").read_bytes() == content


@pytest.mark.parametrize("part", ["data", "salt"])
def test_a_changed_byte_is_noticed(tmp_path: Path, part: str) -> None:
    put(file_in(tmp_path, **{KEY_VARIABLE: "correct horse battery staple"}), "name", "value")
    path = tmp_path / "secrets.enc"
    envelope = json.loads(path.read_text())
    envelope[part] = envelope[part][:4] + ("A" if envelope[part][4] != "A" else "B") + envelope[part][5:]
    path.write_text(json.dumps(envelope))
    with pytest.raises(InvalidError, match="cannot be decrypted"):
        file_in(tmp_path, **{KEY_VARIABLE: "correct horse battery staple"}).read()


def test_a_lost_key_is_not_replaced_by_a_new_one(tmp_path: Path) -> None:
    put(file_in(tmp_path), "name", "value")
    (tmp_path / "secrets.key").unlink()
    with pytest.raises(InvalidError, match=r"secrets\.key is missing"):
        put(file_in(tmp_path), "other", "value")
    assert not (tmp_path / "secrets.key").exists()


def test_a_key_file_without_a_key_is_named(tmp_path: Path) -> None:
    put(file_in(tmp_path), "name", "value")
    (tmp_path / "secrets.key").write_text("nonsense")
    with pytest.raises(InvalidError, match=r"secrets\.key does not hold a key"):
        file_in(tmp_path).read()


def test_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: put(file_in(tmp_path), f"name-{number}", "value"), range(24)))
    assert len(file_in(tmp_path).read()) == 24


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITE_MANY, str(tmp_path), f"p{number}"])
        for number in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(file_in(tmp_path).read()) == 30


def test_an_unchanged_value_is_not_written_again(tmp_path: Path) -> None:
    put(file_in(tmp_path), "name", "value")
    before = (tmp_path / "secrets.enc").read_bytes()
    put(file_in(tmp_path), "name", "value")
    assert (tmp_path / "secrets.enc").read_bytes() == before


@pytest.mark.parametrize("step", ["manyhands.system.HomeLock.announce", "os.fsync"])
@pytest.mark.parametrize("first", [True, False])
def test_a_full_disk_is_told_with_what_to_do_and_the_old_value_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, first: bool
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if not first:
        put(file_in(tmp_path), "name", "old")
    monkeypatch.setattr(step, full)
    with pytest.raises(UnavailableError, match="Free some disk space; nothing stored is lost") as caught:
        put(file_in(tmp_path), "name", "new")
    assert caught.value.message.startswith(f"{tmp_path / 'secrets.enc'} cannot be written")
    monkeypatch.undo()
    assert file_in(tmp_path).read() == ({} if first else {"name": "old"})
    put(file_in(tmp_path), "name", "new")
    assert file_in(tmp_path).read() == {"name": "new"}

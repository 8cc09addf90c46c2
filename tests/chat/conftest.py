"""What tests of conversations share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with one file."""
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "notes.txt").write_text("remember the milk")
    return directory

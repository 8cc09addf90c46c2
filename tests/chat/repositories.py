"""Real git repositories for tests, made by the git of this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_WHO = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
}


class Repository:
    """A directory with a repository; every call is one command of git."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *arguments: str) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**environment, **_WHO},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def commit(self, name: str, content: str, message: str = "more") -> str:
        """Write a file and commit it; the commit's id."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self("add", "--", name)
        self("commit", "--quiet", "-m", message)
        return self("rev-parse", "HEAD")

    def branches(self) -> set[str]:
        return set(self("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines())


def make_repository(path: Path) -> Repository:
    """A repository with one commit on `main`."""
    path.mkdir(parents=True)
    repository = Repository(path)
    repository("init", "--quiet", "--initial-branch=main")
    repository.commit("readme.txt", "hello\n", "the first")
    return repository

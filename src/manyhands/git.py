"""Git, as its command line: bounded in time and output, deaf to the environment and to what a project could
make it run.

`.git` of a worktree and what is in it can be rewritten by whoever works there. So a `Checkout` of one names
the repository's directories itself, as they were when it was made, and never asks the worktree for them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from manyhands.command_process import run_command_process
from manyhands.errors import InvalidError, UnavailableError
from manyhands.system import child_environment

QUICK_S = 30.0
LONG_S = 300.0
MOST_BYTES = 16 * 1024 * 1024
_TAIL = 600

# Programs that a repository's own configuration can name.
_INERT = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.pager=cat"),
    *("-c", "core.quotePath=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "advice.detachedHead=false"),
)
NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")


class GitError(UnavailableError):
    """Git refused or failed; `said` is what it wrote."""

    def __init__(self, message: str, said: str = "", exit_code: int | None = None) -> None:
        super().__init__(message, hint="See what git says about it, and try again.")
        self.said = said
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Output:
    """What a command wrote. `cut`: there was more."""

    exit_code: int
    data: bytes
    cut: bool = False

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def items(self) -> list[str]:
        """What `-z` separates."""
        return [os.fsdecode(item) for item in self.data.split(b"\0") if item]


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where git works. Without `git_dir` it finds the repository by itself."""

    directory: str
    git_dir: str | None = None
    common_dir: str | None = None
    work_tree: str | None = None
    index: str | None = None
    hooks: bool = False
    config: tuple[str, ...] = ()

    async def quiet(self) -> Checkout:
        """The same without the filters that the repository itself configures: they are programs, too."""
        pattern = r"^filter\..*\.(clean|smudge|process)$"
        found = await self.run(
            *("config", "--show-scope", "--null", "--name-only", "--get-regexp", pattern), accepts=(0, 1)
        )
        words = iter(found.items)
        names = [name for scope, name in zip(words, words, strict=False) if scope in ("local", "worktree")]
        off = [setting for name in names for setting in ("-c", f"{name}=")]
        needless = {f"{name.rpartition('.')[0]}.required=false" for name in names}
        return replace(self, config=(*off, *(word for one in sorted(needless) for word in ("-c", one))))

    async def run(
        self,
        *arguments: str,
        accepts: Sequence[int] = (0,),
        timeout_s: float = QUICK_S,
        limit: int = MOST_BYTES,
    ) -> Output:
        """One command of git; an exit code that is not accepted is an error with what git said."""
        kept, errors = _Kept(limit), _Kept(64 * 1024)
        inert = (*_INERT, *self.config, *(() if self.hooks else NO_HOOKS))
        try:
            ended = await run_command_process(
                ["git", *inert, *arguments],
                environment=self._environment(),
                directory=self.directory,
                timeout_s=timeout_s,
                feed=kept.feed,
                feed_errors=errors.feed,
            )
        except FileNotFoundError:
            if not is_directory(self.directory):
                raise InvalidError(
                    f"The directory {self.directory} does not exist.", hint="Choose another one."
                ) from None
            raise UnavailableError("git is not installed.", hint="Install git and try again.") from None
        except (OSError, ValueError) as error:
            raise InvalidError(f"git cannot be started: {error}.", hint="Check the names given.") from None
        if ended.exit_code is None:
            raise GitError(f"git {arguments[0]} did not end within {timeout_s:g} s.")
        if ended.exit_code not in accepts:
            said = bytes(errors.data).decode(errors="replace").strip()
            raise GitError(
                f"git {arguments[0]} failed: {said[-_TAIL:] or 'it says nothing'}", said, ended.exit_code
            )
        return Output(ended.exit_code, bytes(kept.data), kept.cut)

    def _environment(self) -> dict[str, str]:
        places = {
            "GIT_DIR": self.git_dir,
            "GIT_COMMON_DIR": self.common_dir,
            "GIT_WORK_TREE": self.work_tree,
            "GIT_INDEX_FILE": self.index,
        }
        ours = {
            "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS": "true",
        }
        return child_environment(ours | {name: value for name, value in places.items() if value})


def is_directory(path: str) -> bool:
    """One look at the disk: not worth a thread."""
    return os.path.isdir(path)


class _Kept:
    """The first bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.cut = False
        self._limit = limit

    def feed(self, data: bytes) -> None:
        room = self._limit - len(self.data)
        self.data += data[:room]
        self.cut = self.cut or len(data) > room

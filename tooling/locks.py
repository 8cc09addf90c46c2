"""Computing the lock files anew, for every platform and Python that is supported."""

from pathlib import Path

from tooling.packages import npm, uv_pip
from tooling.places import LOCKS, NODE, ROOT, WEB


def compute_locks(*arguments: str) -> None:
    """Without a word of where the packages came from."""
    compile_lock("run", ROOT / "pyproject.toml", LOCKS / "run.in", *arguments)
    compile_lock("dev", LOCKS / "dev.in", *arguments)
    options = ("--package-lock-only", "--omit-lockfile-registry-resolved")
    for place in (NODE, WEB):
        if "--upgrade" in arguments:
            (place / "package-lock.json").unlink(missing_ok=True)
        title = f"locking {(place / 'package-lock.json').relative_to(ROOT)}"
        npm(place, title, "install", *options)


def compile_lock(name: str, *arguments: str | Path) -> None:
    scope = ("--universal", "--python-version", "3.11", "--generate-hashes")
    silence = ("--no-emit-index-url", "--no-annotate", "--no-header", "--override", LOCKS / "overrides.txt")
    output = f"--output-file={LOCKS / name}.txt"
    uv_pip(f"locking {name}.txt", "compile", *scope, *silence, output, *arguments)

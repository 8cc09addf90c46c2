"""The entry point `manyhands`: answers `--version` at once and leaves the rest to the commands.

Kept light on purpose: nothing but the standard library's smallest parts is imported here.
"""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the answer is the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in (["--version"], ["-V"]):
        from manyhands import __version__

        print(f"manyhands {__version__}")
        return 0
    if given[:1] == ["mcp"]:
        _bridge(given[1:])
    from manyhands.cli.root import run

    return run(given)


def _bridge(options: list[str]) -> None:
    """Run the bridge, which imports next to nothing; what it cannot read is left to the commands."""
    from manyhands import __version__
    from manyhands.bridge.main import main
    from manyhands.bridge.options import UsageError

    try:
        main(options, __version__)
    except UsageError:
        return


if __name__ == "__main__":
    sys.exit(main())

"""Makes the pictures of the README: `python -m tests.pictures` runs the commands and draws what they showed.

Nothing in a picture is invented: each line comes out of a terminal in which the command ran.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.cli.conftest import CommandLine, running_daemon
from tests.cli.pseudo_terminal import terminal

PICTURE = Path(__file__).parents[1] / "docs" / "img" / "terminal.svg"
COMMANDS = (
    "manyhands servers add time --trust trusted -- uvx mcp-server-time",
    "manyhands tools list",
    """manyhands tools call mcp__time__get_current_time '{"timezone":"Asia/Tokyo"}'""",
)
COLUMNS = 96
CHARACTER, LINE, MARGIN = 8.4, 20, 18

_ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")
_STYLES = {
    "1": "font-weight:bold",
    "2": "fill:#8b949e",
    "31": "fill:#ff7b72",
    "32": "fill:#3fb950",
    "33": "fill:#d29922",
    "36": "fill:#39c5cf",
}


@dataclass(frozen=True)
class Piece:
    """Some text in one style."""

    text: str
    style: str = ""


def main() -> int:
    """Run the commands and write the picture."""
    lines: list[Sequence[Piece]] = []
    with tempfile.TemporaryDirectory() as home:
        cli = CommandLine(Path(home))
        with running_daemon(cli):
            for command in COMMANDS:
                lines += [
                    [Piece("$ ", _STYLES["32"]), Piece(command, _STYLES["1"])],
                    *_shown(cli, command),
                    [],
                ]
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(lines[:-1]), encoding="utf-8")
    return 0


def _shown(cli: CommandLine, command: str) -> Iterator[Sequence[Piece]]:
    with terminal(cli.argv(*shlex.split(command)[1:]), cli.environment, COLUMNS) as opened:
        if opened.end():
            raise SystemExit(f"{command} failed: {opened.text}")
        text = opened.seen.replace("\r\n", "\n").rstrip("\n")
    return (read_line(line) for line in text.split("\n"))


def read_line(line: str) -> Sequence[Piece]:
    """The pieces of a line; what was drawn and wiped away again (progress) is gone."""
    pieces, style, position = list[Piece](), "", 0
    line = line.rpartition("\r")[2]
    for found in _ESCAPE.finditer(line):
        pieces.append(Piece(line[position : found.start()], style))
        position = found.end()
        if found[2] == "m":
            style = ";".join(_STYLES.get(code, "") for code in found[1].split(";")).strip(";")
    pieces.append(Piece(line[position:], style))
    return [piece for piece in pieces if piece.text]


def draw(lines: Sequence[Sequence[Piece]]) -> str:
    """The lines as a picture that needs nothing from elsewhere."""
    width = round(COLUMNS * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    rows = [
        f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 14}">{"".join(map(_span, line))}</text>'
        for number, line in enumerate(lines)
        if line
    ]
    size = f'width="{width}" height="{height}"'
    font = "14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
            f"<style>text{{font:{font};fill:#e6edf3}}</style>",
            f'<rect {size} rx="8" fill="#0d1117"/>',
            '<g xml:space="preserve">',
            *rows,
            "</g>",
            "</svg>\n",
        ]
    )


def _span(piece: Piece) -> str:
    text = escape(piece.text, quote=False)
    return f'<tspan style="{piece.style}">{text}</tspan>' if piece.style else f"<tspan>{text}</tspan>"


if __name__ == "__main__":
    sys.exit(main())

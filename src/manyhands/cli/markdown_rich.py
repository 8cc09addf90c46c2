"""Rich's side of `manyhands.cli.markdown`: how the parts of an answer look."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token
    from rich.color import ColorSystem
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown
    from rich.segment import Segment

LOOKS = {
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.h4": "bold dim",
    "markdown.code": "cyan",
    "markdown.item.number": "cyan",
    "markdown.item.bullet": "cyan",
    "markdown.link_url": "dim underline",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
}


@cache
def answer_kind() -> type[Markdown]:
    """Rich's Markdown with headings beside their text, and code without a box: what is copied is the code."""
    from rich.markdown import CodeBlock, Heading, Markdown
    from rich.syntax import Syntax

    class LeftHeading(Heading):
        LEVEL_ALIGN = {}  # noqa: RUF012 (as rich has it)

    class PlainCode(CodeBlock):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            code = str(self.text).rstrip()
            yield Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True, padding=(0, 2))

    class Answer(Markdown):
        elements = {  # noqa: RUF012 (as rich has it)
            **Markdown.elements,
            "heading_open": LeftHeading,
            "fence": PlainCode,
            "code_block": PlainCode,
        }

    return Answer


def set_tokens(text: str, tokens: list[Token], width: int, *, colour: bool) -> list[str]:
    """The rows, no wider than `width`."""
    from rich.color import ColorSystem

    answer = answer_kind()("", hyperlinks=False)
    answer.markup, answer.parsed = text, tokens
    console = _console(width, colour=colour)
    lines = console.render_lines(answer, console.options, pad=False)
    system = ColorSystem.STANDARD if colour else None
    rows = ["".join(_styled(_trimmed(line), system)) for line in lines]
    while rows and not rows[-1].strip():
        rows.pop()
    while rows and not rows[0].strip():
        rows.pop(0)
    return rows


def _console(width: int, *, colour: bool) -> Console:
    from rich.console import Console
    from rich.theme import Theme

    return Console(
        file=io.StringIO(),
        width=width,
        theme=Theme(LOOKS),
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )


def _trimmed(line: Sequence[Segment]) -> list[Segment]:
    """Without the blanks at its end."""
    from rich.segment import Segment

    kept = [segment for segment in line if not segment.control]
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept


def _styled(line: Iterable[Segment], system: ColorSystem | None) -> Iterable[str]:
    for text, style, _ in line:
        yield text if style is None else style.render(text, color_system=system)

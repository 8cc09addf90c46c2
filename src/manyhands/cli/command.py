"""What all commands share: `--home`, `--json`, examples in the help, groups that import commands late."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from manyhands.cli.session import Session

Function = TypeVar("Function", bound=Callable[..., Any])

pass_session = click.make_pass_decorator(Session)


def _choose_home(context: click.Context, _: click.Parameter, value: str | None) -> None:
    session = context.find_object(Session)
    if session is not None and value:
        session.home_option = value


def home_option() -> click.Option:
    return click.Option(
        ["--home"],
        metavar="DIR",
        type=click.Path(file_okay=False),
        expose_value=False,
        is_eager=True,
        callback=_choose_home,
        help="The home directory (MANYHANDS_HOME, else ~/.manyhands).",
    )


class HubCommand(click.Command):
    """A command with `--home` and with examples in its help."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.params.append(home_option())

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Verbatim: an example that is wrapped cannot be copied."""
    if not examples:
        return
    formatter.write_paragraph()
    formatter.write("Example:\n" if len(examples) == 1 else "Examples:\n")
    for example in examples:
        formatter.write(f"  {example}\n")


class HubGroup(click.Group):
    """A group of commands. `later`: those that other modules hold, as name -> (`module:attribute`, help)."""

    command_class = HubCommand

    def __init__(
        self,
        *args: Any,
        later: Mapping[str, tuple[str, str]] | None = None,
        order: str = "",
        examples: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.later = dict(later or {})
        self.order = order.split()
        self.examples = examples

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self.order or [*self.later, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.later:
            return load(self.later[cmd_name][0])
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if (
            self.get_command(ctx, args[0]) is None
            and not args[0].startswith("-")
            and not ctx.resilient_parsing
        ):
            raise click.NoSuchCommand(args[0], possibilities=self.list_commands(ctx), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self._short_help(name, formatter.width)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _short_help(self, name: str, width: int) -> str:
        return self.later[name][1] if name in self.later else self.commands[name].get_short_help_str(width)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)


def load(place: str) -> click.Command:
    """The command at `module:attribute`."""
    module, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, click.Command)
    return found


def json_option(function: Function) -> Function:
    """`--json` for machines."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def wide_option(function: Function) -> Function:
    """`--wide` for people with patience."""
    return click.option("--wide", is_flag=True, help="Do not cut to the width of the terminal.")(function)

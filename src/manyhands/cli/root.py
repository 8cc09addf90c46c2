"""The top of the command tree, and the border where an error becomes an exit code and one line."""

from __future__ import annotations

import errno
import io
import os
import sys

import click

from manyhands.cli.command import HubCommand, HubGroup, home_option
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, many_lines, one_line
from manyhands.errors import ManyhandsError

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
COMPLETE_VARIABLE = "_MANYHANDS_COMPLETE"
DEBUG_VARIABLE = "MANYHANDS_DEBUG"

COMMANDS = {
    "up": ("manyhands.cli.daemon:up", "Start the daemon."),
    "down": ("manyhands.cli.daemon:down", "End the daemon."),
    "status": ("manyhands.cli.daemon:status", "Show what runs and what it holds."),
    "mcp": ("manyhands.cli.mcp:mcp", "The MCP server for agents, on stdio."),
    "run": ("manyhands.cli.run:run", "Work on one prompt to its end."),
    "chat": ("manyhands.cli.chat:chat", "Talk in the terminal."),
    "runs": ("manyhands.cli.runs:runs", "What was worked on: look, replay, compare."),
    "servers": ("manyhands.cli.servers:servers", "MCP servers: add, connect, test, sign in."),
    "tools": ("manyhands.cli.tools:tools", "The servers' tools and our own: list, call, allow."),
    "models": ("manyhands.cli.models:models", "Language models: list, add, choose, test."),
    "approvals": ("manyhands.cli.approvals:approvals", "What waits for your answer."),
    "channels": ("manyhands.cli.channels:channels", "Conversations and the directories they work in."),
    "threads": ("manyhands.cli.threads:threads", "Further conversations, some with a git worktree."),
    "quality": ("manyhands.cli.quality:quality", "How healthy code is: scan, look, gate."),
    "tasks": ("manyhands.cli.tasks:tasks", "Schedules: work done later, or again and again."),
    "memory": ("manyhands.cli.memory:memory", "Notes of a project: search by words and meaning."),
    "workflows": (
        "manyhands.cli.workflows:workflows",
        "Several steps that survive anything: save, run, answer.",
    ),
    "settings": ("manyhands.cli.settings:settings", "Read and change settings."),
    "backup": ("manyhands.cli.backup:backup", "Save everything to one file."),
    "restore": ("manyhands.cli.backup:restore", "Bring a saved file back."),
    "doctor": ("manyhands.cli.doctor:doctor", "Check the installation and every server."),
    "completion": ("manyhands.cli.completion:completion", "Print the completion script of a shell."),
}

EXAMPLES = [
    "manyhands up --detach",
    "manyhands servers add time --trust trusted -- uvx mcp-server-time",
    "manyhands tools list",
    """manyhands tools call mcp__time__get_current_time '{"timezone":"Asia/Tokyo"}'""",
]


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from manyhands import __version__

        click.echo(f"manyhands {__version__}")
        context.exit()


cli = HubGroup(
    "manyhands",
    help="A hub for MCP servers: connect them, see them, keep them safe and alive, use their tools.",
    later=COMMANDS,
    examples=EXAMPLES,
    params=[
        home_option(),
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version and exit.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
cli.command_class = HubCommand


def run(arguments: list[str]) -> int:
    """Run one command and answer with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no letter that a terminal cannot show ends a command
            stream.reconfigure(errors="replace")
    session = Session()
    try:
        answer = _answer(arguments, session)
        sys.stdout.flush()
        return answer
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    finally:
        _close(session)


def _close(session: Session) -> None:
    try:
        session.close()
    except KeyboardInterrupt:
        # A second Ctrl-C does not wait for servers that end slowly; the guardian kills them.
        os._exit(INTERRUPTED)


def _answer(arguments: list[str], session: Session) -> int:
    """The one place where an error becomes an exit code and a line."""
    try:
        return _invoke(arguments, session)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return WRONG_USAGE
    except click.UsageError as error:
        return _report(_usage(error), WRONG_USAGE)
    except click.ClickException as error:
        return _report(error.format_message(), FAILED)
    except ManyhandsError as error:
        return _report(str(error), FAILED)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        return _report(_system_error(error), FAILED)
    except Exception as error:  # border: a mistake of ours is one line, too
        if os.environ.get(DEBUG_VARIABLE):
            raise
        said = f"{type(error).__name__}: {error}"
        return _report(f"{said}. This was not foreseen; {DEBUG_VARIABLE}=1 shows where it happened.", FAILED)


def _invoke(arguments: list[str], session: Session) -> int:
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {"obj": session}, "manyhands", COMPLETE_VARIABLE, instruction)
    try:
        with cli.make_context("manyhands", list(arguments), obj=session) as context:
            answer = cli.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code
    return answer if isinstance(answer, int) else 0


def _usage(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "manyhands"
    message = " ".join(error.format_message().split())
    message += "" if message.endswith((".", "?")) else "."
    if isinstance(error, click.NoSuchOption) and command.endswith((" add", " test", " edit")):
        return f"{message} What belongs to the server's command goes after `--`; see `{command} --help`."
    return f"{message} See `{command} --help`."


def _system_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    hint = "Check that the file exists and that you may use it."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "Free some disk space; nothing stored is lost."
    return f"{where}{error.strerror or error}. {hint}"


def _report(message: str, code: int) -> int:
    from manyhands.cli.output import report

    sys.stdout.flush()
    shown = many_lines if is_terminal(sys.stderr) else one_line
    report("error:", shown(message), "red", "bold")
    return code

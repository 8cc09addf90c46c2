"""`manyhands threads`: further conversations of a channel, some of them with a git worktree of their own."""

from __future__ import annotations

import re

import click

from manyhands.cli.channels import find_channel
from manyhands.cli.client import Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.output import Column, dim_style, done, human_size, print_json, print_table, say
from manyhands.cli.session import Session
from manyhands.cli.terminal import one_line

threads = HubGroup(
    "threads",
    help="Further conversations of a channel, some with a git worktree of their own.",
    examples=["manyhands threads create . review", "manyhands threads worktree . --branch main --name fix"],
)
THREADS = (Column("ID", style=dim_style), Column("NAME"), Column("OF", style=dim_style), Column("BRANCH"))
TREES = (
    Column("ID", style=dim_style),
    Column("THREAD"),
    Column("STATE"),
    Column("BRANCH"),
    Column("BASE"),
    Column("SIZE"),
    Column("PATH", flexible=True),
)
_CONTROL = re.compile(r"[^\t\n\x20-\x7e\x85\xa0-\U0010ffff]")
PATIENCE_S = 400.0
"""To check out a large repository takes its time."""
_force = click.option("--force", is_flag=True, help="Delete it even if that loses work.")
_message = click.option("--message", metavar="TEXT", help="What an agent starts to work on at once.")


@threads.command("list", examples=["manyhands threads list", "manyhands threads list ."])
@click.argument("channel", required=False)
@json_option
@wide_option
@pass_session
def list_threads(session: Session, channel: str | None, as_json: bool, wide: bool) -> None:
    """All threads, or those of a channel (id, name or directory)."""
    parent = find_channel(session.api, channel)["id"] if channel else None
    found = [one for one in pages(session.api, "/channels") if one.get("parent_id")]
    found = [one for one in found if parent is None or one["parent_id"] == parent]
    if as_json:
        print_json(found)
    elif not found:
        say("No threads yet. Make one: manyhands threads create CHANNEL NAME")
    else:
        rows = [(one["id"], one["name"], one["parent_id"], one.get("branch") or "") for one in found]
        print_table(THREADS, rows, wide=wide)


@threads.command("create", examples=["manyhands threads create . review --message 'Review the last commit'"])
@click.argument("channel")
@click.argument("name")
@_message
@json_option
@pass_session
def create_thread(session: Session, channel: str, name: str, message: str | None, as_json: bool) -> None:
    """Make a thread of a channel; with a message an agent starts in it at once."""
    parent = find_channel(session.api, channel, make=True)
    body = {"channel_id": parent["id"], "name": name, "message": message}
    wanted = {field: value for field, value in body.items() if value is not None}
    _made(session.api.request("POST", "/threads", wanted), as_json)


@threads.command("worktree", examples=["manyhands threads worktree . --branch main --name fix-login"])
@click.argument("channel")
@click.option("--branch", metavar="BRANCH", help="The branch to start from (the one that is checked out).")
@click.option("--name", metavar="NAME", help="What the thread, its directory and its new branch are called.")
@_message
@json_option
@pass_session
def create_worktree(
    session: Session, channel: str, branch: str | None, name: str | None, message: str | None, as_json: bool
) -> None:
    """Make a thread with a fresh git worktree, on a new branch."""
    parent = find_channel(session.api, channel, make=True)
    body = {"channel_id": parent["id"], "branch": branch, "name": name, "message": message}
    wanted = {field: value for field, value in body.items() if value is not None}
    _made(session.api.request("POST", "/worktrees", wanted, timeout=PATIENCE_S), as_json)


def _made(thread: Json, as_json: bool) -> None:
    if as_json:
        print_json(thread)
        return
    where = f": {thread['worktree']} on {thread['branch']}" if thread.get("worktree") else ""
    done(f"{thread['name']} ({thread['id']}){where}")


@threads.command(
    "delete", examples=["manyhands threads delete review", "manyhands threads delete fix --force"]
)
@click.argument("thread")
@_force
@pass_session
def delete_thread(session: Session, thread: str, force: bool) -> None:
    """Delete a thread with its worktree; one with unmerged or uncommitted work is kept."""
    known = [one for one in pages(session.api, "/worktrees") if one["id"] == thread]
    route, found = "/worktrees", known[0] if known else {}
    if not known:
        route, found = "/threads", find_channel(session.api, thread)
    session.api.request("DELETE", f"{route}/{segment(found['id'])}", query={"force": str(force).lower()})
    done(f"{found.get('name') or found.get('thread') or found['id']} is deleted")


@threads.command("worktrees", examples=["manyhands threads worktrees"])
@json_option
@wide_option
@pass_session
def list_worktrees(session: Session, as_json: bool, wide: bool) -> None:
    """All worktrees with their size and state."""
    found = pages(session.api, "/worktrees")
    if as_json:
        print_json(found)
    elif not found:
        say("No worktrees. Make one: manyhands threads worktree CHANNEL --branch BRANCH")
    else:
        print_table(TREES, [_row(tree) for tree in found], wide=wide)


def _row(tree: Json) -> tuple[str, ...]:
    shown = (tree["id"], tree.get("thread") or "(gone)", tree["state"], tree["branch"], tree["base"])
    return (*shown, human_size(tree["size"]), tree["path"])


@threads.command("diff", examples=["manyhands threads diff ch_01jc…"])
@click.argument("worktree")
@json_option
@pass_session
def diff_worktree(session: Session, worktree: str, as_json: bool) -> None:
    """What differs between a worktree and its base; WORKTREE is its thread's id or name."""
    thread = find_channel(session.api, worktree)
    found = session.api.request("GET", f"/worktrees/{segment(thread['id'])}/diff")
    if as_json:
        print_json(found)
        return
    for file in found["files"]:
        say(f"{file['status']} {one_line(file['path'])} +{file['additions']} -{file['deletions']}")
    for file in found["files"]:
        # What a file holds is not for the terminal to obey.
        click.echo(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", file["diff"]), nl=False)
    if not found["files"]:
        say(f"Nothing differs from {found['base']}.")


@threads.command("clean", examples=["manyhands threads clean", "manyhands threads clean --unchanged"])
@click.option("--unchanged", is_flag=True, help="Also worktrees that nothing was done in.")
@json_option
@pass_session
def clean_worktrees(session: Session, unchanged: bool, as_json: bool) -> None:
    """Remove the worktrees whose work is merged; their conversations stay."""
    result = session.api.request("POST", "/worktrees/clean", {"unchanged": unchanged})
    if as_json:
        print_json(result)
        return
    for tree in result["removed"]:
        say(f"removed {tree['branch']} ({tree['path']})")
    kept = len(result["kept"])
    done(f"{len(result['removed'])} removed, {kept} kept, {human_size(result['freed'])} free again")

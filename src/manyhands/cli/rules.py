"""`manyhands tools rules`: what a person has allowed, wants to be asked about, or denies."""

from __future__ import annotations

import click

from manyhands.cli.client import Api, Json, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.json_input import read_object
from manyhands.cli.output import Column, dim_style, done, print_json, print_table, say, shown_id, state_style
from manyhands.cli.session import Session
from manyhands.errors import NotFoundError

rules = HubGroup(
    "rules",
    help="What is allowed, asked or denied. A deny wins over everything.",
    examples=["manyhands tools rules add allow --server time", "manyhands tools rules list"],
)
TABLE = (
    Column("ID", style=dim_style),
    Column("EFFECT", style=state_style),
    Column("SERVER"),
    Column("TOOL"),
    Column("WHEN", flexible=True),
    Column("NOTE", flexible=True, style=dim_style),
)


@rules.command("list", examples=["manyhands tools rules list"])
@json_option
@wide_option
@pass_session
def list_rules(session: Session, as_json: bool, wide: bool) -> None:
    """Every rule, with its scope."""
    found = session.api.request("GET", "/rules")["items"]
    if as_json:
        print_json(found)
    elif not found:
        say("No rules: the trust of each server decides.")
    else:
        print_table(TABLE, [_row(rule, wide=wide) for rule in found], wide=wide)


def _row(rule: Json, *, wide: bool) -> tuple[str, ...]:
    when = [_arguments(rule)] if rule.get("arguments") else []
    when += [f"channel {rule['channel_id']}"] if rule.get("channel_id") else []
    when += ["this session"] if rule.get("session_id") else []
    return (
        shown_id(rule["id"], wide=wide),
        rule["effect"],
        rule.get("server") or "*",
        rule.get("tool") or "*",
        ", ".join(when),
        rule.get("note") or "",
    )


def _arguments(rule: Json) -> str:
    import json

    return json.dumps(rule["arguments"], ensure_ascii=False)


@rules.command(
    "add",
    examples=[
        "manyhands tools rules add allow --server time",
        "manyhands tools rules add deny --tool 'delete_*'",
        """manyhands tools rules add allow --tool write_file --arguments '{"path":"notes/*"}'""",
    ],
)
@click.argument("effect", type=click.Choice(["allow", "ask", "deny"]))
@click.option("--server", metavar="NAME", help="Tools of this server (pattern; `native` for our own).")
@click.option("--tool", metavar="PATTERN", help="Tools with this name (pattern).")
@click.option("--arguments", metavar="JSON", help="Only when these arguments match (patterns).")
@click.option("--note", metavar="TEXT", help="Why.")
@json_option
@pass_session
def add_rule(
    session: Session,
    effect: str,
    server: str | None,
    tool: str | None,
    arguments: str | None,
    note: str | None,
    as_json: bool,
) -> None:
    """Make a rule for a server, a tool, or both; '*' stands for all of them."""
    body = {
        "effect": effect,
        "server": server,
        "tool": tool,
        "arguments": read_object(arguments) if arguments else None,
        "note": note,
    }
    rule = session.api.request(
        "POST", "/rules", {key: value for key, value in body.items() if value is not None}
    )
    if as_json:
        print_json(rule)
    else:
        when = f" when {_arguments(rule)}" if rule.get("arguments") else ""
        done(f"{rule['id']}: {effect} {rule.get('server') or '*'} {rule.get('tool') or '*'}{when}")


@rules.command("remove", examples=["manyhands tools rules remove rule_01jc…"])
@click.argument("rule_id")
@pass_session
def remove_rule(session: Session, rule_id: str) -> None:
    """Revoke a rule. RULE_ID may be the end of its id, as the list shows it."""
    full = _full_id(session.api, rule_id)
    session.api.request("DELETE", f"/rules/{segment(full)}")
    done(f"{full} is removed")


def _full_id(api: Api, wanted: str) -> str:
    if wanted.startswith("rule_"):
        return wanted
    ending = wanted.removeprefix("…")
    same = [str(rule["id"]) for rule in api.request("GET", "/rules")["items"] if rule["id"].endswith(ending)]
    if len(same) != 1:
        found = "Several rules have" if same else "No rule has"
        hint = "`manyhands tools rules list --wide` shows whole ids."
        raise NotFoundError(f"{found} an id that ends in {ending}.", hint=hint)
    return same[0]

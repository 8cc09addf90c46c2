"""`manyhands settings`: read and change them."""

from __future__ import annotations

import json
from typing import Any

import click

from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.completion import complete_setting
from manyhands.cli.output import Column, dim_style, done, print_json, print_table, say
from manyhands.cli.session import Session
from manyhands.errors import NotFoundError

settings = HubGroup(
    "settings",
    help="Settings that take effect while the hub runs.",
    examples=["manyhands settings get", "manyhands settings set searxng_url http://127.0.0.1:8888"],
)
TABLE = (Column("SETTING"), Column("VALUE", flexible=True), Column("MEANING", flexible=True, style=dim_style))


@settings.command("get", examples=["manyhands settings get", "manyhands settings get tool_namespace"])
@click.argument("name", required=False, shell_complete=complete_setting)
@json_option
@wide_option
@pass_session
def get_settings(session: Session, name: str | None, as_json: bool, wide: bool) -> None:
    """Every setting with its meaning, or the value of one."""
    values = session.api.request("GET", "/settings")
    if name is None and as_json:
        print_json(values)
    elif name is None:
        meanings = _meanings()
        print_table(
            TABLE, [(key, shown(value), meanings.get(key, "")) for key, value in values.items()], wide=wide
        )
    elif name not in values:
        raise NotFoundError(f"There is no setting {name!r}.", hint="`manyhands settings get` lists them all.")
    elif as_json:
        print_json({name: values[name]})
    else:
        say(shown(values[name]))


@settings.command(
    "set",
    examples=[
        "manyhands settings set result_limit_chars 50000",
        """manyhands settings set fetch_allow '["intranet.example"]'""",
        "manyhands settings set searxng_url null",
    ],
)
@click.argument("name", shell_complete=complete_setting)
@click.argument("value")
@json_option
@pass_session
def set_setting(session: Session, name: str, value: str, as_json: bool) -> None:
    """Change a setting. VALUE is JSON or plain text; `null` goes back to the default."""
    values = session.api.request("PATCH", "/settings", {name: parsed(value)})
    if as_json:
        print_json({name: values[name]})
    else:
        done(f"{name} = {shown(values[name])}")


def parsed(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown(value: Any) -> str:
    """Text as it is, the rest as JSON: what is shown can be given back to `set`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _meanings() -> dict[str, str]:
    from manyhands.settings import Settings

    return {name: field.description or "" for name, field in Settings.model_fields.items()}

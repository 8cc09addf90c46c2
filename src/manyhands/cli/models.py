"""`manyhands models`: which there are, which one is used, whether it answers."""

from __future__ import annotations

import sys
from typing import Any

import click

from manyhands.cli.client import Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.output import Column, dim_style, done, note, print_json, print_table
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal
from manyhands.errors import UnavailableError

TEST_TIMEOUT_S = 120
PROVIDERS = ("openai", "anthropic", "google", "ollama", "openai-compatible")

models = HubGroup(
    "models",
    help="Language models: those you saved, those that are there by themselves, and the demo.",
    examples=[
        "manyhands models list",
        "manyhands models add mine --provider anthropic --model claude-sonnet-5-5 --api-key -",
        "manyhands models test mine",
    ],
)
TABLE = (
    Column(""),
    Column("ID", flexible=True),
    Column("NAME", flexible=True),
    Column("PROVIDER"),
    Column("CONTEXT", right=True),
    Column("TOOLS"),
    Column("FOUND IN", style=dim_style),
)


@models.command("list", examples=["manyhands models list", "manyhands models list --again"])
@click.option("--again", is_flag=True, help="Look for model servers even if that was done just now.")
@json_option
@wide_option
@pass_session
def list_models(session: Session, again: bool, as_json: bool, wide: bool) -> None:
    """All models; the one with the star is used where you name none."""
    found = pages(session.api, "/models", query={"again": "true"} if again else {})
    if as_json:
        print_json(found)
        return
    print_table(TABLE, [_row(model) for model in found], wide=wide)
    if [model["id"] for model in found] == ["demo"]:
        note("Only the demo is here. Set a key such as OPENAI_API_KEY, start a model server, or add a model.")


def _row(model: Json) -> tuple[str, ...]:
    name = "" if model["name"] == model["id"] else model["name"]
    return (
        "*" if model["default"] else "",
        model["id"],
        name,
        model["provider"],
        f"{model['context']:,}",
        "yes" if model["tool_call"] else "no",
        model["source"],
    )


@models.command(
    "add",
    examples=[
        "manyhands models add mine --provider anthropic --model claude-sonnet-5-5 --api-key -",
        "manyhands models add here --provider openai-compatible --model qwen --base-url http://127.0.0.1:8000/v1",
        "manyhands models add gpt --provider openai --model gpt-6.1-sol --api-key '${OPENAI_API_KEY}'",
    ],
)
@click.argument("name")
@click.option("--provider", type=click.Choice(PROVIDERS), required=True, help="Whose API it speaks.")
@click.option("--model", metavar="MODEL", required=True, help="The provider's name for it.")
@click.option("--base-url", metavar="URL", help="Address of the API, where it is not the usual one.")
@click.option("--api-key", metavar="KEY", help="Its key, a reference such as ${VARIABLE}, or - to be asked.")
@click.option("--tool-call", type=click.Choice(["0", "1"]), help="Whether it can call tools.")
@click.option("--context", type=int, metavar="TOKENS", help="How much it takes at once.")
@click.option("--fallback", "fallbacks", multiple=True, metavar="ID", help="Asked when this one fails.")
@click.option("--default", is_flag=True, help="Use it where no model is named.")
@json_option
@pass_session
def add_model(session: Session, /, as_json: bool, default: bool, **fields: Any) -> None:
    """Save a model; a NAME that exists is replaced."""
    if fields["api_key"] == "-":
        fields["api_key"] = _read_key()
    body = {name: value for name, value in fields.items() if value not in (None, ())}
    if default:
        body["default"] = True
    model = session.api.request("POST", "/models", _numbers(body))
    if as_json:
        print_json(model)
    else:
        done(f"{model['name']} is saved{' and the default' if model['default'] else ''}")


def _numbers(body: dict[str, Any]) -> dict[str, Any]:
    changed = {"tool_call": int(body["tool_call"])} if "tool_call" in body else {}
    return body | changed | {"fallbacks": list(body.get("fallbacks", ()))}


def _read_key() -> str:
    """From a person without showing it, or from a pipe: a command line can be seen by others."""
    if is_terminal(sys.stdin):
        return str(click.prompt("API key", hide_input=True, err=True)).strip()
    return sys.stdin.readline().strip()


@models.command("set-default", examples=["manyhands models set-default openai:gpt-6.1-sol"])
@click.argument("model")
@json_option
@pass_session
def set_default(session: Session, model: str, as_json: bool) -> None:
    """Use MODEL (id or name) where no model is named."""
    changed = session.api.request("PATCH", f"/models/{segment(model)}", {"default": True})
    if as_json:
        print_json(changed)
    else:
        done(f"{changed['name']} is the default")


@models.command("remove", examples=["manyhands models remove mine"])
@click.argument("model")
@pass_session
def remove_model(session: Session, model: str) -> None:
    """Forget a saved model and its key."""
    session.api.request("DELETE", f"/models/{segment(model)}")
    done(f"{model} is removed")


@models.command("test", examples=["manyhands models test", "manyhands models test ollama:llama3.2"])
@click.argument("model", required=False)
@json_option
@pass_session
def test_model(session: Session, model: str | None, as_json: bool) -> None:
    """Ask MODEL (else the default) for one word: does it answer, and how fast?"""
    wanted = model or next(one["id"] for one in pages(session.api, "/models") if one["default"])
    with Progress(f"asking {wanted}"):
        trial = session.api.request("POST", f"/models/{segment(wanted)}/test", {}, timeout=TEST_TIMEOUT_S)
    if as_json:
        print_json(trial)
    if not trial["ok"]:
        raise UnavailableError(trial["error"])
    if not as_json:
        done(f"{trial['model']} answered in {trial['latency_ms']} ms: {trial['text']}")

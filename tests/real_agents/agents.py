"""The agents that are let loose on the hub: how each is installed, asked, and told of its model.

What they are told of the hub is not here: that is what `manyhands mcp --print-config` prints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".agents"


@dataclass(frozen=True)
class Agent:
    """One of them. `setup` writes its files into a home and answers its variables."""

    name: str
    package: str
    client: str
    """Its name for `--print-config`."""
    config: str
    """The file of that snippet; `~` is the home, else the project."""
    setup: Callable[[Path, str], Mapping[str, str]]
    ask: tuple[str, ...]
    help: tuple[str, ...]
    prefix: str
    """How it calls the hub's tools before the model."""
    finish: str | None = None
    """The script of its package that puts the program in place; those of all other packages do not run."""

    @property
    def command(self) -> str:
        return str(PLACE / self.name / "node_modules" / ".bin" / self.name)


def _claude(home: Path, model: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "sk-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def _codex(home: Path, model: str) -> Mapping[str, str]:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    provider = f'name = "none"\nbase_url = "{model}/v1"\nenv_key = "NO_KEY"\nwire_api = "responses"\n'
    config.write_text(f'model = "none"\nmodel_provider = "none"\n\n[model_providers.none]\n{provider}\n')
    return {"NO_KEY": "sk-none"}


def _opencode(home: Path, model: str) -> Mapping[str, str]:
    options = {"baseURL": f"{model}/v1", "apiKey": "sk-none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"none": {"name": "none"}}}
    config = {"provider": {"none": provider}, "model": "none/none", "autoupdate": False, "share": "disabled"}
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(config))
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}


def _goose(home: Path, model: str) -> Mapping[str, str]:
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "none",
        "OPENAI_HOST": model,
        "OPENAI_API_KEY": "sk-none",
        "GOOSE_DISABLE_KEYRING": "1",
    }


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            name="claude",
            package="@anthropic-ai/claude-code@2.1.325",
            client="claude-code",
            config=".mcp.json",
            setup=_claude,
            ask=("-p", "--allowedTools", "mcp__manyhands", "--"),
            help=("--help",),
            prefix="mcp__manyhands__",
            finish="@anthropic-ai/claude-code/install.cjs",
        ),
        Agent(
            name="codex",
            package="@openai/codex@0.166.0",
            client="codex",
            config="~/.codex/config.toml",
            setup=_codex,
            ask=("exec", "--skip-git-repo-check", "--strict-config"),
            help=("exec", "--help"),
            prefix="mcp__manyhands",
        ),
        Agent(
            name="opencode",
            package="opencode-ai@1.18.33",
            client="opencode",
            config="opencode.json",
            setup=_opencode,
            ask=("run",),
            help=("run", "--help"),
            prefix="manyhands_",
            finish="opencode-ai/postinstall.mjs",
        ),
        Agent(
            name="goose",
            package="@aaif/goose@0.20.1",
            client="goose",
            config="~/.config/goose/config.yaml",
            setup=_goose,
            ask=("run", "--no-session", "-t"),
            help=("run", "--help"),
            prefix="manyhands__",
        ),
    )
}

"""Who takes part, and how each is told of the model and the MCP server: commands, variables, files.

What phones home or looks for updates is told not to, and has a proxy that refuses everything but loopback.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers.model_server import MODEL

HERE = Path(__file__).parent
INSTALLED = HERE.parent.parent / ".bench"
PROMPT = "go"
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Task:
    """What everybody is given. `url`: the model's, without a version."""

    url: str
    server: Sequence[str]

    @property
    def versioned_url(self) -> str:
        return f"{self.url}/v1"


@dataclass(frozen=True)
class Entrant:
    """One program. `files` are written into its home, which is its working directory's parent."""

    name: str
    command: Sequence[str]
    version: str = ""
    is_python: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def environment(home: Path) -> dict[str, str]:
    """Nothing of the person's but the way to programs."""
    proxies = {name: NOWHERE for each in ("HTTP_PROXY", "HTTPS_PROXY") for name in (each, each.lower())}
    direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {**kept, **proxies, **direct, "PATH": path, "HOME": str(home), "DO_NOT_TRACK": "1"}


def peers(task: Task) -> tuple[list[Entrant], dict[str, str]]:
    """Those that are installed, and why the others are not."""
    found, missing = [], {}
    for name, wanted in tomllib.loads((HERE / "packages.toml").read_text()).items():
        place = INSTALLED / name
        problem = place / "problem.txt"
        if problem.exists():
            missing[name] = problem.read_text()
        elif not (place / "installed").exists():
            missing[name] = "not installed; `./dev bench peers` does it"
        else:
            found.append(_ENTER[name](place, task, _version(place, wanted["package"])))
    return found, missing


def _version(place: Path, package: str) -> str:
    manifest = place / "node_modules" / package / "package.json"
    if manifest.exists():
        return str(json.loads(manifest.read_text())["version"])
    name = package.replace("-", "_")
    (metadata,) = place.glob(f"lib/python*/site-packages/{name}-*.dist-info")
    return metadata.name.removeprefix(f"{name}-").removesuffix(".dist-info")


def _pydantic_ai(place: Path, task: Task, version: str) -> Entrant:
    script = [str(place / "bin" / "python"), str(HERE / "with_pydantic_ai.py")]
    return Entrant("pydantic-ai", [*script, *_arguments(task)], version, is_python=True)


def _openai_agents(place: Path, task: Task, version: str) -> Entrant:
    script = [str(place / "bin" / "python"), str(HERE / "with_openai_agents.py")]
    env = {"OPENAI_AGENTS_DISABLE_TRACING": "1"}
    return Entrant("openai-agents", [*script, *_arguments(task)], version, is_python=True, env=env)


def _arguments(task: Task) -> list[str]:
    return [task.versioned_url, MODEL, PROMPT, *task.server]


def _fast_agent(place: Path, task: Task, version: str) -> Entrant:
    model = f"generic.{MODEL}"
    command = [str(place / "bin" / "fast-agent"), "go", "--config-path", "../fastagent.config.yaml"]
    config = {
        "default_model": model,
        "generic": {"api_key": "none", "base_url": task.versioned_url},
        "logger": {"progress_display": False},
        "mcp": {"servers": {"peer": {"command": task.server[0], "args": list(task.server[1:])}}},
    }
    return Entrant(
        "fast-agent",
        [*command, "--servers", "peer", "--model", model, "--message", PROMPT],
        version,
        is_python=True,
        files={"fastagent.config.yaml": json.dumps(config)},
    )


def _goose(place: Path, task: Task, version: str) -> Entrant:
    (program,) = place.glob("node_modules/@aaif/goose-binary-*/bin/goose")
    command = [str(program), "run", "--no-profile", "--no-session", "--quiet"]
    env = {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": MODEL,
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_HOST": task.url,
        "OPENAI_API_KEY": "none",
    }
    return Entrant(
        "goose", [*command, "--with-extension", " ".join(task.server), "--text", PROMPT], version, env=env
    )


def _opencode(place: Path, task: Task, version: str) -> Entrant:
    program = min(place.glob("node_modules/opencode-*-*/bin/opencode"), key=lambda path: len(path.parts[-3]))
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "bench",
        "options": {"baseURL": task.versioned_url, "apiKey": "none"},
        "models": {MODEL: {"name": MODEL}},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "permission": "allow",
        "model": f"bench/{MODEL}",
        "small_model": f"bench/{MODEL}",
        "enabled_providers": ["bench"],
        "provider": {"bench": provider},
        "mcp": {"peer": {"type": "local", "command": list(task.server), "enabled": True}},
    }
    switched_off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    env = {f"OPENCODE_DISABLE_{what}": "1" for what in switched_off}
    return Entrant(
        "opencode",
        [str(program), "run", PROMPT],
        version,
        env={**env, "OPENCODE_CONFIG": "../opencode.json"},
        files={"opencode.json": json.dumps(config)},
    )


_ENTER: Mapping[str, Callable[[Path, Task, str], Entrant]] = {
    "pydantic-ai": _pydantic_ai,
    "openai-agents": _openai_agents,
    "fast-agent": _fast_agent,
    "goose": _goose,
    "opencode": _opencode,
}

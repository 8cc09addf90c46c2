"""`./dev agents`: installs the named agents, or all, and lets them use the hub. No part of `./dev test`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.real_agents.agents import AGENTS, PLACE, Agent

CHECKS = Path(__file__).with_name("check_agents.py")


def install(agent: Agent) -> None:
    place = PLACE / agent.name
    if (place / "installed").is_file() and (place / "installed").read_text() == agent.package:
        return
    place.mkdir(parents=True, exist_ok=True)
    (place / "package.json").write_text('{"private": true}\n')
    npm = [_program("npm"), "install", "--ignore-scripts", "--no-audit", "--no-fund"]
    print(f"agents: installing {agent.package}", file=sys.stderr, flush=True)
    subprocess.run([*npm, agent.package], cwd=place, check=True, stdout=sys.stderr)
    if agent.finish is not None:
        script = place / "node_modules" / agent.finish
        subprocess.run([_program("node"), str(script)], cwd=script.parent, check=True, stdout=sys.stderr)
    (place / "installed").write_text(agent.package)


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - AGENTS.keys())
    if unknown:
        print(f"agents: there is no {unknown[0]!r}; there are {', '.join(AGENTS)}", file=sys.stderr)
        return 2
    chosen = names or list(AGENTS)
    for name in chosen:
        install(AGENTS[name])
    wanted = ["-k", " or ".join(f"[{name}" for name in chosen)]
    return subprocess.call([sys.executable, "-m", "pytest", "-q", *wanted, str(CHECKS)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

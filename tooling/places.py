"""Where things lie in this checkout, and the commands of its environment. It makes nothing."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOG = VENV / "dev-install.log"
LOCKS = ROOT / "requirements"
NODE = ROOT / "tests" / "node"
WEB = ROOT / "web"
API = ROOT / "src" / "manyhands" / "api"
UI = API / "ui"


def tool(name: str) -> str:
    return str(BIN / (f"{name}.exe" if os.name == "nt" else name))


def environment() -> dict[str, str]:
    """The person's environment, with this checkout's commands first on the PATH."""
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "VIRTUAL_ENV": str(VENV)}

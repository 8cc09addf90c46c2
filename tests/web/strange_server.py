"""A server that says strange things: markup in names and results, a definition that changes, words on stderr.

Its argument is a directory. `description.txt` there describes its tool `show` when it starts; what appears
in `say.txt` is written to stderr at once.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.cli import hand_server

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
PLACE = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where"}},
    "required": ["city"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": MARKUP},
        "times": {"type": "integer", "default": 2},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "loud": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": PLACE,
    },
    "required": ["title", "place"],
}


class StrangeServer(hand_server.Server):
    """`show` answers with markup, and with its arguments as structured content."""

    def show(self, _: Any, arguments: dict[str, Any], __: Any) -> dict[str, Any]:
        return {**hand_server.text(MARKUP), "structuredContent": arguments}


def say_what_appears(file: Path) -> None:
    while not file.exists():
        threading.Event().wait(0.05)
    print(file.read_text(), file=sys.stderr, flush=True)


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    described = (directory / "description.txt").read_text()
    hints = {"destructiveHint": True, "openWorldHint": True}
    hand_server.TOOLS[:] = [
        {"name": "show", "description": described, "inputSchema": SCHEMA, "annotations": hints},
        {
            "name": "look",
            "description": "Only looks.",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True},
        },
    ]
    threading.Thread(target=say_what_appears, args=(directory / "say.txt",), daemon=True).start()
    StrangeServer().serve()

"""aimock, a model server that nobody here wrote: started once, and told by each test what to answer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

NODE = Path(__file__).parents[1] / "node"
SERVE = """
import { LLMock } from "@copilotkit/aimock";
const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent", chunkSize: 6 });
await mock.start();
console.log(mock.url);
process.stdin.on("end", () => process.exit(0)).resume();
"""


class Aimock:
    """The running server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def answer(
        self, response: Mapping[str, Any], *, match: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        """Answer requests that match (all, unless said otherwise) like this; the first match counts."""
        fixture = {"match": match or {}, "response": response, **options}
        self._call("POST", "fixtures", {"fixtures": [fixture]})

    def fail_once(self, status: int, message: str, **fields: str) -> None:
        """Answer the next request with an error."""
        self._call("POST", "error", {"status": status, "body": {"message": message, **fields}})

    def chaos(self, **rates: float) -> None:
        self._call("POST", "chaos", rates)

    def requests(self) -> list[Any]:
        """What was asked so far, oldest first."""
        found: list[Any] = self._call("GET", "journal")
        return found

    def reset(self) -> None:
        self._call("POST", "reset")
        self._call("DELETE", "chaos")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(f"{self.url}/__aimock/{path}", data, headers, method=method)
        with urlopen(request, timeout=10) as response:
            return json.load(response)


@contextmanager
def running_aimock() -> Iterator[Aimock]:
    """The server as a process of its own; it ends with its standard input."""
    command = ["node", "--input-type=module", "-e", SERVE]
    with subprocess.Popen(
        command, cwd=NODE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url
        try:
            yield Aimock(url)
        finally:
            process.stdin.close()
            process.wait(10)

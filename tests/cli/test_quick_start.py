"""A command that becomes a hub for a moment leaves out what it never uses."""

from __future__ import annotations

import subprocess
import sys


def test_openai_is_imported_without_an_http_client_that_nobody_uses() -> None:
    code = (
        "import sys\n"
        "from manyhands.cli.quick_start import end_quickly, start_quickly\n"
        "start_quickly()\n"
        "import httpx, openai\n"
        "openai.AsyncOpenAI(api_key='none')\n"
        "end_quickly()\n"
        "print(*[name for name in ('aiohttp', 'rich') if name in sys.modules], end='')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == ""

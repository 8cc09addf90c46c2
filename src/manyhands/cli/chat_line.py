"""The line that a person writes: with history and completion at rest, a simple one while a run is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from manyhands.cli.page import wrapped
from manyhands.cli.terminal import has_colour, one_line, paint

SIGN = "›"
HISTORY_LENGTH = 1000


@dataclass
class DraftLine:
    """What is typed while a run goes on; sent with Enter, else it waits for the next line."""

    text: str = ""

    def press(self, key: str, text: str = "") -> str | None:
        """Take a key; the answer is a message that is ready."""
        match key:
            case "text":
                self.text += text
            case "backspace":
                self.text = self.text[:-1]
            case "word":
                self.text = self.text.rstrip().rpartition(" ")[0]
            case "clear":
                self.text = ""
            case "enter":
                message, self.text = self.text.strip(), ""
                return message or None
        return None

    def row(self, width: int) -> str:
        """The end of it, which is where the cursor is."""
        last = wrapped(
            one_line(self.text.replace("\n", " ⏎ ")) + (" " if self.text[-1:] == " " else ""), width - 2
        )[-1]
        return f"{paint(SIGN, 'cyan')} {last}"


class PromptLine:
    """Asks for a line with the standard library's line editor; its history is kept in a file."""

    def __init__(self, history: Path, complete: Callable[[str], Sequence[str]]) -> None:
        self._history = history
        self._complete = complete
        self._found: Sequence[str] = ()

    def open(self) -> None:
        import readline

        readline.set_history_length(HISTORY_LENGTH)
        with suppress(OSError):
            readline.read_history_file(self._history)
        readline.set_completer(self._completion)
        readline.set_completer_delims(" \t\n")
        readline.parse_and_bind("tab: complete")

    def close(self) -> None:
        import readline

        with suppress(OSError):
            readline.write_history_file(self._history)
            self._history.chmod(0o600)

    def ask(self, draft: str = "") -> str:
        """The next line; `draft` is what was written already."""
        import readline

        readline.set_startup_hook(lambda: readline.insert_text(draft))
        try:
            return input(_prompt())
        finally:
            readline.set_startup_hook(None)

    def _completion(self, text: str, state: int) -> str | None:
        if state == 0:
            self._found = self._complete(text)
        return self._found[state] if state < len(self._found) else None


def _prompt() -> str:
    """The marks tell the line editor what takes no room."""
    return f"\x01\x1b[36m\x02{SIGN}\x01\x1b[0m\x02 " if has_colour(sys.stdout) else f"{SIGN} "

"""A terminal as far as our pages use one: what is on it after all that was written."""

from __future__ import annotations

import io
import re

TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")


def screen(stream: io.StringIO) -> list[str]:
    """The rows of the screen; colours are passed over."""
    rows, row, column = [""], 0, 0
    for count, command, back, new_line, text in TOKEN.findall(stream.getvalue()):
        if back:
            column = 0
        elif new_line:
            row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
        elif command == "A":
            row = max(row - int(count or 1), 0)
        elif command == "C":
            column += int(count or 1)
        elif command == "J":
            rows = [*rows[:row], rows[row][:column]]
        elif text:
            rows[row] = rows[row][:column].ljust(column) + text + rows[row][column + len(text) :]
            column += len(text)
    return rows

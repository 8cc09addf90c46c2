"""How the result of a tool call is printed: text as text, files saved or measured, failures in red."""

from __future__ import annotations

import base64
import binascii
import json
import sys
from pathlib import Path

from manyhands.cli.client import Json
from manyhands.cli.output import human_duration, human_size, in_lines, say
from manyhands.cli.terminal import is_terminal, many_lines, paint_error


def print_record(record: Json, save: str | None) -> int:
    """Show what came back; the answer is the exit code."""
    blocks = record.get("content") or []
    stream = sys.stderr if record["isError"] else sys.stdout
    for number, block in enumerate(blocks, 1):
        text = _block_text(block, save, f"{record['id']}-{number}")
        if record["isError"]:
            _print_error(text)
        else:
            stream.write(_safe(text).rstrip("\n") + "\n")
    if not blocks:
        _print_without_content(record)
    stream.flush()
    _print_end(record)
    return 1 if record["isError"] else 0


def _print_without_content(record: Json) -> None:
    if record["isError"]:
        _print_error(str(record.get("error") or record.get("result") or "it failed"))
    elif record.get("structuredContent") is not None:
        say(json.dumps(record["structuredContent"], ensure_ascii=False, indent=2))
    elif record.get("result"):
        say(_safe(record["result"]))


def _print_error(text: str) -> None:
    for line in in_lines(_safe(text).rstrip("\n"), stream=sys.stderr):
        sys.stderr.write(paint_error(line, "red") + "\n")


def _safe(text: str) -> str:
    """A terminal must not obey what a stranger wrote; a file or pipe gets it as it is."""
    return many_lines(text) if is_terminal(sys.stdout) else text


def _block_text(block: Json, save: str | None, stem: str) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio":
            return _data_text(block["type"], block.get("mimeType"), block.get("data"), save, stem)
        case "resource_link":
            return f"[{block.get('name') or 'resource'}: {block.get('uri')}]"
        case "resource":
            resource = block.get("resource") or {}
            if "text" in resource:
                return str(resource["text"])
            return _data_text(
                str(resource.get("uri")), resource.get("mimeType"), resource.get("blob"), save, stem
            )
        case _:
            return json.dumps(block, ensure_ascii=False)


def _data_text(what: str, mime: str | None, data: str | None, save: str | None, stem: str) -> str:
    what = f"{what} {mime}" if mime else what
    try:
        payload = base64.b64decode(data or "", validate=True)
    except (binascii.Error, ValueError):
        return f"[{what}: not valid base64]"
    facts = f"{what}, {human_size(len(payload))}"
    if save is None:
        return f"[{facts}; --save DIR keeps it]"
    import mimetypes

    directory = Path(save).expanduser()
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{stem}{mimetypes.guess_extension(mime or '') or '.bin'}"
    path.write_bytes(payload)
    return f"[{facts}; saved to {path}]"


def _print_end(record: Json) -> None:
    if not is_terminal(sys.stderr):
        return
    took = human_duration((record.get("duration_ms") or 0) / 1000)
    status = record["status"]
    mark = paint_error("✗ " + status, "red") if record["isError"] else paint_error("✓", "green")
    sys.stderr.write(f"{mark} {paint_error(took, 'dim')}\n")

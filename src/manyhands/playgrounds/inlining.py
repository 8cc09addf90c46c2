"""A playground as one HTML file: styles, scripts, modules and pictures stand in the page itself.

Modules become entries of the import map, under names that only they have: a module inside of an address has
no place from which a relative import could be found. What a script fetches while it runs is not in it. Pure.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from manyhands.errors import TooLargeError
from manyhands.playgrounds.document import import_map_markup, place_first
from manyhands.playgrounds.kinds import kind_of
from manyhands.playgrounds.types import IMPORT_MAP

_MARK = "playground:/"
_TAG = re.compile(r"<(script|link|img|source|video|audio|input|image|use)\b([^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(\s)(src|href|poster)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_INLINE_SCRIPT = re.compile(r"(<script\b[^>]*>)(.*?)(</script\s*>)", re.IGNORECASE | re.DOTALL)
_IMPORT = re.compile(
    r"""(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\bfrom|\bimport)(["'])(\.{0,2}/[^"'\n]+)\2"""
)
_URL = re.compile(r"""url\(\s*(["']?)([^"')]+)\1\s*\)|@import\s+(["'])([^"'\n]+)\3""", re.IGNORECASE)
_SCRIPTS = frozenset({"text/javascript"})
_DEEPEST_STYLE = 5
LARGEST_EXPORT = 100_000_000


class _Inliner:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._made: dict[tuple[str, int], str] = {}
        self._spent = 0

    def find(self, address: str, base: str = "") -> str | None:
        """The file that a relative address means, if it is one of ours."""
        plain = re.split(r"[?#]", address, maxsplit=1)[0]
        if not plain or "://" in plain or plain.startswith(("data:", "//", "#")):
            return None
        path = posixpath.normpath(posixpath.join(base, plain.lstrip("/") if plain[0] == "/" else plain))
        return path if path in self._files else None

    def text(self, path: str) -> str:
        return self._files[path].decode("utf-8", "replace")

    def data(self, path: str, depth: int = 0) -> str:
        """A file as an address that holds it. One that is used a thousand times is there a thousand times."""
        made = self._made.get((path, depth)) or self._make(path, depth)
        self._made[path, depth] = made
        self._spent += len(made)
        if self._spent > LARGEST_EXPORT:
            raise TooLargeError(
                f"As one file it would have more than {LARGEST_EXPORT:,} bytes.",
                hint="Make its pictures smaller, or use them less often.",
            )
        return made

    def _make(self, path: str, depth: int) -> str:
        content = self._files[path]
        kind = kind_of(path)
        if kind == "text/css" and depth < _DEEPEST_STYLE:
            content = self.style(path, depth + 1).encode("utf-8", "replace")
        elif kind in _SCRIPTS:
            content = self.module(self.text(path), posixpath.dirname(path)).encode("utf-8", "replace")
        return f"data:{kind};base64,{base64.b64encode(content).decode()}"

    def style(self, path: str, depth: int = 0) -> str:
        """A style sheet with everything that it loads."""
        base = posixpath.dirname(path)

        def replace(match: re.Match[str]) -> str:
            found = self.find(match[2] or match[4], base)
            if found is None:
                return match[0]
            whole = f'url("{self.data(found, depth)}")'
            return whole if match[2] else f"@import {whole}"

        return _URL.sub(replace, self.text(path))

    def module(self, source: str, base: str) -> str:
        """A script whose imports name entries of the import map."""

        def replace(match: re.Match[str]) -> str:
            found = self.find(match[3], base)
            return match[0] if found is None else f"{match[1]}{match[2]}{_MARK}{found}{match[2]}"

        return _IMPORT.sub(replace, source)

    def import_map(self) -> dict[str, Any]:
        """Ours, with everything that it names, and the modules under their own names."""
        given = self._given_map()
        modules = {f"{_MARK}{path}": self.data(path) for path in self._files if kind_of(path) in _SCRIPTS}
        imports = self._entries(given.get("imports"))
        scopes = given.get("scopes")
        held = {name: self._entries(one) for name, one in scopes.items()} if isinstance(scopes, dict) else {}
        return {"imports": modules | imports} | ({"scopes": held} if held else {})

    def _given_map(self) -> dict[str, Any]:
        try:
            found = json.loads(self._files.get(IMPORT_MAP, b"{}"))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _entries(self, imports: Any) -> dict[str, Any]:
        """Where a name leads to a file of ours it leads to its content, a whole folder file by file."""
        found: dict[str, Any] = {}
        for name, address in imports.items() if isinstance(imports, dict) else ():
            if not isinstance(address, str):
                continue
            if name.endswith("/") and address.endswith("/"):
                found |= self._folder(name, posixpath.normpath(address.lstrip("/")))
            path = self.find(address)
            found[name] = address if path is None else self.data(path)
        return found

    def _folder(self, name: str, folder: str) -> dict[str, str]:
        start = "" if folder == "." else f"{folder}/"
        return {
            name + path.removeprefix(start): self.data(path) for path in self._files if path.startswith(start)
        }

    def tag(self, match: re.Match[str]) -> str:
        """A tag with what it loads inside of it."""
        name, attributes = match[1].lower(), match[2]
        if name == "script" and re.search(r"\btype\s*=\s*[\"']?importmap", attributes, re.IGNORECASE):
            return match[0]
        if name == "link" and re.search(r"\brel\s*=\s*[\"']?stylesheet", attributes, re.IGNORECASE):
            return self._stylesheet(match[0], attributes)
        return f"<{match[1]}{_ATTRIBUTE.sub(self._attribute, attributes)}>"

    def _attribute(self, match: re.Match[str]) -> str:
        found = self.find(match[4].strip("\"'"))
        return match[0] if found is None else f'{match[1]}{match[2]}{match[3]}"{self.data(found)}"'

    def _stylesheet(self, whole: str, attributes: str) -> str:
        match = _ATTRIBUTE.search(attributes)
        path = self.find(match[4].strip("\"'")) if match else None
        if path is None:
            return whole
        # Inside of an element a closing tag would end it, whatever it stands in.
        style = self.style(path).replace("</", "<\\/")
        return f"<style>\n{style}\n</style>"

    def inline_script(self, match: re.Match[str]) -> str:
        body = match[2] if "importmap" in match[1].lower() else self.module(match[2], "")
        return match[1] + body + match[3]


def as_one_file(html: str, files: Mapping[str, bytes]) -> str:
    """The page with all that it loads."""
    inliner = _Inliner(files)
    page = _INLINE_SCRIPT.sub(inliner.inline_script, html)
    page = _outside_scripts(page, lambda part: _TAG.sub(inliner.tag, part))
    import_map = inliner.import_map()
    return place_first(page, import_map_markup(import_map)) if import_map["imports"] else page


def _outside_scripts(html: str, change: Callable[[str], str]) -> str:
    """Change everything but the bodies of scripts, in which tags are only text."""
    parts: list[str] = []
    at = 0
    for match in _INLINE_SCRIPT.finditer(html):
        parts += [change(html[at : match.start()]), change(match[1]), match[2], match[3]]
        at = match.end()
    return "".join([*parts, change(html[at:])])

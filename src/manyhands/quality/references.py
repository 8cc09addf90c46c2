"""Which functions may be called unused: those that no name in the project refers to, unless they are kept.

Kept are entry points, tests, exported functions and those that something reaches without naming them
(decorated ones, special methods, methods of a class that extends another). When in doubt a function is kept.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from manyhands.quality.functions import ANONYMOUS
from manyhands.quality.languages import Language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tree_sitter import Node

_WORD = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_ENTRY = frozenset({"main", "init", "setup", "teardown", "setUp", "tearDown", "constructor", "conftest"})
_TEST_PATH = re.compile(
    r"(^|/)(tests?|specs?|__tests__)/|(^|/)(test_|conftest)|[._](test|spec)\.[a-z]+$|_test\."
)
_HIDDEN = re.compile(rb"\b(private|static|fileprivate)\b")


def is_test_path(path: str) -> bool:
    return _TEST_PATH.search(path) is not None


def words_of(source: bytes, comments: Iterable[tuple[int, int]]) -> bytes:
    """How often each word stands in a file, comments left out, packed; a string may name what is called."""
    import numpy as np

    parts = []
    at = 0
    for start, end in comments:
        parts.append(source[at:start])
        at = end
    parts.append(source[at:])
    found = Counter(_WORD.findall(b" ".join(parts)))
    keys = np.fromiter(map(_key, found), dtype="<u8", count=len(found))
    counts = np.fromiter(found.values(), dtype="<u4", count=len(found))
    return keys.tobytes() + counts.tobytes()


def _key(word: bytes) -> int:
    """A number for a word, the same in every process: two sums that go wrong in different ways."""
    return zlib.crc32(word) << 32 | zlib.adler32(word)


def key_of(name: str) -> int:
    """The number that a name is counted by."""
    return _key(name.encode("utf-8", "surrogatepass"))


Words = Sequence[bytes]
"""The packed words of files."""


def recount(
    names: AbstractSet[int], files: Words, earlier: Mapping[int, int], gone: Words, came: Words
) -> dict[int, int]:
    """How often each of these names stands in all files, from what it was before some went and some came."""
    if not earlier:
        return count_words(files, names)
    found = {name: earlier[name] for name in names & earlier.keys()}
    for packed, sign in ((gone, -1), (came, 1)):
        keys, counts = _unpacked(packed)
        for name, count in zip(keys.tolist(), counts.tolist(), strict=True):
            if name in found:
                found[name] += sign * count
    return {**found, **count_words(files, names - earlier.keys())}


def count_words(packed: Words, names: AbstractSet[int]) -> dict[int, int]:
    """How often each of these names stands in all files together."""
    import numpy as np

    if not names:
        return {}
    asked = sorted(names)
    wanted = np.array(asked, dtype=np.uint64)
    total = np.zeros(len(asked), dtype=np.int64)
    keys, counts = _unpacked(packed)
    at = np.searchsorted(wanted, keys)
    at[at == len(wanted)] = 0
    hit = wanted[at] == keys
    np.add.at(total, at[hit], counts[hit])
    return dict(zip(asked, total.tolist(), strict=True))


def _unpacked(packed: Words) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    import numpy as np

    files = [words for words in packed if words]
    whole_keys = b"".join(words[: len(words) // 12 * 8] for words in files)
    whole_counts = b"".join(words[len(words) // 12 * 8 :] for words in files)
    return np.frombuffer(whole_keys, dtype="<u8"), np.frombuffer(whole_counts, dtype="<u4")


def is_kept(node: Node, name: str, source: bytes, language: Language) -> bool:
    """Whether a function must not be called unused, as far as its own file shows."""
    if name == ANONYMOUS or name in _ENTRY or name.startswith("__") or name.lower().startswith("test"):
        return True
    if not name.replace("_", "").replace("$", "").isalnum():
        return True
    if language.name == "python":
        return _python_keeps(node)
    if language.name in ("javascript", "typescript", "tsx"):
        return _script_keeps(node)
    head = source[node.start_byte : node.start_byte + 200].partition(b"{")[0]
    if language.name == "go":
        return name[:1].isupper() or node.type == "method_declaration"
    if language.name == "rust":
        return head.startswith(b"pub") or _in_trait(node) or _has_attribute(node)
    return _HIDDEN.search(head) is None or b"@" in head or b"override" in head


def _in_trait(node: Node) -> bool:
    """Whether it is a method of a trait or of its implementation for a type."""
    owner = node.parent.parent if node.parent is not None else None
    return owner is not None and (
        owner.type == "trait_item" or owner.child_by_field_name("trait") is not None
    )


def _has_attribute(node: Node) -> bool:
    return node.prev_named_sibling is not None and node.prev_named_sibling.type == "attribute_item"


def _python_keeps(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (parent.type == "decorated_definition" or _extends(parent))


def _extends(block: Node) -> bool:
    """Whether a block is the body of a class with bases: what it defines may be called by them."""
    owner = block.parent
    return (
        owner is not None
        and owner.type == "class_definition"
        and owner.child_by_field_name("superclasses") is not None
    )


def _script_keeps(node: Node) -> bool:
    around: Node | None = node
    for _ in range(4):
        around = around.parent if around is not None else None
        if around is None:
            return False
        if around.type in ("export_statement", "class_body", "pair", "object", "arguments"):
            return True
    return False

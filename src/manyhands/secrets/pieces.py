"""Taking secrets out of what comes in pieces: none slips through in two halves."""

from __future__ import annotations

import codecs
from collections.abc import Callable


class TextPieces:
    """`clean` takes secrets out; what `open_end` takes for the beginning of one waits for the next piece.

    `finish` makes what waits fit to be told when no more comes.
    """

    def __init__(
        self, clean: Callable[[str], str], open_end: Callable[[str], int], finish: Callable[[str], str]
    ) -> None:
        self._clean = clean
        self._open_end = open_end
        self._finish = finish
        self._waiting = ""

    def feed(self, text: str) -> str:
        """What can be told now."""
        text = self._clean(self._waiting + text)
        told = len(text) - self._open_end(text)
        self._waiting = text[told:]
        return text[:told]

    @property
    def rest(self) -> str:
        """What waits, when no more comes."""
        return self._finish(self._waiting)


class BytePieces:
    """The same for bytes of UTF-8; what is something else stays as it is."""

    def __init__(self, pieces: TextPieces) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, data: bytes) -> bytes:
        return self._pieces.feed(self._decoder.decode(data)).encode("utf-8", "surrogateescape")

    @property
    def rest(self) -> bytes:
        begun = self._decoder.getstate()[0]
        return self._pieces.rest.encode("utf-8", "surrogateescape") + begun

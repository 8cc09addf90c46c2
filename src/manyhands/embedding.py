"""Texts as vectors: the static word vectors that the `wordllama` wheel carries.

Owns the model: where its files are, when it is loaded, what becomes of empty text. Nothing is downloaded, and
the wheel's own code is not imported: it sets up logging and looks for the tokenizer in the wrong folder. What
vectors are good for is the business of whoever asks for them.

Everything here blocks: call it in a thread until the model is loaded.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyhands.errors import UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    """One row for each text, of length 1; a text without any word is a row of zeros."""
    Embed = Callable[[Sequence[str]], Matrix]

PACKAGE = "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TENSOR = "embedding.weight"
BATCH_TOKENS = 4096
"""Rows that are gathered at a time: 4 MB."""

_loading = threading.Lock()


class WordVectors:
    """The model: a vector for each of its 32,000 pieces of words; a text is the mean of its pieces."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._rows = _read_tensor(folder / WEIGHTS, TENSOR)
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def dimensions(self) -> int:
        return int(self._rows.shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """The texts as vectors of length 1."""
        import numpy as np

        found = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            if pieces := self._pieces(text):
                found[number] = self._sum(pieces)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        found /= np.where(lengths > 0, lengths, 1)
        return found

    def _pieces(self, text: str) -> list[int]:
        # One by one: a batch would start threads of the tokenizer's own, and it complains when we fork then.
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _sum(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        import numpy as np

        parts = [pieces[at : at + BATCH_TOKENS] for at in range(0, len(pieces), BATCH_TOKENS)]
        total = np.zeros(self.dimensions, dtype=np.float32)
        for part in parts:
            total += self._rows[part].sum(axis=0, dtype=np.float32)
        return total


class VectorCache:
    """`embed` that remembers the vectors of the texts that were asked for last."""

    def __init__(self, source: Embed, capacity: int) -> None:
        self._source = source
        self._capacity = capacity
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        with self._lock:
            known = {text: self._known[text] for text in texts if text in self._known}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new:  # not under the lock: it may take long, and others ask for what is known
            known.update(zip(new, self._source(new), strict=True))
        with self._lock:
            for text, vector in known.items():
                self._known[text] = vector
                self._known.move_to_end(text)
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), -1)


def embed(texts: Sequence[str]) -> Matrix:
    """The texts as vectors of length 1; the first call loads the model."""
    return load_vectors().embed(texts)


def load_vectors() -> WordVectors:
    """The model, loaded once however many ask at the same time."""
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> WordVectors:
    spec = find_spec(PACKAGE)
    try:
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError(f"the package {PACKAGE} is not installed")
        return WordVectors(Path(spec.submodule_search_locations[0]))
    except (OSError, ValueError, KeyError, ImportError) as error:
        hint = "Install Manyhands again."
        raise UnavailableError(f"The word vectors cannot be loaded: {error}.", hint=hint) from error


def _read_tensor(path: Path, name: str) -> NDArray[Any]:
    """One table of a safetensors file: the length of its header, the header as JSON, the numbers."""
    import numpy as np

    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(size))[name]
        kind = {"F16": np.float16, "F32": np.float32}[about["dtype"]]
        begin, end = about["data_offsets"]
        file.seek(8 + size + begin)
        return np.frombuffer(file.read(end - begin), dtype=kind).reshape(about["shape"])

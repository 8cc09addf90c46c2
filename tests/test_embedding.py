"""Texts become vectors of length 1, with nothing but what the wheel carries."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from manyhands import embedding
from manyhands.embedding import VectorCache, embed, load_vectors
from manyhands.errors import UnavailableError

if TYPE_CHECKING:
    from manyhands.embedding import Matrix


def likeness(one: str, other: str) -> float:
    first, second = embed([one, other])
    return float(first @ second)


def test_texts_of_like_meaning_have_near_vectors() -> None:
    assert likeness("folder", "directory") > 0.5
    assert likeness("a photo of a dog", "picture of a puppy") > likeness(
        "a photo of a dog", "annual tax report"
    )


def test_each_vector_has_length_one_and_is_the_same_every_time() -> None:
    texts = ["read a file", "Grüße aus Köln", "日本語", "x" * 5000, "word " * 10_000]
    vectors = embed(texts)
    assert vectors.shape == (5, load_vectors().dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(vectors, embed(texts))


def test_a_text_has_the_same_vector_whatever_it_is_asked_with() -> None:
    np.testing.assert_array_equal(embed(["time", "a much longer text about time"])[0], embed(["time"])[0])


def test_empty_text_is_a_row_of_zeros_and_no_text_no_row() -> None:
    assert not embed([""]).any()
    assert embed([]).shape == (0, 256)


def test_the_model_is_loaded_once() -> None:
    assert load_vectors() is load_vectors()


def test_neither_the_wheels_code_nor_numpy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, logging, manyhands.embedding as e;"
        "assert 'numpy' not in sys.modules and 'tokenizers' not in sys.modules;"
        "e.embed(['x']);"
        "assert 'wordllama' not in sys.modules;"
        "assert not logging.getLogger().handlers"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_missing_package_is_said_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PACKAGE", "no_such_package_here")
    embedding._load.cache_clear()
    try:
        with pytest.raises(UnavailableError, match="no_such_package_here is not installed"):
            embed(["x"])
    finally:
        embedding._load.cache_clear()


@pytest.mark.parametrize("content", [b"", b"\x02\0\0\0\0\0\0\0{}", b"\x01\0\0\0\0\0\0\0{"])
def test_a_damaged_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.safetensors"
    path.write_bytes(content)
    with pytest.raises((KeyError, ValueError)):
        embedding._read_tensor(path, "embedding.weight")


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    header = json.dumps({"t": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    path = tmp_path / "table.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + table.tobytes())
    np.testing.assert_array_equal(embedding._read_tensor(path, "t"), table)


class Counted:
    """Stands for the model and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Matrix:
        self.asked += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def test_a_cache_asks_for_each_text_once() -> None:
    source = Counted()
    cache = VectorCache(source, capacity=10)
    first = cache.embed(["a", "bb", "a"])
    np.testing.assert_array_equal(first, [[1, 1], [2, 1], [1, 1]])
    np.testing.assert_array_equal(cache.embed(["bb", "ccc"]), [[2, 1], [3, 1]])
    assert source.asked == ["a", "bb", "ccc"]


def test_a_cache_forgets_what_was_asked_for_longest_ago() -> None:
    source = Counted()
    cache = VectorCache(source, capacity=2)
    cache.embed(["a", "b"])
    cache.embed(["a"])
    cache.embed(["c"])
    cache.embed(["a", "b"])
    assert source.asked == ["a", "b", "c", "b"]
    assert cache.embed(["v", "w", "x"]).shape == (3, 2)


def test_loading_leaves_logging_as_it_was() -> None:
    before = list(logging.getLogger().handlers)
    load_vectors()
    assert logging.getLogger().handlers == before

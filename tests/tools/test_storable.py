"""What strangers send can be stored on both databases."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, select

from manyhands.store.engine import Store
from manyhands.store.tables import settings
from manyhands.tools.storable import storable, storable_text


def test_what_cannot_be_stored_is_replaced_by_a_sign() -> None:
    assert storable_text("a\0b") == "a␀b"
    assert storable_text("é\0\ud800") == "é␀�"
    assert storable({"k\0": [float("nan"), float("inf"), 1.5, True, None, ("x",)]}) == {
        "k␀": ["nan", "inf", 1.5, True, None, ["x"]]
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(json_values)
def test_a_storable_value_is_valid_json_in_utf_8(value: object) -> None:
    json.dumps(storable(value), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.anyio
async def test_both_databases_take_it(store: Store) -> None:
    nasty = storable({"a\0": "b\0\ud800", "n": float("-inf"), "deep": [{"x": "\udfff"}]})

    def keep(conn: Connection) -> object:
        conn.execute(insert(settings).values(name="nasty", value=nasty))
        return conn.execute(select(settings.c.value)).scalar_one()

    assert await store.write(keep) == nasty

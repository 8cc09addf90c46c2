"""The SQL of models that people saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from manyhands.errors import ConflictError
from manyhands.models.types import ModelInfo, Price
from manyhands.store.tables import models

_FIELDS = (
    "id",
    "name",
    "provider",
    "model",
    "base_url",
    "api_key",
    "tool_call",
    "context",
    "modalities",
    "price",
    "fallbacks",
    "default",
)


def select_models(conn: Connection) -> Sequence[ModelInfo]:
    """All of them, oldest first."""
    return [_to_info(row) for row in conn.execute(select(models).order_by(models.c.created_at, models.c.id))]


def select_model(conn: Connection, model_id: str) -> ModelInfo | None:
    row = conn.execute(select(models).where(models.c.id == model_id)).first()
    return None if row is None else _to_info(row)


def save_model(conn: Connection, info: ModelInfo, now: datetime) -> None:
    """Add it or replace the one with its id; only one is the default."""
    values = _row(info)
    try:
        with conn.begin_nested():
            changed = conn.execute(update(models).where(models.c.id == info.id).values(**values)).rowcount
            if not changed:
                conn.execute(insert(models).values(**values, created_at=now))
    except IntegrityError as error:
        raise ConflictError(
            f"Another model is called {info.name!r}.", hint="Give this one another name."
        ) from error
    if info.default:
        conn.execute(update(models).where(models.c.id != info.id).values(default=False))


def delete_model(conn: Connection, model_id: str) -> bool:
    return conn.execute(delete(models).where(models.c.id == model_id)).rowcount > 0


def _row(info: ModelInfo) -> dict[str, Any]:
    values = {name: getattr(info, name) for name in _FIELDS}
    lists = {name: list(values[name]) for name in ("modalities", "fallbacks")}
    return values | lists | {"price": None if info.price is None else asdict(info.price)}


def _to_info(row: Row[Any]) -> ModelInfo:
    values = {name: getattr(row, name) for name in _FIELDS}
    values["price"] = None if row.price is None else Price(**row.price)
    values["modalities"], values["fallbacks"] = tuple(row.modalities), tuple(row.fallbacks)
    return ModelInfo(**values, source="saved")

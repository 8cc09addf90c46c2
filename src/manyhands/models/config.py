"""A model where it enters: what a person or a program writes, with the place of every mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from manyhands.errors import InvalidError
from manyhands.models.types import Price, Provider

SHOWN_ONLY = frozenset({"id", "source", "has_key", "created_at"})
"""What a model shows and nobody can set; sent back, it is passed over."""

Text = Annotated[str, Field(min_length=1, max_length=200)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PriceInput(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None


class ModelPatch(BaseModel):
    """Fields of a model that may be set. What is left out stays as it is, or is found out."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: Text | None = Field(None, description="What it is called; unique.")
    provider: Provider | None = Field(None, description="Whose API it speaks.")
    model: Text | None = Field(None, description="The provider's name for it.")
    base_url: str | None = Field(None, description="Address of the API, where it is not the usual one.")
    api_key: str | None = Field(None, description="Its key, or a reference such as ${OPENAI_API_KEY}.")
    tool_call: bool | None = Field(None, description="Whether it can call tools (0 or 1).")
    context: int | None = Field(None, ge=256, le=100_000_000, description="Tokens that it takes at once.")
    modalities: list[Literal["text", "image", "pdf", "audio"]] | None = Field(
        None, description="What it reads."
    )
    price: PriceInput | None = Field(None, description="US dollars for a million tokens.")
    default: bool | None = Field(None, description="Whether it is used where no model is named.")
    fallbacks: list[Text] | None = Field(None, description="Models to ask when this one fails, in order.")

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("this is no address; one such as http://127.0.0.1:8000/v1 is needed")
        if parts.username or parts.password:
            raise ValueError("a key in the address would be shown; put it into api_key")
        return value.rstrip("/")

    def changes(self) -> dict[str, Any]:
        """The fields that were given, in the types that we use."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if isinstance(written := given.get("price"), PriceInput):
            given["price"] = Price(written.input, written.output, written.cached_input)
        return given


def parse_model(values: Mapping[str, Any]) -> dict[str, Any]:
    """A new model: `provider` and `model` must be there."""
    given = parse_patch(values)
    for name in ("provider", "model"):
        if given.get(name) is None:
            raise InvalidError(f"{name}: a model needs it.", hint=_fields())
    if given["provider"] == "openai-compatible" and not given.get("base_url"):
        raise InvalidError(
            "base_url: an OpenAI-compatible model needs its address.",
            hint="One such as http://127.0.0.1:8000/v1.",
        )
    return given


def parse_patch(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields to change."""
    try:
        given = {name: value for name, value in values.items() if name not in SHOWN_ONLY}
        return ModelPatch.model_validate(given).changes()
    except ValidationError as error:
        raise _explained(error.errors(include_url=False, include_input=False)) from error


def _explained(errors: Sequence[Mapping[str, Any]]) -> InvalidError:
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"]) or "The model"
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return InvalidError(f"{place}: there is no such field.", hint=_fields())
    return InvalidError(f"{place}: {message}.", hint=_fields() if first["type"] == "missing" else None)


def _fields() -> str:
    return f"Fields: {', '.join(ModelPatch.model_fields)}."

"""Runtime settings: their names, defaults, bounds and meaning. Where they are stored is not known here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from manyhands.errors import InvalidError, NotFoundError

Bytes = Annotated[int, Field(ge=0)]
Days = Annotated[int, Field(ge=1, le=3650)]


class Settings(BaseModel):
    """Everything a person can set while the hub runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mcp_max_iterations: int = Field(10, ge=1, le=50, description="How often one run may ask the model again.")
    tool_namespace: Literal["name", "id"] = Field(
        "name", description="Whether tool names sent to a model carry the server's name or its number."
    )
    tool_timeout_max: int = Field(
        600_000, ge=1000, description="Hard cap in ms for a call whose timeout is extended by progress."
    )
    connect_parallel: int = Field(
        8, ge=1, le=64, description="How many servers connect side by side at start."
    )
    reconnect_attempts: int = Field(
        8, ge=0, le=100, description="How often a server that died is started again before it stays in error."
    )
    approval_expiry_s: int = Field(
        3600, ge=10, le=2_592_000, description="Seconds after which an unanswered approval expires."
    )
    result_limit_chars: int = Field(
        30_000, ge=1000, description="Tool results above this many characters go to a file and are paged."
    )
    fetch_allow: tuple[str, ...] = Field(
        (), description="Hosts or networks that fetch_url may reach although they are private."
    )
    searxng_url: str | None = Field(None, description="Address of the SearXNG instance that web_search asks.")
    command_sandbox: Literal["auto", "required", "off"] = Field(
        "auto",
        description="Whether run_command runs in bubblewrap: where it works, always or not at all, or never.",
    )
    command_network: bool = Field(True, description="Whether run_command may use the network in its sandbox.")
    retention_calls_days: Days = Field(90, description="Days that tool calls are kept.")
    retention_events_days: Days = Field(14, description="Days that events are kept for replay.")
    retention_results_days: Days = Field(30, description="Days that large results are kept.")
    retention_results_bytes: Bytes = Field(
        2_000_000_000, description="Bytes that large results may take; the oldest go first."
    )
    model_discovery: bool = Field(
        True, description="Whether model servers on the usual ports of this machine are found and offered."
    )
    tool_search_budget: float = Field(
        0.1, ge=0, le=1, description="Share of the context that tool definitions may take; 0 never defers."
    )
    first_iteration_wait_s: float = Field(
        10.0, ge=0, le=300, description="Seconds that a run waits for servers that are still connecting."
    )
    run_cost_cap: float | None = Field(
        None, gt=0, description="US dollars that one run may cost before a person is asked."
    )
    channel_cost_cap: float | None = Field(
        None, gt=0, description="US dollars that all runs of a channel may cost before a person is asked."
    )


class CurrentSettings(Protocol):
    """Whoever needs settings asks this each time: they change while the hub runs."""

    @property
    def current(self) -> Settings: ...


def parse_setting(name: str, value: Any) -> Any:
    """Check one value; the answer is what is stored."""
    if name not in Settings.model_fields:
        raise NotFoundError(f"There is no setting {name!r}.", hint="`manyhands settings get` lists them all.")
    return getattr(build_settings({name: value}), name)


def build_settings(values: dict[str, Any]) -> Settings:
    """Settings with these values over the defaults."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidError(f"Setting {name}: {first['msg']}.", hint="The old value is kept.") from error

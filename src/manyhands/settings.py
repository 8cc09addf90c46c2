"""Runtime settings: their names, defaults, bounds and meaning. Where they are stored is not known here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from manyhands.errors import InvalidError, NotFoundError

Bytes = Annotated[int, Field(ge=0)]
Days = Annotated[int, Field(ge=1, le=3650)]
MemoryPath = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00\n]+$")]
WebOrigin = Annotated[str, Field(pattern=r"^https://[A-Za-z0-9*.-]+(:[0-9]+)?$")]


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
    connect_parallel: int = Field(8, ge=1, le=64, description="How many servers connect side by side.")
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
    hub_name: str = Field(
        "manyhands",
        min_length=1,
        max_length=50,
        pattern=r"^[\w-]+$",
        description="The name that mentions the hub in a message, after an @.",
    )
    worktree_directory: str | None = Field(
        None,
        max_length=1000,
        pattern=r"^/",
        description="Where worktrees are made; without one in the home's own `worktrees/`.",
    )
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
    profile: str | None = Field(
        None,
        max_length=4000,
        description="What every model is told of you: who you are, how you like answers.",
    )
    run_cost_cap: float | None = Field(
        None, gt=0, description="US dollars that one run may cost before a person is asked."
    )
    channel_cost_cap: float | None = Field(
        None, gt=0, description="US dollars that all runs of a channel may cost before a person is asked."
    )
    long_run_s: int = Field(
        60, ge=0, le=86_400, description="Seconds after which the end of a run is worth a notification."
    )
    webhook_url: str | None = Field(
        None,
        max_length=2000,
        pattern=r"^(https?://|\$\{)",
        description="Address that is told when an approval waits or a long run ends; it may hold references.",
    )
    webhook_secret: str | None = Field(
        None,
        max_length=300,
        pattern=r"^\$\{[^{}]+\}$",
        description="Reference to the secret that signs what is sent there, such as ${keyring:NAME}.",
    )
    agent_mailbox_limit: int = Field(
        500, ge=1, le=10_000, description="How many messages may wait for an agent that does not fetch them."
    )
    agent_message_ttl_s: int = Field(
        86_400, ge=60, le=31_536_000, description="Seconds after which a message that nobody fetched expires."
    )
    workflow_parallel: int = Field(
        8, ge=1, le=64, description="How many nodes of one workflow run work side by side."
    )
    playground_port: int = Field(
        0,
        ge=0,
        le=65_535,
        description="Port of the pages of playgrounds from the next start on; 0: the one after the daemon's.",
    )
    playground_hosts: tuple[WebOrigin, ...] = Field(
        (),
        max_length=50,
        description="Other origins that playgrounds may load from, such as https://esm.sh.",
    )

    memory_paths: tuple[MemoryPath, ...] = Field(
        (".",),
        max_length=100,
        description="Where a project has its notes, from its directory; what begins with ! is left out.",
    )
    memory_global_paths: tuple[MemoryPath, ...] = Field(
        (),
        max_length=100,
        description="Further places of the memory that all projects share, besides the home's `memory/`.",
    )
    memory_conversations: bool = Field(
        False, description="Whether what was said in a project's channels is part of its memory."
    )
    memory_embedder: str = Field(
        "static",
        max_length=200,
        pattern=r"^(static|none|(ollama|openai):\S+)$",
        description="Who makes vectors: static, none, ollama:MODEL or openai:MODEL.",
    )
    memory_embedder_url: str | None = Field(
        None,
        max_length=2000,
        pattern=r"^(https?://|\$\{)",
        description="Address of the embeddings endpoint, where it is not the usual one.",
    )
    memory_embedder_key: str | None = Field(
        None,
        max_length=300,
        pattern=r"^\$\{[^{}]+\}$",
        description="Reference to the endpoint's key, such as ${OPENAI_API_KEY}.",
    )
    memory_file_bytes: int = Field(
        20_000_000, ge=1000, le=1_000_000_000, description="Bytes of the largest file that memory reads."
    )
    memory_watch: bool = Field(
        True, description="Whether the daemon follows changes of the files that it has indexed."
    )
    quality_exclude: tuple[str, ...] = Field(
        (),
        max_length=500,
        description="Patterns, as in .gitignore, of files that a scan of quality leaves out.",
    )
    quality_max_files: int = Field(
        50_000, ge=1, le=1_000_000, description="How many files a scan of quality reads at most."
    )
    quality_max_bytes: Bytes = Field(
        200_000_000, description="How many bytes of source a scan of quality reads at most."
    )
    quality_workers: int = Field(
        0, ge=0, le=64, description="How many processes measure files side by side; 0: one for each core."
    )
    quality_wait_s: float = Field(
        120.0,
        ge=0,
        le=86_400,
        description="Seconds that a process which has scanned waits, with what it knows, to be asked again.",
    )
    quality_history: int = Field(
        500, ge=1, le=10_000, description="How many scans of a branch are kept for its trend."
    )


class CurrentSettings(Protocol):
    """Whoever needs settings asks this each time: they change while the hub runs."""

    @property
    def current(self) -> Settings: ...


_KINDS = {"integer": "integer", "number": "number", "boolean": "boolean", "array": "list"}


def describe_settings(current: Settings) -> list[dict[str, Any]]:
    """What each setting means and may be, with its default and its value, in their order."""
    values, defaults = current.model_dump(mode="json"), Settings().model_dump(mode="json")
    described = []
    for name, schema in Settings.model_json_schema()["properties"].items():
        kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
        bounds = kinds[0]
        described.append(
            {
                "name": name,
                "description": schema["description"],
                "kind": "choice" if "enum" in bounds else _KINDS.get(bounds["type"], "text"),
                "default": defaults[name],
                "value": values[name],
                "optional": len(kinds) < len(schema.get("anyOf", [schema])),
                "minimum": bounds.get("minimum"),
                "maximum": bounds.get("maximum"),
                "above": bounds.get("exclusiveMinimum"),
                "choices": bounds.get("enum", []),
            }
        )
    return described


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

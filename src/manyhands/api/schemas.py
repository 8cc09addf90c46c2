"""Bodies and answers of the API, as OpenAPI describes them: shapes only, under the names of the wire."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from manyhands.approvals.types import ApprovalState, Kind, Scope
from manyhands.chat.runners import Runner
from manyhands.chat.types import RunStatus, Speaker
from manyhands.servers.types import Parallel, ServerStatus, Transport, Trust
from manyhands.tools.types import CallStatus, Effect

T = TypeVar("T")
Json = dict[str, Any]


class Body(BaseModel):
    """What comes in: a field that is not known is a mistake worth telling."""

    model_config = ConfigDict(extra="forbid")


def described_body(model: type[BaseModel]) -> Json:
    """`openapi_extra` of a route that takes a plain object and lets the domain check it by this model."""
    schema = model.model_json_schema()
    places = schema.pop("$defs", {})
    content = {"application/json": {"schema": _without_references(schema, places)}}
    return {"requestBody": {"content": content, "required": True}}


def _without_references(schema: Any, places: Json) -> Any:
    """A schema that stands alone: OpenAPI finds no `$defs` inside a route."""
    if isinstance(schema, list):
        return [_without_references(part, places) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _without_references(places[schema["$ref"].rpartition("/")[2]], places)
    return {name: _without_references(part, places) for name, part in schema.items()}


class Answer(BaseModel):
    """What goes out, every field of it. More fields than these may come with a later version."""

    model_config = ConfigDict(extra="allow", json_schema_serialization_defaults_required=True)


class Items(Answer, Generic[T]):
    """A page of a list; no cursor means that it was the last."""

    items: list[T]
    next_cursor: str | None = None


class Problem(Answer):
    """An error, as `application/problem+json`."""

    type: str
    title: str
    status: int
    code: str = Field(description="Stable: decide by this.")
    detail: str
    hint: str | None = Field(None, description="What to do next.")


# --- servers


class Repair(Answer):
    """Something in a server's lists that had to be mended or left out."""

    item: str
    problem: str
    action: str


class Server(Answer):
    """A server with its state. Values of `env` and `headers` are secrets and come masked."""

    id: int
    name: str
    transport: Transport
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    enabled: bool
    trust: Trust
    tool_timeout: int
    connect_timeout: int
    parallel: Parallel
    channel_push: str | None = Field(None, description="The channel into which it may push messages.")
    status: ServerStatus
    error: str | None = None
    tool_count: int = 0
    version: str | None = None
    protocol: str | None = None
    capabilities: Json = {}
    instructions: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    restarts: int = 0
    attempt: int = 0
    attempts_max: int = 0
    rss: int | None = None
    since: str | None = None
    connect_ms: int | None = None
    sign_in_url: str | None = None
    signed_in: bool | None = Field(
        None, description="Whether the hub has tokens for it; null where no person can sign in."
    )
    problem: str | None = Field(None, description="Why it is connected but not wholly usable.")
    repairs: list[Repair] = []
    project: str | None = Field(None, description="The directory whose .mcp.json names it.")
    trusted: bool = Field(True, description="Whether a project's server may start.")
    held: bool = Field(False, description="A person disconnected it; only a person connects it again.")


class ServerOutcome(Answer):
    """How an attempt to connect ended."""

    ok: bool
    error: str | None = None
    server: Server
    notes: list[str] = []


class ServerTest(Answer):
    """What connecting once, without saving, has shown."""

    ok: bool
    error: str | None = None
    needs_auth: bool = False
    elapsed_ms: int
    version: str | None = None
    protocol: str | None = None
    capabilities: Json = {}
    instructions: str | None = None
    problem: str | None = None
    tools: list[str] = []
    prompts: list[str] = []
    repairs: list[Repair] = []
    stderr: str = ""
    exit_code: int | None = None


class ServerLog(Answer):
    """The end of what a server wrote to its standard error, and how its process is."""

    text: str
    error: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    restarts: int = 0


class ServerImport(Body):
    """The `mcpServers` JSON of another client, as text or parsed; `name` for an entry without one."""

    text: str | None = None
    config: Json | None = None
    source: str = "paste"
    name: str | None = None
    trust: Trust | None = None
    dry_run: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> ServerImport:
        if (self.text is None) == (self.config is None):
            raise ValueError("give either `text` or `config`")
        return self


class ServerImportedItem(Answer):
    """What became of one entry; `server` is absent when there is none of its name."""

    name: str
    action: Literal["added", "updated", "skipped"]
    reason: str | None = None
    notes: list[str] = []
    ok: bool
    error: str | None = None
    server: Server | None = None
    config: Json | None = Field(None, description="The entry as it is understood, secrets masked.")


class ServerImported(Answer):
    """What an import made of a file."""

    source: str
    items: list[ServerImportedItem]
    warnings: list[str] = []


class SignIn(Answer):
    """A sign-in that waits for a person to open `url`."""

    server_id: int
    url: str
    state: str
    redirect_uri: str
    expires_at: str


class SignInEnd(Body):
    """What the browser came back with: the whole address, or the code alone."""

    callback_url: str | None = None
    code: str | None = None
    state: str | None = None


class Resources(Items[Json]):
    """Resources and the templates of more."""

    templates: list[Json] = []


class ResourceRequest(Body):
    """Which resource."""

    uri: str
    channel_id: str | None = None


class PromptRequest(Body):
    """Which prompt to fill in."""

    name: str
    arguments: dict[str, str] = {}
    channel_id: str | None = None


class CompletionRequest(Body):
    """Which argument to complete: of the prompt `of`, or of the resource template `of`."""

    kind: Literal["prompt", "resource"]
    of: str
    argument: str
    value: str = ""
    context: dict[str, str] = {}
    channel_id: str | None = None


# --- tools


class Tool(Answer):
    """A tool with the reason why it is offered or not."""

    fullName: str
    name: str
    description: str
    inputSchema: Json
    outputSchema: Json | None = None
    serverName: str
    serverId: int | None = None
    project: str | None = None
    annotations: Json
    saysDestructive: bool = Field(False, description="It says itself that it may destroy something.")
    saysOpenWorld: bool = Field(False, description="It says itself that it reaches the outside world.")
    tokens: int = Field(0, description="About how many tokens its definition takes in a request.")
    offered: bool
    reason: str
    enabled: bool
    policy: Effect | None = None
    changed: bool = Field(False, description="Its definition is not the one that was approved.")
    diff: str | None = None
    status: str | None = Field(None, description="The status of its server.")
    repair: str | None = None


class FoundTool(Tool):
    """A tool that a search found."""

    score: float


class ToolPreference(Body):
    """What a person decides about a tool; what is not sent stays."""

    enabled: bool | None = None
    policy: Literal["allow", "ask", "deny", "default"] | None = None


class ToolPreferred(Answer):
    """What holds for a tool now."""

    tool: str
    enabled: bool
    policy: Effect | None


class ToolCall(Body):
    """A call: by `name`, or by `server` and `tool`."""

    name: str | None = None
    server: str | int | None = None
    tool: str | None = None
    arguments: Json = {}
    channel_id: str | None = None

    @model_validator(mode="after")
    def _named_once(self) -> ToolCall:
        if (self.name is None) == (self.server is None or self.tool is None):
            raise ValueError("give either `name`, or `server` and `tool`")
        return self


class Call(Answer):
    """One line of the call log."""

    id: str
    tool: str
    server: str
    server_id: int | None
    channel_id: str | None
    arguments: Json
    result: str | None
    content: list[Json] | None
    structuredContent: Any
    isError: bool
    status: CallStatus
    code: str | None
    duration_ms: int | None
    error: str | None
    run_id: str | None
    iteration: int | None
    size: int | None
    result_file: str | None
    at: str


class CallResult(Answer):
    """Part of the text of a result; offsets count characters."""

    call_id: str
    offset: int
    text: str
    size: int
    next_offset: int | None


class NewRule(Body):
    """What is allowed, asked or denied: by server, tool (both may be patterns) and arguments."""

    effect: Effect
    server: str | None = None
    tool: str | None = None
    arguments: Json = {}
    project: str | None = Field(None, description="The directory whose servers are meant.")
    channel_id: str | None = None
    note: str | None = None


class Rule(Answer):
    """A rule as it is kept."""

    id: str
    effect: Effect
    server: str | None
    tool: str | None
    arguments: Json
    project: str | None
    channel_id: str | None
    session_id: str | None
    note: str | None
    description: str
    created_at: str | None


# --- channels


class NewChannel(Body):
    """Found or made by `dir_path` and `platform`, or by `name`."""

    dir_path: str | None = None
    platform: str = "local"
    name: str | None = None
    fresh: bool = Field(False, description="Always a new one: a name that is taken gets a number.")


class ChannelChange(Body):
    """What to change. `trusted`: the servers of the directory's .mcp.json may start.

    `system_prompt` and `model` hold for every run in the channel; null takes them away.
    """

    name: str | None = None
    dir_path: str | None = None
    active: bool | None = None
    branch: str | None = None
    worktree: str | None = None
    trusted: bool | None = None
    system_prompt: str | None = Field(None, max_length=100_000)
    model: str | None = None
    runner: Runner | None = Field(None, description="A command that works here in place of the loop.")


class Channel(Answer):
    """Where a conversation lives."""

    id: str
    name: str
    dir_path: str | None
    platform: str
    parent_id: str | None
    branch: str | None
    worktree: str | None
    active: bool
    trusted: bool
    system_prompt: str | None = None
    model: str | None = None
    runner: Json | None = None


# --- approvals


class ApprovalAnswer(Body):
    """A person's word. `response` is the data of a form."""

    decision: Literal["approve", "reject"]
    scope: Scope = "once"
    response: Any = None
    reason: str | None = None


class Approval(Answer):
    """One entry of the inbox."""

    id: str
    kind: Kind
    state: ApprovalState
    channel_id: str | None
    run_id: str | None
    call_id: str | None
    title: str
    detail: Json
    scope: Scope | None
    response: Any
    reason: str | None
    created_at: str
    expires_at: str | None
    resolved_at: str | None


# --- system


class Health(Answer):
    """That it is alive, for whoever asks."""

    status: Literal["ok", "starting"] = "ok"
    name: str = "manyhands"
    version: str


class Status(Answer):
    """What runs, where, and how much is kept; sizes are bytes."""

    version: str
    pid: int
    url: str | None
    home: str
    directory: str = Field(description="Where it was started, or else the owner's home.")
    started_at: str
    uptime_s: float
    database: str
    servers: dict[str, int] = Field(description="How many servers have which status.")
    approvals: int = Field(description="How many wait for a person.")
    calls: int = Field(description="How many calls over the API are under way.")
    listeners: int
    seq: int
    rss: int
    storage: dict[str, int]
    counts: dict[str, int]
    disk_free: int
    disk_total: int
    oldest_call: str | None
    python: str
    platform: str
    programs: dict[str, str | None] = Field(description="Where the programs are that servers start with.")


class BackupRequest(Body):
    """Where to write it: an absolute path on the daemon's machine that is not taken."""

    path: str
    keys: bool = Field(False, description="Put the owner's token and the key of the secrets into it too.")


class BackupMade(Answer):
    """The backup that was written."""

    path: str
    bytes: int
    entries: int
    database: str
    keys: bool


# --- messages and runs


class Message(Answer):
    """One message of a conversation."""

    id: str
    channel_id: str
    role: Literal["user", "assistant", "tool", "system"]
    content: str
    state: Literal["sent", "queued", "withdrawn", "set_aside"]
    tool_calls: list[Json] = []
    tool_call_id: str | None = None
    is_error: bool = False
    attachments: list[Json] = []
    thinking: str = ""
    author_id: str
    speaker: Speaker = "person"
    mentions: list[Json] = []
    run_id: str | None = None
    iteration: int | None = None
    usage: Json | None = None
    model: str | None = None
    finish_reason: str | None = None
    covers: str | None = Field(None, description="A summary stands for everything up to this message.")
    at: str


class RunWords(Answer):
    """What a model has said so far in an iteration that has not ended; `run.delta` goes on from here."""

    iteration: int
    text: str
    thinking: str


class Run(Answer):
    """One prompt worked on."""

    id: str
    channel_id: str
    status: RunStatus
    model: str | None = None
    iterations: int
    text: str
    usage: Json
    cost: float | None = None
    error: str | None = None
    author_id: str = "owner"
    speaker: Speaker = "person"
    attended: bool = True
    created_at: str
    started_at: str | None = None
    ended_at: str | None = None
    tool_calls: list[Json] = []
    live: RunWords | None = Field(None, description="While the model speaks: its words of this iteration.")


class CallLine(Answer):
    """A call without its arguments and result."""

    id: str
    tool: str
    server: str
    server_id: int | None
    status: CallStatus
    isError: bool
    code: str | None
    error: str | None
    duration_ms: int | None
    size: int | None
    run_id: str | None
    at: str


class Conversation(Items[Message]):
    """A page of messages; with `detail` also the runs and calls that they belong to."""

    runs: list[Run] = []
    calls: list[CallLine] = []

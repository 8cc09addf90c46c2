"""A hub that has been in use for weeks: servers, models, conversations, a past. Pictures are made of it."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, insert

from manyhands.ids import new_id
from manyhands.store.tables import runs, tool_calls
from tests.test_daemon import Daemon, until
from tests.web.office_project import fill, measure
from tests.web.talking_model import Call, Piece, TalkingModel, Thought

SERVER = Path(__file__).with_name("office_server.py")
PROGRAMS = {"github": "github-mcp-server", "postgres": "postgres-mcp", "calendar": "calendar-mcp"}
TOOLS = {
    "github": ("list_commits", "list_issues", "search_code", "get_file"),
    "postgres": ("query", "explain", "list_tables"),
    "calendar": ("list_events",),
    "native": ("read_file", "grep", "list_directory", "run_command"),
}
NOTES = """Four changes went in since **v2.3**, and two issues of the milestone are still open.

- The cart stays when a session ends (*mira*), and a payment is tried once more after a timeout.
- Delivery dates are shown in the customer's own zone (*jonas*).
- Still open: **#412**, slow checkout, where `order_items` needs an index, and **#418**, which has no owner.

Shall I put this into `CHANGELOG.md`?
"""
SECTION = """## 2.4.0
- Your cart stays when you sign in again.
- Delivery dates are shown in your own time zone.
"""
REPORT = """Monday was the best day, and refunds are back to what is usual.

| Day | Orders | Refunds | Revenue |
| --- | ---: | ---: | ---: |
| Monday | 412 | 3 | €18,204 |
| Tuesday | 355 | 2 | €15,020 |
| Wednesday | 371 | 9 | €15,911 |
| Thursday | 388 | 2 | €17,340 |

Wednesday's refunds all belong to **one batch of lamps**. This is the query, should you want it again:

```sql
SELECT date_trunc('day', placed_at) AS day, count(*) AS orders,
       count(*) FILTER (WHERE refunded_at IS NOT NULL) AS refunds
FROM orders WHERE placed_at > now() - interval '1 week' GROUP BY 1
```
"""
REPO = "corner/shop"
TALKS: dict[str, list[tuple[str, str]]] = {
    "Slow checkout query": [
        ("user", "Why does the checkout take two seconds with a full cart?"),
        (
            "assistant",
            "The plan reads all of `order_items` (2.2 million rows). An index on `(order_id, sku)` would do.",
        ),
    ],
    "Onboarding": [
        ("user", "What should somebody new read first?"),
        ("assistant", "Start with `docs/architecture.md`."),
    ],
    "Plan the offsite": [
        ("user", "Find a day in May when all of us are free."),
        ("assistant", "The 14th is free for everybody."),
    ],
}

TASKS: list[dict[str, Any]] = [
    {
        "name": "Morning report",
        "schedule": "0 9 * * mon-fri",
        "timezone": "Europe/Berlin",
        "prompt": "Read what happened in the shop since yesterday and tell me what is unusual.",
        "allow": ["mcp__postgres__*"],
        "budget": 0.5,
    },
    {"name": "Watch the queue", "schedule": "15m", "script": "echo 3 jobs wait"},
    {"name": "Renew the certificate", "schedule": "0 6 1 */2 *", "script": "echo no rights >&2; exit 1"},
    {"name": "Weekly review", "schedule": "0 16 * * fri", "prompt": "Review the week.", "enabled": False},
]
RELEASE = """\
# Reviews a branch, mends what the tests find, and asks before it goes out.
name: release
description: Reviews a branch, mends what the tests find, and asks before it goes out.
inputs:
  branch: {type: string, description: The branch that goes out.}
  files: {type: array, items: {type: string}, default: [cart.py, orders.py, refunds.py]}
nodes:
  - id: fetch
    type: bash
    script: echo fetching {{ inputs.branch }}
  - id: lint
    type: bash
    depends_on: [fetch]
    script: echo no findings
  - id: review
    type: foreach
    depends_on: [fetch]
    items: "{{ inputs.files }}"
    body:
      - id: read
        type: bash
        script: echo {{ item }} reads well
  - id: fix
    type: loop
    depends_on: [lint, review]
    max_iterations: 5
    condition: iteration == 2
    body:
      - id: change
        type: bash
        script: echo change {{ iteration }}
      - id: test
        type: bash
        depends_on: [change]
        script: echo 214 passed
  - id: gate
    type: approval
    depends_on: [fix]
    message: |
      All **214** tests pass, after two changes. Release `{{ inputs.branch }}` to the shop?
    on_reject: fix
  - id: publish
    type: bash
    depends_on: [gate]
    script: echo published {{ inputs.branch }}
  - id: tidy
    type: bash
    depends_on: [publish]
    always_run: true
    script: echo clean
"""


AGENTS = (
    ("reviewer", "Reviewer", "busy", "Reads the timeout fix, file by file"),
    ("tester", "Tester", "busy", "Runs the payment tests on the branch"),
    ("writer", "Writer", "idle", "Waits for the review to write the notes"),
)
MAIL = (
    ("tester", "reviewer", "Two tests of the retry fail on the branch: both expect the old timeout."),
    ("reviewer", "writer", "The fix is fine. Mention that a payment is tried once more."),
)
CHART = """<!doctype html><html lang="en"><title>Refunds</title><style>
  body { font: 15px system-ui; margin: 2rem; color-scheme: light dark }
  div { display: flex; gap: .8rem; align-items: end; height: 12rem }
  i { flex: 1; background: #4f7cff; border-radius: 4px 4px 0 0 }
</style><h1>Refunds by day</h1><div><i style="height:30%"></i><i style="height:55%"></i>
<i style="height:20%"></i><i style="height:80%"></i><i style="height:45%"></i></div></html>"""


def programs(place: Path) -> Path:
    """A directory with the programs of the office's servers, for the PATH."""
    place.mkdir()
    for name, program in PROGRAMS.items():
        file = place / program
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SERVER}" {name}\n')
        file.chmod(0o755)
    return place


def answers(messages: list[dict[str, Any]]) -> Iterable[Piece]:
    """What the model of the office says: it looks, reports, and then writes, which asks."""
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    results = sum(message["role"] == "tool" for message in messages[last:])
    asked = str(messages[last]["content"])
    if "CHANGELOG" in asked:
        return [
            "I put the section above 2.3.0 and leave the rest as it is.",
            Call("write_file", {"path": "CHANGELOG.md", "content": SECTION}),
        ]
    if "refunds" in asked:
        return _report(results)
    if results == 0:
        return [
            Thought("Commits since the tag and the open issues are independent: ask for both at once."),
            "I look at what went in since the last release, and at what is still open.",
            Call("mcp__github__list_commits", {"repo": REPO, "since": "v2.3.0"}),
            Call("mcp__github__list_issues", {"repo": REPO, "milestone": "2.4"}),
            Call("mcp__postgres__explain", {"sql": "SELECT * FROM order_items WHERE order_id = 81"}),
            Call("mcp__github__get_file", {"repo": REPO, "path": "NEWS.md"}),
        ]
    return [NOTES]


def _report(results: int) -> Iterable[Piece]:
    days = "SELECT date_trunc('day', placed_at), count(*) FROM orders GROUP BY 1"
    match results:
        case 0:
            return [
                Thought("The tables first, then the numbers."),
                Call("mcp__postgres__list_tables", {}),
                Call("mcp__postgres__query", {"sql": days}),
            ]
        case 2:
            return [Call("mcp__postgres__query", {"sql": f"{days} HAVING bool_or(refunded)"})]
    return [REPORT]


def furnish(daemon: Daemon, model: TalkingModel, project: Path) -> tuple[str, str]:
    """Fill the hub; the conversations of a report, and of a release in which something waits for a word."""
    project.mkdir()
    (project / "CHANGELOG.md").write_text("## 2.3.0\n- Gift cards.\n")
    fill(project)
    for name, program in PROGRAMS.items():
        trust = "ask" if name == "calendar" else "trusted"
        env = {"GITHUB_TOKEN": "ghp-not-a-real-one"} if name == "github" else {}
        body = {"name": name, "command": program, "args": ["--stdio"], "trust": trust, "env": env}
        _made(daemon.request("POST", "/servers", body))
    _made(daemon.request("POST", "/servers", {"name": "browser", "command": "browser-mcp"}))
    paid = model.config | {"name": "Sonnet", "model": "sonnet-4.5", "context": 200_000}
    local = {"name": "Qwen at home", "provider": "ollama", "model": "qwen3:32b", "context": 40_960}
    models = [_made(daemon.request("POST", "/models", one))["id"] for one in (paid, local)]
    for name, said in TALKS.items():
        _converse(daemon, name, said)
    report = _made(daemon.request("POST", "/channels", {"name": "Weekly report", "fresh": True}))["id"]
    release = _made(daemon.request("POST", "/channels", {"name": "Release 2.4", "dir_path": str(project)}))[
        "id"
    ]
    measure(daemon, release)
    _past(daemon, report, models)
    _ask(daemon, report, "Orders and refunds of last week, by day.")
    _ask(daemon, release, "What changed since 2.3, and what is still open? Draft the release notes.")
    _ask(daemon, release, "Yes, put it into CHANGELOG.md")
    until(lambda: daemon.get("/approvals")["items"])
    return report, release


def _ask(daemon: Daemon, channel_id: str, question: str) -> None:
    _made(daemon.request("POST", "/messages", {"channel_id": channel_id, "content": question}))
    until(lambda: not _running(daemon) or daemon.get("/approvals")["items"])


def _running(daemon: Daemon) -> bool:
    return any(run["ended_at"] is None for run in daemon.get("/runs")["items"])


def _converse(daemon: Daemon, name: str, said: list[tuple[str, str]]) -> None:
    messages = [
        {"id": f"m{place}", "role": role, "content": content, "at": "2026-01-05T10:00:00Z"}
        for place, (role, content) in enumerate(said)
    ]
    document = {"format": "manyhands.conversation", "version": 1, "channel": {"name": name}}
    _made(daemon.request("POST", "/channels/import", document | {"messages": messages}))


def _made(answer: tuple[int, Any]) -> dict[str, Any]:
    status, body = answer
    assert status in (200, 201, 202), body
    made: dict[str, Any] = body
    return made


def _past(daemon: Daemon, channel_id: str, models: list[str]) -> None:
    """Runs and calls of the last weeks, straight into the database: nobody can ask in the past."""
    chance = random.Random(4)
    now = datetime.now(UTC)
    engine = create_engine(f"sqlite:///{daemon.home.database_file}", connect_args={"timeout": 60})
    asked = [
        run for day in range(1, 27) for run in _day(chance, now - timedelta(days=day), channel_id, models)
    ]
    # Most of them in the last day, which the log shows; the rest in the weeks before, which usage shows.
    spans = [60 * 23] * 400 + [60 * 24 * 26] * 900
    minutes = sorted((chance.randint(5, span) for span in spans), reverse=True)
    called = [_call(chance, now - timedelta(minutes=ago), channel_id) for ago in minutes]
    with engine.begin() as conn:
        conn.execute(insert(runs), asked)
        conn.execute(insert(tool_calls), called)
    engine.dispose()


def _day(
    chance: random.Random, day: datetime, channel_id: str, models: list[str]
) -> Iterable[dict[str, Any]]:
    busy = 1 if day.weekday() > 4 else chance.randint(4, 11)
    for _ in range(busy):
        model, price = chance.choice([(models[0], 4e-6), (models[0], 4e-6), (models[1], 0.0)])
        used = chance.randint(4_000, 60_000)
        yield {
            "id": new_id("run"),
            "channel_id": channel_id,
            "status": "completed",
            "options": {},
            "author_id": "person",
            "model": model,
            "iterations": chance.randint(1, 5),
            "text": "",
            "usage": {"input": used, "output": used // 14, "cached": used // 3},
            "cost": used * price,
            "created_at": day,
            "started_at": day,
            "ended_at": day + timedelta(seconds=chance.randint(3, 60)),
            "first_seq": 0,
        }


def _call(chance: random.Random, at: datetime, channel_id: str) -> dict[str, Any]:
    server = chance.choice(list(TOOLS))
    failed = chance.random() < {"github": 0.06, "postgres": 0.02, "calendar": 0.15, "native": 0.01}[server]
    slow = {"github": 240, "postgres": 90, "calendar": 400, "native": 12}[server]
    return {
        "id": new_id("call"),
        "tool": chance.choice(TOOLS[server]),
        "server": server,
        "channel_id": channel_id,
        "arguments": {},
        "result": "it cannot be reached" if failed else "fine",
        "is_error": failed,
        "status": "error" if failed else "success",
        "duration_ms": int(slow * chance.lognormvariate(0, 0.5)),
        "size": chance.randint(40, 9000),
        "at": at,
    }


def schedule(daemon: Daemon, channel_id: str) -> str:
    """Tasks of all kinds, and a run of a workflow that waits for a person: its id."""
    for task in TASKS:
        status, made = daemon.request("POST", "/tasks", {"channel_id": channel_id, **task})
        assert status == 201, made
        if "script" in task:
            _run_task(daemon, made["id"])
    status, made = daemon.request("POST", "/workflows", {"workflow": RELEASE})
    assert status == 201, made
    inputs = {"workflow_name": "release", "inputs": {"branch": "fix/timeouts"}, "channel_id": channel_id}
    status, started = daemon.request("POST", "/workflows/runs", inputs)
    assert status == 201, started
    run_id = str(started["run_id"])
    until(lambda: daemon.get(f"/workflows/runs/{run_id}")["run"]["status"] == "paused")
    return run_id


def populate(daemon: Daemon, channel_id: str) -> None:
    """Agents that work beside each other and write, and a page that one of them has made."""
    gather(daemon, channel_id)
    for sender, receiver, content in MAIL:
        body = {"channel_id": channel_id, "from_agent": sender, "content": content}
        _made(daemon.request("POST", f"/agents/{receiver}/message", body))
    about = {"title": "Refunds by day", "description": "Last week's refunds, drawn from the report."}
    _made(daemon.request("PUT", "/playgrounds/refunds", about | {"html": CHART}))


def gather(daemon: Daemon, channel_id: str) -> None:
    """The agents say that they are there; those that are not heard for a minute leave the list."""
    for agent_id, name, status, summary in AGENTS:
        body = {"channel_id": channel_id, "agent_id": agent_id, "name": name, "status": status}
        _made(daemon.request("POST", "/agents", body | {"work_summary": summary}))


def _run_task(daemon: Daemon, task_id: str) -> None:
    daemon.request("POST", f"/tasks/{task_id}/run")
    until(lambda: daemon.get(f"/tasks/{task_id}/runs")["items"][0]["ended_at"])

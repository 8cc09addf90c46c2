"""The servers of a small office, for pictures: `github`, `postgres`, `calendar`, as the first argument says.

They answer at once, always the same, and touch nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.cli import hand_server

READS = {"readOnlyHint": True}
DESTROYS = {"destructiveHint": True, "openWorldHint": True}
COMMITS = [
    {"sha": "4f1c2ab", "title": "Keep the cart when a session ends", "author": "mira"},
    {"sha": "9b07d3e", "title": "Show delivery dates in the customer's zone", "author": "jonas"},
    {"sha": "c81e55f", "title": "Retry a payment once after a timeout", "author": "mira"},
    {"sha": "1d9a640", "title": "Index orders by customer and day", "author": "aiko"},
]
ISSUES = [
    {"number": 412, "title": "Checkout is slow with more than 40 items", "labels": ["performance"]},
    {"number": 418, "title": "Receipt shows the wrong currency sign", "labels": ["bug"]},
]
PLAN = [{"node": "Seq Scan on order_items", "ms": 1840.2}, {"node": "Hash Join", "ms": 61.7}]
EVENTS = [
    {"at": "10:00", "title": "Release review", "people": ["mira", "jonas"]},
    {"at": "14:30", "title": "Interview"},
]


REPO = {"repo": "The repository, as `owner/name`."}
SQL = {"sql": "One statement."}
Offer = tuple[str, str, dict[str, bool], dict[str, str], Any]
"""A tool: its name, what it does, its hints, its arguments with what each means, and its answer."""
OFFICE: dict[str, list[Offer]] = {
    "github": [
        ("list_commits", "Commits of a branch, newest first.", READS, REPO | {"since": "A tag."}, COMMITS),
        ("list_issues", "Issues, by state and label.", READS, REPO | {"milestone": "Its title."}, ISSUES),
        ("get_file", "The content of one file at a commit.", READS, REPO | {"path": "Which file."}, None),
        ("search_code", "Lines of code that match.", READS, {"query": "What is looked for."}, []),
        ("create_issue", "Opens an issue.", {}, REPO | {"title": "One line."}, {"number": 431}),
        ("merge_pull_request", "Merges a pull request.", DESTROYS, REPO | {"number": "Which one."}, {}),
    ],
    "postgres": [
        ("query", "Runs a statement that only reads.", READS, SQL, [{"day": "Mon", "orders": 412}]),
        ("explain", "The plan of a statement, with times.", READS, SQL, PLAN),
        ("list_tables", "Tables with their sizes.", READS, {}, ["orders", "order_items", "customers"]),
        ("execute", "Runs any statement.", DESTROYS, SQL, {"changed": 1}),
    ],
    "calendar": [
        ("list_events", "What is planned on a day.", READS, {"day": "Such as 2026-03-30."}, EVENTS),
        ("create_event", "Plans something and invites people.", {}, {"title": "What.", "at": "When."}, {}),
    ],
}


def described(name: str, words: str, hints: dict[str, bool], fields: dict[str, str]) -> dict[str, Any]:
    """A tool as `tools/list` has it; what is asked for first is required."""
    made = hand_server.tool(name, words, *list(fields)[:1], **dict.fromkeys(fields, "string"))
    for field, meaning in fields.items():
        made["inputSchema"]["properties"][field]["description"] = meaning
    return {**made, "annotations": hints}


class OfficeServer(hand_server.Server):
    """Every tool answers with what stands beside it above; without that it fails."""

    answers: ClassVar[dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in self.answers:
            raise AttributeError(name)
        found = self.answers[name]
        if found is None:
            return lambda *_: {**hand_server.text("404: no such file at v2.4.0"), "isError": True}
        return lambda *_: hand_server.text(json.dumps(found, indent=2))


if __name__ == "__main__":
    offered = OFFICE[sys.argv[1]]
    hand_server.TOOLS[:] = [described(*one[:4]) for one in offered]
    OfficeServer.answers.update({one[0]: one[4] for one in offered})
    OfficeServer().serve()

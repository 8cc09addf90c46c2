"""What users of systems like this one have suffered from, as requirements; the tests that prove each name it.

A test names what it proves with `@pytest.mark.requirement("L05")`; `python -m tests.requirements` lists the
requirements with their tests. `test_requirements.py` fails when one has no test.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Requirement:
    """One thing that must hold, under the id that tests name."""

    id: str
    text: str


REQUIREMENTS = (
    # --- connections and processes
    Requirement(
        "L01",
        "A local server that dies is started again, with growing pauses and a limit; which attempt of "
        "how many is shown, and one command reconnects all servers.",
    ),
    Requirement(
        "L02",
        "A failed server says why: its command, exit code, how long it lived and the last 64 KiB of "
        "what it wrote to stderr. Writing to stderr alone is no failure.",
    ),
    Requirement(
        "L03",
        "No process outlives its owner: a server's whole process tree ends when it is edited, "
        "reconnected or removed, when the daemon stops, and when the daemon is killed outright.",
    ),
    Requirement(
        "L04",
        "Reading the catalogue never waits for a connection: it answers from the last lists that were "
        "good, however slow or dead a server is.",
    ),
    Requirement(
        "L05",
        "When an HTTP server has forgotten our session, we drop it, connect anew and repeat the call once.",
    ),
    Requirement(
        "L06",
        "A server that says that its tools have changed is read again at once: a run that goes on is offered "
        "the new ones at its next iteration, and the model is told which they are.",
    ),
    Requirement(
        "L07",
        "Lists that come in pages are read to the last page, for every kind of list.",
    ),
    Requirement(
        "L08",
        "A flood on stdout or stderr, or one huge frame, ends in a clear error, and the memory of the "
        "daemon stays level.",
    ),
    Requirement(
        "L09",
        "Servers start side by side but only so many at once, and each has a time limit of its own for "
        "connecting.",
    ),
    Requirement(
        "L10",
        "`connected` means usable: a server whose connection works but whose tools could not be read "
        "shows that.",
    ),
    # --- calls
    Requirement(
        "L11",
        "One place owns a call's time limit: progress extends it up to a hard cap, the elapsed time can"
        " be seen, and the error names both numbers.",
    ),
    Requirement(
        "L12",
        "Stopping a call tells the server first and then stops waiting; the server itself goes on.",
    ),
    Requirement(
        "L13",
        "Calls of one iteration do not depend on each other: one that fails hides none of the others, and "
        "results come back in the order of the calls.",
    ),
    Requirement(
        "L14",
        "Whether calls of a server may run side by side is its setting: all of them, only those that "
        "read, none.",
    ),
    Requirement(
        "L15",
        "Nothing of a result is lost: text beside structured content, images, and the flag that says it"
        " is an error.",
    ),
    Requirement(
        "L16",
        "A result over the limit goes to a file; the caller gets its head, its tail, its true size and "
        "a way to read the rest in pages.",
    ),
    Requirement(
        "L17",
        "A model that makes the same call with the same result again and again is told so, and then the run "
        "ends and says why.",
    ),
    Requirement(
        "L18",
        "A tool with a name that is too long or a schema that is broken is repaired or left out, by "
        "itself and with a report; all other tools are offered.",
    ),
    Requirement(
        "L19",
        "Arguments that are not well-formed are never replaced by empty ones: the model is told what is "
        "wrong and can correct it.",
    ),
    # --- what is offered
    Requirement(
        "L20",
        "Definitions of tools take a bounded part of the context: above it the model searches, reads and "
        "calls tools instead, sees which of them ask a person first, and the order of tools stays the same.",
    ),
    Requirement(
        "L21",
        "For every tool there is one view that says why it is offered or why it is not.",
    ),
    # --- permission and trust
    Requirement(
        "L22",
        "A permission lasts as long as was said: once, this session, always for the tool, always for "
        "the server; patterns that allow do not ask again; each can be seen and taken back.",
    ),
    Requirement(
        "L23",
        "Who is asked for permission sees the exact arguments, bounded in size, with invisible and "
        "direction-changing characters made visible.",
    ),
    Requirement(
        "L24",
        "What a server says of its own tools can make the default stricter and never looser; only a "
        "person's rule can loosen it.",
    ),
    Requirement(
        "L25",
        "A tool is pinned by name, description and schema: when its definition changes after it was "
        "allowed, the difference is shown in readable form and permission is asked again.",
    ),
    Requirement(
        "L26",
        "Only a person has a person's authority: a project's config cannot approve its own servers, and what "
        "another agent or a schedule says approves nothing.",
    ),
    # --- sign-in and secrets
    Requirement(
        "L27",
        "Sign-in lasts: tokens are refreshed by one at a time, the old one is kept until the new one "
        "works, a refusal shows as `needs_auth` and not as an error, and a browser on another machine "
        "is enough.",
    ),
    Requirement(
        "L28",
        "Secrets are kept as references and appear in no listing, log, argument list, result or plain file.",
    ),
    Requirement(
        "L29",
        "A config file with the wrong top key or with stray white space in a value is not read as "
        "empty: the message names the file and the key.",
    ),
    # --- agents and worktrees
    Requirement(
        "L30",
        "A time that nobody was there for leaves a row `missed` in the history and, as the task says, one "
        "run that makes up for it within a window; never a run at a wrong hour.",
    ),
    Requirement(
        "L31",
        "A task says what it may use. What it may not use is refused without a person and reported with the "
        "run, and the next run still happens.",
    ),
    Requirement(
        "L32",
        "A slow task delays no other, and no restart of the daemon loses a time.",
    ),
    Requirement(
        "L33",
        "A task that would never run is refused when it is made: its schedule, model and tools are checked, "
        "and its next five times are shown.",
    ),
    Requirement(
        "L34",
        "Messages between agents are kept until they are delivered, each with a receipt; one to a name that "
        "is not there is an error that says who is.",
    ),
    # --- worktrees
    Requirement(
        "L35",
        "A worktree with uncommitted, unmerged or unpushed work is never removed without saying what would "
        "be lost and being told to; all of them are listed with size and state, and merged ones cleaned up.",
    ),
    # --- workflows
    Requirement(
        "L36",
        "The states of a workflow run and of its nodes are exact: an approval is a success, a run with a "
        "failed node fails, and nothing goes on that nobody resumed.",
    ),
    Requirement(
        "L37",
        "Cycles, unknown dependencies and duplicate ids are refused when a workflow is saved, with the place "
        "of the mistake.",
    ),
    Requirement(
        "L38",
        "Several gates wait at once and are answered in any order; a rejection is an answer of its own.",
    ),
    # --- memory
    Requirement(
        "L39",
        "A search never waits for a model to be loaded again, nor a start for vectors: words are searched at "
        "once, meaning follows.",
    ),
    Requirement(
        "L40",
        "What is deleted is not found, and the index says exactly what it holds: files, chunks, vectors, and "
        "what it could not read or embed.",
    ),
    # --- quality
    Requirement(
        "L41",
        "Every function is measured by itself, within its true boundaries: arrow functions, JSX and TSX, "
        "closures; what is nested in a function is not charged to it.",
    ),
    Requirement(
        "L42",
        "A gate fails on what a change has made worse; problems that were there before do not fail it, "
        "wherever their lines have gone.",
    ),
    # --- pages
    Requirement(
        "L43",
        "A long row of tool calls folds into one line with a live label; what failed, waits or asks stays "
        "in sight.",
    ),
    Requirement(
        "L44",
        "A reloaded page and a second window show the same run as the first, still streaming.",
    ),
    Requirement(
        "L45",
        "Pages that agents write run scripts, and reach nothing of the hub: not its API, its cookies, its "
        "storage or the page that shows them.",
    ),
)

IDS = frozenset(requirement.id for requirement in REQUIREMENTS)


def proofs_in(directory: Path) -> dict[str, list[str]]:
    """The tests below a directory by the requirement that they name."""
    found = defaultdict(list)
    for path in sorted(directory.rglob("test_*.py")):
        if "node_modules" not in path.parts:
            for name, test in _marked_tests(ast.parse(path.read_text(encoding="utf-8")), []):
                found[name].append(f"{path.relative_to(directory)}::{test}")
    return dict(found)


def _marked_tests(scope: ast.Module | ast.ClassDef, inherited: list[str]) -> Iterator[tuple[str, str]]:
    """(requirement, test) for each mark that holds for a test: its own, its class's and its module's."""
    names = inherited + [name for node in scope.body if _is_pytestmark(node) for name in _named_in(node)]
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            own = [name for decorator in node.decorator_list for name in _named_in(decorator)]
            yield from _marked_tests(node, names + own)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            own = [name for decorator in node.decorator_list for name in _named_in(decorator)]
            yield from ((name, node.name) for name in names + own)


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"


def _named_in(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.requirement":
            yield from (str(argument.value) for argument in call.args if isinstance(argument, ast.Constant))


if __name__ == "__main__":
    found = proofs_in(Path(__file__).parent)
    for requirement in REQUIREMENTS:
        print(
            f"{requirement.id}  {requirement.text}", *found.get(requirement.id, ["(no test)"]), sep="\n     "
        )

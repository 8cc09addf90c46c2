"""The leak check itself: what is left behind is found and named, what ends in time is not."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFTEST = """
import tests.leaks
from tests.leaks import no_task_stays_behind, nothing_stays_behind, mark_session
import pytest

tests.leaks.GRACE = 0.2

def pytest_configure():
    mark_session()

@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"
"""


def run(pytester: pytest.Pytester, source: str) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST)
    pytester.makepyprojecttoml(
        f'[tool.pytest.ini_options]\npythonpath = ["{Path(__file__).parents[1]}"]\nanyio_mode = "auto"'
    )
    pytester.makepyfile(source)
    return pytester.runpytest_subprocess()


def test_a_task_left_behind_fails_the_test_and_is_named(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import asyncio

        async def test_it():
            global kept
            kept = asyncio.create_task(asyncio.sleep(60), name="forgotten")
        """,
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*left behind: task 'forgotten' in *"])


def test_a_thread_left_behind_fails_the_test_and_is_named(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import threading

        def test_it():
            threading.Thread(target=threading.Event().wait, name="forgotten", daemon=True).start()
        """,
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*left behind: thread 'forgotten'*"])


def test_a_child_left_behind_fails_the_test_and_is_ended(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import subprocess

        def test_it():
            global child
            child = subprocess.Popen(["sleep", "61"])

        def test_it_is_gone():
            assert child.wait(5) == -9
        """,
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*left behind: process * (sleep 61)*"])


def test_a_grandchild_whose_parent_has_ended_is_found(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import subprocess

        def test_it():
            subprocess.run(["sh", "-c", "sleep 62 >/dev/null 2>&1 &"], start_new_session=True)
        """,
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*left behind: process * (sleep 62)*"])


def test_what_ends_by_itself_is_no_leak(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import asyncio, subprocess

        async def test_it():
            global kept
            kept = asyncio.create_task(asyncio.sleep(0.01))
            await asyncio.to_thread(subprocess.run, ["true"])
        """,
    )
    result.assert_outcomes(passed=1)

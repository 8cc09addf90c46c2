"""Every requirement of `requirements.py` has tests that name it, and every name is one of the list."""

from __future__ import annotations

from pathlib import Path

from tests.requirements import IDS, REQUIREMENTS, proofs_in

TESTS = Path(__file__).parent


def test_every_requirement_is_proven_by_a_test() -> None:
    proofs = proofs_in(TESTS)
    unproven = [f"{one.id}: {one.text}" for one in REQUIREMENTS if one.id not in proofs]
    assert not unproven, "\n".join([f"{len(unproven)} of {len(REQUIREMENTS)} have no test:", *unproven])


def test_tests_name_only_requirements_that_exist() -> None:
    unknown = [
        f"{where}: {name}" for name, tests in proofs_in(TESTS).items() if name not in IDS for where in tests
    ]
    assert not unknown, "\n".join(unknown)


def test_each_requirement_has_an_id_of_its_own() -> None:
    assert len(IDS) == len(REQUIREMENTS)


def test_marks_on_functions_classes_and_modules_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(
        """
import pytest
pytestmark = [pytest.mark.anyio, pytest.mark.requirement("M1")]

@pytest.mark.requirement("F1")
@pytest.mark.requirement("F2")
async def test_function(): ...

@pytest.mark.requirement("C1")
class TestThings:
    def test_method(self): ...

@pytest.mark.requirement("N1")
def not_a_test(): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("P1"))])
def test_parameter(x): ...
"""
    )
    proofs = proofs_in(tmp_path)
    assert set(proofs) == {"M1", "F1", "F2", "C1", "P1"}
    assert proofs["F1"] == ["test_some.py::test_function"]
    assert proofs["C1"] == ["test_some.py::test_method"]
    assert len(proofs["M1"]) == 3


def test_a_file_without_tests_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_none.py").write_text('import pytest\npytestmark = pytest.mark.requirement("M1")\n')
    assert proofs_in(tmp_path) == {}

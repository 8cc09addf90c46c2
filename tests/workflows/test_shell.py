"""Values in scripts: one word each wherever they stand, checked by a real shell."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.workflows import shell
from manyhands.workflows.templates import TemplateFault, render_script, script_places

NASTY = "a b; touch pwned $(touch pwned) `touch pwned` \"x\" 'y' \\ $HOME !! # & | > ~ *\nnext"


def run(script: str, value: object) -> str:
    text = render_script(script, {"inputs": {"x": value}})
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    "script",
    [
        "printf %s {{ inputs.x }}",
        'printf %s "{{ inputs.x }}"',
        "printf %s '{{ inputs.x }}'",
        "printf %s $(printf '%s\n' {{ inputs.x }} >/dev/null; true){{ inputs.x }}",
        'printf %s "$(printf %s {{ inputs.x }})"',
        'printf %s "$(printf %s "{{ inputs.x }}")"',
        "# it's {{ inputs.x }}\nprintf %s {{ inputs.x }}",
        "cat <<'EOF' >/dev/null\nit's \"\nEOF\nprintf %s {{ inputs.x }}",
        "case a in\n  a) printf %s {{ inputs.x }};;\nesac",
        'printf %s "$(case a in a) printf %s {{ inputs.x }};; esac)"',
        "echo $'it\\'s' >/dev/null; printf %s {{ inputs.x }}",
        'f() { printf %s "$1"; }; f {{ inputs.x }}',
        "cat <<< {{ inputs.x }} | head -c -1",
    ],
)
def test_a_value_is_one_word_wherever_it_stands(
    script: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path_factory.mktemp("empty")
    monkeypatch.chdir(place)
    assert run(script, NASTY) == NASTY
    assert list(place.iterdir()) == []


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ue000\ue001"), max_size=30))
@settings(max_examples=25)
def test_any_text_comes_out_of_the_shell_as_it_went_in(text: str) -> None:
    script = "printf '%s\\n' {{ inputs.x }} \"{{ inputs.x }}\" '{{ inputs.x }}' | cat"
    assert run(script, text) == f"{text}\n" * 3


def test_other_values_are_written_as_json() -> None:
    assert run("printf %s {{ inputs.x }}", {"a": [1, True, None]}) == '{"a": [1, true, null]}'
    assert run("printf '[%s]' {{ inputs.x }}", None) == "[]"
    assert run("echo $(( {{ inputs.x }} + 1 ))", 41) == "42\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("cat <<EOF\n{{ inputs.x }}\nEOF\n", "here-document"),
        ("cat <<'EOF'\nx {{ inputs.x }}\nEOF\n", "here-document"),
        ("echo `cat {{ inputs.x }}`", "backticks"),
        ("echo $'a{{ inputs.x }}'", "other quotes"),
        ("echo $(( {{ inputs.x }} ))", "whole number"),
    ],
)
def test_where_no_way_of_writing_is_safe_it_is_an_error(script: str, said: str) -> None:
    with pytest.raises(TemplateFault, match=said):
        render_script(script, {"inputs": {"x": "text"}})


def test_a_value_with_a_nul_is_refused() -> None:
    with pytest.raises(TemplateFault, match="NUL"):
        render_script("echo {{ inputs.x }}", {"inputs": {"x": "a\0b"}})


def test_the_places_of_expressions_are_known_before_anything_runs() -> None:
    script = "echo {{ a }}\necho \"{{ b }}\"\n{% if c %}\necho '{{ d }}' # {{ e }}\n{% endif %}"
    assert script_places(script) == [("plain", 1), ("double", 2), ("single", 4), ("comment", 4)]


def test_marks_are_found_with_their_lines() -> None:
    text = f"a {shell.mark(0)}\n\n'{shell.mark(1)}'"
    assert shell.places(text) == [(0, "plain", 1), (1, "single", 3)]

"""What command agents tell as JSON lines, each in its own form, in whatever pieces it comes.

The lines are as the programs that `./dev agents` installs write them.
"""

from __future__ import annotations

import json

import pytest

from manyhands.chat.agent_output import PlainOutput, plain_text
from manyhands.chat.agent_streams import (
    ClaudeOutput,
    CodexOutput,
    GooseOutput,
    JsonLines,
    OpencodeOutput,
    output_of,
)


def line(**event: object) -> bytes:
    return json.dumps(event).encode() + b"\n"


def text_of(text: str) -> bytes:
    return line(type="assistant", message={"content": [{"type": "text", "text": text}, {"type": "tool_use"}]})


def delta(text: str) -> bytes:
    return line(type="stream_event", event={"delta": {"type": "text_delta", "text": text}})


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_json_lines_are_read_in_pieces_of_any_size(size: int) -> None:
    data = text_of("one") + text_of("two") + line(type="result", result="three", is_error=False)
    output = ClaudeOutput()
    shown = "".join(output.feed(data[place : place + size]) for place in range(0, len(data), size))
    assert plain_text(shown) == "one\n\n· tool\ntwo\n\n· tool\n"
    assert output.report().text == "three"


def test_words_that_stream_are_not_said_twice() -> None:
    output = ClaudeOutput()
    shown = output.feed(delta("hel") + delta("lo") + text_of("hello"))
    assert plain_text(shown) == "hello· tool\n"
    assert output.report().text == "hello"


def test_a_result_can_say_that_it_failed() -> None:
    output = ClaudeOutput()
    output.feed(line(type="result", result="out of credit", is_error=True))
    assert output.report().failed == "out of credit"


def test_what_is_no_json_is_shown_as_it_is() -> None:
    output = ClaudeOutput()
    assert output.feed(b"warning: old version\n[1]\n\n") == "warning: old version\n"
    output.feed(b"no end of line")
    assert output.report().text == "warning: old version\nno end of line"


def test_messages_that_stream_are_kept_apart() -> None:
    output = ClaudeOutput()
    stop = line(type="stream_event", event={"type": "message_stop"})
    output.feed(delta("one") + stop + delta("two") + stop)
    assert output.report().text == "one\n\ntwo"


def test_what_an_agent_does_is_shown_and_not_kept() -> None:
    output = ClaudeOutput()
    use = {"type": "tool_use", "name": "Bash", "input": {"command": "ls\n" * 200}}
    shown = output.feed(line(type="assistant", message={"content": [use]}))
    assert plain_text(shown).startswith('· Bash {"command": "ls')
    assert len(shown) < 300
    assert output.report().text == ""


def test_codex_tells_items() -> None:
    output = CodexOutput()
    call = {"type": "mcp_tool_call", "server": "manyhands", "tool": "send_message", "arguments": {"a": 1}}
    change = {"type": "file_change", "changes": [{"path": "a.py", "kind": "add"}]}
    shown = output.feed(
        line(type="item.completed", item={"type": "error", "message": "no metadata"})
        + line(type="item.completed", item={"type": "agent_message", "text": "I look."})
        + line(type="item.started", item={"type": "command_execution", "command": "ls -l"})
        + line(type="item.started", item=call)
        + line(type="item.completed", item=change)
        + line(type="item.completed", item={"type": "agent_message", "text": "Done."})
        + line(type="turn.completed", usage={"input_tokens": 7, "cached_input_tokens": 2, "output_tokens": 3})
    )
    assert plain_text(shown).splitlines()[2:5] == [
        "· $ ls -l",
        '· manyhands.send_message {"a": 1}',
        "· changed a.py",
    ]
    report = output.report()
    assert (report.text, report.failed) == ("I look.\n\nDone.", None)
    assert report.usage == {"input": 7, "output": 3, "cached": 2}


def test_opencode_tells_parts_and_what_each_step_cost() -> None:
    output = OpencodeOutput()
    tokens = {"input": 3, "output": 1, "cache": {"read": 2}}
    step = line(type="step_finish", part={"tokens": tokens, "cost": 0.25})
    shown = output.feed(
        line(type="tool_use", part={"tool": "bash", "state": {"input": {"command": "ls"}}})
        + step
        + line(type="text", part={"text": "Done."})
        + step
    )
    assert plain_text(shown) == '· bash {"command": "ls"}\nDone.\n\n'
    report = output.report()
    assert (report.text, report.cost) == ("Done.", 0.5)
    assert report.usage == {"input": 10, "output": 2, "cached": 4}


def test_goose_tells_a_message_in_pieces() -> None:
    def said(message: str, **block: object) -> bytes:
        return line(type="message", message={"id": message, "role": "assistant", "content": [block]})

    output = GooseOutput()
    call = {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}
    shown = output.feed(
        said("m1", type="text", text="I ")
        + said("m1", type="text", text="look.")
        + said("m1", type="toolRequest", toolCall=call)
        + line(type="message", message={"role": "user", "content": [{"type": "toolResponse"}]})
        + said("m1", type="text", text="Done.")
        + line(type="complete", input_tokens=5, output_tokens=2)
    )
    assert plain_text(shown) == 'I look.· shell {"command": "ls"}\n\n\nDone.'
    assert output.report().text == "I look.\n\nDone."
    assert output.report().usage == {"input": 5, "output": 2, "cached": 0}


@pytest.mark.parametrize(
    ("output", "event"),
    [
        (CodexOutput(), {"type": "turn.failed", "error": {"message": "no credit"}}),
        (OpencodeOutput(), {"type": "error", "error": {"name": "E", "data": {"message": "no credit"}}}),
        (GooseOutput(), {"type": "error", "error": "no credit"}),
    ],
)
def test_each_can_say_that_it_failed(output: JsonLines, event: dict[str, object]) -> None:
    output.feed(line(**event))
    assert output.report().failed == "no credit"


@pytest.mark.parametrize("output", [ClaudeOutput(), CodexOutput(), OpencodeOutput(), GooseOutput()])
def test_events_of_another_form_are_passed_over(output: JsonLines) -> None:
    output.feed(b'{"type": "item.completed", "item": 5, "message": [], "part": "x", "error": 1}\n')
    output.feed(
        b'{"type": "message", "message": {"role": "assistant"}}\n{"type": "assistant", "message": 1}\n'
    )
    output.feed(b'{"type": "step_finish", "part": {"tokens": []}}\n{"type": "stream_event", "event": 1}\n')
    assert output.report().text == ""


def test_the_program_and_its_arguments_say_which_form_it_is() -> None:
    assert isinstance(output_of("claude", ["-p", "--output-format=stream-json"]), ClaudeOutput)
    assert isinstance(output_of("mine", ["--output-format", "stream-json"]), ClaudeOutput)
    assert isinstance(output_of("goose", ["run", "--output-format", "stream-json"]), GooseOutput)
    assert isinstance(output_of("codex", ["exec", "--json"]), CodexOutput)
    assert isinstance(output_of("opencode", ["run", "--format", "json"]), OpencodeOutput)
    assert isinstance(output_of("codex", ["exec"]), PlainOutput)
    assert isinstance(output_of("opencode", ["run", "json"]), PlainOutput)

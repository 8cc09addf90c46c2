"""A result that is too large is stood in for by head, tail, true size and the way to the rest."""

from __future__ import annotations

import pytest

from manyhands.tools.large_results import GIVEN_BINARY, LOGGED_BINARY, cut_text, page_text, stand_in, weigh
from manyhands.tools.types import ToolResult, text_result

LIMIT = 3000


def image(characters: int) -> dict[str, str]:
    return {"type": "image", "mimeType": "image/png", "data": "A" * characters}


def test_a_small_result_fits() -> None:
    weight = weigh(text_result("x" * LIMIT), LIMIT)
    assert weight.fits
    assert weight.size == LIMIT


@pytest.mark.requirement("L16")
def test_a_long_text_keeps_its_head_and_tail_and_tells_its_true_size_and_how_to_page() -> None:
    text = "HEAD" + "m" * 318_000 + "TAIL"
    cut = cut_text(text, LIMIT, "call_1")
    assert cut.startswith("HEAD")
    assert cut.endswith("TAIL")
    assert "of 318008 characters left out" in cut
    assert 'call read_file with {"path": "result:call_1", "offset": 2000, "limit": 1500}' in cut
    assert len(cut) < LIMIT


def test_what_is_left_out_and_what_is_shown_add_up() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(10_000))
    cut = cut_text(text, LIMIT, "call_1")
    head, tail = cut.partition("\n[…")[0], cut.rpartition("…]\n")[2]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert f"{10_000 - len(head) - len(tail)} of 10000" in cut


def test_an_image_beside_a_long_text_is_kept() -> None:
    result = ToolResult([{"type": "text", "text": "x" * 5000}, image(100)])
    shown = stand_in(result, weigh(result, LIMIT), "call_1", binary_limit=GIVEN_BINARY)
    assert [block["type"] for block in shown.content] == ["text", "image"]


def test_an_ordinary_image_is_given_but_not_put_into_the_log() -> None:
    result = ToolResult([{"type": "text", "text": "a picture"}, image(LOGGED_BINARY + 1)])
    weight = weigh(result, LIMIT)
    assert not weight.fits
    assert stand_in(result, weight, "call_1", binary_limit=GIVEN_BINARY).content == result.content
    logged = stand_in(result, weight, "call_1", binary_limit=1000).content
    assert logged[0] == {"type": "text", "text": "a picture"}
    assert logged[1]["text"].startswith("[image of image/png, about 49152 bytes, left out")


@pytest.mark.requirement("L16")
def test_a_huge_image_goes_to_the_file_too() -> None:
    result = ToolResult([image(GIVEN_BINARY + 1)])
    shown = stand_in(result, weigh(result, LIMIT), "call_1", binary_limit=GIVEN_BINARY)
    assert "left out" in shown.content[0]["text"]


def test_an_embedded_file_counts_by_its_data() -> None:
    blob = {"type": "resource", "resource": {"uri": "file:///x", "blob": "A" * 70_000, "mimeType": "x/y"}}
    weight = weigh(ToolResult([blob]), LIMIT)
    assert weight.binary == 70_000
    assert not weight.fits


def test_huge_structured_content_is_left_out_and_can_be_paged() -> None:
    result = text_result("short", structured={"rows": ["x" * 100] * 100})
    weight = weigh(result, LIMIT)
    shown = stand_in(result, weight, "call_1", binary_limit=GIVEN_BINARY)
    assert shown.structured is None
    assert shown.content[0]["text"] == "short"
    assert '"offset": 6' in shown.content[1]["text"]
    assert page_text(result, weight)[6:].startswith('{"rows": [')


@pytest.mark.requirement("L15")
def test_text_and_structured_content_are_both_kept() -> None:
    result = text_result("x" * 5000, structured={"a": 1}, is_error=True, code="odd")
    shown = stand_in(result, weigh(result, LIMIT), "call_1", binary_limit=GIVEN_BINARY)
    assert shown.structured == {"a": 1}
    assert shown.is_error
    assert shown.code == "odd"
    assert shown.text.startswith("xxx")

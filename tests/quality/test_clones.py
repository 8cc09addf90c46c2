"""What a function is compared by, and which are compared at all."""

from __future__ import annotations

from manyhands.quality.languages import BY_NAME
from manyhands.quality.parsing import parse


def test_what_has_five_lines_is_compared_and_what_has_four_is_not() -> None:
    four = "def f(a):\n    b = a + 1\n\n    # what follows\n    c = b * 2\n    return c\n"
    five = four.replace("    return", "    d = c - 1\n    return")
    shown = [parse(text.encode(), BY_NAME["python"]).functions[0] for text in (four, five)]
    assert [one.whole_lines for one in shown] == [4, 5]
    assert [one.fingerprint is None for one in shown] == [True, False]


def test_overloads_that_only_declare_are_no_copies() -> None:
    head = "@overload\ndef f(\n" + "".join(f"    name{n}: int = 1,\n" for n in range(20)) + ") -> {}:\n"
    bodies = ('    """What it does."""\n    ...\n\n\n', "    ...\n")
    declared = head.format("int") + bodies[0] + head.format("str") + bodies[1]
    facts = parse(declared.encode(), BY_NAME["python"])
    assert [one.fingerprint for one in facts.functions] == [None, None]
    defined = parse((head.format("int") + "    return name1\n").encode(), BY_NAME["python"])
    assert defined.functions[0].fingerprint is not None

"""What a function costs, against cases counted by hand."""

from __future__ import annotations

from textwrap import dedent

import pytest

from manyhands.quality.functions import FunctionFacts
from manyhands.quality.languages import BY_NAME
from manyhands.quality.parsing import parse


def measure(language: str, source: str) -> dict[str, FunctionFacts]:
    facts = parse(dedent(source).encode(), BY_NAME[language])
    assert facts.syntax_errors == 0
    return {function.name: function for function in facts.functions}


# language, source, then by hand: cyclomatic, cognitive, nesting, parameters, lines of `f`
COUNTED = {
    "a straight line": ("python", "def f(a, b):\n    c = a + b\n    return c\n", (1, 0, 0, 2, 3)),
    # if 1+1; elif 1+1; else 0+1
    "a chain of elif": (
        "python",
        """
        def f(a):
            if a == 1:
                return 1
            elif a == 2:
                return 2
            else:
                return 3
        """,
        (3, 3, 1, 1, 7),
    ),
    # for: 1/1, if: 1/2, while: 1/3 -> cyclomatic 4, cognitive 6
    "nesting costs more the deeper it is": (
        "python",
        """
        def f(xs):
            for x in xs:
                if x:
                    while x > 1:
                        x -= 1
        """,
        (4, 6, 3, 1, 5),
    ),
    # if 1/1; and and 2/1; or 1/1; and 1/1 -> the paper's example: three runs of like operators
    "runs of like operators": (
        "python",
        "def f(a, b, c, d, e):\n    if a and b and c or d and e:\n        pass\n",
        (6, 4, 1, 5, 3),
    ),
    # `not` begins a new run: if 1/1, and 1/1, and 1/1
    "a negation begins a new run": (
        "python",
        "def f(a, b, c):\n    if a and not (b and c):\n        pass\n",
        (4, 3, 1, 3, 3),
    ),
    # or 1, and 1, or 1 in reading order, plus the if
    "operators are read in order": (
        "python",
        "def f(a, b, c, d):\n    if a or b and c or d:\n        pass\n",
        (5, 4, 1, 4, 3),
    ),
    # try 0/0; except 1/1; if inside it 1/2
    "an except nests and a try does not": (
        "python",
        """
        def f(a):
            try:
                g(a)
            except ValueError:
                if a:
                    raise
        """,
        (3, 3, 2, 1, 6),
    ),
    # ternary in the condition of an if is not nested in it: if 1/1, ternary 1/1
    "a condition is not nested in what it decides": (
        "python",
        "def f(a, b):\n    if (1 if a else b):\n        pass\n",
        (3, 2, 1, 2, 3),
    ),
    # match 0/1, two cases 2/0, the fallback nothing
    "a match costs one to read": (
        "python",
        """
        def f(a):
            match a:
                case 1:
                    return 1
                case 2:
                    return 2
                case _:
                    return 3
        """,
        (3, 1, 1, 1, 8),
    ),
    # comprehension: for 1, if 1; neither is harder to follow than the paper's structures
    "a comprehension decides": ("python", "def f(xs):\n    return [x for x in xs if x]\n", (3, 0, 0, 1, 2)),
    # if 1/1, recursion 0/1 once, ternary-free
    "calling itself costs one": (
        "python",
        "def f(n):\n    if n < 2:\n        return n\n    return f(n - 1) + f(n - 2)\n",
        (2, 2, 1, 1, 4),
    ),
    "the receiver and separators are no parameters": (
        "python",
        "class A:\n    def f(self, a, /, b, *, c=1, **rest):\n        pass\n",
        (1, 0, 0, 4, 2),
    ),
    "a receiver with a type is none either": (
        "python",
        "class A:\n    def f(self: Self, a: int) -> Self:\n        return self\n",
        (1, 0, 0, 1, 2),
    ),
    "nor is the `this` of a script with types": (
        "typescript",
        "function f(this: Window, a?: number) { return a; }",
        (1, 0, 0, 1, 1),
    ),
    "strings and comments that go on add no lines": (
        "python",
        'def f():\n    """One.\n\n    Two.\n    """\n    # why\n\n    return 1\n',
        (1, 0, 0, 0, 3),
    ),
    # for 1/1, for 1/2, if 1/3, continue OUTER 0/1 : the prime example of the paper
    "a jump to a label": (
        "javascript",
        """
        function f(max) {
          let total = 0;
          OUT: for (let i = 1; i <= max; ++i) {
            for (let j = 2; j < i; ++j) {
              if (i % j === 0) {
                continue OUT;
              }
            }
            total += i;
          }
          return total;
        }
        """,
        (4, 7, 3, 1, 12),
    ),
    # switch 0/1, three cases 3/0, default nothing: the other example of the paper
    "a switch": (
        "java",
        """
        class A {
          String f(int number) {
            switch (number) {
              case 1: return "one";
              case 2: return "a couple";
              case 3: return "a few";
              default: return "lots";
            }
          }
        }
        """,
        (4, 1, 1, 1, 8),
    ),
    "else if in java": (
        "java",
        "class A { int f(int a) { if (a > 1) { g(); } else if (a > 2) { h(); } else { return 3; } } }",
        (3, 3, 1, 1, 1),
    ),
    "else if in go, and two names of one type": (
        "go",
        "package p\nfunc f(a, b int) int {\n if a > 1 { g() } else if b > 2 { h() } else { i() }\n}\n",
        (3, 3, 1, 2, 3),
    ),
    "a match in rust": (
        "rust",
        "fn f(a: i32) -> i32 {\n match a {\n 1 => 2,\n _ if a > 3 => 5,\n _ => 3,\n }\n}\n",
        (3, 1, 1, 1, 7),
    ),
    "a loop without a condition decides nothing": (
        "rust",
        "fn f() {\n loop {\n if g() { break; }\n }\n}\n",
        (2, 3, 2, 0, 5),
    ),
    "c with goto": (
        "c",
        "int f(void) {\n if (a && b) goto end;\n return a ? 1 : 2;\nend:\n return 0;\n}\n",
        (4, 4, 1, 0, 6),
    ),
    "c++ with catch": (
        "cpp",
        "int f(int a) {\n try { g(); } catch (int e) { if (e) return 1; }\n for (auto x : y) {}\n}\n",
        (4, 4, 2, 1, 4),
    ),
    "c# with a switch expression": (
        "csharp",
        "class A { int f(int a) { return a switch { 1 => 2, 2 => 3, _ => 4 }; } }",
        (3, 1, 1, 1, 1),
    ),
    "ruby with elsif and a case": (
        "ruby",
        """
        def f(a, b = 1)
          if a && b
            1
          elsif a
            2
          else
            3
          end
          case a
          when 1 then 2
          else 4
          end
        end
        """,
        (5, 5, 1, 2, 13),
    ),
    "php with elseif and null coalescing": (
        "php",
        "<?php\nfunction f($a) {\n if ($a) { g(); } elseif ($b) { h(); } else { return $c ?? 3; }\n}\n",
        (4, 3, 1, 1, 3),
    ),
    "kotlin with when": (
        "kotlin",
        """
        fun f(a: Int, b: Int = 2): Int {
            if (a > 1 && b > 1) { g() } else if (a > 2) { h() } else { i() }
            return when (a) {
                1 -> 2
                else -> 3
            }
        }
        """,
        (5, 5, 1, 2, 7),
    ),
}


@pytest.mark.parametrize("case", COUNTED)
def test_it_counts_as_a_person_does(case: str) -> None:
    language, source, expected = COUNTED[case]
    found = measure(language, source)
    (function,) = (facts for name, facts in found.items() if name.rpartition(".")[2] == "f")
    assert (
        function.cyclomatic,
        function.cognitive,
        function.nesting,
        function.parameters,
        function.lines,
    ) == expected


@pytest.mark.requirement("L41")
def test_arrow_functions_in_tsx_are_seen_with_their_own_boundaries() -> None:
    found = measure(
        "tsx",
        """
        export const Page = ({ items }: Props) => {
          const pick = (item: Item) => {
            if (item.on) {
              return item.name ? item.name : "none";
            }
            return null;
          };
          return (
            <ul>
              {items.length > 0 && items.map((item) => <li key={item.id}>{pick(item)}</li>)}
            </ul>
          );
        };
        class View { render() { return <Page items={[]} />; } }
        """,
    )
    assert {name: (item.start_line, item.end_line) for name, item in found.items()} == {
        "Page": (2, 14),
        "Page.pick": (3, 8),
        "Page.<anonymous>": (11, 11),
        "View.render": (15, 15),
    }
    assert found["Page.pick"].cognitive == 3  # if 1, ternary in it 2
    assert found["Page"].cognitive == 1  # the && of its own, nothing of what is nested in it
    assert found["Page"].cyclomatic == 2


@pytest.mark.requirement("L41")
def test_a_nested_function_is_not_charged_to_the_outer_one() -> None:
    found = measure(
        "python",
        """
        def outer(a):
            def inner(b):
                if b:
                    return 1
                return 2
            key = lambda x: x or a
            return inner(a)
        """,
    )
    assert {name: (item.cyclomatic, item.cognitive, item.lines) for name, item in found.items()} == {
        "outer": (1, 0, 3),
        "outer.inner": (2, 1, 4),
        "outer.key": (2, 1, 1),
    }
    assert found["outer"].whole_lines == 7


def test_methods_closures_and_function_expressions_have_names() -> None:
    found = measure(
        "javascript",
        "class A { m() {} } const b = function () {}; const o = { c: () => 1, d() {} }; x(() => 2);",
    )
    assert set(found) == {"A.m", "b", "c", "d", "<anonymous>"}


def test_what_is_declared_without_a_body_is_no_function() -> None:
    assert set(measure("java", "interface A { int f(int a); default int g() { return 1; } }")) == {"A.g"}

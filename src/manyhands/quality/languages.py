"""The languages that can be measured: for each its grammar, its file names and the node kinds that matter.

A new language is one more row. It owns the table and its compiled form; it does not walk a tree.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

# What a node kind means to the walk; a kind may mean several things.
FUNCTION = 1 << 0
CLASS = 1 << 1
IF = 1 << 2
LOOP = 1 << 3
SWITCH = 1 << 4
CATCH = 1 << 5
TERNARY = 1 << 6
ELIF = 1 << 7
ARM = 1 << 8
CASE = 1 << 9
LOGIC = 1 << 10
OPERATOR = 1 << 11
ELSE = 1 << 12
JUMP = 1 << 13
COMMENT = 1 << 14
TEXT = 1 << 15
IMPORT = 1 << 16
DECISION = 1 << 17
CALL = 1 << 18
ERROR = 1 << 19
ENDLESS = 1 << 20

ERROR_KIND = 0xFFFF
ELSE_OWNERS = frozenset({"if_statement", "if_expression", "else_clause", "else"})
LABELS = frozenset({"statement_identifier", "label", "label_name", "identifier"})

Kinds = tuple[str, ...]


@dataclass(frozen=True)
class Language:
    """One row of the table: names of node kinds, in the words of the grammar."""

    name: str
    grammar: str
    extensions: Kinds
    functions: Kinds
    classes: Kinds = ()
    ifs: Kinds = ("if_statement",)
    elifs: Kinds = ()
    loops: Kinds = ("for_statement", "while_statement")
    endless: Kinds = ()
    switches: Kinds = ()
    arms: Kinds = ()
    case_words: Kinds = ()
    catches: Kinds = ("catch_clause",)
    ternaries: Kinds = ()
    decisions: Kinds = ()
    logic: Kinds = ("binary_expression",)
    operators: Kinds = ("&&", "||")
    jumps: Kinds = ()
    calls: Kinds = ("call_expression",)
    comments: Kinds = ("comment",)
    texts: Kinds = ()
    imports: Kinds = ()
    not_parameters: Kinds = ("comment",)
    entry: str = "language"
    receivers: Kinds = field(default=())


_PYTHON = Language(
    name="python",
    grammar="tree_sitter_python",
    extensions=(".py", ".pyi"),
    functions=("function_definition", "lambda"),
    classes=("class_definition",),
    elifs=("elif_clause",),
    switches=("match_statement",),
    arms=("case_clause",),
    catches=("except_clause",),
    ternaries=("conditional_expression",),
    decisions=("for_in_clause", "if_clause"),
    logic=("boolean_operator",),
    operators=("and", "or"),
    calls=("call",),
    texts=("string",),
    imports=("import_statement", "import_from_statement"),
    not_parameters=("comment", "keyword_separator", "positional_separator"),
    receivers=("self", "cls"),
)

_SCRIPT_FUNCTIONS = (
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "generator_function",
    "generator_function_declaration",
)


def _script(name: str, grammar: str, extensions: Kinds, entry: str, classes: Kinds) -> Language:
    return Language(
        name=name,
        grammar=grammar,
        entry=entry,
        extensions=extensions,
        functions=_SCRIPT_FUNCTIONS,
        classes=("class_declaration", "class", *classes),
        loops=("for_statement", "for_in_statement", "while_statement", "do_statement"),
        switches=("switch_statement",),
        case_words=("case",),
        ternaries=("ternary_expression",),
        operators=("&&", "||", "??"),
        jumps=("break_statement", "continue_statement"),
        texts=("string", "template_string"),
        imports=("import_statement", "export_statement"),
        not_parameters=("comment", "decorator"),
        receivers=("this",),
    )


_JAVASCRIPT = _script("javascript", "tree_sitter_javascript", (".js", ".jsx", ".mjs", ".cjs"), "language", ())
_TYPED = ("abstract_class_declaration",)
_TYPESCRIPT = _script(
    "typescript", "tree_sitter_typescript", (".ts", ".mts", ".cts"), "language_typescript", _TYPED
)
_TSX = _script("tsx", "tree_sitter_typescript", (".tsx",), "language_tsx", _TYPED)

_GO = Language(
    name="go",
    grammar="tree_sitter_go",
    extensions=(".go",),
    functions=("function_declaration", "method_declaration", "func_literal"),
    loops=("for_statement",),
    switches=("expression_switch_statement", "type_switch_statement", "select_statement"),
    case_words=("case",),
    catches=(),
    jumps=("break_statement", "continue_statement", "goto_statement"),
    texts=("interpreted_string_literal", "raw_string_literal"),
    imports=("import_spec",),
)

_RUST = Language(
    name="rust",
    grammar="tree_sitter_rust",
    extensions=(".rs",),
    functions=("function_item", "closure_expression"),
    classes=("impl_item", "trait_item"),
    ifs=("if_expression",),
    loops=("for_expression", "while_expression"),
    endless=("loop_expression",),
    switches=("match_expression",),
    arms=("match_arm",),
    catches=(),
    logic=("binary_expression", "let_chain"),
    jumps=("break_expression", "continue_expression"),
    comments=("line_comment", "block_comment"),
    texts=("string_literal", "raw_string_literal"),
    imports=("use_declaration", "mod_item"),
    not_parameters=("line_comment", "block_comment", "self_parameter", "attribute_item"),
    receivers=("self",),
)

_JAVA = Language(
    name="java",
    grammar="tree_sitter_java",
    extensions=(".java",),
    functions=(
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
        "lambda_expression",
    ),
    classes=("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
    loops=("for_statement", "enhanced_for_statement", "while_statement", "do_statement"),
    switches=("switch_expression",),
    case_words=("case",),
    ternaries=("ternary_expression",),
    jumps=("break_statement", "continue_statement"),
    calls=("method_invocation",),
    comments=("line_comment", "block_comment"),
    texts=("string_literal",),
    imports=("import_declaration",),
    not_parameters=("line_comment", "block_comment", "receiver_parameter"),
)

_C = Language(
    name="c",
    grammar="tree_sitter_c",
    extensions=(".c", ".h"),
    functions=("function_definition",),
    loops=("for_statement", "while_statement", "do_statement"),
    switches=("switch_statement",),
    case_words=("case",),
    catches=(),
    ternaries=("conditional_expression",),
    jumps=("goto_statement",),
    texts=("string_literal",),
    imports=("preproc_include",),
)

_CPP = Language(
    name="cpp",
    grammar="tree_sitter_cpp",
    extensions=(".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"),
    functions=("function_definition", "lambda_expression"),
    classes=("class_specifier", "struct_specifier"),
    loops=("for_statement", "for_range_loop", "while_statement", "do_statement"),
    switches=("switch_statement",),
    case_words=("case",),
    ternaries=("conditional_expression",),
    operators=("&&", "||", "and", "or"),
    jumps=("goto_statement",),
    texts=("string_literal", "raw_string_literal"),
    imports=("preproc_include",),
)

_CSHARP = Language(
    name="csharp",
    grammar="tree_sitter_c_sharp",
    extensions=(".cs",),
    functions=(
        "method_declaration",
        "constructor_declaration",
        "destructor_declaration",
        "operator_declaration",
        "local_function_statement",
        "lambda_expression",
        "anonymous_method_expression",
        "accessor_declaration",
    ),
    classes=("class_declaration", "struct_declaration", "interface_declaration", "record_declaration"),
    loops=("for_statement", "foreach_statement", "while_statement", "do_statement"),
    switches=("switch_statement", "switch_expression"),
    arms=("switch_expression_arm",),
    case_words=("case",),
    ternaries=("conditional_expression",),
    operators=("&&", "||", "??"),
    jumps=("goto_statement",),
    calls=("invocation_expression",),
    texts=("string_literal", "verbatim_string_literal", "raw_string_literal"),
    imports=("using_directive",),
)

_RUBY = Language(
    name="ruby",
    grammar="tree_sitter_ruby",
    extensions=(".rb",),
    functions=("method", "singleton_method", "block", "do_block", "lambda"),
    classes=("class", "module"),
    ifs=("if", "unless", "if_modifier", "unless_modifier"),
    elifs=("elsif",),
    loops=("while", "until", "for", "while_modifier", "until_modifier"),
    switches=("case", "case_match"),
    arms=("when", "in_clause"),
    catches=("rescue", "rescue_modifier"),
    ternaries=("conditional",),
    logic=("binary",),
    operators=("&&", "||", "and", "or"),
    calls=("call",),
    texts=("string",),
)

_PHP = Language(
    name="php",
    grammar="tree_sitter_php",
    entry="language_php",
    extensions=(".php",),
    functions=("function_definition", "method_declaration", "anonymous_function", "arrow_function"),
    classes=("class_declaration", "trait_declaration", "interface_declaration", "enum_declaration"),
    elifs=("else_if_clause",),
    loops=("for_statement", "foreach_statement", "while_statement", "do_statement"),
    switches=("switch_statement", "match_expression"),
    arms=("match_conditional_expression",),
    case_words=("case",),
    ternaries=("conditional_expression",),
    operators=("&&", "||", "and", "or", "??"),
    jumps=("goto_statement",),
    calls=("function_call_expression", "member_call_expression"),
    texts=("string", "encapsed_string"),
    imports=(
        "namespace_use_declaration",
        "require_expression",
        "require_once_expression",
        "include_expression",
        "include_once_expression",
    ),
)

_KOTLIN = Language(
    name="kotlin",
    grammar="tree_sitter_kotlin",
    extensions=(".kt", ".kts"),
    functions=(
        "function_declaration",
        "secondary_constructor",
        "anonymous_function",
        "lambda_literal",
        "getter",
        "setter",
    ),
    classes=("class_declaration", "object_declaration"),
    ifs=("if_expression",),
    loops=("for_statement", "while_statement", "do_while_statement"),
    switches=("when_expression",),
    arms=("when_entry",),
    catches=("catch_block",),
    operators=("&&", "||", "?:"),
    comments=("line_comment", "block_comment"),
    texts=("string_literal",),
    imports=("import",),
    not_parameters=("line_comment", "block_comment", "parameter_modifiers"),
)

LANGUAGES: tuple[Language, ...] = (
    _PYTHON,
    _JAVASCRIPT,
    _TYPESCRIPT,
    _TSX,
    _GO,
    _RUST,
    _JAVA,
    _C,
    _CPP,
    _CSHARP,
    _RUBY,
    _PHP,
    _KOTLIN,
)
BY_NAME = {language.name: language for language in LANGUAGES}
BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions}


def language_of(path: str) -> Language | None:
    """The language of a file by the end of its name."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return BY_EXTENSION.get(name[dot:].lower()) if dot > 0 else None


@dataclass(frozen=True)
class Grammar:
    """A language made ready: the parser's language and, by kind number, what each kind means."""

    language: Language
    parser: tree_sitter.Parser
    meaning: list[int]


def kinds_by_meaning(language: Language) -> list[tuple[int, bool, Kinds]]:
    """(meaning, whether the kinds are named ones, the kinds)."""
    return [
        (FUNCTION, True, language.functions),
        (CLASS, True, language.classes),
        (IF, True, language.ifs),
        (ELIF, True, language.elifs),
        (LOOP, True, language.loops),
        (ENDLESS, True, language.endless),
        (SWITCH, True, language.switches),
        (ARM, True, language.arms),
        (CASE, False, language.case_words),
        (CATCH, True, language.catches),
        (TERNARY, True, language.ternaries),
        (DECISION, True, language.decisions),
        (LOGIC, True, language.logic),
        (OPERATOR, False, language.operators),
        (JUMP, True, language.jumps),
        (CALL, True, language.calls),
        (COMMENT, True, language.comments),
        (TEXT, True, language.texts),
        (IMPORT, True, language.imports),
    ]


@cache
def grammar_of(language: Language) -> Grammar:
    """Load the wheel of a language and number its kinds."""
    import tree_sitter

    entry = getattr(importlib.import_module(language.grammar), language.entry)
    loaded = tree_sitter.Language(entry())
    meaning = [0] * (ERROR_KIND + 1)
    meaning[ERROR_KIND] = ERROR
    numbers = _numbers(loaded)
    for bit, named, kinds in [*kinds_by_meaning(language), (ELSE, False, ("else",))]:
        for kind in kinds:
            for number in numbers.get((kind, named), ()):
                meaning[number] |= bit
    return Grammar(language, tree_sitter.Parser(loaded), meaning)


def _numbers(loaded: tree_sitter.Language) -> dict[tuple[str, bool], list[int]]:
    """The numbers of each kind: a grammar may give one name to several."""
    found: dict[tuple[str, bool], list[int]] = {}
    for number in range(loaded.node_kind_count):
        kind = loaded.node_kind_for_id(number)
        if kind is not None and loaded.node_kind_is_visible(number):
            found.setdefault((kind, loaded.node_kind_is_named(number)), []).append(number)
    return found

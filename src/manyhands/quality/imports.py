"""Imports: what a file names, and which files of the project it means.

Extraction reads one import node (or, where imports are calls, the source); resolution is pure: from the paths
of the project and what the files say to edges. What is not in the project resolves to nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from manyhands.quality.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_SCRIPTS = ("javascript", "typescript", "tsx")
_SCRIPT_CALL = re.compile(rb"""\b(?:require|import)\s*\(\s*['"]([^'"\n]+)['"]""")
_RUBY_CALL = re.compile(rb"""^\s*require(_relative)?[ (]+['"]([^'"\n#]+)['"]""", re.MULTILINE)
_PACKAGE = re.compile(rb"^\s*(?:package|namespace)\s+([\w.\\]+)", re.MULTILINE)
_QUOTED = re.compile(r"""["'<]([^"'>]+)[">']""")
_TYPES_ALONE = re.compile(r"""(import|export)\s+type\s+(?!from\s*["'])[\w{*]""")
_PACKAGED = ("java", "kotlin", "csharp", "php", "go")


class Import(NamedTuple):
    """What one import names: a module, and the names taken from it where the language says so."""

    target: str
    names: tuple[str, ...] = ()


# --- extraction


def extract(node: Node, language: Language) -> list[Import]:
    """The imports that one import node stands for."""
    text = (node.text or b"").decode("utf-8", "replace")
    if language.name == "python":
        return [] if _for_types_alone(node) else _python(node)
    if language.name in _SCRIPTS:
        if _TYPES_ALONE.match(text):
            return []
        source = node.child_by_field_name("source")
        return [Import(_plain(source).strip("\"'`"))] if source is not None else []
    if language.name == "rust":
        return _rust(node, text)
    if language.name in ("go", "c", "cpp") or "_expression" in node.type:
        quoted = _QUOTED.search(text)
        return [Import(quoted[1])] if quoted else []
    return _dotted(text)


def called(source: bytes, language: Language) -> list[Import]:
    """Imports that are calls."""
    if language.name in _SCRIPTS:
        return [Import(found.decode("utf-8", "replace")) for found in _SCRIPT_CALL.findall(source)]
    if language.name == "ruby":
        return [
            Import(("./" if relative else "") + target.decode("utf-8", "replace"))
            for relative, target in _RUBY_CALL.findall(source)
        ]
    return []


def package_of(source: bytes, language: Language) -> str:
    """The package or namespace that a file says it belongs to, with dots."""
    if language.name not in _PACKAGED:
        return ""
    found = _PACKAGE.search(source)
    return found[1].decode("utf-8", "replace").replace("\\", ".") if found else ""


def _plain(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _for_types_alone(node: Node) -> bool:
    """Whether it stands under `if TYPE_CHECKING:`; what never runs ties no modules together."""
    inside, around = node, node.parent
    while around is not None:
        if around.type == "if_statement" and around.child_by_field_name("consequence") == inside:
            condition = around.child_by_field_name("condition")
            if condition is not None and _plain(condition).rpartition(".")[2] == "TYPE_CHECKING":
                return True
        inside, around = around, around.parent
    return False


def _python(node: Node) -> list[Import]:
    names = [
        _plain(child.child_by_field_name("name") or child) for child in node.children_by_field_name("name")
    ]
    if node.type == "import_statement":
        return [Import(name) for name in names]
    return [Import(_plain(node.child_by_field_name("module_name")), tuple(names))]


def _rust(node: Node, text: str) -> list[Import]:
    if node.type == "mod_item":
        named = _plain(node.child_by_field_name("name"))
        return [] if node.child_by_field_name("body") is not None else [Import(f"mod {named}")]
    path = re.sub(r"^(pub(\([^)]*\))?\s+)?use\s+", "", text).rstrip("; \n")
    return [Import(found) for found in _expand(re.sub(r"\s+as\s+\w+|\s+", "", path))]


def _expand(path: str) -> list[str]:
    """`a::{b, c::{d}}` as a::b and a::c::d."""
    opened = path.find("{")
    if opened < 0:
        return [path] if path else []
    head, inner = path[:opened], path[opened + 1 : path.rfind("}")]
    parts, level, start = [], 0, 0
    for at, letter in enumerate(inner + ","):
        level += (letter == "{") - (letter == "}")
        if letter == "," and level == 0:
            parts.append(inner[start:at])
            start = at + 1
    return [head + found for part in parts for found in _expand(part)]


def _dotted(text: str) -> list[Import]:
    """Java, Kotlin, C# and PHP: words, then a dotted path; `use A\\{B, C}` is two."""
    path = re.sub(r"^\s*(global\s+)?(import|using|use)\s+((static|function|const)\s+)?", "", text)
    path = re.sub(r"\s+as\s+\w+", "", path).rstrip("; \n").rpartition("=")[2].strip()
    path = path.lstrip("\\").replace("\\", "::").replace(".", "::")
    found = [one for part in _expand("{" + re.sub(r"\s+", "", path) + "}") for one in [part]]
    return [Import(one.replace("::", ".")) for one in found]


# --- resolution


@dataclass(frozen=True)
class Alias:
    """A path of a tsconfig.json: what begins with `prefix` may stand at one of `targets`."""

    prefix: str
    targets: tuple[str, ...]
    exact: bool = False


@dataclass(frozen=True)
class Source:
    """What resolution needs to know of a file."""

    path: str
    language: str
    imports: tuple[Import, ...]
    package: str = ""


@dataclass
class Project:
    """The files of a project, indexed for resolution."""

    sources: Iterable[Source]
    aliases: tuple[Alias, ...] = ()
    go_modules: Mapping[str, str] = field(default_factory=dict)
    """Module path to the directory of its go.mod."""

    def __post_init__(self) -> None:
        self.sources = sorted(self.sources, key=lambda source: source.path)
        self.indexed = False
        self.found: dict[str, tuple[Source, list[str]]] = {}
        # Files of one folder and language mean the same by the same words, except in Rust.
        self.meant: dict[tuple[str, str, Import], list[str]] = {}

    @property
    def places(self) -> tuple[object, ...]:
        """All that the meaning of an import depends on."""
        files = [(source.path, source.language, source.package) for source in self.sources]
        return files, self.aliases, self.go_modules

    def _index(self) -> None:
        self.indexed = True
        self.paths = {source.path for source in self.sources}
        self.folders: dict[str, list[str]] = defaultdict(list)
        self.packages: dict[str, list[str]] = defaultdict(list)
        self.endings: dict[str, list[str]] = defaultdict(list)
        self.modules: dict[str, str] = {}
        for source in self.sources:
            self.folders[posixpath.dirname(source.path)].append(source.path)
            self.endings[posixpath.basename(source.path)].append(source.path)
            if source.package:
                self.packages[source.package].append(source.path)
            if source.language == "python":
                self._name_module(source.path)

    def _name_module(self, path: str) -> None:
        """Under its package name, and under its path from the root for packages without `__init__`."""
        for name in (self.python_name(path), _dots(path), _dots(path.removeprefix("src/"))):
            if name and (name not in self.modules or path.endswith(".py")):
                self.modules.setdefault(name, path)

    def python_name(self, path: str) -> str:
        """The dotted name from the topmost folder that is a package."""
        root = posixpath.dirname(path)
        while root and (f"{root}/__init__.py" in self.paths):
            root = posixpath.dirname(root)
        return _dots(path[len(root) + 1 :] if root else path)

    def edges(self, earlier: Project | None = None) -> dict[str, list[str]]:
        """For each file the files that it imports, sorted, itself left out.

        What an `earlier` project of the same files has found out is not looked for again.
        """
        known = earlier.found if earlier is not None and earlier.places == self.places else {}
        self.meant = earlier.meant if earlier is not None and known else {}
        for source in self.sources:
            before, targets = known.get(source.path, (None, []))
            self.found[source.path] = source, targets if before is source else self._targets(source)
        return {path: targets for path, (_, targets) in self.found.items()}

    def _targets(self, source: Source) -> list[str]:
        place = source.path if source.language == "rust" else posixpath.dirname(source.path)
        targets: set[str] = set()
        for item in source.imports:
            key = (place, source.language, item)
            if key not in self.meant:
                self.meant[key] = self.resolve(source, item)
            targets.update(self.meant[key])
        return sorted(targets - {source.path})

    def resolve(self, source: Source, item: Import) -> list[str]:
        """The files that an import of a file means."""
        if not self.indexed:
            self._index()
        if source.language == "python":
            return self._python(source, item)
        if source.language in _SCRIPTS:
            return self._script(source, item)
        if source.language == "rust":
            return self._rust(source, item)
        if source.language == "go":
            return self._go(item)
        if source.language in ("c", "cpp", "ruby") or "/" in item.target or item.target.endswith(".php"):
            return self._file(source, item)
        return self._packaged(item)

    def _python(self, source: Source, item: Import) -> list[str]:
        base = item.target
        if base.startswith("."):
            level = len(base) - len(base.lstrip("."))
            folder = posixpath.dirname(source.path)
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._python_below(folder, base.lstrip("."), item.names)
        found = [self.modules[f"{base}.{name}"] for name in item.names if f"{base}.{name}" in self.modules]
        if len(found) < max(1, len(item.names)):
            found.extend(self._longest(base))
        return found

    def _python_below(self, folder: str, base: str, names: tuple[str, ...]) -> list[str]:
        start = posixpath.join(folder, base.replace(".", "/")) if base else folder
        found = [path for name in names for path in self._python_file(posixpath.join(start, name))]
        return found if len(found) == len(names) and found else [*found, *self._python_file(start)]

    def _python_file(self, stem: str) -> list[str]:
        candidates = (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi")
        return [path.lstrip("/") for path in candidates if path.lstrip("/") in self.paths][:1]

    def _longest(self, name: str) -> list[str]:
        """The longest beginning of a dotted name that is a module."""
        while name and name not in self.modules:
            name = name.rpartition(".")[0]
        return [self.modules[name]] if name else []

    def _script(self, source: Source, item: Import) -> list[str]:
        target = item.target
        if target.startswith("."):
            return self._script_file(posixpath.join(posixpath.dirname(source.path), target))
        for alias in self.aliases:
            if target == alias.prefix if alias.exact else target.startswith(alias.prefix):
                for place in alias.targets:
                    rest = "" if alias.exact else target[len(alias.prefix) :]
                    if found := self._script_file(place + rest):
                        return found
        return []

    def _script_file(self, stem: str) -> list[str]:
        stem = posixpath.normpath(stem)
        bare = re.sub(r"\.[mc]?jsx?$", "", stem)  # TypeScript imports `./a.js` and means `./a.ts`
        endings = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
        stems = (stem, bare) if bare != stem else (stem,)
        candidates = [stem, *(one + ending for one in stems for ending in endings)]
        candidates += [f"{stem}/index{ending}" for ending in endings]
        return [path for path in candidates if path in self.paths][:1]

    def _rust(self, source: Source, item: Import) -> list[str]:
        folder, stem = posixpath.split(source.path.removesuffix(".rs"))
        own = folder if stem in ("mod", "lib", "main") else f"{folder}/{stem}"
        if item.target.startswith("mod "):
            return self._rust_file(f"{own}/{item.target[4:]}")
        parts = item.target.split("::")
        if parts[0] == "crate":
            base, parts = self._crate(source.path), parts[1:]
        elif parts[0] in ("self", "super"):
            base = own
            while parts and parts[0] in ("self", "super"):
                base = posixpath.dirname(base) if parts[0] == "super" else base
                parts = parts[1:]
        else:
            base = own
        for length in range(len(parts), 0, -1):
            if found := self._rust_file("/".join([base, *parts[:length]])):
                return found
        return []

    def _crate(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and not {f"{folder}/lib.rs", f"{folder}/main.rs"} & self.paths:
            folder = posixpath.dirname(folder)
        return folder

    def _rust_file(self, stem: str) -> list[str]:
        stem = stem.lstrip("/")
        return [path for path in (f"{stem}.rs", f"{stem}/mod.rs") if path in self.paths][:1]

    def _go(self, item: Import) -> list[str]:
        for module, folder in sorted(self.go_modules.items(), key=lambda pair: -len(pair[0])):
            if item.target == module or item.target.startswith(f"{module}/"):
                place = posixpath.normpath(posixpath.join(folder, item.target[len(module) + 1 :]))
                inside = self.folders.get("" if place == "." else place, [])
                return [path for path in inside if path.endswith(".go") and not path.endswith("_test.go")]
        return []

    def _file(self, source: Source, item: Import) -> list[str]:
        """By path: beside the file, from the root, or the one file of the project that ends so."""
        ending = ".rb" if source.language == "ruby" and not item.target.endswith(".rb") else ""
        target = posixpath.normpath(item.target + ending)
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), target))
        for path in (beside, target):
            if path in self.paths:
                return [path]
        same = [path for path in self.endings[posixpath.basename(target)] if path.endswith("/" + target)]
        return same if len(same) == 1 else []

    def _packaged(self, item: Import) -> list[str]:
        """A class by its package and file name, or all that a package holds."""
        package, _, name = item.target.rpartition(".")
        if name == "*":
            return self.packages.get(package, [])
        while package:
            inside = self.packages.get(package, [])
            exact = [path for path in inside if posixpath.basename(path).partition(".")[0] == name]
            if exact:
                return exact
            package, _, name = package.rpartition(".")
        return self.packages.get(item.target, [])


def _dots(path: str) -> str:
    stem = re.sub(r"\.pyi?$", "", path)
    return re.sub(r"(^|/)__init__$", "", stem).replace("/", ".")

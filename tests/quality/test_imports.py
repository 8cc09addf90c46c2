"""Imports: from what a file says to the files that it means."""

from __future__ import annotations

from manyhands.quality.imports import Alias, Project, Source
from manyhands.quality.languages import language_of
from manyhands.quality.parsing import parse


def edges(
    files: dict[str, str], aliases: tuple[Alias, ...] = (), go_modules: dict[str, str] | None = None
) -> dict[str, list[str]]:
    """The edges of a project given as path -> source, those without any left out."""
    sources = []
    for path, text in files.items():
        language = language_of(path)
        assert language is not None
        facts = parse(text.encode(), language)
        sources.append(Source(path, language.name, facts.imports, facts.package))
    found = Project(sources, aliases, go_modules or {}).edges()
    return {path: targets for path, targets in found.items() if targets}


def test_python_packages_submodules_and_relative_imports() -> None:
    found = edges(
        {
            "src/app/__init__.py": "",
            "src/app/core.py": "import os\nfrom app import other\nfrom app.deep.leaf import thing\n",
            "src/app/other.py": "from . import core as c\nfrom .deep import leaf, name\n",
            "src/app/deep/__init__.py": "name = 1\n",
            "src/app/deep/leaf.py": "from ..core import x\nimport app.other\n",
            "tools/run.py": "import app.core as core, json\n",
        }
    )
    assert found == {
        "src/app/core.py": ["src/app/deep/leaf.py", "src/app/other.py"],
        "src/app/other.py": ["src/app/core.py", "src/app/deep/__init__.py", "src/app/deep/leaf.py"],
        "src/app/deep/leaf.py": ["src/app/core.py", "src/app/other.py"],
        "tools/run.py": ["src/app/core.py"],
    }


def test_python_packages_without_init_are_found_from_the_root() -> None:
    assert edges({"a/b.py": "", "c.py": "from a.b import x\nimport a\n"}) == {"c.py": ["a/b.py"]}


def test_scripts_find_extensions_index_files_aliases_and_calls() -> None:
    found = edges(
        {
            "src/main.ts": "import a from './a.js'; export * from './lib'; import '@/deep/x'; import 'vue';",
            "src/a.ts": "const b = require('../b'); const c = import('./view');",
            "src/lib/index.ts": "import { T } from '~types';",
            "src/deep/x.tsx": "",
            "src/view.jsx": "",
            "src/types.d.ts": "",
            "b.js": "",
        },
        aliases=(Alias("@/", ("src/",)), Alias("~types", ("src/types",), exact=True)),
    )
    assert found == {
        "src/main.ts": ["src/a.ts", "src/deep/x.tsx", "src/lib/index.ts"],
        "src/a.ts": ["b.js", "src/view.jsx"],
        "src/lib/index.ts": ["src/types.d.ts"],
    }


def test_go_imports_mean_the_files_of_a_package() -> None:
    found = edges(
        {
            "main.go": 'package main\nimport (\n "fmt"\n u "example.org/app/util"\n)\n',
            "util/a.go": "package util\n",
            "util/b.go": "package util\n",
            "util/a_test.go": "package util\n",
        },
        go_modules={"example.org/app": ""},
    )
    assert found == {"main.go": ["util/a.go", "util/b.go"]}


def test_rust_modules_and_uses() -> None:
    found = edges(
        {
            "src/lib.rs": "mod a; pub mod b; mod inline { fn x() {} }",
            "src/a.rs": "use crate::b::{c::Thing, other}; use std::fmt;",
            "src/b/mod.rs": "pub mod c;",
            "src/b/c.rs": "use super::super::a::f as g;",
        }
    )
    assert found == {
        "src/lib.rs": ["src/a.rs", "src/b/mod.rs"],
        "src/a.rs": ["src/b/c.rs", "src/b/mod.rs"],
        "src/b/mod.rs": ["src/b/c.rs"],
        "src/b/c.rs": ["src/a.rs"],
    }


def test_classes_are_found_by_package_and_name() -> None:
    found = edges(
        {
            "x/A.java": "package org.a;\nimport org.b.B;\nimport static org.b.C.run;\nimport java.io.*;\n",
            "y/B.java": "package org.b;\n",
            "y/C.java": "package org.b;\nimport org.a.*;\n",
            "k/D.kt": "package org.d\nimport org.b.B\n",
            "p/E.php": "<?php\nnamespace App\\E;\nuse App\\F\\{G, H};\nrequire 'plain.php';\n",
            "p/G.php": "<?php\nnamespace App\\F;\n",
            "p/plain.php": "<?php\n",
            "n/I.cs": "using Org.N;\nnamespace Org.M { class I {} }\n",
            "n/J.cs": "namespace Org.N;\nclass J {}\n",
        }
    )
    assert found == {
        "x/A.java": ["y/B.java", "y/C.java"],
        "y/C.java": ["x/A.java"],
        "k/D.kt": ["y/B.java"],
        "p/E.php": ["p/G.php", "p/plain.php"],
        "n/I.cs": ["n/J.cs"],
    }


def test_headers_and_ruby_files_are_found_by_path() -> None:
    found = edges(
        {
            "src/a.c": '#include "a.h"\n#include <stdio.h>\n#include "net/b.h"\n',
            "src/a.h": "",
            "include/net/b.h": "",
            "lib/x.rb": "require_relative 'y/z'\nrequire 'json'\nrequire 'y/w'\n",
            "lib/y/z.rb": "",
            "lib/y/w.rb": "",
        }
    )
    assert found == {
        "src/a.c": ["include/net/b.h", "src/a.h"],
        "lib/x.rb": ["lib/y/w.rb", "lib/y/z.rb"],
    }


def test_imports_for_type_checkers_alone_tie_nothing_together() -> None:
    assert edges(
        {
            "a.py": "if TYPE_CHECKING:\n    import b\nelse:\n    import c\n",
            "b.py": "import typing\nif typing.TYPE_CHECKING:\n    from a import x\nif x:\n    import c\n",
            "c.py": "",
        }
    ) == {"a.py": ["c.py"], "b.py": ["c.py"]}
    scripts = {
        "a.ts": "import type { B } from './b'\nimport { type C } from './c'\nexport type { B } from './b'\n",
        "b.ts": "import type from './c'\n",
        "c.ts": "",
    }
    assert edges(scripts) == {"a.ts": ["c.ts"], "b.ts": ["c.ts"]}

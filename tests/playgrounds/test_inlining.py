"""A playground as one file. That it runs is shown in a browser: tests/web/test_playgrounds.py."""

from __future__ import annotations

import base64

import pytest

from manyhands.errors import TooLargeError
from manyhands.playgrounds import inlining
from manyhands.playgrounds.inlining import as_one_file

PIXEL = b"\x89PNG"
DATA = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"


def test_styles_pictures_and_scripts_stand_in_the_page() -> None:
    page = as_one_file(
        '<link rel="stylesheet" href="style.css"><img src="a/pic.png" alt=x><script src="s.js"></script>',
        {"style.css": b"p { background: url(a/pic.png) }", "a/pic.png": PIXEL, "s.js": b"let a = 1"},
    )
    assert f'url("{DATA}")' in page
    assert f'<img src="{DATA}" alt=x>' in page
    assert 'src="data:text/javascript' in page
    assert "style.css" not in page


def test_what_is_not_ours_stays_as_it_is() -> None:
    html = '<img src="https://x.example/a.png"><a href="other.html">x</a><script>"<img src=a.png>"</script>'
    assert as_one_file(html, {"a.png": PIXEL, "other.html": b""}) == html


def test_modules_are_named_in_the_import_map_and_folders_file_by_file() -> None:
    page = as_one_file(
        "<script type=module>import './lib/a.js'; import('./lib/b.js')</script>",
        {
            "lib/a.js": b"export * from './b.js'",
            "lib/b.js": b"",
            "importmap.json": b'{"imports": {"lib/": "./lib/", "far": "https://x.example/a.js"}}',
        },
    )
    assert "import 'playground:/lib/a.js'" in page
    assert "import('playground:/lib/b.js')" in page
    assert '"lib/a.js": "data:' in page
    assert '"far": "https://x.example/a.js"' in page
    encoded = base64.b64encode(b"export * from 'playground:/lib/b.js'").decode()
    assert f'"playground:/lib/a.js": "data:text/javascript;base64,{encoded}"' in page


def test_a_page_that_would_become_enormous_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlining, "LARGEST_EXPORT", 1000)
    with pytest.raises(TooLargeError, match="1,000"):
        as_one_file("<img src=a.png>" * 100, {"a.png": b"x" * 100})


def test_styles_that_import_each_other_end() -> None:
    files = {"a.css": b"@import 'b.css';", "b.css": b"@import 'a.css';"}
    assert "<style>" in as_one_file('<link rel=stylesheet href="a.css">', files)

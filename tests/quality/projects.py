"""Small projects on disk, to be scanned."""

from __future__ import annotations

from pathlib import Path

COPIED = """def {name}(rows, limit):
    found = []
    for row in rows:
        if row.size > limit and row.ready:
            found.append(row.size * 2)
        else:
            print("no", row, limit)
    return found
"""
MANY = "def many(a, b, c, d, e, f, g):\n    return a\n"
SHOP = {
    "shop/__init__.py": "",
    "shop/main.py": "from shop.orders import totals\n\n\ndef main():\n    return totals([], 1)\n",
    "shop/orders.py": "from shop import prices\n\n\n" + COPIED.format(name="totals"),
    "shop/prices.py": "import shop.orders\n\n\n" + COPIED.format(name="prices") + "\n\n" + MANY,
    "shop/lost.py": "def lost():\n    pass\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root

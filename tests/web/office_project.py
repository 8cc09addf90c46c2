"""What the office works on: the code of a shop, its notes, and how its quality went in the last weeks."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, insert, select

from manyhands.store.tables import quality_snapshots
from tests.chat.repositories import Repository
from tests.test_daemon import Daemon, until

PACKAGES = {
    "checkout": ("cart", "payment", "discounts", "receipts", "session", "totals"),
    "catalog": ("products", "search", "prices", "pictures", "stock"),
    "delivery": ("zones", "dates", "couriers", "labels"),
    "accounts": ("customers", "sign_in", "addresses", "consent"),
    "reports": ("orders", "refunds", "weekly"),
    "shared": ("money", "clock", "errors", "events"),
}
SIMPLE = """

def {name}(rows, today):
    \"\"\"What {name} says of them.\"\"\"
    found = [row for row in rows if row.at <= today]
    return sorted(found, key=lambda row: (row.at, row.sku))
"""
COPIED = """

def {name}(lines, rate):
    total = 0
    for line in lines:
        if line.amount > {limit} and line.open:
            total += line.amount * rate
        else:
            total -= line.rebate
    return round(total, 2)
"""
TANGLED = """

def {name}(order, customer, zone, today, voucher, retry, quiet):
    result = None
    if order.lines:
        for line in order.lines:
            if line.kind == "gift" and not customer.blocked:
                if voucher and voucher.until > today:
                    while retry > 0:
                        try:
                            result = zone.reserve(line, voucher)
                        except TimeoutError:
                            retry -= 1
                        else:
                            break
                elif quiet:
                    result = result or line
            elif line.kind == "bulk" or (line.weight > 20 and zone.far):
                result = zone.split(line) if today.weekday() < 5 else None
    return result
"""
NOTES = {
    "docs/decisions/0004-payments.md": """# Payments are tried once more after a timeout

**Context.** The provider answers late on Mondays, and customers paid twice.

**Choice.** A payment carries the order's number as its key. After a timeout it is sent once more with the
same key, never a third time; then a person looks at it.

**Cost.** A refund may take a day longer.
""",
    "docs/decisions/0007-carts.md": """# The cart stays when a session ends

Carts belong to the customer and not to the session. A guest's cart is kept for 30 days under a random key.

## What we did not do

Carts in cookies: they grow with every article, and nobody can help a customer whose cart is lost.
""",
    "docs/delivery.md": """# Delivery

## Couriers

North and city are served by *Radkurier*, everything else by *Paketfuchs*. Lamps go with Paketfuchs alone:
their batch of March broke on bicycles.

## Dates

Dates are shown in the customer's own zone and kept in UTC.
""",
    "docs/people.md": """# Who does what

- The **checkout team** looks after payments and everything about money.
- The **delivery team** looks after dates and carriers.
- Whoever is new reads `docs/architecture.md` first.
""",
    "docs/architecture.md": "# Architecture\n\nOne program, one database. Packages talk through `shared`.\n",
}


def fill(project: Path) -> None:
    """Code in a repository, and notes beside it."""
    chance = random.Random(7)
    known: list[str] = []
    for package, modules in PACKAGES.items():
        for module in modules:
            _write(project / "shop" / package / f"{module}.py", _code(chance, module, known))
            known.append(f"shop.{package}.{module}")
        _write(project / "shop" / package / "__init__.py", "")
    for path, text in NOTES.items():
        _write(project / path, text)
    repository = Repository(project)
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Release 2.3"]):
        repository(*command)


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def _code(chance: random.Random, module: str, known: list[str]) -> str:
    needed = chance.sample(known, min(len(known), chance.randint(0, 2)))
    parts = [f"import {name}\n" for name in needed]
    parts += [SIMPLE.format(name=f"{module}_{number}") for number in range(chance.randint(2, 14))]
    if chance.random() < 0.3:
        parts.append(COPIED.format(name=f"sum_of_{module}", limit=chance.randint(1, 9)))
    if chance.random() < 0.35:
        parts += [TANGLED.format(name=f"settle_{module}_{number}") for number in range(chance.randint(1, 2))]
    return "".join(parts)


def measure(daemon: Daemon, channel_id: str) -> None:
    """Scan the code, read the notes, and give the number a past."""
    status, said = daemon.request("POST", f"/channels/{channel_id}/quality/scan")
    assert status == 202, said
    status, said = daemon.request("POST", "/memory/index", {"channel_id": channel_id})
    assert status == 200, said
    until(lambda: not daemon.get(f"/channels/{channel_id}/quality/scan")["running"])
    _past(daemon, channel_id)


def _past(daemon: Daemon, channel_id: str) -> None:
    engine = create_engine(f"sqlite:///{daemon.home.database_file}", connect_args={"timeout": 60})
    steps = (-640, -520, -560, -390, -300, -330, -210, -150, -170, -60)
    now = datetime.now(UTC)
    with engine.begin() as conn:
        row = conn.execute(
            select(quality_snapshots).where(quality_snapshots.c.channel_id == channel_id)
        ).one()
        older: list[dict[str, Any]] = [
            {
                **row._asdict(),
                "id": f"scan_00{place:02}",
                "signal": row.signal + step,
                "scanned_at": now - timedelta(days=2 * (len(steps) - place)),
            }
            for place, step in enumerate(steps)
        ]
        conn.execute(insert(quality_snapshots), older)
    engine.dispose()

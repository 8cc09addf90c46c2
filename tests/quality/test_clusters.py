"""Near-duplicates: none missed within the distance, and no strangers in a cluster."""

from __future__ import annotations

import itertools
import random

from manyhands.quality import clusters
from manyhands.quality.clusters import Unit
from manyhands.quality.languages import BY_NAME
from manyhands.quality.parsing import parse

ORIGINAL = """
def total(orders, limit):
    result = 0
    for order in orders:
        if order.price > limit and order.open:
            result += order.price * 2
        else:
            log.debug("skipped %s", order)
    return result
"""
RENAMED = (
    ORIGINAL.replace("orders", "rows").replace("order", "row").replace("total", "summe").replace("2", "33")
)
OTHER = """
def load(path):
    with open(path) as file:
        data = json.load(file)
    try:
        version = data["version"]
    except KeyError:
        raise ValueError(path) from None
    return Config(version=version, values={key: str(value) for key, value in data.items()})
"""


def units(source: str, path: str, language: str = "python") -> list[Unit]:
    facts = parse(source.encode(), BY_NAME[language])
    return [
        Unit(
            path, item.start_line, item.end_line, item.name, item.whole_lines, item.fingerprint, item.shingles
        )
        for item in facts.functions
        if item.fingerprint is not None
    ]


def test_a_copy_with_other_names_and_numbers_is_found() -> None:
    (cluster,) = clusters.find_clusters([*units(ORIGINAL + OTHER, "a.py"), *units(RENAMED, "b.py")])
    assert [(unit.path, unit.name) for unit in cluster.units] == [("a.py", "total"), ("b.py", "summe")]
    assert cluster.lines == 16
    assert clusters.duplicated_lines([cluster]) == 16


def test_functions_of_different_make_are_no_copies() -> None:
    assert clusters.find_clusters([*units(ORIGINAL, "a.py"), *units(OTHER, "b.py")]) == []


def test_a_copy_in_typescript_of_javascript_is_found() -> None:
    source = """function pick(list, most) {
      let found = 0;
      for (const item of list) {
        if (item.size > most && item.ready) { found += item.size * 2; }
        else { console.log("no", item); }
      }
      return found;
    }"""
    found = clusters.find_clusters(
        [*units(source, "a.js", "javascript"), *units(source, "b.ts", "typescript")]
    )
    assert len(found) == 1


def test_every_pair_within_three_bits_is_found() -> None:
    chance = random.Random(8)
    prints = [chance.getrandbits(64) for _ in range(60)]
    for origin in prints[:40]:
        for bits in range(5):
            changed = origin
            for bit in chance.sample(range(64), bits):
                changed ^= 1 << bit
            prints.append(changed)
    expected = [
        (one, other)
        for one, other in itertools.combinations(range(len(prints)), 2)
        if (prints[one] ^ prints[other]).bit_count() <= 3
    ]
    assert clusters.close_pairs(prints) == expected
    assert expected


def shingles(start: int, end: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in range(start, end))


def made(name: str, fingerprint: int, start: int, end: int) -> Unit:
    return Unit(f"{name}.py", 1, 9, name, 9, fingerprint, shingles(start, end))


def test_a_chain_of_copies_is_not_one_cluster_and_nobody_who_has_a_copy_is_left_out() -> None:
    # a is close to b and b to c, but c has drifted too far from a.
    a, b, c = made("a", 0, 0, 100), made("b", 0b11, 8, 108), made("c", 0b1111, 16, 116)
    found = clusters.find_clusters([a, b, c])
    assert [[unit.name for unit in cluster.units] for cluster in found] == [["a", "b"], ["b", "c"]]
    assert clusters.duplicated_lines(found) == 27  # b once


def test_a_search_that_knows_an_earlier_one_finds_the_same() -> None:
    chance = random.Random(9)
    prints: dict[bytes, int] = {}
    known = None
    for _ in range(30):
        for gone in chance.sample(sorted(prints), min(len(prints), 5)):
            del prints[gone]
        for _ in range(10):
            start, bit = chance.randrange(40), chance.randrange(6)
            prints[shingles(start, start + 100)] = 1 << bit
        known = clusters.relate(prints.copy(), known)
        assert known == clusters.relate(prints.copy(), None)
    assert known is not None
    assert known.close


def test_equal_fingerprints_of_different_shingles_are_strangers() -> None:
    assert clusters.find_clusters([made("a", 5, 0, 100), made("b", 5, 500, 600)]) == []


def test_a_function_and_the_one_nested_in_it_are_no_copies_of_each_other() -> None:
    outer = Unit("a.py", 1, 20, "outer", 20, 7, shingles(0, 100))
    inner = Unit("a.py", 2, 19, "outer.inner", 18, 7, shingles(0, 95))
    assert clusters.find_clusters([outer, inner]) == []


def test_clusters_are_the_same_in_any_order() -> None:
    found = [*units(ORIGINAL + OTHER, "a.py"), *units(RENAMED + OTHER, "b.py"), *units(OTHER, "c.py")]
    forward, backward = clusters.find_clusters(found), clusters.find_clusters(reversed(found))
    assert forward == backward
    assert [len(cluster.units) for cluster in forward] == [3, 2]

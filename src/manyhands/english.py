"""English words: which say nothing, and how a word is cut to its stem. Pure.

Words of other languages pass unharmed: they are neither empty nor cut.
"""

from __future__ import annotations

from functools import lru_cache

_EMPTY_WORDS = """
    a about after again also am an and any anybody anyone anything are as at be because been before
    being but by can could d did do does doing don done each every everybody everyone everything few for
    from further had has have having he her here hers him his how i if in into is it its just let like
    ll m may me might more most much must my nobody nor not nothing of once one only onto or other our
    ours out own please re s same shall she should so some somebody someone something somewhere such t
    tell than that the their them then there these they thing this those through to too under until up
    us use used using ve very want was we were what when where which while who whom whose why will with
    would you your yours
"""
EMPTY = frozenset(_EMPTY_WORDS.split())


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its commonest endings; only equality of stems matters, not that they are words."""
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, put in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(ending):
            return word[: -len(ending)] + put
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ations", "ation", "ings", "ing", "edly", "ed", "ers", "er", "ors", "or"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word

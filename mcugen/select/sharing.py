"""Kernels that share code: a copy made for one layer's sizes must be worth its bytes of flash.

Each function costs its code once, however many nodes call it. Bytes get a price, the picks with the least total are
sought by local search, and the price rises until the code fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcugen.select.candidates import Candidate, Menu

PRICES = (0.0, *(0.25 * 2**k for k in range(14)))
"""Of a byte of code, in units of a candidate's cost."""

Weight = Callable[[Candidate], float]
Picks = tuple[Candidate, ...]
"""One candidate of each node."""


def code_of(picks: Sequence[Candidate]) -> int:
    """Bytes of the functions that the picks call, each once."""
    return sum({c.function: c.code_bytes for c in picks}.values())


def within_code(menus: Sequence[Menu], limit: int, weight: Weight) -> Picks:
    """The picks of the least weight whose code is within `limit` bytes, or that have the least code found."""
    best: Picks = ()
    for price in PRICES:
        best = cheapest(menus, price, weight)
        if code_of(best) <= limit:
            break
    return best


def cheapest(menus: Sequence[Menu], price: float, weight: Weight) -> Picks:
    """Picks with the least sum of weights and priced code, as far as leaving or taking up one function can tell."""
    picks = tuple(min(menu, key=weight) for menu in menus)
    if not price:
        return picks
    total = _total(picks, price, weight)
    while True:
        tried = [_without(menus, picks, name, price, weight) for name in sorted({c.function for c in picks})]
        tried += [_with(menus, picks, name, weight) for name in sorted({c.function for m in menus for c in m})]
        better = min(tried, key=lambda found: _total(found, price, weight))
        if _total(better, price, weight) >= total - 1e-6:
            return picks
        picks, total = better, _total(better, price, weight)


def _total(picks: Picks, price: float, weight: Weight) -> float:
    return sum(weight(c) for c in picks) + price * code_of(picks)


def _without(menus: Sequence[Menu], picks: Picks, name: str, price: float, weight: Weight) -> Picks:
    """The nodes that call a function with the best of the others, each new function paid by the first to call it."""
    used = {c.function for c in picks} - {name}
    found = list(picks)
    for i, menu in enumerate(menus):
        others = [c for c in menu if c.function != name]
        if picks[i].function == name and others:
            found[i] = min(others, key=lambda c: weight(c) + (0.0 if c.function in used else price * c.code_bytes))
            used.add(found[i].function)
    return tuple(found)


def _with(menus: Sequence[Menu], picks: Picks, name: str, weight: Weight) -> Picks:
    """Every node that can call a function calls it, where that has no more weight or lets go of another function."""
    calls: dict[str, int] = {}
    for c in picks:
        calls[c.function] = calls.get(c.function, 0) + 1
    found = list(picks)
    for i, menu in enumerate(menus):
        there = next((c for c in menu if c.function == name), None)
        if there is not None and (weight(there) <= weight(picks[i]) or calls[picks[i].function] == 1):
            found[i] = there
    return tuple(found)

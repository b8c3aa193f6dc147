"""Choice of C functions: a copy of a kernel for one layer's sizes must be worth its bytes of flash.

The code of a function counts once, however many nodes call it. A local search finds a set of functions: it adds, drops
or swaps one at a time, and every node calls the best function of the set. The search first puts a rising price on bytes
of code until the set fits the limit. It then makes the set faster while it still fits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.solve.candidates import Candidate, Candidates

PRICES = (*(0.25 * 2**k for k in range(12)), 1e9)
"""Prices tried for a byte of code, in units of a candidate's cost; the last is more than any cost."""
STARTS = 3
"""Number of fitting sets, at rising prices, after which the search stops and takes the fastest."""

_LEAST_PRICE = 1e-6
"""Price that drops functions no node calls."""

_ROUNDED = 1e-9
"""Upper bound of the relative rounding error of sums."""

_AT_ONCE = 200_000
"""Number of weights added up at once, over several sets of functions."""

Weight = Callable[[Candidate], float]
Picks = tuple[Candidate, ...]
"""One candidate of each node."""


def code_of(picks: Sequence[Candidate]) -> int:
    """Bytes of code of the functions that the picks call, each counted once with its largest estimate."""
    return sum({c.function: c.code_bytes for c in sorted(picks, key=lambda c: c.code_bytes)}.values())


def within_code(candidates: Sequence[Candidates], limit: int, weight: Weight, price: float = _LEAST_PRICE) -> Picks:
    """The picks of the least total weight found whose code is within `limit` bytes; else those of the least code found.

    price: weight that each byte of code must save even below the limit.
    """
    return within_each(candidates, [limit], weight, price)[0]


def within_each(
    candidates: Sequence[Candidates], limits: Sequence[int], weight: Weight, price: float = _LEAST_PRICE
) -> list[Picks]:
    """The picks of `within_code` for each limit. The part of the search that needs no limit runs only once."""
    offer = _offer(candidates, weight)
    higher = [tried for tried in PRICES if tried > price]
    start = offer.first() if price == _LEAST_PRICE else offer.improved(offer.first(), price, np.inf)

    @functools.cache
    def rising(k: int) -> frozenset[int]:
        """The set of functions at the k-th higher price, without a limit. The search starts from the set at price k -
        1.
        """
        return offer.improved(rising(k - 1), higher[k - 1], np.inf) if k else start

    sets = [functools.partial(rising, k) for k in range(len(higher) + 1)]
    return [_within(offer, sets, limit, price) for limit in limits]


def _within(offer: _Offer, rising: Sequence[Callable[[], frozenset[int]]], limit: int, price: float) -> Picks:
    """Picks within a limit. rising: for each price of code, the lowest first, a function that computes the set of
    functions for this price.
    """
    first = last = rising[0]()
    if offer.code_of(first) <= limit:
        return offer.picks(first)
    found: list[frozenset[int]] = []
    for higher in rising[1:]:
        last = higher()
        if offer.code_of(last) <= limit:
            found.append(offer.improved(last, price, limit))
        if len(found) == STARTS:
            break
    if price > _LEAST_PRICE:
        found.append(offer.improved(offer.shrunk(first, limit), price, limit))
    fitting = [used for used in found if offer.code_of(used) <= limit]
    return offer.picks(min(fitting, key=lambda used: offer.weight_of(used) + price * offer.code_of(used), default=last))


def cheapest(candidates: Sequence[Candidates], price: float, weight: Weight) -> Picks:
    """The picks with the least sum of weights plus price * bytes of code that the search finds."""
    offer = _offer(candidates, weight)
    return offer.picks(offer.improved(offer.first(), price, np.inf))


@dataclass(frozen=True, eq=False)
class _Offer:
    """Weights [nodes, functions], infinite if a node cannot call a function. code: bytes of each function."""

    candidates: Sequence[Candidates]
    names: tuple[str, ...]
    weights: np.ndarray
    code: np.ndarray

    def first(self) -> frozenset[int]:
        """The function of the least weight of each node, regardless of code."""
        return frozenset(int(k) for k in self.weights.argmin(axis=1))

    def code_of(self, used: frozenset[int]) -> float:
        return float(self.code[sorted(used)].sum())

    def weight_of(self, used: frozenset[int]) -> float:
        return float(self.weights[:, sorted(used)].min(axis=1).sum())

    def picks(self, used: frozenset[int]) -> Picks:
        """For each node, the candidate of the least weight whose function is in `used`."""
        order = sorted(used)
        best = self.weights[:, order].argmin(axis=1)
        names = [self.names[order[k]] for k in best]
        return tuple(
            next(c for c in listed if c.function == name) for listed, name in zip(self.candidates, names, strict=True)
        )

    def improved(self, used: frozenset[int], price: float, limit: float) -> frozenset[int]:
        """The set after repeated best changes, as long as these lower the sum of weights plus price * bytes of code.

        The code stays within `limit` bytes.
        """
        total = self.weight_of(used) + price * self.code_of(used)
        while True:
            better, then = self._exchanged(used, price, limit)
            if not better < total - _LEAST_PRICE:
                opened = (self._opened(used, k, price, limit) for k in self._worth_opening(used, price, total))
                better, then = min(opened, key=lambda m: m[0], default=(np.inf, used))
            if not better < total - _LEAST_PRICE:
                return used
            used, total = then, better

    def shrunk(self, used: frozenset[int], limit: int) -> frozenset[int]:
        """The set after dropping or replacing functions, each time at the least weight per byte saved.

        It stops when the code is within `limit` bytes or no more can be saved.
        """
        while (code := self.code_of(used)) > limit:
            weight = self.weight_of(used)
            less = [then for gone in sorted(used) for then in self._smaller(used, gone)]
            if not less:
                return used
            used = min(less, key=lambda then: (self.weight_of(then) - weight) / (code - self.code_of(then)))
        return used

    def _smaller(self, used: frozenset[int], gone: int) -> Iterator[frozenset[int]]:
        """Sets without the function `gone`, with or without one smaller function instead.

        Sets that lack a function for some node are left out.
        """
        rest = sorted(used - {gone})
        kept = self.weights[:, rest].min(axis=1, initial=np.inf)
        if np.isfinite(kept).all():
            yield frozenset(rest)
        for k in np.flatnonzero(self.code < self.code[gone]):
            if k not in used and np.isfinite(np.minimum(kept, self.weights[:, k])).all():
                yield frozenset((*rest, int(k)))

    def _worth_opening(self, used: frozenset[int], price: float, total: float) -> list[int]:
        """Functions whose addition may lower the sum of weights plus priced code below `total`, if others are dropped
        then.

        A lower bound of the sum decides: dropping a function saves the price of its code, and adds at least the weight
        that it would add if it was the first function dropped.
        """
        order = sorted(used)
        weights = self.weights[:, order]
        serving, two = weights.argmin(axis=1), np.sort(weights, axis=1)[:, :2]
        best, second = two[:, :1], two[:, 1:] if len(order) > 1 else np.full((len(two), 1), np.inf)
        lost = np.where(self.weights < best, 0, np.minimum(self.weights, second) - best)
        code = price * self.code
        bounds = np.minimum(self.weights, best).sum(axis=0) + code[order].sum() + np.where(self._is_in(used), 0, code)
        for place, k in enumerate(order):
            spared = np.maximum(code[k] - lost[serving == place].sum(axis=0), 0)
            spared[k] = 0
            bounds -= spared
        return np.flatnonzero(bounds < total - _LEAST_PRICE + _ROUNDED * abs(total)).tolist()

    def _is_in(self, used: frozenset[int]) -> np.ndarray:
        found = np.zeros(len(self.code), bool)
        found[list(used)] = True
        return found

    def _opened(self, used: frozenset[int], new: int, price: float, limit: float) -> tuple[float, frozenset[int]]:
        """(weights plus priced code, set) after adding function `new` and dropping functions that are no longer worth
        it.
        """
        left = sorted(used | {new})
        while len(left) > 1:
            weights = self.weights[:, left]
            two = np.partition(weights, 1, axis=1)
            losses = np.bincount(weights.argmin(axis=1), two[:, 1] - two[:, 0], len(left)) - price * self.code[left]
            losses[left.index(new)] = np.inf
            over = self.code[left].sum() > limit
            gone = int((losses / self.code[left]).argmin() if over else losses.argmin())
            if losses[gone] >= 0 and not (over and np.isfinite(losses[gone])):
                break
            del left[gone]
        kept = frozenset(left)
        fits = self.code_of(kept) <= limit
        return (self.weight_of(kept) + price * self.code_of(kept) if fits else np.inf), kept

    def _exchanged(self, used: frozenset[int], price: float, limit: float) -> tuple[float, frozenset[int]]:
        """(weights plus priced code, set) of the best set after removing at most one function and adding at most
        one.
        """
        order = sorted(used)
        kept = self._kept(order)
        code = self.code[order].sum() - np.array([0.0, *self.code[order]])[:, None] + np.append(self.code, 0)
        totals = np.column_stack([self._sums(kept), kept.sum(axis=1)]) + price * code
        totals[code > limit] = np.inf
        totals[:, order] = np.inf
        gone, new = divmod(int(totals.argmin()), totals.shape[1])
        rest = order[: gone - 1] + order[gone:] if gone else order
        return float(totals[gone, new]), frozenset(rest) | ({new} if new < len(self.code) else set())

    def _kept(self, order: list[int]) -> np.ndarray:
        """Least weight of each node: with all functions in `order`, then without each of them. Shape [sets, nodes]."""
        weights = self.weights[:, order]
        serving, best = weights.argmin(axis=1), weights.min(axis=1)
        second = np.partition(weights, 1, axis=1)[:, 1] if len(order) > 1 else np.full(len(weights), np.inf)
        return np.stack([best, *(np.where(serving == place, second, best) for place in range(len(order)))])

    def _sums(self, kept: np.ndarray) -> np.ndarray:
        """Total weight of each set in `kept` after adding each function. Shape [sets, functions]."""
        step = max(_AT_ONCE // self.weights.size, 1)
        found = [np.minimum(kept[k : k + step, :, None], self.weights).sum(axis=1) for k in range(0, len(kept), step)]
        return np.concatenate(found)


def _offer(candidates: Sequence[Candidates], weight: Weight) -> _Offer:
    """Weights and code sizes of all functions. Of a node's candidates with the same function, the least weight
    counts.
    """
    code: dict[str, int] = {}
    for c in itertools.chain.from_iterable(candidates):
        code[c.function] = max(code.get(c.function, 0), c.code_bytes)
    names = tuple(sorted(code))
    weights = np.full((len(candidates), len(names)), np.inf)
    for i, listed in enumerate(candidates):
        for c in listed:
            k = names.index(c.function)
            weights[i, k] = min(weights[i, k], weight(c))
    return _Offer(candidates, names, weights, np.array([code[name] for name in names], float))

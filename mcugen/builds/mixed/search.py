"""Searches for the cheapest assignment of bit widths within a loss, or for the least loss within a budget.

Layers become narrow in order of their size. If not all of them can, the loss that each causes is measured, and single
layers are exchanged. The result has been run as an integer network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from mcugen.builds.mixed.axis import WEIGHTS, BitsAxis, Order
from mcugen.builds.mixed.bit_costs import AssignmentCost, Costs
from mcugen.builds.mixed.loss import Loss
from mcugen.quantize.cross_validation import TaskPool
from mcugen.quantize.noise import decibels
from mcugen.quantize.recipe import Recipe, Widths

_EXCHANGES = 12
"""Most exchanges of layers that are tried."""
_SLACK = 1e-9
_ABOUT = 1.01
"""Costs within this factor count as equal when points are compared."""


@dataclass(frozen=True)
class BitsPoint:
    """An assignment, its cost, and results of integer runs: SQNR in dB and loss in %."""

    widths: Widths
    cost: AssignmentCost
    sqnr: float
    loss: float


@dataclass
class BitsSearch:
    """A search over one axis.

    recipes: each assignment is run with all of them, and the best result counts. most: allowed loss in %; None for any.
    """

    pool: TaskPool
    axis: BitsAxis
    recipes: tuple[Recipe, ...]
    costs: Costs
    loss: Loss
    most: float | None = None
    progress: Callable[[str], None] = lambda text: None
    _measured: dict[Widths, tuple[float, float]] = field(default_factory=dict)

    def point(self, narrow: Sequence[str]) -> BitsPoint:
        """The assignment in which these nodes are narrow, after a run."""
        widths = self.axis.widths(narrow)
        return BitsPoint(widths, self.costs.of(widths), *self._run([widths])[0])

    def cheapest(self) -> BitsPoint | None:
        """The cheapest assignment found within the loss and the budgets, or None."""
        every = self.axis.nodes
        if self._within(every):
            return self.point(every)
        tried = (self._by_size(), self._longest(self._by_error()))
        found = min((n for n in tried if n is not None), key=self._price, default=None)
        if found is None:
            return None
        best = self._exchanged(found)
        return self.point(best) if self.costs.fits(self.axis.widths(best)) else None

    def best(self) -> BitsPoint | None:
        """The assignment with the least loss of those that just fit the budgets: the fewest narrow layers, for each
        order.
        """
        found = [n for order in self.axis.orders if (n := self._shortest(order)) is not None]
        points = [self.point(narrow) for narrow in dict.fromkeys(found)]
        if points and self.most is not None and min(p.loss for p in points) > self.most:
            again = self._shortest(self._by_error())
            points += [] if again is None else [self.point(again)]
        return min(points, key=lambda p: (p.loss, -p.sqnr), default=None)

    def front(self, most: int) -> list[BitsPoint]:
        """At most `most` assignments per order, sorted by SQNR, without assignments that another one dominates."""
        chosen: dict[Order, None] = {}
        for order in self.axis.orders:
            counts = sorted({round(k * len(order) / (most - 1)) for k in range(most)})
            chosen.update(dict.fromkeys(tuple(n for n in self.axis.nodes if n in order[:k]) for k in counts))
        self._run([self.axis.widths(narrow) for narrow in chosen])
        points = sorted((self.point(n) for n in chosen), key=lambda p: p.sqnr)
        return [p for k, p in enumerate(points) if not any(self._serves(better, p) for better in points[k + 1 :])]

    def _serves(self, better: BitsPoint, point: BitsPoint) -> bool:
        """Whether `better`, whose SQNR is at least as high, takes about the same bytes and time, or less."""
        first, second = better.cost, point.cost
        return self._bytes(first) <= _ABOUT * self._bytes(second) and first.time <= _ABOUT * second.time

    def cheapest_by_size(self) -> BitsPoint | None:
        """The cheapest assignment found within the loss, if layers become narrow by size alone; or None."""
        found = self.axis.nodes if self._within(self.axis.nodes) else self._by_size()
        return None if found is None else self.point(found)

    def _by_size(self) -> Order | None:
        found = [n for order in self.axis.orders if (n := self._longest(order)) is not None]
        return min(found, key=self._price, default=None)

    def _longest(self, order: Order) -> Order | None:
        """The longest prefix of an order that stays within the loss. The loss is assumed to grow with each node."""
        return _last(order, self._within) if self._within(()) else None

    def _shortest(self, order: Order) -> Order | None:
        """The shortest prefix of an order that fits the budgets. Costs are assumed to fall with each node."""
        if not self.costs.fits(self.axis.widths(order)):
            return None
        if self.costs.fits(self.axis.widths(())):
            return ()
        over = _last(order, lambda narrow: not self.costs.fits(self.axis.widths(narrow)))
        return order[: len(over) + 1]

    def _by_error(self) -> Order:
        """Nodes sorted by the noise that each adds per element, least first. The noise is measured with all nodes
        narrow.
        """
        every = self.axis.nodes
        wider = [self.axis.widths(tuple(n for n in every if n != node)) for node in every]
        all_noise, *noises = (noise for _, noise in self._noise([self.axis.narrowest, *wider]))
        harm = {n: (all_noise - noise) / self.axis.sizes[n] for n, noise in zip(every, noises, strict=True)}
        return tuple(sorted(every, key=lambda n: harm[n]))

    def _exchanged(self, narrow: Order) -> Order:
        """The narrow nodes after exchanges. An exchange makes one more node narrow, and may make a smaller one wide
        again.

        It is accepted if it saves something and the loss stays within the limit.
        """
        now, price = narrow, self._price(narrow)
        for tried in islice(self._exchanges(narrow), _EXCHANGES):
            if self._price(tried) < price and self._within(tried):
                now, price = tried, self._price(tried)
        return now

    def _exchanges(self, narrow: Order) -> Sequence[Order]:
        wide = [n for order in self.axis.orders[:1] for n in order if n not in narrow]
        alone = [self._in_order({*narrow, n}) for n in wide]
        swapped = [self._in_order({*narrow, n} - {m}) for n in wide for m in reversed(narrow)]
        return sorted([*alone, *swapped], key=self._guess)

    def _guess(self, narrow: Order) -> int:
        """Number of elements that stay wide: an estimate of the price that needs no build."""
        return sum(self.axis.sizes[n] for n in self.axis.nodes if n not in narrow)

    def _in_order(self, narrow: set[str]) -> Order:
        return tuple(n for n in self.axis.nodes if n in narrow)

    def _within(self, narrow: Sequence[str]) -> bool:
        found = self._run([self.axis.widths(narrow)])[0][1]
        self.progress(f"{len(narrow)} of {len(self.axis.nodes)} layers narrow: {found:.2f} % lost")
        return self.most is None or found <= self.most + _SLACK

    def _price(self, narrow: Sequence[str]) -> tuple[int, float]:
        cost = self.costs.of(self.axis.widths(narrow))
        return self._bytes(cost), cost.time

    def _bytes(self, cost: AssignmentCost) -> int:
        return cost.flash if self.axis.kind == WEIGHTS else cost.ram

    def _run(self, wanted: Sequence[Widths]) -> list[tuple[float, float]]:
        """(SQNR, loss) of each assignment, on all folds."""
        folds = range(len(self.pool.bench.folds))
        new = [w for w in dict.fromkeys(wanted) if w not in self._measured]
        found = iter(self.pool.results([(r, w, fold) for w in new for r in self.recipes for fold in folds]))
        for widths in new:
            tried = [np.concatenate([next(found) for _ in folds], axis=1) for _ in self.recipes]
            powers = min(tried, key=lambda p: float(p[1].sum()))
            self._measured[widths] = float(decibels(powers.sum(axis=1))), self.loss.of(powers)
        return [self._measured[w] for w in wanted]

    def _noise(self, wanted: Sequence[Widths]) -> list[tuple[float, float]]:
        """(signal, noise) powers of each assignment, on the first fold and with the first recipe."""
        found = self.pool.results([(self.recipes[0], w, 0) for w in wanted])
        return [(float(p[0].sum()), float(p[1].sum())) for p in found]


def _last(order: Order, holds: Callable[[Order], bool]) -> Order:
    """The longest prefix that satisfies `holds`, by bisection. `holds` must be monotone: true for the empty prefix, and
    false for the whole order.
    """
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(order[:middle]) else (low, middle)
    return order[:low]

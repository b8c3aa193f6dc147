"""A network, what may run each of its nodes at the goal's prices, and the curves of time against memory of that."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mcugen.boards.target import Target
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve import constants
from mcugen.solve.batches import in_batches, in_fewest
from mcugen.solve.budget import Solution, is_long, parts_of, planned, pushed_input
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.curve import Curve, Point
from mcugen.solve.memories import regions_of
from mcugen.solve.prices import FREE, Prices, prices_of
from mcugen.solve.sharing import Picks, Weight, cheapest, code_of, within_code, within_each
from mcugen.solve.stretch import Frames
from mcugen.system import forked
from mcugen.system.forked import Apart

CODE_BYTES = 19 * 1024
"""Kernel code budget: above it, per-layer copies outgrow a small flash cache and stop paying."""

SMALL_CODE_BYTES = 16 * 1024
CODE_WORTH = 4.0
"""Above SMALL_CODE_BYTES, the cost each further byte of code must save."""

MOST_CODE_BYTES = 24 * 1024
CODE_STEP = 1024
LARGE_CODE_WORTH = 1e-5
"""Between CODE_BYTES and MOST_CODE_BYTES, the share of the network's cost that each further byte must save: a kilobyte
a hundredth of it.
"""


@dataclass(frozen=True, eq=False)
class Searched:
    """The curves and the fastest kernels of a network, by what they depend on, which budgets are not; and what curves
    have in common.

    advises: whether solutions say what more RAM would bring.
    """

    advises: bool = True
    curves: dict[object, Curve] = field(default_factory=dict)
    fastest: dict[object, dict[Candidates, Candidate]] = field(default_factory=dict)
    frames: Frames = field(default_factory=Frames)


@dataclass(frozen=True, eq=False)
class Problem:
    """The network, the candidates of its nodes that the goal allows, and the budgets. known: from searches before."""

    graph: Graph
    candidates: tuple[Candidates, ...]
    options: Options
    board: Target
    prices: Prices = FREE
    known: Searched = field(default_factory=Searched)

    def planned(self, picks: Picks, groups: tuple[range, ...] = ()) -> Solution:
        """The solution with these kernels in which the steps of each group run row by row."""
        regions = regions_of(self.options, self.board)
        return planned(self.graph, [c.choice for c in picks], groups, self.options, regions)

    def apart(self, point: Point) -> Apart[Solution]:
        """The plan of a point, made by another process while this one goes on, where the network is long."""
        return Apart(lambda: self.planned(point.picks, point.groups), self._parts((point,)), is_worth_it=self._shares)

    def in_turn(
        self, works: Iterable[Callable[[], Solution]], points: Sequence[Point]
    ) -> Generator[Solution, None, None]:
        """Plans of points in their order, each second one made apart, as of `apart`."""
        return forked.in_turn(works, self._parts(points), is_worth_it=self._shares)

    @property
    def _shares(self) -> bool:
        """Whether another process makes plans; not where one solves another order, as each takes memory."""
        return is_long(self.graph) and not forked.is_under_way()

    def _parts(self, points: Sequence[Point]) -> Iterator[object]:
        yield from parts_of(self.graph, {id(c.choice): c.choice for point in points for c in point.picks}.values())

    @property
    def fastest(self) -> Picks:
        """The kernels that take the least time and price of constants, as of `fastest`: the same in every order."""
        key = frozenset(self.candidates), self.prices
        if key not in self.known.fastest:
            picks = fastest(self.candidates, self.prices.of)
            self.known.fastest[key] = dict(zip(self.candidates, picks, strict=True))
        return tuple(map(self.known.fastest[key].__getitem__, self.candidates))

    def within_flash(self, picks: Picks) -> Picks:
        """Picks whose constants fit --flash, or the board's less the code, as far as that goes."""
        return constants.within(picks, self.candidates, constants.limit_of(self.options, self.board))

    def offered(self, picks: Picks) -> list[Candidates]:
        """For each node the functions picked without regard to RAM, and those that need less memory of their own; where
        the pick cannot run by rows, also those that can.

        A faster one that was not picked was not worth its code, or its constants where they have a price. What holds
        more constants than the pick is left out where flash is limited.
        """
        priced = self.prices.flash > 0
        used = {c.function for c in picks}
        limit = constants.limit_of(self.options, self.board)
        is_near = limit is not None and constants.WIDEST * constants.constants_of(picks) > limit
        limited = self.options.optimize == "flash" or is_near

        def is_offered(c: Candidate, pick: Candidate) -> bool:
            walks = c.choice.can_run_by_rows and not pick.choice.can_run_by_rows
            slower = c.cost >= pick.cost
            leaner = (c.working_bytes < pick.working_bytes or walks) and slower
            return leaner or (c.function in used and (slower or not priced))

        known = constants.no_larger(self.candidates, picks) if limited else self.candidates
        pairs = zip(known, picks, strict=True)
        return [tuple(c for c in listed if is_offered(c, pick)) for listed, pick in pairs]

    @property
    def room(self) -> int | None:
        """All bytes of the budget; None where there is no limit."""
        sizes = [region.nbytes for region in regions_of(self.options, self.board)]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def least_bytes(self, point: Point) -> int:
        """What no plan of a point needs less than. Its peak holds the next values of states beside the last ones, where
        they may lie.
        """
        return point.peak - sum(self.graph.type(state.after).nbytes for state in self.graph.states)

    def may_fit(self, offered: Sequence[Candidates]) -> bool:
        """Whether no bound says before any search that none of these candidates fit the budget; frames have none."""
        if self.options.input_mode == "frames":
            return True
        return self.room is None or self.curve(offered).least_bytes(self.room) <= self.room

    def points(self, offered: Sequence[Candidates]) -> list[Point]:
        """The points of all curves with these candidates."""
        return [point for curve in self.all_curves(offered) for point in curve.points()]

    def all_curves(self, offered: Sequence[Candidates]) -> list[Curve]:
        """Those of few rows at a time, and of several."""
        return [self.curve(listed) for listed in self.ways(offered)]

    def ways(self, offered: Sequence[Candidates]) -> list[Sequence[Candidates]]:
        """These candidates, with several rows at a time where that is faster, and with as few as there can be."""
        batches, fewest = in_batches(offered, self.board, self.options), in_fewest(offered)
        return [offered, *([batches] if batches else []), *([fewest] if fewest else [])]

    def curve(self, offered: Sequence[Candidates]) -> Curve:
        """Time against memory with these candidates."""
        options = self.options
        key = (*map(tuple, offered), options.input_mode, options.keep_input, options.no_rows)
        if key not in self.known.curves:
            self.known.curves[key] = self.new_curve(offered)
        return self.known.curves[key]

    def new_curve(self, offered: Sequence[Candidates], most: float = math.inf) -> Curve:
        """The same, to be asked for points within limits, which fall. most: see `Curve`."""
        options, first = self.options, [listed[0].choice for listed in offered]
        pushed = None if options.input_mode == "whole" else pushed_input(self.graph, first, options.input_mode)
        return Curve(
            self.graph,
            offered,
            keep_input=options.keep_input,
            pushed=pushed,
            no_rows=options.no_rows,
            most=most,
            frames=self.known.frames,
        )


def problem_of(
    graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target, known: Searched | None
) -> Problem:
    """The problem with the candidates that the goal allows, at its prices.

    Weights are stored wider for `speed`, or where that has a price, as for `balanced` and `ram`; else they stay as wide
    as the model has them. Forms that spare bytes at the cost of time are for `flash`.
    """
    prices = prices_of(graph, candidates, options, board)
    wider = options.optimize == "speed" or prices.flash > 0
    usual = candidates if options.optimize == "flash" else [_lavish(listed) for listed in candidates]
    allowed = tuple(listed if wider else _narrow(listed) for listed in usual)
    return Problem(graph, allowed, options, board, prices, known or Searched())


def fastest(candidates: Sequence[Candidates], weight: Weight = lambda c: c.cost) -> Picks:
    """The kernels of least weight whose code is within bounds; where there is much of it, without copies that save
    little.
    """
    found = within_code(candidates, CODE_BYTES, weight)
    if code_of(found) <= SMALL_CODE_BYTES:
        return found
    worth = cheapest(candidates, CODE_WORTH, weight)
    if code_of(worth) <= CODE_BYTES:
        return worth
    price = max(CODE_WORTH, LARGE_CODE_WORTH * sum(map(weight, found)))
    limits = range(CODE_BYTES + CODE_STEP, MOST_CODE_BYTES + 1, CODE_STEP)
    larger = within_each(candidates, limits, weight)
    return min((found, *larger), key=lambda p: sum(map(weight, p)) + price * max(code_of(p) - CODE_BYTES, 0))


def _narrow(listed: Candidates) -> Candidates:
    """The candidates that keep the weights as wide as the model has them, where there are any."""
    return tuple(c for c in listed if not c.choice.kernel.widened) or listed


def _lavish(listed: Candidates) -> Candidates:
    """The candidates that are not frugal, where there are any."""
    return tuple(c for c in listed if not c.choice.kernel.frugal) or listed

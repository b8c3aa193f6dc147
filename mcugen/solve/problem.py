"""A network with the candidate kernels of its nodes, the goal's prices, and the curves of time against memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mcugen.boards.target import Target
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve import constant_limits
from mcugen.solve.budget import Solution, Unplanned, is_long, parts_of, pushed_input, unplanned
from mcugen.solve.candidates import Candidate, Candidates
from mcugen.solve.memories import regions_of
from mcugen.solve.prices import FREE, Prices, prices_of
from mcugen.solve.row_batches import in_batches, in_fewest
from mcugen.solve.sharing import Picks, Weight, cheapest, code_of, within_code, within_each
from mcugen.solve.stretch import FramesCache
from mcugen.solve.time_memory_curve import CostCurve, Point
from mcugen.system import forked
from mcugen.system.forked import Apart

CODE_BYTES = 19 * 1024
"""Budget of kernel code in bytes. Above it, copies of kernels for single layers outgrow a small flash cache."""

SMALL_CODE_BYTES = 16 * 1024
CODE_WORTH = 4.0
"""Time, in units of `Candidate.cost`, that each byte of code above SMALL_CODE_BYTES must save."""

MOST_CODE_BYTES = 24 * 1024
CODE_STEP = 1024
LARGE_CODE_WORTH = 1e-5
"""Share of the network's cost that each byte of code between CODE_BYTES and MOST_CODE_BYTES must save: 1 % per KiB."""


@dataclass(frozen=True, eq=False)
class Searched:
    """Cached search results of a network, which do not depend on budgets.

    curves, fastest: caches, with all that a result depends on as key. frames: data that curves share.
    advises: whether solutions come with advice on more RAM.
    """

    advises: bool = True
    curves: dict[object, CostCurve] = field(default_factory=dict)
    fastest: dict[object, dict[Candidates, Candidate]] = field(default_factory=dict)
    frames: FramesCache = field(default_factory=FramesCache)


@dataclass(frozen=True, eq=False)
class Problem:
    """The network, the candidates of its nodes that the goal allows, and the budgets. known: results of earlier
    searches.
    """

    graph: Graph
    candidates: tuple[Candidates, ...]
    options: Options
    board: Target
    prices: Prices = FREE
    known: Searched = field(default_factory=Searched)

    def planned(self, picks: Picks, groups: tuple[range, ...] = ()) -> Solution:
        """The solution with these kernels in which the steps of each group run row by row."""
        return self.unplanned(picks, groups).planned()

    def unplanned(self, picks: Picks, groups: tuple[range, ...]) -> Unplanned:
        """The solution of `planned`, before its memory is planned."""
        regions = regions_of(self.options, self.board)
        return unplanned(self.graph, [c.choice for c in picks], groups, self.options, regions)

    def apart(self, point: Point) -> Apart[Solution]:
        """The solution of a point, computed by a worker process in parallel if the network is long."""
        return Apart(lambda: self.planned(point.picks, point.groups), self._parts((point,)), is_worth_it=self._shares)

    def in_turn(
        self, works: Iterable[Callable[[], Solution]], points: Sequence[Point]
    ) -> Generator[Solution, None, None]:
        """Solutions of points in their order. For a long network, a worker process computes every second one."""
        return forked.in_turn(works, self._parts(points), is_worth_it=self._shares)

    @property
    def _shares(self) -> bool:
        """Whether a worker process may compute solutions. False while one is running, since each takes memory."""
        return is_long(self.graph) and not forked.is_under_way()

    def _parts(self, points: Sequence[Point]) -> Iterator[object]:
        yield from parts_of(self.graph, {id(c.choice): c.choice for point in points for c in point.picks}.values())

    @property
    def fastest(self) -> Picks:
        """Kernels by the function `fastest`, with time and price of constants as weight. The order of the nodes does
        not matter.
        """
        key = frozenset(self.candidates), self.prices
        if key not in self.known.fastest:
            picks = fastest(self.candidates, self.prices.of)
            self.known.fastest[key] = dict(zip(self.candidates, picks, strict=True))
        return tuple(map(self.known.fastest[key].__getitem__, self.candidates))

    def within_flash(self, picks: Picks) -> Picks:
        """Picks changed so that their constants fit --flash or the board's flash without the code, as far as
        possible.
        """
        return constant_limits.within(picks, self.candidates, constant_limits.limit_of(self.options, self.board))

    def offered(self, picks: Picks) -> list[Candidates]:
        """Candidates of each node for the search of a curve. picks: the kernels to use if RAM is not limited.

        They are kernels with a function that is picked somewhere, slower kernels with less working memory than the
        pick, and slower kernels that can run by rows if the pick cannot. Faster functions that were not picked are not
        worth their code, or the price of their constants. If flash is limited, kernels with more constants than the
        pick are left out.
        """
        priced = self.prices.flash > 0
        used = {c.function for c in picks}
        limit = constant_limits.limit_of(self.options, self.board)
        is_near = limit is not None and constant_limits.WIDEST * constant_limits.constants_of(picks) > limit
        limited = self.options.optimize == "flash" or is_near

        def is_offered(c: Candidate, pick: Candidate) -> bool:
            gains_rows = c.choice.can_run_by_rows and not pick.choice.can_run_by_rows
            slower = c.cost >= pick.cost
            leaner = (c.working_bytes < pick.working_bytes or gains_rows) and slower
            return leaner or (c.function in used and (slower or not priced))

        known = constant_limits.no_larger(self.candidates, picks) if limited else self.candidates
        pairs = zip(known, picks, strict=True)
        return [tuple(c for c in listed if is_offered(c, pick)) for listed, pick in pairs]

    @property
    def room(self) -> int | None:
        """Bytes of all regions of the budget; None without a limit."""
        sizes = [region.nbytes for region in regions_of(self.options, self.board)]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def least_bytes(self, point: Point) -> int:
        """Lower bound of the bytes of any plan for a point.

        The peak of a point counts the old and the next value of each state. A plan may store both in the same bytes.
        """
        return point.peak - sum(self.graph.type(state.after).nbytes for state in self.graph.states)

    def may_fit(self, offered: Sequence[Candidates]) -> bool:
        """Whether a lower bound for these candidates is within the budget. It needs no search. Always True for
        frames.
        """
        if self.options.input_mode == "frames":
            return True
        return self.room is None or self.curve(offered).least_bytes(self.room) <= self.room

    def points(self, offered: Sequence[Candidates]) -> list[Point]:
        """The points of all curves with these candidates."""
        return [point for curve in self.all_curves(offered) for point in curve.points()]

    def all_curves(self, offered: Sequence[Candidates]) -> list[CostCurve]:
        """The curves for the results of `ways`."""
        return [self.curve(listed) for listed in self.ways(offered)]

    def ways(self, offered: Sequence[Candidates]) -> list[Sequence[Candidates]]:
        """The candidates as offered; with several rows per event, if that is faster; and with the fewest rows per
        event.
        """
        batches, fewest = in_batches(offered, self.board, self.options), in_fewest(offered)
        return [offered, *([batches] if batches else []), *([fewest] if fewest else [])]

    def curve(self, offered: Sequence[Candidates]) -> CostCurve:
        """The curve of time against memory with these candidates."""
        options = self.options
        key = (*map(tuple, offered), options.input_mode, options.keep_input, options.no_rows)
        if key not in self.known.curves:
            self.known.curves[key] = self.new_curve(offered)
        return self.known.curves[key]

    def new_curve(self, offered: Sequence[Candidates], most: float = math.inf) -> CostCurve:
        """A curve that is not cached. most: the largest number of stretches that it examines, see `CostCurve`."""
        options, first = self.options, [listed[0].choice for listed in offered]
        pushed = None if options.input_mode == "whole" else pushed_input(self.graph, first, options.input_mode)
        return CostCurve(
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

    Kernels that store weights wider than the model does are allowed for `speed`, and for goals that put a price on
    flash. Kernels that save bytes at the cost of time are allowed for `flash` only.
    """
    prices = prices_of(graph, candidates, options, board)
    wider = options.optimize == "speed" or prices.flash > 0
    usual = candidates if options.optimize == "flash" else [_without_slow_small(listed) for listed in candidates]
    allowed = tuple(listed if wider else _narrow(listed) for listed in usual)
    return Problem(graph, allowed, options, board, prices, known or Searched())


def fastest(candidates: Sequence[Candidates], weight: Weight = lambda c: c.cost) -> Picks:
    """The kernels of least total weight whose code is within CODE_BYTES. If their code exceeds SMALL_CODE_BYTES, copies
    of kernels that save little are dropped, or more code is allowed if it saves much.
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
    """Candidates that keep the weights as wide as the model has them, if there are any; else all."""
    return tuple(c for c in listed if not c.choice.kernel.widened) or listed


def _without_slow_small(listed: Candidates) -> Candidates:
    """Candidates without kernels offered for the goal `flash` only, if others exist; else all."""
    return tuple(c for c in listed if not c.choice.kernel.frugal) or listed

"""Solver for kernels and memory: the fastest solution within the budgets, or the smallest for the goal `ram`.

The fastest kernels on whole tensors are taken if they fit. Otherwise the curve of time against memory
(`time_memory_curve.py`) gives the fastest kernels and row-by-row steps within the budget. Equal inputs give equal
solutions, and a larger budget never gives a slower one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from mcugen.boards.target import Target
from mcugen.ir.graph import Graph
from mcugen.options import Options
from mcugen.solve import constant_limits, frame_streaming
from mcugen.solve.advice import ALMOST, NEAR, faster_points, sentence
from mcugen.solve.budget import Solution, unplanned, with_note, with_saving
from mcugen.solve.candidates import Candidate, Candidates, rows_costs_of
from mcugen.solve.cheapest import Cheapest
from mcugen.solve.flash import least_flash
from mcugen.solve.leaner import Plannable, PlanQueue
from mcugen.solve.leanest import memory_of, priced
from mcugen.solve.memories import allowing, room_of
from mcugen.solve.modes import EVENT_COST
from mcugen.solve.prices import Prices
from mcugen.solve.problem import Problem, Searched, problem_of
from mcugen.solve.schedule.size import region_bytes
from mcugen.solve.sharing import Picks
from mcugen.solve.time_memory_curve import CostCurve, Point

SHARES = (1.25, 1.0, 0.97, 0.9, 0.75)
"""Memory limits tried for faster kernels of each stretch, as fractions of the smallest plan."""

STRETCHES = 80
"""Limit of the stretches by rows that are examined if whole tensors fit already."""


def solve(
    graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target, known: Searched | None = None
) -> Solution:
    """The schedule and plan for `options`. If nothing fits, the smallest solution, which the caller refuses.

    The budget is --ram or --region, else the board's RAM regions. A model that does not fit the first region is spread
    over all of them. Pushed rows without --ram or --region get the least RAM that the fastest kernels allow. Raises
    UsageError if the input cannot be pushed, or if the board does not have a region of --region.
    """
    problem = problem_of(graph, candidates, options, board, known)
    if options.optimize == "ram":
        return frame_streaming.smallest(problem) if options.input_mode == "frames" else _smallest_within_flash(problem)
    if options.optimize == "flash":
        picks = problem.within_flash(least_flash(problem.candidates))
    else:
        picks = problem.within_flash(problem.fastest)
    if options.input_mode == "frames":
        return frame_streaming.that_fits(problem, picks)
    if options.input_mode != "whole":
        if not (options.ram or options.region):
            return _smallest(problem, [(c,) for c in picks])
        return _fastest_that_fits(problem, problem.offered(picks))
    whole = problem.planned(picks)
    if options.no_rows:
        return whole
    if whole.fits:
        return _worth_its_rows(problem, picks, whole) if problem.prices.ram else whole
    return with_note(_fastest_that_fits(problem, problem.offered(picks)), whole, options, board)


def rank_of(
    solution: Solution, cost: float, options: Options, board: Target, prices: Prices
) -> tuple[float, float, float]:
    """Sort key of solutions, the best first.

    It compares bytes over the budget, then the cost (time plus the price of memory), then RAM. For the goal `ram`, RAM
    comes before the cost.
    """
    cost += prices.flash * sum(c.constant_bytes for c in solution.choices) + prices.ram * solution.ram_bytes
    limit = options.ram_bytes if options.ram_bytes is not None else board.ram_bytes
    over = max(solution.ram_bytes - limit, 0) if limit is not None else 0
    least = (solution.ram_bytes, cost)
    return (over, *(least if options.optimize == "ram" else least[::-1]))


def cost_of(problem: Problem, solution: Solution) -> float:
    """Estimated time of a solution, in units of `Candidate.cost`."""
    rows = {step.choice.node.name for step in solution.schedule.steps if step.by_rows}
    chosen = {c.node.name: c for c in solution.choices}
    total = EVENT_COST * len(solution.schedule.trace)
    for listed in problem.candidates:
        choice = chosen[listed[0].choice.node.name]
        pick = next(c for c in listed if c.choice.kernel is choice.kernel)
        if choice.node.name in rows and choice.rows:
            total += rows_costs_of(pick, [choice.rows], problem.board, problem.options)[0]
        else:
            total += pick.rows_cost if choice.node.name in rows else pick.cost
    return total


def _plannable(problem: Problem, offered: Sequence[Candidates]) -> list[Plannable]:
    """The points of all curves, the point of `_leanest`, and points with its groups and faster kernels.

    Plans with the groups of `_leanest` have the fewest gaps. The faster kernels are chosen within the limits of SHARES.
    """
    curve, last = problem.curve(offered), _leanest(problem, offered)
    with problem.apart(last) as other:
        found = [Plannable(c, point) for c in problem.all_curves(offered) for point in c.points()]
        made = other.result()
    faster = [curve.along(last, share * made.ram_bytes) for share in SHARES]
    found += [*(Plannable(curve, point) for point in faster), Plannable(curve, last, made)]
    return list({(each.point.picks, each.point.groups): each for each in found}.values())


def _leanest(problem: Problem, offered: Sequence[Candidates]) -> Point:
    """The smallest point when each node may only use its kernel of the least working memory."""
    *_, last = problem.curve([(min(listed, key=memory_of),) for listed in offered]).points()
    return last


def _made(problem: Problem, each: Plannable) -> Solution:
    return each.made or problem.planned(each.point.picks, each.point.groups)


def _fastest_that_fits(problem: Problem, offered: Sequence[Candidates]) -> Solution:
    """The fitting solution with the least time plus price of RAM; the smallest solution if none fits.

    If a lower bound shows that nothing fits, only kernels of the least working memory are searched.
    """
    if not problem.may_fit(offered):
        return _least_of(problem, [Plannable(problem.curve(offered), _leanest(problem, offered))])
    room = problem.room
    plannable = _plannable(problem, offered)
    queue = PlanQueue(plannable, len(offered))
    price, score = problem.prices.ram, math.inf
    best: tuple[float, Solution] | None = None
    while (each := queue.below(score)) is not None:
        if room is None or problem.least_bytes(each.point) <= room:
            made, cost = _made(problem, each), each.point.cost
            if made.fits and cost + price * made.ram_bytes < score:
                score, best = cost + price * made.ram_bytes, (cost, made)
    return _least_of(problem, plannable) if best is None else _advised(problem, plannable, *best)


def _advised(problem: Problem, plannable: Sequence[Plannable], cost: float, solution: Solution) -> Solution:
    """The solution with notes on how much faster it would be with more RAM, if advice is wanted."""
    if not problem.known.advises:
        return solution
    points = [each.point for each in plannable]
    if problem.options.optimize == "ram":
        points = [
            replace(p, cost=p.cost - problem.prices.flash * constant_limits.constants_of(p.picks)) for p in points
        ]
        cost = cost_of(problem, solution)
    notes, options = [], problem.options
    room = room_of(options, problem.board)
    for point, name in faster_points(points, solution.ram_bytes, cost, options):
        made = unplanned(problem.graph, [c.choice for c in point.picks], point.groups, options, room).planned()
        if made.fits and (name != ALMOST or made.ram_bytes <= NEAR * solution.ram_bytes):
            budget = allowing(options, region_bytes(made.plan, made.schedule))
            notes.append(sentence(name, solution.ram_bytes, cost, made.ram_bytes, point.cost, budget))
    return replace(solution, notes=(*solution.notes, *dict.fromkeys(notes)))


def _worth_its_rows(problem: Problem, picks: Picks, whole: Solution) -> Solution:
    """The solution by rows, or with kernels of less working memory, whose saved RAM is worth more than its additional
    time and constants; `whole` if there is none.
    """
    price = problem.prices.ram
    cost = sum(c.cost for c in picks) + EVENT_COST * len(whole.schedule.trace)
    cheapest = Cheapest(whole, cost, price)
    for listed in problem.ways(_with_flash(problem, picks)):
        curve, limit = problem.new_curve(listed, STRETCHES), whole.ram_bytes - 1.0
        while (point := _below(curve, limit, cheapest)) is not None:
            cheapest.add(problem.unplanned(point.picks, point.groups), point.cost)
            if cheapest.room(point.cost) < point.peak:  # otherwise the exact score does not change the limit
                cheapest.settle()
            limit = min(point.peak, cheapest.room(point.cost)) - 1
    cheapest.settle()
    best = cheapest.solution
    return best if best is whole else with_saving(best, whole, cost_of(problem, best) / cost)


def _below(curve: CostCurve, limit: float, cheapest: Cheapest) -> Point | None:
    """The fastest point within the limit that costs less than the cheapest solution does in all."""
    point = curve.within(limit, cheapest.least)
    if point is None and cheapest.settle():
        point = curve.within(limit, cheapest.least)
    return point


def _with_flash(problem: Problem, picks: Picks) -> list[Candidates]:
    """Candidates of `problem.offered`. Their costs include the price of additional flash compared with the pick.

    Additional flash is more constants, plus the code of a function that no pick calls. The code of the pick's function
    is subtracted if only this node calls it.
    """
    calls = Counter(pick.function for pick in picks)

    def priced(c: Candidate, pick: Candidate) -> Candidate:
        spared = pick.code_bytes if calls[pick.function] == 1 else 0
        code = 0 if c.function in calls else max(c.code_bytes - spared, 0)
        more = problem.prices.flash * (c.constant_bytes - pick.constant_bytes + code)
        return replace(c, cost=c.cost + more, rows_cost=c.rows_cost + more)

    pairs = zip(problem.offered(picks), picks, strict=True)
    return [tuple(sorted((priced(c, pick) for c in listed), key=lambda c: c.cost)) for listed, pick in pairs]


def _smallest_within_flash(problem: Problem) -> Solution:
    """The solution of least RAM; of equals, the one with the least time plus price of constants.

    If its constants exceed the limit, it is searched again without kernels that have more constants than picks within
    the limit.
    """
    offered, limit = (
        priced(problem.candidates, problem.prices),
        constant_limits.limit_of(problem.options, problem.board),
    )
    found = _smallest(problem, offered)
    chosen = {c.node.name: c.kernel for c in found.choices}
    picks = tuple(
        next(c for c in listed if c.choice.kernel is chosen[c.choice.node.name]) for listed in problem.candidates
    )
    if limit is None or constant_limits.constants_of(picks) <= limit:
        return found
    return _smallest(problem, constant_limits.no_larger(offered, problem.within_flash(picks)))


def _smallest(problem: Problem, offered: Sequence[Candidates]) -> Solution:
    """The solution of least RAM, of equals the fastest."""
    return _least_of(problem, _plannable(problem, offered))


def _least_of(problem: Problem, plannable: Sequence[Plannable]) -> Solution:
    """The solution of least RAM of any point; of equals, the fastest."""
    waiting = sorted(plannable, key=lambda each: (each.point.peak, each.point.cost))
    plans = problem.in_turn((partial(_made, problem, each) for each in waiting), [each.point for each in waiting])
    best: tuple[int, float, Solution] | None = None
    with closing(plans):
        for each in waiting:
            if best is not None and problem.least_bytes(each.point) > best[0]:
                break
            made, cost = next(plans), each.point.cost
            if best is None or (made.ram_bytes, cost) < best[:2]:
                best = made.ram_bytes, cost, made
    assert best is not None  # the curve of any network has a point
    return _advised(problem, plannable, *best[1:])

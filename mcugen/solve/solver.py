"""Solver for kernels and memory: the fastest choice within the budgets, or the smallest where that is the goal.

The fastest kernels on whole tensors are taken if they fit. Otherwise the curve of time against memory
(`time_memory_curve.py`) gives the kernels and the steps by rows that are the fastest within the budget. The same
input gives the same answer, and a larger budget never gives a slower one.
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
from mcugen.solve.budget import Solution, planned, with_note, with_saving
from mcugen.solve.candidates import Candidate, Candidates, rows_costs_of
from mcugen.solve.flash import least_flash
from mcugen.solve.leaner import Plannable, PlanQueue
from mcugen.solve.leanest import memory_of, priced
from mcugen.solve.memories import allowing, room_of
from mcugen.solve.modes import EVENT_COST
from mcugen.solve.prices import Prices
from mcugen.solve.problem import Problem, Searched, problem_of
from mcugen.solve.schedule.size import region_bytes
from mcugen.solve.sharing import Picks
from mcugen.solve.time_memory_curve import Point

SHARES = (1.25, 1.0, 0.97, 0.9, 0.75)
"""Memory limits tried for faster kernels of each stretch, as fractions of the smallest plan."""

STRETCHES = 80
"""Most stretches by rows examined if whole tensors fit: the best chances come first, the last ones take long."""


def solve(
    graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target, known: Searched | None = None
) -> Solution:
    """The schedule and plan for `options`; if nothing fits, the smallest, which the caller refuses.

    The budget is --ram or --region, else the board's regions for a model; a model that does not fit the first is spread
    over all. Pushed rows without a --ram or --region get the least RAM that their kernels allow. Raises UsageError if
    the input cannot be pushed, or a region is not the board's.
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
    """Sort key of solutions, the best first: bytes over the budget, then time and priced memory (goal `ram`: RAM, then
    those).
    """
    cost += prices.flash * sum(c.constant_bytes for c in solution.choices) + prices.ram * solution.ram_bytes
    limit = options.ram_bytes if options.ram_bytes is not None else board.ram_bytes
    over = max(solution.ram_bytes - limit, 0) if limit is not None else 0
    least = (solution.ram_bytes, cost)
    return (over, *(least if options.optimize == "ram" else least[::-1]))


def cost_of(problem: Problem, solution: Solution) -> float:
    """Estimated cost of a solution's kernels; calls by rows cost a little more each."""
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
    """The points of the curves, and points with the groups of `_leanest`.

    Plans with these groups have the fewest holes. Their kernels are as fast as the memory limits by SHARES allow.
    """
    curve, last = problem.curve(offered), _leanest(problem, offered)
    with problem.apart(last) as other:
        found = [Plannable(c, point) for c in problem.all_curves(offered) for point in c.points()]
        made = other.result()
    faster = [curve.along(last, share * made.ram_bytes) for share in SHARES]
    found += [*(Plannable(curve, point) for point in faster), Plannable(curve, last, made)]
    return list({(each.point.picks, each.point.groups): each for each in found}.values())


def _leanest(problem: Problem, offered: Sequence[Candidates]) -> Point:
    """The point of least memory if each node has only its kernel of the least working memory."""
    *_, last = problem.curve([(min(listed, key=memory_of),) for listed in offered]).points()
    return last


def _made(problem: Problem, each: Plannable) -> Solution:
    return each.made or problem.planned(each.point.picks, each.point.groups)


def _fastest_that_fits(problem: Problem, offered: Sequence[Candidates]) -> Solution:
    """The point of the least time and price of RAM whose plan fits; the smallest if none does.

    If a lower bound shows before any search that nothing fits, the smallest with kernels of the least working memory.
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
    """The solution with notes on what more RAM would bring, if advice is wanted."""
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
        made = planned(problem.graph, [c.choice for c in point.picks], point.groups, options, room)
        if made.fits and (name != ALMOST or made.ram_bytes <= NEAR * solution.ram_bytes):
            budget = allowing(options, region_bytes(made.plan, made.schedule))
            notes.append(sentence(name, solution.ram_bytes, cost, made.ram_bytes, point.cost, budget))
    return replace(solution, notes=(*solution.notes, *dict.fromkeys(notes)))


def _worth_its_rows(problem: Problem, picks: Picks, whole: Solution) -> Solution:
    """Rows in place of whole tensors, and kernels with less working memory, if the RAM saved is worth more than their
    time and additional constants; else `whole`.
    """
    price = problem.prices.ram
    cost = sum(c.cost for c in picks) + EVENT_COST * len(whole.schedule.trace)
    best, score = whole, cost + price * whole.ram_bytes
    for listed in problem.ways(_with_flash(problem, picks)):
        curve, limit = problem.new_curve(listed, STRETCHES), whole.ram_bytes - 1.0
        while (point := curve.within(limit, score)) is not None:
            made = problem.planned(point.picks, point.groups)
            if made.fits and point.cost + price * made.ram_bytes < score:
                best, score = made, point.cost + price * made.ram_bytes
            limit = min(point.peak, (score - point.cost) / price) - 1
    return best if best is whole else with_saving(best, whole, cost_of(problem, best) / cost)


def _with_flash(problem: Problem, picks: Picks) -> list[Candidates]:
    """Candidates of `offered`, with costs that include the price of additional flash compared with the pick: of
    constants, and of code that no pick calls, less the pick's own code if no other node calls it.
    """
    calls = Counter(pick.function for pick in picks)

    def priced(c: Candidate, pick: Candidate) -> Candidate:
        spared = pick.code_bytes if calls[pick.function] == 1 else 0
        code = 0 if c.function in calls else max(c.code_bytes - spared, 0)
        more = problem.prices.flash * (c.choice.constant_bytes - pick.choice.constant_bytes + code)
        return replace(c, cost=c.cost + more, rows_cost=c.rows_cost + more)

    pairs = zip(problem.offered(picks), picks, strict=True)
    return [tuple(sorted((priced(c, pick) for c in listed), key=lambda c: c.cost)) for listed, pick in pairs]


def _smallest_within_flash(problem: Problem) -> Solution:
    """The solution of least RAM, of equals the one of least time and price of constants; if its constants exceed the
    limit, the candidates are reduced to those with no more constants than a set within the limit.
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
    """The smallest plan of any point, of equals the fastest."""
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

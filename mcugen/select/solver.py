"""Picks kernels and arranges memory: the fastest set within the budgets, or the smallest where that is the goal.

Kernels come first, memory after them: with the fastest kernels whole tensors may fit, or rows may. Where they do not,
the kernels with the least working memory set the floor, and each node then gets the fastest kernel for which the plan
stays within the budget. The same input gives the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mcugen.graph import Graph
from mcugen.options import Options
from mcugen.plan import lower_bound
from mcugen.schedule.size import OBJECT_ALIGN
from mcugen.schedule.steps import can_run_by_rows
from mcugen.select.budget import Solution, arrange, arrangements, planned, scheduled
from mcugen.select.candidates import Candidate, Candidates
from mcugen.select.sharing import Picks, cheapest, code_of, within_code
from mcugen.target import Target

EVENT_COST = 60.0
"""Cost of one event: table look-up plus call."""

CODE_BYTES = 19 * 1024
"""Kernel code budget: above it, per-layer copies outgrow a small flash cache and stop paying."""

SMALL_CODE_BYTES = 16 * 1024
CODE_WORTH = 4.0
"""Above SMALL_CODE_BYTES, the cost each further byte of code must save."""

FIRMWARE_BYTES = 32 * 1024
"""Bytes of a board's flash reserved for code: that of the model and of the application around it."""

LEAST = 1e-9
"""Weight of a cost that only breaks ties."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The network, the candidates of its nodes that the goal allows, and the budgets."""

    graph: Graph
    candidates: tuple[Candidates, ...]
    options: Options
    board: Target

    def arranged(self, picks: Picks) -> Solution:
        return arrange(self.graph, [c.choice for c in picks], self.options, self.board)


def solve(graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target) -> Solution:
    """The schedule and plan that `options` ask for; where nothing fits, the smallest, for the caller to refuse."""
    problem = Problem(graph, tuple(_allowed(listed, options) for listed in candidates), options, board)
    if options.optimize == "ram":
        return _smallest(problem)
    if options.optimize == "flash":
        picks = cheapest(problem.candidates, 1.0, lambda c: c.choice.constant_bytes + c.cost * LEAST)
    else:
        picks = within_flash(problem, fastest(problem.candidates))
    found = problem.arranged(picks)
    if found.fits and not found.notes:
        return found
    slim = _improved(problem, problem.arranged(_lean(problem)), _most(found))
    fitting = [s for s in (found, slim) if s.fits]
    return min(fitting, key=lambda s: cost_of(problem, s)) if fitting else min(found, slim, key=lambda s: s.ram_bytes)


def front(graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target, most: int) -> list[Solution]:
    """Solutions of which no other is at most as large in RAM and in flash, and as fast; the fastest first.

    Kernels: the fastest, the fastest with weights as wide as the model's, and those with the least working memory, then
    made as fast as the same RAM allows. For each of them at most `most` arrangements of rows.
    """
    problem = Problem(graph, tuple(candidates), options, board)
    narrow = replace(
        problem, candidates=tuple(_allowed(listed, replace(options, optimize="balanced")) for listed in candidates)
    )
    sets = dict.fromkeys([within_flash(p, _first(p, lambda c: c.cost)) for p in (problem, narrow)] + [_lean(narrow)])
    found: list[Solution] = []
    for picks in sets:
        for made in arrangements(graph, [c.choice for c in picks], options, board, most):
            found.append(_improved(narrow, made, made.ram_bytes) if picks is list(sets)[-1] else made)
    return _best(problem, found)


def rank_of(solution: Solution, options: Options, board: Target) -> tuple[int, int, int]:
    """Sort key of solutions with equal kernels, the best first: bytes over the budget, then calls (goal `ram`: RAM)."""
    limit = options.ram_bytes if options.ram_bytes is not None else board.ram_bytes
    over = max(solution.ram_bytes - limit, 0) if limit is not None else 0
    least = (solution.ram_bytes, len(solution.schedule.trace))
    return (over, *(least if options.optimize == "ram" else least[::-1]))


def best_of(
    graph: Graph, candidates: Sequence[Candidates], options: Options, board: Target, found: Sequence[Solution]
) -> list[Solution]:
    """The solutions that no other equals or beats in RAM, flash and cost; the fastest first."""
    return _best(Problem(graph, tuple(candidates), options, board), found)


def _best(problem: Problem, found: Sequence[Solution]) -> list[Solution]:
    kept: list[tuple[int, int, Solution]] = []
    for solution in sorted(found, key=lambda s: (cost_of(problem, s), s.ram_bytes)):
        flash = sum(c.constant_bytes for c in solution.choices)
        if not any(ram <= solution.ram_bytes and other <= flash for ram, other, _ in kept):
            kept.append((solution.ram_bytes, flash, solution))
    return [solution for _, _, solution in kept]


def cost_of(problem: Problem, solution: Solution) -> float:
    """Estimated cost of a solution's kernels; calls by rows cost a little more each."""
    return sum(c.cost for c in _picks_of(problem, solution)) + EVENT_COST * len(solution.schedule.trace)


def within_flash(problem: Problem, picks: Picks) -> Picks:
    """Picks whose constants fit --flash, or the board's less the code: the cheapest steps back per byte saved first."""
    limit = problem.options.flash_bytes
    if limit is None and problem.board.flash_bytes is not None:
        limit = problem.board.flash_bytes - FIRMWARE_BYTES
    if limit is None:
        return picks
    chosen = list(picks)
    while (over := sum(c.choice.constant_bytes for c in chosen) - limit) > 0:
        steps = [(i, c) for i, listed in enumerate(problem.candidates) for c in listed if _saved(chosen[i], c) > 0]
        if not steps:
            break
        at, better = min(
            steps, key=lambda s: (max(s[1].cost - chosen[s[0]].cost, 0.0) / min(_saved(chosen[s[0]], s[1]), over), s[0])
        )
        chosen[at] = better
    return tuple(chosen)


def fastest(candidates: Sequence[Candidates]) -> Picks:
    """The fastest kernels whose code is within bounds; where there is much of it, without copies that save little."""
    found = within_code(candidates, CODE_BYTES, lambda c: c.cost)
    if code_of(found) <= SMALL_CODE_BYTES:
        return found
    worth = cheapest(candidates, CODE_WORTH, lambda c: c.cost)
    return worth if code_of(worth) <= CODE_BYTES else found


def _saved(now: Candidate, then: Candidate) -> int:
    return now.choice.constant_bytes - then.choice.constant_bytes


def _allowed(listed: Candidates, options: Options) -> Candidates:
    """The candidates that the goal allows: all goals but `speed` keep the weights as wide as the model has them."""
    narrow = tuple(c for c in listed if not c.choice.kernel.widened)
    return listed if options.optimize == "speed" or not narrow else narrow


def _first(problem: Problem, key: Callable[[Candidate], object]) -> Picks:
    return tuple(min(listed, key=key) for listed in problem.candidates)  # type: ignore[arg-type]


def _lean(problem: Problem) -> Picks:
    """Kernels that can run row by row, with the least working memory; the fastest of equal ones."""
    return _first(problem, lambda c: (not can_run_by_rows(c.choice), c.working_bytes, c.cost))


def _smallest(problem: Problem) -> Solution:
    """The least RAM that was found, and the fastest kernels that need no more."""
    least = min((problem.arranged(p) for p in _extremes(problem)), key=lambda s: s.ram_bytes)
    return _improved(problem, least, least.ram_bytes)


def _extremes(problem: Problem) -> list[Picks]:
    """Two ways to little memory: no conversions, or converted rows, which free the rows they come from."""
    lean, fast = _lean(problem), _first(problem, lambda c: c.cost)
    return [lean] if lean == fast else [lean, fast]


def _most(solution: Solution) -> int:
    """The size of all regions of a solution together, with the object that points to them."""
    sizes = [region.nbytes or 0 for region in solution.regions]
    return sum(sizes) + (OBJECT_ALIGN * len(sizes) if len(sizes) > 1 else 0)


def _improved(problem: Problem, solution: Solution, limit: int) -> Solution:
    """The same row groups with faster kernels, as far as the plan stays within `limit` bytes and within the regions."""
    picks = list(_picks_of(problem, solution))
    taken: list[tuple[int, Candidate]] = []
    for at, better in _upgrades(problem, picks):
        if better.cost >= picks[at].cost:
            continue
        tried = [*picks[:at], better, *picks[at + 1 :]]
        if _peak(problem, solution, tried) <= limit:
            taken.append((at, picks[at]))
            picks = tried
    return _planned_within(problem, solution, picks, taken, limit)


def _upgrades(problem: Problem, picks: Sequence[Candidate]) -> list[tuple[int, Candidate]]:
    """(node, faster candidate) by what they save, the largest first."""
    found = [(i, c) for i, listed in enumerate(problem.candidates) for c in listed if c.cost < picks[i].cost]
    return sorted(found, key=lambda u: (u[1].cost - picks[u[0]].cost, u[0]))


def _planned_within(
    problem: Problem, solution: Solution, picks: list[Candidate], taken: list[tuple[int, Candidate]], limit: int
) -> Solution:
    """The plan of the picks; while it is over the limit the last upgrade is taken back."""
    while taken:
        made = planned(problem.graph, [c.choice for c in picks], solution.groups, problem.options, solution.regions)
        if made.ram_bytes <= limit and (made.fits or not solution.fits):
            return replace(made, notes=solution.notes)
        at, before = taken.pop()
        picks[at] = before
    return solution


def _picks_of(problem: Problem, solution: Solution) -> Picks:
    chosen = {c.node.name: c.kernel for c in solution.choices}
    return tuple(
        next(c for c in listed if c.choice.kernel is chosen[c.choice.node.name]) for listed in problem.candidates
    )


def _peak(problem: Problem, solution: Solution, picks: Sequence[Candidate]) -> int:
    made = scheduled(problem.graph, [c.choice for c in picks], solution.groups, problem.options)
    return lower_bound(made.buffers())[0]

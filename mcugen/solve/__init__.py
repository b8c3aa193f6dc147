"""Kernels, the order of steps and memory offsets, chosen together for a board, with the reasons.

`schedule` orders the events and decides which tensors share memory, `plan` gives buffers their offsets in the arena,
and the modules of this package choose kernels by estimated time, RAM and flash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from mcugen.boards.target import Target
from mcugen.errors import NoKernelError
from mcugen.ir.graph import Graph
from mcugen.ir.streams import hop_nodes
from mcugen.options import SAMPLES, Options
from mcugen.solve import offers, solver
from mcugen.solve.budget import Solution, is_long, parts_of, pushed_input, ranges
from mcugen.solve.candidates import Candidates, candidates_of
from mcugen.solve.memories import allowing
from mcugen.solve.offers import DOMINANCE_TOLERANCE
from mcugen.solve.prices import prices_of
from mcugen.solve.problem import Problem, Searched, problem_of
from mcugen.solve.refusal import require_room
from mcugen.solve.schedule import NotStreamableError, bands
from mcugen.solve.schedule.order import peak_of, reordered
from mcugen.system import forked

__all__ = [
    "DOMINANCE_TOLERANCE",
    "Known",
    "Solution",
    "allowing",
    "candidates_of",
    "front",
    "planned_as",
    "ranges",
    "solve",
    "solve_with_time",
]


_FAR = 1.25
"""The file's order of nodes is planned too if its peak is at most this many times that of the better order. Gaps in a
memory plan seldom add more than a quarter.
"""


@dataclass(frozen=True, eq=False)
class Known:
    """Candidates and search results of a network, reused for other budgets, but not for the goal `ram`."""

    candidates: Sequence[Candidates]
    searched: Searched = field(default_factory=Searched)

    @classmethod
    def brief(cls, candidates: Sequence[Candidates]) -> Known:
        """Empty search results. Solutions made with them contain no advice on more RAM."""
        return cls(candidates, Searched(advises=False))

    def parts(self, graph: Graph) -> Iterator[object]:
        """Objects that solutions refer to. A worker process sends references to these objects instead of copies."""
        return parts_of(graph, (c.choice for c in chain.from_iterable(self.candidates)))


def solve(graph: Graph, target: Target, options: Options, known: Known | None = None) -> Solution:
    """A planned schedule with one kernel per node. Raises NoKernelError, which lists every node without one.

    If reordering the nodes needs less memory, both orders are solved and the better solution is returned. Tensors that
    lie inside others may leave gaps in the plan. If so, copying them instead is tried too. If the goal's solution is
    over the budget, the goal `ram` is tried instead.
    """
    return solve_with_time(graph, target, options, known)[0]


def solve_with_time(
    graph: Graph, target: Target, options: Options, known: Known | None = None
) -> tuple[Solution, float]:
    """The solution of `solve`, and its estimated time in the unit of `Candidate.cost`.

    For a long network, a worker process solves the second order of nodes. Its search results are not added to `known`.
    """
    most = bands.asked(options)
    if options.input_mode == "frames":
        try:
            return _solved(graph, target, options, known)
        except NotStreamableError as error:
            return _rolling(graph, target, options, str(error))
    solution, cost = _solved(graph, target, planned_as(options), known)
    return _with_bands(solution, most), cost


def _with_bands(solution: Solution, threads: int) -> Solution:
    """The solution, with a note if its layers have fewer bands than there are threads."""
    found = solution.schedule.bands
    if found == threads:
        return solution
    why = "no layer is large enough for bands" if found == 1 else f"layers have at most {found} bands"
    return replace(solution, notes=(f"--threads {threads}: {why}; further threads have nothing to do", *solution.notes))


def planned_as(options: Options) -> Options:
    """The options for the search. A stream of samples is planned like whole inputs that a run keeps. Bands are parts of
    whole layers.
    """
    if bands.asked(options) > 1:
        return replace(options, no_rows=True)
    if options.input_mode != SAMPLES:
        return options
    return replace(options, input_mode="whole", keep_input=True, hop="", stride="", rate="", queue="")


def _rolling(graph: Graph, target: Target, options: Options, why: str) -> tuple[Solution, float]:
    """The solution that keeps the whole input window and recomputes it for each frame. why: the reason why frames
    cannot be streamed.
    """
    solution, cost = _solved(graph, target, replace(options, input_mode="whole", keep_input=True), None)
    pushed = pushed_input(graph, solution.choices, "frames")
    made = replace(solution.schedule, pushed=pushed, rolls=True)
    note = f"each frame computes the whole window, and not its own row of each layer: {why}"
    return replace(solution, schedule=made, notes=(note, *solution.notes)), cost


def _solved(graph: Graph, target: Target, options: Options, known: Known | None) -> tuple[Solution, float]:
    require_room(graph, options, target)
    known = known or Known(candidates_of(graph, target, options))
    candidates = known.candidates
    every = [*_orders(graph, candidates, options)]
    works = [partial(solver.solve, nodes, listed, options, target, known.searched) for nodes, listed in every]
    shared = chain(known.parts(graph), (nodes for nodes, _ in every))
    found = [*forked.in_turn(works, shared, is_worth_it=is_long(graph))]
    lies = any(candidate.choice.kernel.form.has_parts for listed in candidates for candidate in listed)
    if lies and any(s.plan.nbytes > s.plan.lower_bound for s in found):
        moving = [*_orders(graph, candidates_of(graph, target, options, moving=True), options)]
        found += [solver.solve(nodes, listed, options, target) for nodes, listed in moving]
        every += moving
    costs = [
        solver.cost_of(Problem(nodes, tuple(listed), options, target), solution)
        for (nodes, listed), solution in zip(every, found, strict=True)
    ]
    prices = prices_of(graph, candidates, options, target)
    best = min(range(len(found)), key=lambda k: solver.rank_of(found[k], costs[k], options, target, prices))
    if not (found[best].fits or options.optimize == "ram" or options.no_rows):
        least = _least(graph, target, replace(options, optimize="ram"))
        if least and least[0].ram_bytes < found[best].ram_bytes:
            return least
    if options.require_accelerated:
        _require_accelerated(found[best], candidates)
    return found[best], costs[best]


def _least(graph: Graph, target: Target, options: Options) -> tuple[Solution, float] | None:
    """The solution for the goal `ram`, or None if a lower bound shows that it cannot fit."""
    known = Known(candidates_of(graph, target, options))
    if not problem_of(graph, known.candidates, options, target, None).may_fit(known.candidates):
        return None
    return solve_with_time(graph, target, options, known)


def _require_accelerated(solution: Solution, candidates: Sequence[Candidates]) -> None:
    """Raise NoKernelError if the goal or a budget chose a portable kernel although the core has a faster one."""
    offered = {listed[0].choice.node.name: listed for listed in candidates}
    slow: list[str] = []
    for choice in solution.choices:
        listed = offered.get(choice.node.name, ())
        mine = next((c.cost for c in listed if c.choice.kernel is choice.kernel), None)
        faster = [c for c in listed if mine is not None and c.is_accelerated and c.cost < mine]
        if faster and not choice.kernel.needs:
            slow.append(
                f"  {choice.node.source}: {choice.kernel.symbol}, though {faster[0].choice.kernel.symbol} is faster"
            )
    if slow:
        raise NoKernelError(
            "--require-accelerated: the goal or the budgets chose portable kernels for these layers:\n"
            + "\n".join(slow),
            hint="use --optimize speed or balanced, or give more --ram or --flash",
        )


def front(graph: Graph, known: Known, options: Options, board: Target, most: int) -> Iterator[Solution]:
    """At most `most` solutions between the fastest and the smallest, each planned on demand."""
    options = planned_as(options)
    orders = _orders(graph, known.candidates, options)
    found = [o for nodes, listed in orders for o in offers.offers_of(nodes, listed, options, board, known.searched)]
    return (offer.planned() for offer in offers.thinned(found, most))


def _orders(
    graph: Graph, candidates: Sequence[Candidates], options: Options
) -> Iterator[tuple[Graph, list[Candidates]]]:
    """The network in the file's order, and in an order that needs less memory if there is one.

    Frames are not reordered, since streaming keeps all rows anyway. With a stream of samples, the nodes of a hop stay
    first. The file's order is left out if it needs far more memory and no step can run by rows.
    """
    choices = [listed[0].choice for listed in candidates]
    order = list(range(len(choices))) if options.input_mode == "frames" else reordered(graph, choices)
    if graph.stream:
        per_hop = {node.name for node in hop_nodes(graph)}
        order = sorted(order, key=lambda k: graph.nodes[k].name not in per_hop)
    if order == sorted(order):
        yield graph, list(candidates)
        return
    by_rows = any(candidate.choice.can_run_by_rows for listed in candidates for candidate in listed)
    if by_rows or peak_of(graph, choices) <= _FAR * peak_of(graph, [choices[i] for i in order]):
        yield graph, list(candidates)
    yield graph.updated(nodes=[graph.nodes[i] for i in order]), [candidates[i] for i in order]

"""Chooses a kernel for every node and the order of rows, and says why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcugen.errors import NoKernelError
from mcugen.graph import Graph
from mcugen.options import Options
from mcugen.schedule.order import reordered
from mcugen.select import solver
from mcugen.select.budget import Solution, ranges
from mcugen.select.candidates import Menu, menus_of
from mcugen.target import Target

__all__ = ["Solution", "front", "menus_of", "ranges", "solve"]


def solve(graph: Graph, target: Target, options: Options) -> Solution:
    """A planned schedule with one kernel per node. Raises NoKernelError that lists every node without one.

    Where another order of the nodes than the file's holds fewer bytes at once, the better solution of the two orders.
    Tensors that lie in each other may leave holes: then also of those with copies in their place.
    """
    menus = menus_of(graph, target, options)
    found = [solver.solve(nodes, menu, options, target) for nodes, menu in _orders(graph, menus, options)]
    lies = any(candidate.choice.kernel.starts for menu in menus for candidate in menu)
    if lies and any(s.plan.nbytes > s.plan.lower_bound for s in found):
        moving = menus_of(graph, target, options, moving=True)
        found += [solver.solve(nodes, menu, options, target) for nodes, menu in _orders(graph, moving, options)]
    best = min(found, key=lambda s: solver.rank_of(s, options, target))
    if options.require_accelerated:
        _require_accelerated(best, menus)
    return best


def _require_accelerated(solution: Solution, menus: Sequence[Menu]) -> None:
    """Raise NoKernelError where a goal or a budget chose a kernel for any core and the core has a faster one."""
    offered = {menu[0].choice.node.name: menu for menu in menus}
    slow: list[str] = []
    for choice in solution.choices:
        menu = offered.get(choice.node.name, ())
        mine = next((c.cost for c in menu if c.choice.kernel is choice.kernel), None)
        faster = [c for c in menu if mine is not None and c.is_accelerated and c.cost < mine]
        if faster and not choice.kernel.needs:
            slow.append(
                f"  {choice.node.source}: {choice.kernel.symbol}, though {faster[0].choice.kernel.symbol} is faster"
            )
    if slow:
        raise NoKernelError(
            "--require-accelerated: the goal or the budgets leave these layers to kernels for any core:\n"
            + "\n".join(slow),
            hint="--optimize speed or balanced, and more --ram or --flash, allow faster ones",
        )


def front(graph: Graph, menus: Sequence[Menu], options: Options, board: Target, most: int) -> list[Solution]:
    """Solutions that no other equals or beats in RAM, in flash and in speed, at most `most` for each set of kernels."""
    found = [solver.front(nodes, menu, options, board, most) for nodes, menu in _orders(graph, menus, options)]
    return solver.best_of(graph, menus, options, board, [s for solutions in found for s in solutions])


def _orders(graph: Graph, menus: Sequence[Menu], options: Options) -> Iterator[tuple[Graph, list[Menu]]]:
    """The network in the order of the file, and in a better one where there is any; frames keep all they need."""
    yield graph, list(menus)
    order = reordered(graph, [menu[0].choice for menu in menus])
    if order != sorted(order) and options.input_mode != "frames":
        yield graph.updated(nodes=[graph.nodes[i] for i in order]), [menus[i] for i in order]

"""Cuts of a network: points at which a single tensor is live, so that all later steps depend on it alone.

Operands of a concatenation without code count as one tensor from the first write of any of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.ir.graph import Graph
from mcugen.ir.kernel import Join
from mcugen.solve.schedule.places import sources
from mcugen.solve.schedule.steps import Choice


@dataclass(frozen=True)
class Cut:
    """A point before step `index`. Units: bytes.

    nbytes: size of the tensor that is live here. held_bytes: size of states, and of results and inputs that stay live.
    """

    index: int
    nbytes: int
    held_bytes: int


def cuts_of(graph: Graph, choices: Sequence[Choice], *, keep_input: bool) -> list[Cut]:
    """All cuts in order: the start, every point where a single tensor is live, and the end."""
    running = [c for c in choices if c.kernel.has_code]
    of = sources(choices)
    last: dict[str, int] = {}
    for i, choice in enumerate(running):
        for name in choice.node.inputs:
            if name is not None and not graph.tensors[name].is_constant:
                last.update(dict.fromkeys(of.get(name, (name,)), i))
    joins = [choice.node.outputs[0] for choice in choices if isinstance(choice.kernel.form, Join)]
    joined = {source: name for name in joins for source in of[name]}
    born = dict.fromkeys(graph.inputs, -1) | {n: i for i, c in enumerate(running) for n in c.node.outputs}
    kept = {s for name in graph.kept for s in of.get(name, (name,))} | set(graph.inputs if keep_input else ())
    states = sum(graph.type(state.before).nbytes for state in graph.states)
    found = [Cut(0, 0, states)]
    starting: dict[int, list[str]] = {}
    for name, start in born.items():
        starting.setdefault(start + 1, []).append(name)
    live = starting.get(0, [])
    for i in range(1, len(running)):
        live = [name for name in (*live, *starting.get(i, ())) if i <= last.get(name, -1)]
        if len({joined.get(name, name) for name in live}) == 1:
            held = sum(graph.type(n).nbytes for n in kept if n in born and born[n] < i and n not in live)
            found.append(Cut(i, sum(graph.type(n).nbytes for n in live), held + states))
    if len(graph.outputs) == 1:
        return [*found, Cut(len(running), graph.type(graph.outputs[0]).nbytes, states)]
    return [*found, Cut(len(running), 0, states)]


class Parts:
    """Subgraphs of ranges of steps. The time to make a subgraph depends on its own nodes, not on the length of the
    graph.
    """

    def __init__(self, graph: Graph, choices: Sequence[Choice]) -> None:
        self._graph = graph
        self._nodes = [c.node for c in choices]
        self._has_code = [c.kernel.has_code for c in choices]
        self._running = [at for at, has_code in enumerate(self._has_code) if has_code]
        self._maker = {name: at for at, node in enumerate(self._nodes) for name in node.outputs}
        self._readers: dict[str, list[int]] = {}
        for at, node in enumerate(self._nodes):
            for name in node.inputs:
                if name is not None:
                    self._readers.setdefault(name, []).append(at)
        self._kept = frozenset(graph.kept)
        self._states = frozenset(state.before for state in graph.states)

    def of(self, steps: range) -> tuple[Graph, list[int]]:
        """The subgraph of these steps with the nodes without code around them, and the indices of its nodes in the
        graph.

        States are left out, since their memory is counted for the whole network.
        """
        wanted = {self._running[i] for i in steps}
        taken = self._read_aliases(wanted)
        inside: list[int] = []
        made: set[str] = set()
        before: set[str] = set()
        waiting = sorted(wanted | taken)
        seen = set(waiting)
        while waiting:
            at = heapq.heappop(waiting)
            node = self._nodes[at]
            if at not in wanted and at not in taken and not made.issuperset(node.inputs):
                continue
            inside.append(at)
            made.update(node.outputs)
            if at in taken and not made.intersection(node.inputs):
                before.update(node.outputs)
            for reader in (r for name in node.outputs for r in self._readers.get(name, ())):
                if not self._has_code[reader] and reader not in seen:
                    seen.add(reader)
                    heapq.heappush(waiting, reader)
        return self._graph_of(inside, made, before), inside

    def _graph_of(self, inside: Sequence[int], made: set[str], before: set[str]) -> Graph:
        graph, nodes, places = self._graph, tuple(self._nodes[at] for at in inside), set(inside)
        read = dict.fromkeys(name for node in nodes for name in node.inputs if name is not None)
        tensors = {name: graph.tensors[name] for name in (*read, *made)}
        there = made | self._states
        inputs = tuple(name for name in read if name not in there and not tensors[name].is_constant)
        outputs = tuple(
            name
            for node in nodes
            for name in node.outputs
            if name not in before and (name in self._kept or not places.issuperset(self._readers.get(name, ())))
        )
        return Graph(graph.name, tensors, nodes, inputs, outputs)

    def _read_aliases(self, wanted: set[int]) -> set[int]:
        """Nodes without code whose results the wanted nodes read, directly or through other nodes without code."""
        taken: set[int] = set()
        waiting = list(wanted)
        while waiting:
            for name in self._nodes[waiting.pop()].inputs:
                maker = self._maker.get(name) if name is not None else None
                if maker is not None and not self._has_code[maker] and maker not in taken:
                    taken.add(maker)
                    waiting.append(maker)
        return taken

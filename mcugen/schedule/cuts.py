"""Cuts of a network: places at which all later steps depend on a single tensor, and the parts between them.

Tensors that a step without code concatenates count as one from the first on that is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.graph import Graph
from mcugen.kernel import Form
from mcugen.schedule.places import sources
from mcugen.schedule.steps import Choice


@dataclass(frozen=True)
class Cut:
    """A place before step `index`. Units: bytes.

    nbytes: bytes of the tensor that are live here. held_bytes: states, and results and inputs to keep, which stay until
    the end.
    """

    index: int
    nbytes: int
    held_bytes: int


def cuts_of(graph: Graph, choices: Sequence[Choice], *, keep_input: bool) -> list[Cut]:
    """The start, every place where one tensor is live, and the end; in order."""
    running = [c for c in choices if c.kernel.has_code]
    of = sources(choices)
    last: dict[str, int] = {}
    for i, choice in enumerate(running):
        for name in choice.node.inputs:
            if name is not None and not graph.tensors[name].is_constant:
                last.update(dict.fromkeys(of.get(name, (name,)), i))
    joins = [choice.node.outputs[0] for choice in choices if choice.kernel.form is Form.JOIN]
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


def part_of(graph: Graph, choices: Sequence[Choice], steps: range) -> tuple[Graph, list[Choice]]:
    """The part of the graph with these steps, and those without code that they read or write, and its choices.

    States are not in the part: their memory is that of the whole, at all times.
    """
    running = [c for c in choices if c.kernel.has_code]
    wanted = {running[i].node.name for i in steps}
    taken = _read_aliases(choices, wanted)
    made: set[str] = set()
    before: set[str] = set()
    chosen = []
    for choice in choices:
        name, made_here = choice.node.name, made.issuperset(choice.node.inputs)
        if name in wanted or name in taken or (not choice.kernel.has_code and made_here):
            chosen.append(choice)
            made |= set(choice.node.outputs)
        if name in taken and not made.intersection(choice.node.inputs):
            before |= set(choice.node.outputs)
    nodes = tuple(c.node for c in chosen)
    inside = {node.name for node in nodes}
    read_outside = {n for node in graph.nodes if node.name not in inside for n in node.inputs} | set(graph.kept)
    there = made | {t.name for t in graph.tensors.values() if t.is_constant} | {s.before for s in graph.states}
    inputs = dict.fromkeys(n for node in nodes for n in node.inputs if n is not None and n not in there)
    outputs = tuple(n for node in nodes for n in node.outputs if n in read_outside and n not in before)
    return Graph(graph.name, graph.tensors, nodes, tuple(inputs), outputs), chosen


def _read_aliases(choices: Sequence[Choice], wanted: set[str]) -> set[str]:
    """Names of the nodes without code whose results the wanted nodes read: their memory is that of other tensors."""
    read = {n for c in choices if c.node.name in wanted for n in c.node.inputs}
    taken: set[str] = set()
    for choice in reversed(choices):
        if not choice.kernel.has_code and read.intersection(choice.node.outputs):
            taken.add(choice.node.name)
            read |= set(choice.node.inputs)
    return taken

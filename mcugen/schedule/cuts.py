"""Where a network can be cut: the places at which a single tensor carries all that follows, and the parts between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcugen.graph import Graph
from mcugen.op import Form
from mcugen.schedule.steps import Choice
from mcugen.schedule.storage import aliases


@dataclass(frozen=True)
class Cut:
    """A place before step `index`. Units: bytes.

    nbytes: size of the tensor that is live here. held_bytes: results, and inputs to keep, that only wait for the end.
    """

    index: int
    nbytes: int
    held_bytes: int


def cuts_of(graph: Graph, choices: Sequence[Choice], *, keep_input: bool) -> list[Cut]:
    """The start, every place where one tensor is live, and the end; in order."""
    running = [c for c in choices if c.kernel.form is not Form.ALIAS]
    alias = aliases(choices)
    last: dict[str, int] = {}
    for i, choice in enumerate(running):
        for name in choice.node.inputs:
            if name is not None and not graph.tensors[name].is_constant:
                last[alias.get(name, name)] = i
    born = dict.fromkeys(graph.inputs, -1) | {n: i for i, c in enumerate(running) for n in c.node.outputs}
    kept = {alias.get(name, name) for name in graph.outputs} | set(graph.inputs if keep_input else ())
    found = [Cut(0, 0, 0)]
    for i in range(1, len(running)):
        live = [name for name, start in born.items() if start < i <= last.get(name, -1)]
        if len(live) == 1:
            held = sum(graph.type(n).nbytes for n in kept if n in born and born[n] < i and n != live[0])
            found.append(Cut(i, graph.type(live[0]).nbytes, held))
    if len(graph.outputs) == 1:
        return [*found, Cut(len(running), graph.type(graph.outputs[0]).nbytes, 0)]
    return [*found, Cut(len(running), 0, 0)]


def part_of(graph: Graph, choices: Sequence[Choice], steps: range) -> tuple[Graph, list[Choice]]:
    """The part of the graph with these steps and the aliases that they read or write, and its choices."""
    running = [c for c in choices if c.kernel.form is not Form.ALIAS]
    wanted = {running[i].node.name for i in steps}
    taken = _read_aliases(choices, wanted)
    made: set[str] = set()
    chosen = []
    for choice in choices:
        name, is_alias = choice.node.name, choice.kernel.form is Form.ALIAS
        if name in wanted or name in taken or (is_alias and choice.node.inputs[0] in made):
            chosen.append(choice)
            made |= set(choice.node.outputs)
    nodes = tuple(c.node for c in chosen)
    inside = {node.name for node in nodes}
    read_outside = {n for node in graph.nodes if node.name not in inside for n in node.inputs} | set(graph.outputs)
    inputs = dict.fromkeys(
        n for node in nodes for n in node.inputs if n is not None and n not in made and not graph.tensors[n].is_constant
    )
    before = {n for c in chosen if c.node.name in taken for n in c.node.outputs}
    outputs = tuple(n for node in nodes for n in node.outputs if n in read_outside and n not in before)
    return Graph(graph.name, graph.tensors, nodes, tuple(inputs), outputs), chosen


def _read_aliases(choices: Sequence[Choice], wanted: set[str]) -> set[str]:
    """Names of the alias nodes whose result the wanted nodes read: its memory is that of a tensor made before."""
    read = {n for c in choices if c.node.name in wanted for n in c.node.inputs}
    taken: set[str] = set()
    for choice in reversed(choices):
        if choice.kernel.form is Form.ALIAS and choice.node.outputs[0] in read:
            taken.add(choice.node.name)
            read |= set(choice.node.inputs)
    return taken

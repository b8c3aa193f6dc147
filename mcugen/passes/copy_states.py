"""Adds copies for next values of states, and for outputs that share the bytes of a state, if no step writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcugen.ir.graph import Graph, Node, State, Tensor
from mcugen.ir.kernel import Alias
from mcugen.ops.copy import Copy
from mcugen.passes.lay_in_place import kernel_without_code


def copy_states(graph: Graph, reference: str) -> Graph:
    """Insert a Copy for each state whose next value is an input, a constant or a state, possibly reshaped.

    An output that shares the bytes of a state gets a Copy too, since the end of the run may overwrite the state.
    """
    sources = _sources(graph, reference)
    computed = {name for node in graph.nodes for name in node.outputs if name not in sources}
    befores = {state.before for state in graph.states}
    seen = {name: f"{name}_out" for name in graph.outputs if sources.get(name) in befores}
    moved = [state for state in graph.states if sources.get(state.after, state.after) not in computed]
    after = {state.before: f"{state.before}_after" for state in moved}
    pairs = [*seen.items(), *((s.after, after[s.before]) for s in _readers_first(moved, sources))]
    if not pairs:
        return graph
    return graph.updated(
        tensors=[_copy_of(graph.tensors[name], copied) for name, copied in pairs],
        nodes=(*graph.nodes, *(Node(f"copy_{copied}", Copy(), (n,), (copied,), f"state {n}") for n, copied in pairs)),
        outputs=tuple(seen.get(name, name) for name in graph.outputs),
        states=[replace(state, after=after.get(state.before, state.after)) for state in graph.states],
    )


def _copy_of(tensor: Tensor, name: str) -> Tensor:
    return replace(tensor, name=name, data=None)


def _sources(graph: Graph, reference: str) -> dict[str, str]:
    """Result of a node without code -> the tensor whose bytes it shares."""
    found: dict[str, str] = {}
    for node in graph.nodes:
        kernel = kernel_without_code(graph.call(node, reference))
        operand = node.inputs[0] if node.inputs else None
        if kernel is not None and isinstance(kernel.form, Alias) and operand is not None:
            found.update(dict.fromkeys(node.outputs, found.get(operand, operand)))
    return found


def _readers_first(states: Sequence[State], sources: dict[str, str]) -> list[State]:
    """The states in an order in which each is read before it is overwritten, as far as possible, as in a chain of
    delays.
    """
    waiting, ordered = list(states), list[State]()
    while waiting:
        read = [sources.get(s.after, s.after) for s in waiting]
        free = [s for s, own in zip(waiting, read, strict=True) if own == s.before or s.before not in read]
        ordered.append((free or waiting)[0])
        waiting.remove(ordered[-1])
    return ordered

"""The oracle of a stream of samples in NumPy: divides samples into windows, and runs a graph on each window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Node, State
from mcugen.ir.op import evaluate

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Push:
    """The result of some samples: how many decisions are new, and the latest value of every tensor computed so far."""

    decisions: int
    values: dict[str, np.ndarray]


def pushes(graph: Graph, chunks: Iterable[np.ndarray], reference: str) -> Iterator[Push]:
    """The results of samples that arrive in chunks of any length, from the initial states on.

    Windows begin every hop samples. The nodes of a hop run for each window. All other nodes run when the window of rows
    is full for the first time, and then once per stride. Raises UsageError for a graph without a stream.
    """
    stream, name = graph.stream, graph.inputs[0]
    if stream is None:
        raise UsageError(f"the input of {graph.name} is no stream of samples", hint="use --input-mode samples")
    t, each = graph.type(name), _of_each_window(graph)
    first, rest = _divided(graph.nodes, [each is None or not each.isdisjoint(n.outputs) for n in graph.nodes])
    fast, slow = _divided(graph.states, [each is None or s.before in each for s in graph.states])
    values = {n: tensor.data for n, tensor in graph.tensors.items() if tensor.data is not None}
    states = {state.before: state.initial for state in graph.states}
    values |= states
    waiting, due = np.zeros(0, t.np_dtype), _rows(graph)
    for chunk in chunks:
        waiting, new = np.concatenate([waiting, chunk]), 0
        while waiting.size >= t.size:
            values[name], waiting = waiting[: t.size].reshape(t.shape), waiting[stream.hop :]
            _compute(graph, first, fast, values, states, reference)
            due -= 1
            if not due:
                _compute(graph, rest, slow, values, states, reference)
                due, new = stream.stride, new + 1
        yield Push(new, dict(values))


def _of_each_window(graph: Graph) -> set[str] | None:
    """The rows that an operator collects, and all tensors that they depend on; None if no operator collects rows.

    A state depends on its next value in earlier windows.
    """
    maker = {name: node for node in graph.nodes for name in node.outputs}
    following = {state.before: state.after for state in graph.states}
    waiting = [name for node in graph.nodes if node.op.collects for name in node.outputs]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [given for given in (maker[name].inputs if name in maker else ()) if given is not None]
            waiting += [following[name]] if name in following else []
    return seen or None


def _rows(graph: Graph) -> int:
    """Number of rows that an operator collects; 1 if none does."""
    pairs = ((graph.type(n.outputs[0]), graph.type(str(n.inputs[1]))) for n in graph.nodes if n.op.collects)
    return max((-(-window.size // row.size) for window, row in pairs), default=1)


def _divided(items: Sequence[T], chosen: Sequence[bool]) -> tuple[list[T], list[T]]:
    """(items that are chosen, all other items)."""
    pairs = [*zip(items, chosen, strict=True)]
    return [item for item, is_first in pairs if is_first], [item for item, is_first in pairs if not is_first]


def _compute(
    graph: Graph,
    nodes: Sequence[Node],
    changed: Sequence[State],
    values: dict[str, np.ndarray],
    states: dict[str, np.ndarray],
    reference: str,
) -> None:
    """Run nodes on `values` and store their results there, and the next values of the `changed` states in `states`."""
    values.update({state.before: states[state.before] for state in changed})
    for node in nodes:
        operands = [None if name is None else values[name] for name in node.inputs]
        values.update(zip(node.outputs, evaluate(graph.call(node, reference), operands), strict=True))
    states.update({state.before: values[state.after] for state in changed})

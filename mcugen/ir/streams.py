"""Streams of samples: which nodes run for each window of samples, and which only for several rows.

An operator that collects rows (`Op.collects`) separates the two. All nodes that it depends on run at every hop. All
other nodes run once per `SampleStream.stride` rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Node, SampleStream, State


def streamed(graph: Graph, hop: int | None, stride: int | None, rate: int, queue: int = 0) -> Graph:
    """The imported graph with its input as a stream of samples.

    If the file describes a stream, its rate holds, and its hop and stride replace arguments that are None.
    queue: samples that may wait between an interrupt and the task.

    Raises UsageError, with the reason, for a hop or a stride that does not fit the graph.
    """
    known = graph.stream
    if len(graph.inputs) != 1:
        hint = "samples need a model with one input: use --input-mode whole"
        raise UsageError(f"--input-mode samples: the model has {len(graph.inputs)} inputs", hint=hint)
    window = graph.type(graph.inputs[0]).size
    hop = hop or (known.hop if known else 0)
    if not 0 < hop <= window:
        fault = f"--hop {hop} skips samples" if hop else "--hop is missing"
        raise UsageError(f"{fault}: a window has {window} samples", hint=f"give --hop, from 1 to {window}")
    stride = stride or (known.stride if known else own_stride(graph))
    if stride > 1 and not any(node.op.collects for node in graph.nodes):
        hint = "leave it out; a front end and a network that takes several of its rows are joined by --chain"
        raise UsageError(f"--stride {stride}: the model does not collect rows", hint=hint)
    return replace(graph, stream=SampleStream(hop, stride, known.rate if known else rate, queue))


def own_stride(graph: Graph) -> int:
    """Rows from one run of the network to the next: 1, or all rows of its window if the network has states.

    A network with states must read each row once.
    """
    return rows_of_window(graph) if len(hop_states(graph)) < len(graph.states) else 1


def kept_samples(graph: Graph) -> int:
    """Number of samples of a window that belong to the next one, too; 0 without a stream."""
    return graph.type(graph.inputs[0]).size - graph.stream.hop if graph.stream else 0


def hop_nodes(graph: Graph) -> tuple[Node, ...]:
    """The nodes that run at every hop, in order; all nodes if none collects rows."""
    needed = _needed(graph)
    return tuple(node for node in graph.nodes if needed is None or needed.intersection(node.outputs))


def hop_states(graph: Graph) -> tuple[State, ...]:
    """The states that `hop_nodes` read, which change at every hop; all states if no node collects rows."""
    needed = _needed(graph)
    return tuple(state for state in graph.states if needed is None or state.before in needed)


def _needed(graph: Graph) -> set[str] | None:
    """The collected rows and all tensors that they depend on, in any run; None if no node collects rows."""
    needed = {name for node in graph.nodes if node.op.collects for name in node.outputs}
    before = 0
    while len(needed) > before:
        before = len(needed)
        needed |= {state.after for state in graph.states if state.before in needed}
        for node in reversed(graph.nodes):
            if needed.intersection(node.outputs):
                needed.update(name for name in node.inputs if name is not None)
    return needed or None


def rows_of_window(graph: Graph) -> int:
    """Number of rows before the first decision: all rows of the window that a node collects; 1 if no node does."""
    collecting = [node for node in graph.nodes if node.op.collects]
    pairs = ((graph.type(node.outputs[0]).size, graph.type(str(node.inputs[1])).size) for node in collecting)
    return max((-(-window // row) for window, row in pairs), default=1)


def hops_first(graph: Graph) -> Graph:
    """The graph with the nodes of a hop before all others."""
    first = hop_nodes(graph)
    names = {node.name for node in first}
    return graph.updated(nodes=(*first, *(node for node in graph.nodes if node.name not in names)))


DECIDES = "decision of "
"""First words of `Node.source` of nodes that turn the scores of a network into decisions."""


def deciding_nodes(nodes: Sequence[Node]) -> int:
    """Number of nodes at the end that make decisions of a network's scores."""
    return sum(1 for _ in takewhile(lambda node: node.source.startswith(DECIDES), reversed(nodes)))


def decisions(graph: Graph) -> tuple[str, ...]:
    """The outputs that nodes compute only once per several rows."""
    made = {name for node in hop_nodes(graph) for name in node.outputs}
    return tuple(name for name in graph.outputs if name not in made)

"""Chains of models: the output of each model is the input of the next, and together they are one graph.

If a model computes one row and the next model reads several rows, the newest rows are kept as a state.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mcugen.errors import ShapeError, UsageError
from mcugen.ir.graph import Graph, Node, State, Tensor, verify
from mcugen.ir.imports import cleared
from mcugen.ir.types import QuantParams, Shape, TensorType
from mcugen.ops.newest_rows import NewestRows
from mcugen.ops.reshape import Reshape

_TOLERANCE = 1e-6
"""Relative difference of scales that exporters may round differently."""


def chained(graphs: Sequence[Graph]) -> Graph:
    """The graphs as one. Raises UsageError or ShapeError, with both tensors, if an output does not fit the next input.

    graphs: in the order of the flow. Errors and labels call each graph by its name.
    """
    done = graphs[0]
    for k, following in enumerate(graphs[1:], 1):
        done = joined(renamed(done, f"c{k}_"), following)
    return verify(done, "chain")


def renamed(graph: Graph, prefix: str) -> Graph:
    """The graph with a prefix before the names of all tensors and nodes."""

    def of(name: str) -> str:
        return f"{prefix}{name}"

    nodes = tuple(
        Node(of(n.name), n.op, tuple(i and of(i) for i in n.inputs), tuple(map(of, n.outputs)), n.source)
        for n in graph.nodes
    )
    return replace(
        graph,
        tensors={of(name): replace(t, name=of(name)) for name, t in graph.tensors.items()},
        nodes=nodes,
        inputs=tuple(map(of, graph.inputs)),
        outputs=tuple(map(of, graph.outputs)),
        states=tuple(State(of(s.before), of(s.after), s.initial) for s in graph.states),
        layouts={of(name): axes for name, axes in graph.layouts.items()},
        removed=tuple(replace(r, tensor=of(r.tensor)) for r in graph.removed),
        values={},
    )


def joined(front: Graph, network: Graph) -> Graph:
    """The graph in which `network` reads the output of `front`. Names of tensors and nodes must differ between the two.

    Raises UsageError or ShapeError.
    """
    _require_ends(front, network)
    given, taken = front.tensors[front.outputs[0]], network.tensors[network.inputs[0]]
    fault = _fault(given.type, taken.type)
    if fault:
        raise ShapeError(
            f"{given.label or given.name!r}, {given.type}, of {front.name} does not fit {taken.label or taken.name!r}, "
            f"{taken.type}, of {network.name}: {fault}",
            where="--chain",
            hint="give models that were made for each other, the first in the flow first",
        )
    divides = not any(node.op.collects for node in front.nodes)
    tensors, nodes, states = _joint(given, taken, NewestRows(divides))
    refusals = {
        name: (*front.refusals.get(name, ()), *network.refusals.get(name, ()))
        for name in {**front.refusals, **network.refusals}
    }
    return replace(
        network,
        tensors={**front.tensors, **network.tensors, **tensors},
        nodes=(*front.nodes, *nodes, *network.nodes),
        inputs=front.inputs,
        sha256=hashlib.sha256(f"{front.sha256} {network.sha256}".encode()).hexdigest(),
        refusals=refusals,
        removed=(*front.removed, *network.removed),
        notes=tuple(dict.fromkeys((*front.notes, *network.notes))),
        states=(*front.states, *states, *network.states),
        layouts={**front.layouts, **network.layouts},
        rounds_once=front.rounds_once or network.rounds_once,
        unlike_file=(*front.unlike_file, *network.unlike_file),
        file=b"",
        indices=(),
        variables=(),
        values={},
        signatures=(),
    )


def _require_ends(front: Graph, network: Graph) -> None:
    """Raise UsageError unless `front` has one output, `network` has one input, and both have the same file format."""
    counts = ((front, "outputs", len(front.outputs)), (network, "inputs", len(network.inputs)))
    for graph, what, count in counts:
        if count != 1:
            hint = "only models with one output and one input can be joined"
            raise UsageError(f"{graph.name} has {count} {what}", where="--chain", hint=hint)
    if front.format != network.format:
        raise UsageError(
            f"{front.name} is a .{front.format} file and {network.name} a .{network.format} file",
            where="--chain",
            hint="a chain has models of one format, so that one runtime defines its results",
        )


def _joint(given: Tensor, taken: Tensor, rows: NewestRows) -> tuple[Mapping[str, Tensor], list[Node], list[State]]:
    """Tensors, nodes and states that compute input `taken` of the second model from output `given` of the first.

    rows: the operator that keeps the newest rows, if the input has several rows
    """
    source = f"joint of {given.label or given.name!r} and {taken.label or taken.name!r}"
    if given.type.size == taken.type.size:
        op = Reshape(taken.type.shape)
        return {}, [Node(f"joint_{taken.name}", op, (given.name,), (taken.name,), source)], []
    before = Tensor(f"rows_{taken.name}", taken.type, label="newest rows")
    inputs = (before.name, given.name)
    node = Node(f"joint_{taken.name}", rows, inputs, (taken.name,), source)
    return {before.name: before}, [node], [State(before.name, taken.name, cleared(taken.type))]


def _fault(given: TensorType, taken: TensorType) -> str:
    """How an output differs from the input that should read it; "" if it fits."""
    if given.dtype != taken.dtype:
        return "the element types differ"
    if not is_row(given.size, taken.shape):
        return f"{given.size} elements are no row of {list(taken.shape)}"
    if not _same_scale(given.quant, taken.quant):
        return "the scales or zero points differ"
    return ""


def is_row(size: int, shape: Shape) -> bool:
    """Whether `size` elements are a row, at one index of some axis, or all elements of a tensor of this shape.

    A vector may consist of any number of rows.
    """
    total = math.prod(shape)
    if not size or total % size or size > total:
        return False
    is_vector = total == max(shape, default=1)
    return is_vector or size in {math.prod(shape[k:]) for k in range(len(shape) + 1)}


def _same_scale(given: QuantParams | None, taken: QuantParams | None) -> bool:
    """Whether an output and the input that reads it have the same scale and zero point, within a tolerance."""
    if given is None or taken is None:
        return given is None
    same = given.zero_point == taken.zero_point and len(given.scale) == len(taken.scale)
    return same and bool(np.allclose(given.scale, taken.scale, rtol=_TOLERANCE, atol=0.0))

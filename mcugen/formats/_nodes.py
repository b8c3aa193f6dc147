"""Writes the nodes of a graph to a format, each by the `Write` of its operator."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.ir.types import DTYPE_NAMES, QuantParams, TensorType
from mcugen.ir.writes import Sink, Write


class ResumableSink(Sink, Protocol):
    """A Sink that can go on after an operator was refused."""

    def stand_in(self, t: TensorType) -> str:
        """A value in place of a result that could not be written."""


def write_of(op: Op, format_name: str) -> Write:
    """The Write of an operator. Raises UnsupportedError if the format has no equivalent."""
    for entry in op.writes:
        if isinstance(entry, Write) and entry.format == format_name:
            return entry
    raise UnsupportedError(f"{op} cannot be written as {format_name}")


def constant_type(data: np.ndarray, quant: QuantParams | None, format_name: str) -> TensorType:
    """The type of a constant. Raises UnsupportedError for element types that mcugen does not have."""
    dtype = DTYPE_NAMES.get(data.dtype)
    if dtype is None:
        raise UnsupportedError(f"a constant of {data.dtype} cannot be written as .{format_name}")
    return TensorType(data.shape, dtype, quant)


def append(graph: Graph, format_name: str, target: ResumableSink, values: dict[str, str], reference: str) -> None:
    """Write all nodes, in order. values: tensor -> value of the target; results of nodes are added.

    Raises one UnsupportedError that lists all nodes the format has no equivalent for.
    """
    refused: list[str] = []
    for node in graph.nodes:
        try:
            results = _written(graph, node, format_name, target, values, reference)
        except UnsupportedError as error:
            refused.append(f"{_place(graph, node)}: {error.message}" + (f" ({error.hint})" if error.hint else ""))
            results = [target.stand_in(graph.type(name)) for name in node.outputs]
        values.update(zip(node.outputs, results, strict=True))
    if refused:
        raise UnsupportedError(
            f"a .{format_name} file cannot hold these layers:\n  " + "\n  ".join(refused),
            hint="write the model without these layers, or build C from the model as it is",
        )


def _written(
    graph: Graph, node: Node, format_name: str, target: ResumableSink, values: dict[str, str], reference: str
) -> list[str]:
    write = write_of(node.op, format_name).write
    operands = [None if name is None else values[name] for name in node.inputs]
    return list(write(graph.call(node, reference), target, operands))


def _place(graph: Graph, node: Node) -> str:
    """The node's place, operator and label, for errors."""
    label = graph.tensors[node.outputs[0]].label if node.outputs else ""
    named = f" {label!r}" if label else ""
    return f"{node.source or node.name} {type(node.op).__name__}{named}"

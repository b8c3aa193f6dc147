"""Integers that depend on the last bit of a float: results near a rounding tie, which may be one step off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op


@dataclass(frozen=True)
class Flip:
    """An alternative value of an element near a rounding tie.

    The element `index` of result `output` is `value` if the number before rounding moves by `distance` steps.
    """

    output: int
    index: tuple[int, ...]
    value: int
    distance: float


@singledispatch
def of_call(op: Op, call: Call, *inputs: np.ndarray | None) -> Sequence[Flip]:
    """The flips of one call on these operands, nearest tie first; empty for most operators.

    Operators that round floats to integers register a function in their own file.
    """
    return ()


def of_run(graph: Graph, values: Mapping[str, np.ndarray], reference: str) -> Iterator[tuple[Node, Flip]]:
    """All flips of a run. values: its tensors, by name."""
    for node in graph.nodes:
        operands = [None if name is None else values[name] for name in node.inputs]
        yield from ((node, flip) for flip in of_call(node.op, graph.call(node, reference), *operands))

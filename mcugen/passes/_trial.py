"""Trial runs of chains of nodes on all values of their operand, in the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import evaluate


def results(graph: Graph, chain: Sequence[Node], reference: str, x: np.ndarray) -> np.ndarray:
    """The results of a chain of elementwise nodes for stored values x of the chain's operand.

    Each node reads the result of the node before it, and constants. x may have any shape that the constants broadcast
    to; the results have the shape of x.
    """
    for node in chain:
        call = graph.call(node, reference)
        types = tuple(
            t if data is not None or t is None else t.with_shape(x.shape)
            for t, data in zip(call.inputs, call.constants, strict=True)
        )
        inner = replace(call, inputs=types, outputs=(call.output.with_shape(x.shape),), input_range=())
        operands = [
            x if t is not None and data is None else data for t, data in zip(types, call.constants, strict=True)
        ]
        (x,) = evaluate(inner, operands)
    return x

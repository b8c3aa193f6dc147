"""Compares values behind emitted constants with values that the oracle derives from the same scales.

A multiplier whose last bit is wrong changes so few results that hardly any input shows it. This comparison does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Scaling, evaluate
from mcugen.ir.types import NUMPY_DTYPES
from mcugen.ops._bytes import byte_table
from mcugen.pipeline import Artifact


@dataclass(frozen=True)
class Constants:
    """The number of compared numbers, and a text per difference with its place and both values."""

    compared: int
    differences: tuple[str, ...]


def check(artifact: Artifact) -> Constants:
    """Compare the multipliers, bounds and tables of every emitted operator, and the table of each byte function."""
    which = artifact.view.reference
    compared, differences = 0, dict[str, None]()
    for graph in (artifact.graph, artifact.imported):
        for node in graph.nodes:
            call = graph.call(node, which)
            for ours, theirs in _pairs(graph, call, emitted=graph is artifact.graph):
                compared += len(theirs)
                differences |= dict.fromkeys(_differences(node, ours, theirs))
    return Constants(compared, tuple(differences))


def _pairs(graph: Graph, call: Call, *, emitted: bool) -> Iterator[tuple[Scaling, Scaling]]:
    """(values behind the emitted constants, the oracle's values) for one call.

    emitted: whether the graph is the one emitted. Byte tables are compared for imported operators too, because passes
    combine several tables into one.
    """
    if emitted:
        yield call.op.scaling(call), call.op.scaling_q(call)
    table = byte_table(call)
    if table is not None:
        given, stored = call.input(0), np.arange(256, dtype=np.uint8).view(NUMPY_DTYPES[call.input(0).dtype])
        whole = Call(call.op, (given.with_shape((256,)),), (call.output.with_shape((256,)),), (None,), call.reference)
        yield {"table": table.view(call.output.np_dtype)}, {"table": evaluate(whole, (stored,))[0]}


def _differences(node: Node, ours: Scaling, theirs: Scaling) -> Iterator[str]:
    for name in sorted({*ours, *theirs}):
        a, b = (np.asarray(side.get(name, ())).astype(np.int64).reshape(-1) for side in (ours, theirs))
        if a.size != b.size:
            yield f"{node.source} {node.name}: {name} has {a.size} numbers, the oracle's {b.size}"
        elif not np.array_equal(a, b):
            k = int(np.argmax(a != b))
            yield f"{node.source} {node.name}: {name}[{k}] is {a[k]}, the oracle's {b[k]}"

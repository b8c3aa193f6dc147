"""Replaces chains of operators that turn a byte into a float, and this float into a byte, by tables of bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.ops.add import Add
from mcugen.ops.cast import Cast
from mcugen.ops.channel_tables import ChannelTables
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import Quantize
from mcugen.ops.sub import Sub
from mcugen.ops.table import Table
from mcugen.passes._trial import replaced, results

TABULATED = "floats between bytes"
"""Kind of the parts that this pass removes (`Removed.what`)."""
_WHY = "it and its readers turn one byte into another: a table of 256 for each channel holds all results"
_BYTES = ("s8", "u8")
_BETWEEN: tuple[type[Op], ...] = (Add, Sub, Mul, Div)
"""Operators whose float results have the same bits in C and in the oracle."""
_MOST_CHANNELS = 16


def tabulate_bytes(graph: Graph, reference: str) -> Graph:
    """The graph with a table in place of a Cast of bytes, arithmetic with constants, and Quantize to bytes."""
    reads = Counter(name for node in graph.nodes for name in node.inputs if name is not None)
    reads.update(graph.kept)
    makers = {node.outputs[0]: node for node in graph.nodes}
    chains = (chain for last in graph.nodes if (chain := _chain(graph, last, makers, reads)))
    return replaced(graph, chains, lambda chain: _tables(graph, chain, reference), TABULATED, _WHY)


def _chain(graph: Graph, last: Node, makers: dict[str, Node], reads: Counter[str]) -> list[Node]:
    """The nodes from a Cast of bytes to a Quantize to bytes, `last`, each the only reader of the node before it; else
    [].
    """
    if not isinstance(last.op, Quantize) or graph.type(last.outputs[0]).dtype not in _BYTES:
        return []
    found, node = [last], last
    while True:
        computed = [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant]
        if len(computed) != 1 or (node is not last and not graph.type(node.outputs[0]).is_float):
            return []
        if isinstance(node.op, Cast):
            t = graph.type(computed[0])
            return found if t.dtype in _BYTES and t.quant is None else []
        maker = makers.get(computed[0])
        if maker is None or reads[computed[0]] != 1 or not isinstance(maker.op, (Cast, *_BETWEEN)):
            return []
        found.insert(0, maker)
        node = maker


def _tables(graph: Graph, chain: Sequence[Node], reference: str) -> Op | None:
    """The chain as an operator with a table per channel; None if constants also vary along other axes."""
    shape = graph.type(chain[-1].outputs[0]).shape
    constants = [t for node in chain for name in node.inputs if name for t in [graph.tensors[name]] if t.is_constant]
    sizes = {t.type.size for t in constants} - {1}
    vectors = all(t.type.size in (1, *t.type.shape[-1:]) for t in constants)
    same = all(graph.type(node.outputs[0]).shape == shape for node in chain)
    channels = max(sizes, default=1)
    if not same or not vectors or sizes - set(shape[-1:]) or channels > _MOST_CHANNELS:
        return None
    x = np.repeat(np.arange(256, dtype=np.uint8)[:, None], channels, axis=1)
    values = results(graph, chain, reference, x.view(graph.type(str(chain[0].inputs[0])).np_dtype))
    stored, dtype = values.view(np.uint8).T.tobytes(), graph.type(chain[-1].outputs[0]).dtype
    return Table(stored, dtype) if channels == 1 else ChannelTables(stored, dtype)

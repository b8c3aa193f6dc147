"""Constants with a scale for each block along an axis: packed weights of dense layers on floats, integers of layers
between Dequantize and Quantize, else floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.transpose import Transpose
from mcugen.passes.qdq.cleaning import folded

_MOST = 32767


@dataclass(frozen=True)
class DequantizeBlocks(Op):
    """y = s * (q - z) with a scale and a zero point for each block of `block` elements along an axis.

    q: s2, s4 or s8   s: f32, as q, but with the number of blocks along the axis   z: s8, as s, or absent   y: f32
    deferred: whether it stays unfolded for now, so that dense layers that read q can be found
    Source: ONNX DequantizeLinear-21 with block_size.
    """

    axis: int
    block: int
    deferred: bool = True

    def infer(self, q: TensorType, s: TensorType, z: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(q.shape, "f32"),)

    def fold(self, call: Call) -> tuple[np.ndarray, ...] | None:
        return None if self.deferred else evaluate(call, call.constants)

    def reference_q(self, call: Call, q: np.ndarray, s: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        place = np.arange(q.shape[self.axis]) // self.block
        wide = np.take(s, place, self.axis).astype(np.float64)
        return np.asarray(wide * (q if z is None else q - np.take(z, place, self.axis).astype(np.int64)))


def as_rows(op: DequantizeBlocks, q: np.ndarray, s: np.ndarray) -> tuple[TensorType, np.ndarray] | None:
    """(type, integers) of a matrix with the real values of q * s, with one scale for each row across the blocks. None
    if the scales of a row are no multiples of one number by integers, or the integers exceed 16 bits.
    """
    if q.ndim != 2 or not (s > 0).all():
        return None
    across = s if op.axis else s.T
    scales, factors = [], []
    for row in across:
        parts = [Fraction(float(v)) for v in row]
        below = lcm(*(p.denominator for p in parts))
        step = Fraction(reduce(gcd, (int(p * below) for p in parts)), below)
        scales.append(float(step))
        factors.append([min(int(p / step), _MOST + 1) for p in parts])
    every = np.array(factors, np.int64)
    wide = np.take(every if op.axis else every.T, np.arange(q.shape[op.axis]) // op.block, op.axis) * q.astype(np.int64)
    if np.abs(wide).max(initial=0) > _MOST or not all(float(np.float32(v)) == v for v in scales):
        return None
    dtype = "s8" if np.abs(wide).max(initial=0) <= 127 else "s16"
    quant = QuantParams(tuple(scales), (0,) * len(scales), 1 - op.axis, op.block)
    t = TensorType(q.shape, dtype, quant)
    return t, wide.astype(t.np_dtype)


def with_packed_weights(graph: Graph, reference: str) -> Graph:
    """The imported graph with dense layers that read weights in blocks as they are; all other blocks become floats."""
    makers = {node.outputs[0]: node for node in graph.nodes}
    if not any(isinstance(node.op, DequantizeBlocks) for node in graph.nodes):
        return graph
    tensors, nodes = dict(graph.tensors), list[Node]()
    for node in graph.nodes:
        found = _layer(graph, node, makers, tensors)
        if isinstance(node.op, DequantizeBlocks):
            call = graph.call(replace(node, op=replace(node.op, deferred=False)), reference)
            name = node.outputs[0]
            tensors[name] = replace(tensors[name], data=evaluate(call, call.constants)[0])
        elif found is None:
            nodes.append(node)
        else:
            nodes.append(found)
    return folded(graph.updated(tensors=tensors.values(), nodes=nodes), reference, deferred=False)


def _layer(graph: Graph, node: Node, makers: dict[str, Node], tensors: dict[str, Tensor]) -> Node | None:
    """The dense layer that reads its weights in blocks; None if they have none, or not along the inputs."""
    if not isinstance(node.op, FullyConnected) or not graph.type(str(node.inputs[0])).is_float:
        return None
    turned, maker = 0, makers.get(str(node.inputs[1]))
    while maker is not None and isinstance(maker.op, Transpose) and maker.op.perm == (1, 0):
        turned, maker = 1 - turned, makers.get(str(maker.inputs[0]))
    x, (outputs, length) = graph.type(str(node.inputs[0])), graph.type(str(node.inputs[1])).shape
    if maker is None or not isinstance(maker.op, DequantizeBlocks) or x.shape[-1:] != (length,):
        return None
    if maker.op.axis != 1 - turned or graph.type(node.outputs[0]).shape != (*x.shape[:-1], outputs):
        return None
    operands = [None if n is None else _turned(tensors, n) if turned else n for n in maker.inputs]
    operands += [None] * (3 - len(operands))
    op = BlockedFullyConnected(maker.op.block, node.op.activation)
    return replace(node, op=op, inputs=(node.inputs[0], *operands, *node.inputs[2:]))


def _turned(tensors: dict[str, Tensor], name: str) -> str:
    """The transposed form of a constant matrix."""
    made, old = f"{name}_turned", tensors[name]
    assert old.data is not None
    data = np.ascontiguousarray(old.data.T)
    tensors[made] = replace(old, name=made, type=old.type.with_shape(data.shape), data=data)
    return made

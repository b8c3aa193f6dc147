"""Constants with a scale for each block along an axis: packed weights of dense layers, else floats."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import QuantizationError, ShapeError
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.imports import Expansion
from mcugen.ir.op import Op, evaluate
from mcugen.ir.types import Shape, TensorType
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.transpose import Transpose
from mcugen.passes.qdq.cleaning import folded


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


def shape_of_blocks(shape: Shape, axis: int, block: int) -> Shape:
    """The shape of scales for blocks along an axis."""
    return tuple(-(-d // block) if k == axis else d for k, d in enumerate(shape))


def signed(
    e: Expansion, q: np.ndarray, scales: np.ndarray, zeros: np.ndarray | None, axis: int, block: int
) -> tuple[str, str, str | None]:
    """The names of new constants: signed integers of as few bits as hold q, their scales, and their zero points unless
    all are 0.

    q: int8 or uint8. Raises ShapeError if scales or zero points do not fit blocks along the axis, and QuantizationError
    for scales that are not finite, or 0 where an integer is not its zero point.
    """
    wanted = shape_of_blocks(q.shape, axis, block)
    for what, values in (("scales", scales), ("zero points", zeros)):
        if values is not None and values.shape != wanted:
            raise ShapeError(f"{what} {list(values.shape)} of blocks of {block} must have the shape {list(wanted)}")
    if not np.isfinite(scales).all():
        raise QuantizationError("a scale of a block is infinite or NaN", hint="export the model again")
    points = np.zeros(wanted, np.int64) if zeros is None else zeros.astype(np.int64)
    place = np.arange(q.shape[axis]) // block
    lost = np.argwhere(np.take(scales == 0, place, axis) & (q != np.take(points, place, axis)))
    if lost.size:
        at = [int(k) // (block if a == axis else 1) for a, k in enumerate(lost[0])]
        raise QuantizationError(
            f"the scale of block {at} is 0, but its weights are not",
            hint="quantize the float weights again: a block whose scale is 0 has lost them",
        )
    bits = _bits(q, points, block if block < q.shape[axis] else 8)
    less = 0 if q.dtype == np.int8 else 1 << (bits - 1)
    points = points - less
    return (
        e.packed((q.astype(np.int64) - less).astype(np.int8), f"s{bits}"),
        e.constant(scales.astype(np.float32)),
        e.constant(points.astype(np.int8)) if points.any() else None,
    )


def _bits(q: np.ndarray, zeros: np.ndarray, block: int) -> int:
    """The fewest bits that hold integers and zero points and let each block fill whole bytes."""
    low, high = min(int(q.min()), int(zeros.min())), max(int(q.max()), int(zeros.max()))
    for bits in (2, 4):
        ends = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if q.dtype == np.int8 else (0, (1 << bits) - 1)
        if ends[0] <= low and high <= ends[1] and block % (8 // bits) == 0:
            return bits
    return 8


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

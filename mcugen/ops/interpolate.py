"""Interpolate: resizing along one axis, where each result is a weighted sum of elements along that axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op, Reordered
from mcugen.ir.quant_rule import Scales, refused
from mcugen.ir.types import Shape, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _ordered, _strided, _tflite


def constant_tables(call: Call) -> bool:
    "indices and weights are constant, and all indices exist along the axis"
    index = call.constants[1]
    if index is None or call.constants[2] is None:
        return False
    return int(index.min()) >= 0 and int(index.max()) < call.input(0).shape[call.op.axis % len(call.output.shape)]


def params(call: Call) -> Params:
    shape, axis = call.input(0).shape, call.op.axis % len(call.output.shape)
    return {
        "index": call.constant(1).reshape(-1),
        "weight": call.constant(2).reshape(-1),
        "outer": prod(shape[:axis]),
        "size_in": shape[axis],
        "size_out": call.output.shape[axis],
        "inner": prod(shape[axis + 1 :]),
        "taps": call.input(1).shape[1],
    }


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """ONNX MatMul with the interpolation weights as a matrix."""
    index, weight = call.constant(1), call.constant(2)
    x = call.input(0).shape
    axis = call.op.axis % len(x)
    matrix = np.zeros((index.shape[0], x[axis]))
    np.add.at(matrix, (np.arange(index.shape[0])[:, None], index), weight)
    split = (int(np.prod(x[:axis])), x[axis], int(np.prod(x[axis + 1 :])))
    data = _onnx.reshaped(sink, str(inputs[0]), call.input(0).with_shape(split))
    made = call.output.with_shape((split[0], index.shape[0], split[2]))
    y = sink.operator("MatMul", [sink.constant(matrix.astype(np.float32)), data], [made])[0]
    return [_onnx.reshaped(sink, y, call.output)]


_MODES = ((False, False), (True, False), (False, True))
"""(align_corners, half_pixel_centers) combinations of TensorFlow Lite."""


def bilinear(size: int, made: int, *, align: bool, half: bool) -> tuple[np.ndarray, np.ndarray]:
    """(indices, weights) [made, 2] of the two nearest elements. size, made: input and output elements along the axis.

    align: align_corners, the first and last elements coincide. half: half_pixel_centers, coordinates are pixel centres.
    Source: TFLite RESIZE_BILINEAR, ComputeInterpolationValues.
    """
    scale = np.float32((size - 1) / (made - 1)) if align and made > 1 else np.float32(size) / np.float32(made)
    at = np.arange(made, dtype=np.float32)
    place = (at + np.float32(0.5)) * scale - np.float32(0.5) if half else at * scale
    low = np.maximum(np.floor(place), 0).astype(np.int32)
    high = np.minimum(np.ceil(place), size - 1).astype(np.int32)
    part = (place - low).astype(np.float32)
    return np.stack([low, high], axis=1), np.stack([1 - part, part], axis=1).astype(np.float32)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """RESIZE_BILINEAR along one axis of images, if it has these indices and weights."""
    x, y, axis = call.input(0), call.output, call.op.axis % len(call.output.shape)
    for align, half in _MODES if len(x.shape) == 4 and axis in (1, 2) and constant_tables(call) else ():
        found = bilinear(x.shape[axis], y.shape[axis], align=align, half=half)
        if all(np.array_equal(table, call.constant(k)) for k, table in enumerate(found, 1)):
            attributes = {"align_corners": align, "half_pixel_centers": half}
            operands = [inputs[0], _tflite.vector(sink, y.shape[1:3])]
            return sink.operator("RESIZE_BILINEAR", operands, [y], attributes, 3 if half else 1)
    raise UnsupportedError("RESIZE_BILINEAR has no mode with these interpolation weights")


@dataclass(frozen=True)
class Interpolate(Op):
    """y[o, j, i] = sum over t of weight[j, t] * x[o, index[j, t], i], where the second axis is `axis`.

    x, y: f32   index: s32 [size, taps], weight: f32 [size, taps], constant
    Source: ONNX Resize-19; all its modes can be stated as such tables.
    """

    axis: int

    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (Kernel("mg_interpolate_f32", Whole(), (constant_tables,), params, operands=(0,)),)

    def quantized(self, call: Call) -> Scales:
        return refused("the matrix of its weights would have more than 65,536 numbers")

    def infer(
        self, x: TensorType | None, index: TensorType | None, weight: TensorType | None
    ) -> tuple[TensorType, ...]:
        x, index, weight = _strided.operand(x), _strided.operand(index), _strided.operand(weight)
        if (x.dtype, index.dtype, weight.dtype) != ("f32", "s32", "f32"):
            raise UnsupportedError(f"data {x}, indices {index} and weights {weight} must be f32, s32 and f32")
        axis = _strided.axis_of(self.axis, len(x.shape))
        if len(index.shape) != 2 or index.shape != weight.shape:
            raise ShapeError(f"indices {list(index.shape)} and weights {list(weight.shape)} must both be [size, taps]")
        return (TensorType((*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :]), "f32"),)

    def reference_q(self, call: Call, x: np.ndarray, index: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return self.reference(x, index, weight)

    def reference(self, x: np.ndarray, index: np.ndarray, weight: np.ndarray) -> np.ndarray:
        along = np.moveaxis(x.astype(np.float64), self.axis, 0)
        parts = along[index.astype(np.int64)] * weight.reshape(*weight.shape, *(1,) * (x.ndim - 1))
        return np.asarray(np.moveaxis(parts.sum(1), 0, self.axis))

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        """This resizing along the stored axis."""
        axis = self.axis % len(call.input(0).shape)
        found = _ordered.resized(call, orders, (axis,))
        return None if found is None else replace(found[1], op=replace(self, axis=found[0][axis]))

    def macs(self, call: Call) -> int:
        return call.output.size * call.input(1).shape[1]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[Shape, int, int, int], ...] = (
            ((1, 4, 3, 2), 1, 7, 2),
            ((2, 5), -1, 3, 4),
            ((6,), 0, 6, 1),
        )
        return [_example(k, *case) for k, case in enumerate(cases)]


def _example(k: int, shape: Shape, axis: int, size: int, taps: int) -> Example:
    op, rng = Interpolate(axis), np.random.default_rng(k)
    index = rng.integers(0, shape[axis], (size, taps)).astype(np.int32)
    weight = rng.standard_normal((size, taps)).astype(np.float32)
    types = (TensorType(shape, "f32"), TensorType(index.shape, "s32"), TensorType(weight.shape, "f32"))
    return Example(op, types, op.infer(*types), {1: index, 2: weight}, k)

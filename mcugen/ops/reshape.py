"""RESHAPE, and SQUEEZE and EXPAND_DIMS, which become reshapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Alias, Kernel
from mcugen.ir.op import Example, Op, Slimmed
from mcugen.ir.ranges import Range, Removal, channels_of, met
from mcugen.ir.types import MOVABLE, QuantParams, Shape, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _tflite
from mcugen.ops._tflite import TfliteTarget


def from_reshape(source: Source) -> Imported:
    """The shape operand has priority over the attribute.

    If the shape operand is computed at run time, the declared shape of the result is used.
    """
    attribute = source.attributes["new_shape"]
    if len(source.inputs) > 1 and source.inputs[1] is not None:
        shape = source.ints(1)
        shape = source.outputs[0].shape if shape is None else shape
    else:
        shape = tuple(int(d) for d in attribute or ())
        shape = () if shape == (0,) else shape  # old files write a scalar's shape so
    return Imported(Reshape(shape), inputs=(0,))


def from_squeeze(source: Source) -> Imported:
    x = _operand(source)
    rank = len(x.shape)
    axes = [int(a) for a in source.attributes["squeeze_dims"] or ()]
    if any(not -rank <= a < rank for a in axes):
        raise ShapeError(f"squeeze_dims {axes} do not all exist in a tensor with {rank} axes")
    chosen = {a % rank for a in axes} if axes else {k for k, d in enumerate(x.shape) if d == 1}
    if any(x.shape[a] != 1 for a in chosen):
        raise ShapeError(f"squeeze_dims {sorted(chosen)} of {list(x.shape)} must have size 1")
    return Imported(Reshape(tuple(d for k, d in enumerate(x.shape) if k not in chosen)), inputs=(0,))


def from_expand_dims(source: Source) -> Imported:
    x, axes = _operand(source), source.ints(1)
    if axes is None:
        raise UnsupportedError("the axis (operand 1) is computed at run time", hint="make it a constant")
    rank = len(x.shape)
    if len(axes) != 1 or not -rank - 1 <= axes[0] <= rank:
        raise ShapeError(f"axis {list(axes)} cannot be inserted into a tensor with {rank} axes")
    at = axes[0] % (rank + 1)
    dtype = "f16" if source.halves else x.dtype
    refusing = {} if dtype in ("s8", "s16", "f32") else {"tflm": f"no kernel for {dtype}"}
    if x.dtype == "s16" and x.quant is not None and any(x.quant.zero_point):
        refusing["litert"] = "int16 data with a zero point other than 0"
    return Imported(Reshape((*x.shape[:at], 1, *x.shape[at:])), inputs=(0,), refused_by=refusing)


def _operand(source: Source) -> TensorType:
    x = source.inputs[0] if source.inputs else None
    if x is None:
        raise ShapeError("the operand to reshape is missing")
    return x


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    x = str(inputs[0])
    found = sink.unshaped(x, made_here=True)
    if found != x and sink.type(found) == call.output:
        return [found]
    return _tflite.reshape(sink, x, call.output, call.op.shape)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("Reshape", inputs, call.outputs, {"shape": call.output.shape})


@dataclass(frozen=True)
class Reshape(Op):
    """y = x with another shape, the elements in the same order.

    x: any type and shape   y: `shape`, where one -1 means the remaining elements
    Source: TFLite RESHAPE, SQUEEZE, EXPAND_DIMS.
    """

    shape: Shape

    only_moves = True
    tflm_types = litert_types = MOVABLE
    imports = (
        Import("tflite", "RESHAPE", from_reshape),
        Import("tflite", "SQUEEZE", from_squeeze),
        Import("tflite", "EXPAND_DIMS", from_expand_dims),
    )
    writes = (_tflite.to_target(to_tflite), Write("onnx", to_onnx))
    kernels = (Kernel("", Alias()),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand to reshape is missing")
        known = [d for d in self.shape if d != -1]
        if min(known, default=1) < 1 or len(self.shape) - len(known) > 1:
            raise ShapeError(f"the shape {list(self.shape)} has a size below 1, or more than one -1")
        rest, remainder = divmod(x.size, math.prod(known))
        shape = tuple(rest if d == -1 else d for d in self.shape)
        if remainder or math.prod(shape) != x.size:
            raise ShapeError(f"{x.size} elements do not fit the shape {list(self.shape)}")
        return (TensorType(shape, x.dtype),)

    def removable(self, call: Call, asked: Removal) -> Removal:
        """Corresponding channels of both shapes are dropped together.

        None can be dropped unless one shape's number of channels divides the other's.
        """
        x, y = asked.of(0), asked.outputs[0]
        if not (call.input(0).shape and call.output.shape) or (y.size % x.size and x.size % y.size):
            return asked.none
        few = min(x.size, y.size)
        gone = x.reshape(-1, few).all(axis=0) & y.reshape(-1, few).all(axis=0)
        return Removal((np.tile(gone, x.size // few),), (np.tile(gone, y.size // few),))

    def without(self, call: Call, removed: Removal) -> Slimmed:
        return Slimmed(Reshape((*call.output.shape[:-1], int((~removed.outputs[0]).sum()))))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(self.shape)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return x.reshape(call.output.shape)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        x = call.range_of(0)
        return (None if x is None else met(x, channels_of(call.output)),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quant = QuantParams((0.5,), (-3,))
        cases = (((1, 3, 4, 2), (2, 12)), ((5,), (1, -1)), ((1, 1, 1, 7), (7,)), ((1,), ()), ((2, 3), (1, 3, 1, 2, 1)))
        types = (("s8", quant), ("s16", QuantParams((0.5,), (0,))), ("f32", None), ("s32", None))
        return [
            Example(op, (x,), (TensorType(op.infer(x)[0].shape, dtype, q),), {}, k)
            for k, (shape, new) in enumerate(cases)
            for dtype, q in types
            for op, x in [(cls(new), TensorType(shape, dtype, q))]
        ]

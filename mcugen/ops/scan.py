"""CUMSUM: cumulative sums and products along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _plain, _strided, _tflite

_FIRST = {"sum": 0, "prod": 1}


def from_tflite(source: Source) -> Imported:
    axis, a = source.ints(1), source.attributes
    if axis is None or len(axis) != 1:
        raise UnsupportedError("the axis (operand 1) must be one constant number", hint="make it a constant")
    return Imported(Scan(axis[0], "sum", bool(a["exclusive"]), bool(a["reverse"])), inputs=(0,))


def params(call: Call) -> Params:
    op, shape = call.op, call.output.shape
    axis = op.axis % len(shape)
    first = _FIRST[op.how]
    return {
        "how": _plain.FOLDS[op.how],
        **_plain.kind_of(call),
        "outer": prod(shape[:axis]),
        "size": shape[axis],
        "inner": prod(shape[axis + 1 :]),
        "exclusive": int(op.exclusive),
        "reverse": int(op.reverse),
        "first": float(first) if call.output.is_float else first,
    }


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    op, x = call.op, call.input(0)
    if op.how != "sum" or x.dtype not in Scan.litert_types:
        raise UnsupportedError(f"TensorFlow Lite has no cumulative {op.how} of {x.dtype}")
    operands = [*inputs, sink.constant(np.array(op.axis, np.int32))]
    return _tflite.operator(call, sink, "CUMSUM", operands, {"exclusive": op.exclusive, "reverse": op.reverse})


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.op.how != "sum":
        raise UnsupportedError("ONNX opset 21 has no cumulative product")
    axis = call.op.axis % len(call.input(0).shape)
    attributes = {"axis": axis, "exclusive": int(call.op.exclusive), "reverse": int(call.op.reverse)}
    return [_onnx.in_wide(call, sink, "CumSum", inputs, attributes)]


@dataclass(frozen=True)
class Scan(Op):
    """y[k] = sum or product of x[0] to x[k] along `axis`; without x[k] if exclusive, from the end if reverse.

    x, y: s8, u8, s16, s32, s64 or f32, without scales, any shape; integers wrap
    Source: TFLite CUMSUM; ONNX CumSum-14, CumProd-26.
    """

    axis: int
    how: str = "sum"
    exclusive: bool = False
    reverse: bool = False

    tflm_types = dtypes("f32")
    litert_types = dtypes("s32 s64 f32")
    imports = (Import("tflite", "CUMSUM", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = (
        Kernel("mg_scan_integers", Whole(), (_plain.integers(0),), params),
        Kernel("mg_scan_f32", Whole(), (_plain.floats(0),), params),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _plain.operand(x)
        if x.quant is not None or x.dtype == "bool":
            raise UnsupportedError(f"cumulative sums of {x} are not supported: only numbers without a scale are")
        _strided.axis_of(self.axis, len(x.shape))
        return (TensorType(x.shape, x.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        along = np.flip(x, self.axis) if self.reverse else x
        total = _plain.ACCUMULATORS[self.how].accumulate(along, axis=self.axis, dtype=x.dtype)
        if self.exclusive:
            before = np.take(along, [0], self.axis) * 0 + _FIRST[self.how]
            total = np.concatenate([before, np.delete(total, -1, self.axis)], self.axis)
        return np.asarray(np.flip(total, self.axis) if self.reverse else total)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return _plain.wrapped(self.reference(x.astype(np.int64)), call.output)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases: tuple[tuple[Shape, int, str], ...] = (
            ((7,), 0, "f32"), ((2, 5, 3), 1, "s32"), ((2, 5), -1, "s8"), ((3, 2, 4), 0, "s64"), ((2, 3, 4), 1, "f32"),
        )  # fmt: skip
        return [
            Example(cls(axis, how, bool(k & 1), bool(k & 2)), (x,), (x,), {}, k)
            for k, (how, (shape, axis, dtype)) in enumerate((how, case) for how in _FIRST for case in cases)
            for x in [TensorType(shape, dtype)]
        ]

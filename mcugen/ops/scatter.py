"""Scatter: rows of a tensor replaced by updates, or combined with them, at given indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _plain, _strided


def replaces(call: Call) -> bool:
    "rows are replaced"
    return call.op.how == "" and call.output.dtype != "f16"


def joins(call: Call) -> bool:
    "rows are combined with the updates"
    return bool(call.op.how)


def params(call: Call) -> Params:
    rows = call.output.shape[0]
    found = {"count": call.input(1).size, "rows": rows, "bytes": call.output.nbytes}
    if not call.op.how:
        return found
    return {**found, "run": call.output.size // rows, "how": _plain.FOLDS[call.op.how], **_plain.kind_of(call)}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """ONNX ScatterND with row numbers as indices."""
    rows = call.input(0).shape[0]
    index = _onnx.bounded(sink, str(inputs[1]), (rows,))
    index = _onnx.cast(sink, _onnx.reshaped(sink, index, sink.type(index).with_shape((call.input(1).size, 1))), "s64")
    how = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "": "none"}[call.op.how]
    return sink.operator("ScatterND", [inputs[0], index, inputs[2]], call.outputs, {"reduction": how})


@dataclass(frozen=True)
class Scatter(Op):
    """y = x, then y[index[k]] = update[k] for each k; or the sum, product, maximum or minimum of both (`how`).

    x, y: any type, [rows, ...]; without a scale if `how` is set
    index: s32 [n], clamped to the rows   update: [n, ...]
    how: "" to replace, "sum", "prod", "max" or "min"
    Source: ONNX ScatterND-18, ScatterElements-18.
    """

    how: str = ""

    only_moves = True
    writes = (Write("onnx", to_onnx),)
    kernels = (
        Kernel("mg_scatter_rows", Whole(), (replaces,), params, operands=(0, 1, 2)),
        Kernel("mg_scatter_integers", Whole(), (joins, _plain.integers(0)), params, operands=(0, 1, 2)),
        Kernel("mg_scatter_f32", Whole(), (joins, _plain.floats(0)), params, operands=(0, 1, 2)),
    )

    def infer(
        self, x: TensorType | None, index: TensorType | None, update: TensorType | None
    ) -> tuple[TensorType, ...]:
        x, index, update = _plain.operand(x), _strided.operand(index), _strided.operand(update)
        if index.dtype != "s32" or update.dtype != x.dtype or (self.how and self.how not in _plain.FOLDS):
            raise UnsupportedError(f"{update.dtype} updates of {x.dtype} at {index.dtype} indices are not supported")
        if not x.shape or len(index.shape) != 1 or update.shape != (*index.shape, *x.shape[1:]):
            raise ShapeError(f"updates {list(update.shape)} at {list(index.shape)} do not fit rows {list(x.shape)}")
        return (TensorType(x.shape, x.dtype),)

    def reference(self, x: np.ndarray, index: np.ndarray, update: np.ndarray) -> np.ndarray:
        y = x.copy()
        for row, new in zip(np.clip(index.astype(np.int64), 0, x.shape[0] - 1), update, strict=True):
            y[row] = _plain.ACCUMULATORS[self.how](y[row], new) if self.how else new
        return y

    def reference_q(self, call: Call, x: np.ndarray, index: np.ndarray, update: np.ndarray) -> np.ndarray:
        if not self.how or x.dtype.kind == "f":
            return self.reference(x, index, update)
        with np.errstate(over="ignore"):
            return _plain.wrapped(self.reference(x.astype(np.int64), index, update.astype(np.int64)), call.output)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        pairs = [("", "s8"), ("", "f32"), ("", "s64"), ("sum", "f32"), ("prod", "s32"), ("max", "s8"), ("min", "f32")]
        return [
            Example(cls(how), (x, TensorType((n,), "s32"), TensorType((n, *x.shape[1:]), dtype)), (x,), {}, k)
            for k, (how, dtype) in enumerate(pairs)
            for x, n in [(TensorType(((5, 3), (6,), (2, 2, 4))[k % 3], dtype), 4)]
        ]

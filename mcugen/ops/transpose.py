"""TRANSPOSE: a tensor with its axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example
from mcugen.ir.types import MOVABLE, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _strided, _tflite, _view


def from_tflite(source: Source) -> Imported:
    perm = source.ints(1)
    if perm is None:
        raise UnsupportedError("the permutation (operand 1) is computed at run time", hint="make it a constant")
    return Imported(Transpose(perm), inputs=(0,))


def from_onnx(source: Source) -> Imported:
    """ONNX Transpose. Without `perm`, the order of the axes is reversed."""
    rank = len(_strided.operand(source.inputs[0] if source.inputs else None).shape)
    return Imported(Transpose(tuple(source.attributes["perm"] or range(rank - 1, -1, -1))))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    rank = len(call.op.perm)
    if not rank:
        return _tflite.reshape(sink, str(inputs[0]), call.output)
    number = _tflite.version(call.input(0), s8=2, bool=3, s16=5)
    number = 6 if rank > 5 else max(number, 4) if rank > 4 else number
    return _tflite.operator(call, sink, "TRANSPOSE", [*inputs, _tflite.vector(sink, call.op.perm)], {}, number)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    rank = len(call.op.perm)
    return sink.operator("Transpose", inputs, call.outputs, {"perm": tuple(k % rank for k in call.op.perm)})


@dataclass(frozen=True)
class Transpose(_view.View):
    """y[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...]: axis k of y is axis perm[k] of x.

    x: any type and shape   y: as x, its axes permuted
    Source: TFLite TRANSPOSE.
    """

    perm: tuple[int, ...]

    tflm_types = dtypes("s8 s16 f32")
    litert_types = MOVABLE
    imports = (Import("tflite", "TRANSPOSE", from_tflite), Import("onnx", "Transpose", from_onnx))
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = _view.KERNELS

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and (len(self.perm) > 5 or min(self.perm, default=0) < 0):
            return "no kernel for more than 5 axes, or for negative axes"
        return super().refused_by(call, runtime)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        rank = len(x.shape)
        order = [_strided.axis_of(a, rank, "permuted axis") for a in self.perm]
        if sorted(order) != list(range(rank)):
            raise ShapeError(f"{list(self.perm)} is not a permutation of the axes of {list(x.shape)}")
        return (TensorType(tuple(x.shape[a] for a in order), x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        return x.transpose(self.perm)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            ((0, 3, 1, 2), (1, 4, 5, 3)),
            ((0, 2, 3, 1), (2, 3, 4, 5)),
            ((3, -3, 0, 2), (2, 3, 4, 5)),
            ((1, 0), (5, 3)),
            ((0, 1, 2), (2, 3, 4)),
            ((5, 4, 3, 2, 1, 0), (2, 3, 2, 2, 3, 2)),
            ((), ()),
        )
        return _view.examples((cls(perm), shape) for perm, shape in cases)

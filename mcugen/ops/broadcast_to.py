"""BROADCAST_TO: repetition along axes of size 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example
from mcugen.ir.types import MOVABLE, Shape, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _strided, _tflite, _view


def from_tflite(source: Source) -> Imported:
    shape = source.ints(1)
    return Imported(BroadcastTo(source.outputs[0].shape if shape is None else shape), inputs=(0,))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    shape, x = call.op.shape, call.input(0)
    if not shape:
        return _tflite.reshape(sink, str(inputs[0]), call.output)
    number = _tflite.version(x, s8=3, s16=3)
    return _tflite.operator(call, sink, "BROADCAST_TO", [*inputs, _tflite.vector(sink, shape)], {}, max(number, 2))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("Expand", inputs, call.outputs, {"shape": call.output.shape})


@dataclass(frozen=True)
class BroadcastTo(_view.View):
    """y[i...] = x[i...], with index 0 along axes that have size 1 in x or that x lacks.

    x: any type, a shape that broadcasts to `shape`   y: as x, `shape`
    Source: TFLite BROADCAST_TO.
    """

    shape: Shape

    tflm_types = litert_types = MOVABLE
    imports = (Import("tflite", "BROADCAST_TO", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = _view.KERNELS

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and len(self.shape) > 5:
            return f"no kernel for {len(self.shape)} axes, at most 5"
        return super().refused_by(call, runtime)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        ahead = len(self.shape) - len(x.shape)
        if ahead < 0 or any(a not in (1, b) for a, b in zip(x.shape, self.shape[max(ahead, 0) :], strict=False)):
            raise ShapeError(f"{list(x.shape)} does not broadcast to {list(self.shape)}")
        if min(self.shape, default=1) < 1:
            raise ShapeError(f"the shape {list(self.shape)} (operand 1) has a size below 1")
        return (TensorType(self.shape, x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, self.shape)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            ((2, 3, 4), (1, 3, 1)),
            ((2, 3), (3,)),
            ((2, 3, 4), (3, 4)),
            ((3, 2), ()),
            ((1, 4, 5, 3), (1, 1, 1, 3)),
            ((2, 2, 2, 2, 3), (2, 1, 2, 1, 3)),
        )
        return _view.examples((cls(shape), x) for shape, x in cases)

"""TILE: repetition of a tensor along its axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example
from mcugen.ir.types import MOVABLE, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _strided, _tflite, _view


def from_tflite(source: Source) -> Imported:
    multiples = source.ints(1)
    if multiples is None:
        x, y = _strided.operand(source.inputs[0]).shape, source.outputs[0].shape
        if len(x) != len(y):
            raise ShapeError(f"a tensor {list(x)} cannot be repeated to {list(y)}: their ranks differ")
        multiples = tuple(b // a for a, b in zip(x, y, strict=True))
    return Imported(Tile(multiples), inputs=(0,))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if not call.op.multiples:
        return _tflite.reshape(sink, str(inputs[0]), call.output)
    operands = [*inputs, _tflite.vector(sink, call.op.multiples)]
    return _tflite.operator(call, sink, "TILE", operands)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("Tile", inputs, call.outputs, {"repeats": call.op.multiples})


@dataclass(frozen=True)
class Tile(_view.View):
    """y[i, ...] = x[i mod size, ...] along each axis; axis k of y is multiples[k] times as long.

    x: any type and shape   y: as x
    Source: TFLite TILE.
    """

    multiples: tuple[int, ...]

    litert_types = MOVABLE
    imports = (Import("tflite", "TILE", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = _view.WITH_ROWS

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if len(self.multiples) != len(x.shape) or min(self.multiples, default=1) < 1:
            raise ShapeError(f"multiples {list(self.multiples)} must be one number above 0 per axis of {list(x.shape)}")
        return (TensorType(tuple(d * n for d, n in zip(x.shape, self.multiples, strict=True)), x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        """Two axes for each axis of x: repetition, then element."""
        split = x.reshape(tuple(n for d in x.shape for n in (1, d)))
        return np.broadcast_to(split, tuple(n for m, d in zip(self.multiples, x.shape, strict=True) for n in (m, d)))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.tile(x, self.multiples)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Stored elements are moved."""
        return self.reference(x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            ((2, 3), (3, 2)),
            ((1, 2, 1), (2, 3, 4)),
            ((4,), (3,)),
            ((1, 1, 2, 3), (1, 2, 3, 2)),
            ((2, 1, 2), (1, 5, 1)),
        )
        grey = [(cls((1, 1, 1, 3)), (1, 3, 5, 1))]
        return [*_view.examples((cls(multiples), shape) for multiples, shape in cases), *_view.pixel_examples(grey)]

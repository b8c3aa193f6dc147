"""REVERSE_V2: elements in reverse order along axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example
from mcugen.ir.types import ALL_DTYPES, TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _strided, _tflite, _view


def from_tflite(source: Source) -> Imported:
    axes = source.ints(1)
    if axes is None:
        raise UnsupportedError("the axes (operand 1) are computed at run time", hint="make them a constant")
    return Imported(Reverse(axes), inputs=(0,))


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    operands = [*inputs, _tflite.vector(sink, call.op.axes)]
    return _tflite.operator(call, sink, "REVERSE_V2", operands, {}, _tflite.version(call.input(0), bool=2, s8=3))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    rank = len(call.input(0).shape)
    axes = tuple(sorted({axis % rank for axis in call.op.axes}))
    if not axes:
        return sink.operator("Identity", inputs, call.outputs)
    many = len(axes)
    bounds = {"starts": (-1,) * many, "ends": (_onnx.BEFORE_FIRST,) * many, "axes": axes, "steps": (-1,) * many}
    return (
        sink.operator("Slice", inputs, call.outputs, bounds)
        if axes
        else sink.operator("Identity", inputs, call.outputs)
    )


@dataclass(frozen=True)
class Reverse(_view.View):
    """y[..., i, ...] = x[..., size - 1 - i, ...] along each of `axes`.

    x: any type and shape   y: as x
    Source: TFLite REVERSE_V2.
    """

    axes: tuple[int, ...]

    tflm_types = ALL_DTYPES
    imports = (Import("tflite", "REVERSE_V2", from_tflite),)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    kernels = _view.WITH_ROWS

    def refused_by(self, call: Call, runtime: str) -> str:
        axes = sorted({a % len(call.input(0).shape) for a in self.axes})
        apart = axes != list(range(axes[0], axes[-1] + 1))
        return f"no kernel for axes {axes}, which are not adjacent" if apart else super().refused_by(call, runtime)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        for axis in self.axes:
            _strided.axis_of(axis, len(x.shape), "reversed axis")
        return (TensorType(x.shape, x.dtype),)

    def view(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.flip(x, tuple({a % x.ndim for a in self.axes})))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((1,), (2, 3, 4)), ((-1,), (2, 5)), ((0, 2), (3, 2, 4)), ((0,), (7,)), ((1, 2), (1, 3, 4, 3)))
        mirrors = ((cls((2,)), (1, 3, 5, 3)), (cls((-1,)), (1, 2, 7, 2)))
        return [*_view.examples((cls(axes), shape) for axes, shape in cases), *_view.pixel_examples(mirrors)]

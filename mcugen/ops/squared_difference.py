"""SQUARED_DIFFERENCE: (a - b)^2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import quantize_multiplier
from mcugen.ir.imports import Import
from mcugen.ir.op import Example, Scaling
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _onnx, _sum, _tflite
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import differences

_TYPES = ("s8", "s16", "f32")
_LEFT_SHIFT = {"s8": 7, "s16": 0}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    apart = sink.operator("Sub", inputs, [_onnx.real(call.output)])[0]
    return sink.operator("Mul", [apart, apart], call.outputs)


def multipliers(call: Call) -> tuple[tuple[int, int], ...]:
    """(mult, shift) for a, for b, and for the square. Source: squared_difference.cc, PrepareQuantized."""
    a, b, y = (float(np.float32(t.scale)) for t in (call.input(0), call.input(1), call.output))
    twice = 2.0 * max(a, b)
    found = (a / twice, b / twice, twice * twice / ((1 << 2 * _LEFT_SHIFT[call.output.dtype]) * y))
    return tuple(quantize_multiplier(v) for v in found)


def params(call: Call) -> Params:
    a, b, y = multipliers(call)
    a, b = _sum.applied(a), _sum.applied(b)
    low, high = call.output.limits
    found = {
        "a_mult": a[0], "b_mult": b[0], "out_mult": y[0], "out_min": low, "out_max": high,
        "a_zero_point": call.input(0).zero_point, "b_zero_point": call.input(1).zero_point,
        "out_zero_point": call.output.zero_point, "left_shift": _LEFT_SHIFT[call.output.dtype],
        "a_shift": -a[1], "b_shift": -b[1], "out_shift": y[1],
    }  # fmt: skip
    return {f"square.{name}": value for name, value in found.items()}


_INTEGERS = Element(
    "mg_squared_difference_of(&square, a, b)",
    {"square": "mg_squared_difference"},
    params,
    slow=True,
    headers=("squared_difference.h",),
)


class SquaredDifference(Pointwise):
    """y = (a - b)^2, elementwise, broadcasting.

    a, b, y: one type of s8, s16 (per tensor) and f32
    Source: TFLite SQUARED_DIFFERENCE; squared_difference.cc.
    """

    tflm_types = dtypes("s8 s16 s32 f32")
    litert_types = dtypes("s8 s32 f32")
    imports = (Import("tflite", "SQUARED_DIFFERENCE"),)
    writes = (_tflite.same("SQUARED_DIFFERENCE", s8=2), Write("onnx", to_onnx))
    element: ClassVar = {"s8": _INTEGERS, "s16": _INTEGERS, "f32": Element("(a - b) * (a - b)")}
    kernels = (
        *_elementwise.kernels("mg_squared_difference_s8", "s8", _INTEGERS),
        *_elementwise.kernels("mg_squared_difference_s16", "s16", _INTEGERS, (_elementwise.symmetric,)),
        *_elementwise.kernels("mg_squared_difference_f32", "f32", element["f32"]),
    )

    def quantized(self, call: Call) -> Scales:
        return OWN

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        return (_elementwise.broadcast_types(a, b, _TYPES),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray((a - b) ** 2)

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.reference(a, b) if call.output.is_float else differences.squared(call, a, b)

    def scaling(self, call: Call) -> Scaling:
        if call.output.dtype not in _LEFT_SHIFT:
            return {}
        a, b, y = multipliers(call)
        return {"a": a, "b": b, "y": y, "bounds": call.output.limits}

    def scaling_q(self, call: Call) -> Scaling:
        return differences.scaling(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            *_elementwise.examples(cls(), "f32", [(1, 1, 1)]),
            *_elementwise.examples(cls(), "s8", [(0.05, 0.05, 0.3), (0.5, 0.02, 20.0), (0.01, 0.03, 1e-5)]),
            *_elementwise.examples(cls(), "s16", [(1e-3, 3e-3, 0.02), (0.5, 0.002, 100.0)]),
            *_elementwise.examples(cls(), "s8", [(0.0079, 3.9e-12, 0.1), (3.9e-12, 0.0079, 0.1)])[:2],
        ]

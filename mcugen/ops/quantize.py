"""QUANTIZE: conversion of real numbers to stored integers, or of stored integers to another scale or type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir import requantize_proof
from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import INT_RANGE, multiply_double_rounding, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Scaling, has_int16_zero_point
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _bytes, _onnx, _rounding, _tflite
from mcugen.oracle import once, quantized

_FROM_TO = {
    "f32": ("s8", "u8", "s16"),
    "s8": ("s8", "u8", "s16", "s32"),
    "u8": ("s8", "u8", "s16"),
    "s16": ("s8", "s16", "s32"),
    "s32": ("s8", "s16"),
}
_RUNS = {
    "tflm": {
        "f32": ("s8", "s16"),
        "s8": ("s8", "u8", "s16", "s32"),
        "u8": ("s8",),
        "s16": ("s8", "s16", "s32"),
        "s32": ("s8", "s16"),
    },
    "litert": {
        "f32": ("s8", "u8", "s16"),
        "s8": ("s8", "u8", "s16"),
        "u8": ("s8", "u8", "s16"),
        "s16": ("s8", "s16", "s32"),
        "s32": ("s8", "s16"),
    },
}
_NO_ZERO = "int16 data with a zero point other than 0"
_PAIRS = (
    ("s8", "s16"), ("s8", "s32"), ("u8", "s16"),
    ("s16", "s8"), ("s16", "s16"), ("s16", "s32"),
    ("s32", "s8"), ("s32", "s16"),
)  # fmt: skip


RUNTIME_STEPS = "int16 of TensorFlow Lite"
"""The doc_string of a QuantizeLinear whose int16 operands and results are computed as by TensorFlow Lite."""


def from_tflite(source: Source) -> Imported:
    return Imported(Quantize(source.outputs[0].dtype))


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) for scale_x / scale_y: float32 scales, divided in float64. Source: quantize.cc, Prepare."""
    x, y = np.float32(call.input(0).scale), np.float32(call.output.scale)
    return quantize_multiplier(float(x) / float(y))


def flips_sign(call: Call) -> bool:
    "one of input and output is int8, the other uint8; scales are equal, and zero points differ by 128"
    x, y = call.input(0), call.output
    if {x.dtype, y.dtype} != {"s8", "u8"}:
        return False
    shift = 128 if x.dtype == "u8" else -128
    return np.float32(x.scale) == np.float32(y.scale) and x.zero_point - y.zero_point == shift


def params_float(call: Call) -> Params:
    low, high = INT_RANGE[call.output.dtype]
    return {"scale": call.output.scale, "zero_point": call.output.zero_point, "out_min": low, "out_max": high}


def params_integer(call: Call) -> Params:
    low, high = INT_RANGE[call.output.dtype]
    mult, shift = multiplier(call)
    zeros = {"in_zero_point": call.input(0).zero_point, "out_zero_point": call.output.zero_point}
    return {"mult": mult, "shift": shift, **zeros, "out_min": low, "out_max": high}


def elements(call: Call) -> int:
    """The number of elements of the output."""
    return call.output.size


def _from_float(dtype: str, rounding: str = "") -> Kernel:
    def accepts(call: Call) -> bool:
        return (call.input(0).dtype, call.output.dtype, call.op.rounding) == ("f32", dtype, rounding)

    accepts.__doc__ = f"the input is float32, the output {dtype}" + (", halves go to even" if rounding else "")
    symbol = f"mg_quantize_f32__{dtype}" + ("_even" if rounding else "")
    return Kernel(symbol, Run(elements), (accepts,), params_float)


def _requantize(source: str, target: str) -> Kernel:
    def accepts(call: Call) -> bool:
        return (call.input(0).dtype, call.output.dtype, call.op.rounding) == (source, target, "")

    accepts.__doc__ = f"the input is {source}, the output {target}"
    symbol = f"mg_requantize__{source}_{target}"
    in_place = (0,) if source == target else ()
    return Kernel(symbol, Run(elements), (accepts,), params_integer, in_place=in_place)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return _tflite.operator(call, sink, "QUANTIZE", inputs, {}, _tflite.version(call.output, s16=2))


@dataclass(frozen=True)
class Quantize(_bytes.ByteFunction):
    """y = clamp(round(x / scale_y) + zero_point_y); a stored integer x stands for scale_x * (x - zero_point_x).

    x: f32, s8, u8, s16 or s32, any shape   y: s8, u8, s16 or s32, per tensor
    Real numbers too large for int32 saturate, as on Arm cores.
    rounding: "even" if halves go to even results before the zero point is added, and integers are rescaled exactly
    steps: whether the file states that the operator before it computes on int16 as TensorFlow Lite does
    Source: TFLite QUANTIZE; reference_ops::AffineQuantize, reference_ops::Requantize.
    """

    dtype: str
    rounding: str = ""
    steps: bool = False

    tflm_types = dtypes("s8 u8 s16 s32 f32")
    litert_types = dtypes("s8 u8 s16 s32 f32")
    imports = (Import("tflite", "QUANTIZE", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.same("Identity"))
    takes_unsigned = True
    kernels = (
        Kernel("mg_flip_sign", Run(elements), (flips_sign,), in_place=(0,)),
        _bytes.table_kernel(),
        *(_from_float(dtype) for dtype in ("s8", "u8", "s16")),
        *(_from_float(dtype, "even") for dtype in ("s8", "u8", "s16")),
        *(_requantize(source, target) for source, target in _PAIRS),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        x, y = call.input(0).dtype, call.output.dtype
        if y not in _RUNS[runtime].get(x, ()):
            return f"no kernel from {x} to {y}"
        return _NO_ZERO if (runtime, x, y) == ("litert", "s16", "s16") and has_int16_zero_point(call) else ""

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand to quantize is missing")
        if self.dtype not in _FROM_TO.get(x.dtype, ()):
            raise UnsupportedError(f"quantizing {x.dtype} to {self.dtype} is not supported")
        return (TensorType(x.shape, self.dtype),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        a, y = call.input(0), call.output
        if self.rounding:
            return once.quantized(x, a, y)
        if x.dtype != np.float32:
            return quantized.stored(quantized.rescaled(quantized.centred(x, a), a, y, in_double=True), y)
        return quantized.from_real(x, y)

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        y = call.output
        if self.rounding:
            return self._exact(call, x)
        scaled = multiply_double_rounding(x.astype(np.int64) - call.input(0).zero_point, *multiplier(call))
        return np.asarray(np.clip(scaled + y.zero_point, *INT_RANGE[y.dtype]))

    def _exact(self, call: Call, x: np.ndarray) -> np.ndarray:
        """The results for stored bytes x, exactly rounded: looked up in the staircase of `requantize_proof.exact`."""
        a, y = call.input(0), call.output
        factor = _rounding.scale_of(a.scale) / _rounding.scale_of(y.scale)
        (low, high), ends = INT_RANGE[y.dtype], np.array([[-255], [255]])
        zero = y.zero_point
        steps = requantize_proof.exact((factor,), (Fraction(0),), (low - zero, high - zero), ends[0], ends[1])
        at = np.searchsorted(steps.steps[0], x.astype(np.int64) - a.zero_point, side="right")
        return np.asarray(low + at)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.input(0).is_float or self.rounding else {"scale": multiplier(call)}

    def scaling_q(self, call: Call) -> Scaling:
        a, y = call.input(0), call.output
        if a.is_float or self.rounding:
            return {}
        return {"scale": quantized.product_multiplier((a.scale,), y.scale, in_double=True)}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        plain = [_example(k, *case) for k, case in enumerate(_CASES)]
        even = [_example(k, *case, rounding="even") for k, case in enumerate(_EVEN_CASES, 20)]
        return [*plain, *even]


_CASES: tuple[tuple[str, float, int, str, float, int], ...] = (
    ("f32", 0.0, 0, "s8", 0.03, -128),
    ("f32", 0.0, 0, "s8", 0.01, 127),
    ("f32", 0.0, 0, "u8", 0.02, 7),
    ("f32", 0.0, 0, "s16", 0.0001, 0),
    ("s8", 0.1, -5, "s8", 0.07, 11),
    ("s8", 0.1, 127, "s8", 3.3, -128),
    ("s8", 0.1, -128, "u8", 0.1, 0),
    ("u8", 0.1, 200, "s8", 0.1, 72),
    ("u8", 0.1, 3, "s8", 0.09, -4),
    ("s8", 0.1, 3, "u8", 0.2, 99),
    ("u8", 0.1, 3, "u8", 0.09, 255),
    ("s8", 0.1, -128, "s16", 0.0004, 0),
    ("s8", 0.1, 12, "s32", 0.00001, 0),
    ("u8", 0.1, 9, "s16", 0.0007, 0),
    ("s16", 0.0003, 0, "s8", 0.05, -9),
    ("s16", 0.0003, 0, "s16", 0.0002, 0),
    ("s16", 0.0003, 0, "s16", 0.9, 0),
    ("s16", 0.0003, 0, "s32", 0.00001, 0),
    ("s32", 1e-9, 0, "s8", 0.011, 4),
    ("s32", 1e-9, 0, "s16", 0.00005, 0),
)


_EVEN_CASES: tuple[tuple[str, float, int, str, float, int], ...] = (
    ("f32", 0.0, 0, "s8", 0.25, -127),
    ("f32", 0.0, 0, "u8", 0.02, 7),
    ("f32", 0.0, 0, "s16", 2.0**-12, 9),
    ("s8", 0.1, -5, "s8", 0.2, 11),
    ("s8", 0.1, 127, "u8", 0.07, 0),
)


def _example(
    seed: int, x: str, x_scale: float, x_zero: int, y: str, y_scale: float, y_zero: int, rounding: str = ""
) -> Example:
    shape = ((1, 5, 3, 2), (7,), (2, 3, 4, 5), (3, 11))[seed % 4]
    operand = TensorType(shape, x, QuantParams((x_scale,), (x_zero,)) if x_scale else None)
    result = TensorType(shape, y, QuantParams((y_scale,), (y_zero,)))
    return Example(Quantize(y, rounding), (operand,), (result,), {}, seed)

"""RELU, RELU6, RELU_N1_TO_1 and RELU_0_TO_1 as operators, not fused: clamps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import clamp_range, multiply_double_rounding, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import SHARED, Scales
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _bytes, _onnx, _tflite, _unary
from mcugen.ops._activation import unclamped
from mcugen.oracle import quantized

_BOUNDS = {
    "RELU": (0.0, math.inf),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU_0_TO_1": (0.0, 1.0),
}


def from_tflite(source: Source) -> Imported:
    return Imported(Relu(*_BOUNDS[source.name]))


def stored_bounds(call: Call, t: TensorType) -> tuple[int, int]:
    """The bounds as stored integers of t. Raises QuantizationError if a bound exceeds int32."""
    return clamp_range(call.op.low, call.op.high, t)


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) for scale_x / scale_y: in float64 for TFLM, in float32 for LiteRT.

    Source: activations_common.cc, activations.cc.
    """
    precision = np.float64 if call.reference == "tflm" else np.float32
    x, y = (precision(np.float32(t.scale)) for t in (call.input(0), call.output))
    return quantize_multiplier(float(x / y))


def only_clamps(call: Call) -> bool:
    """Whether this is TFLM's RELU6, which clamps stored values to the input's bounds and ignores the output's scale."""
    return call.reference == "tflm" and call.op.high == 6.0


def params_s16(call: Call) -> Params:
    target = call.input(0) if only_clamps(call) else call.output
    mult, shift = (2**30, 1) if only_clamps(call) else multiplier(call)
    low, high = stored_bounds(call, target)
    zeros = {"in_zero_point": call.input(0).zero_point, "out_zero_point": target.zero_point}
    return {"mult": mult, "shift": shift, **zeros, "out_min": low, "out_max": high}


def bounds_f32(call: Call) -> tuple[float, float]:
    return call.op.low, call.op.high


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """RELU, RELU6, RELU_N1_TO_1 or RELU_0_TO_1; for floats with other bounds, MAXIMUM and MINIMUM."""
    bounds = (call.op.low, call.op.high)
    for name, known in _BOUNDS.items():
        if bounds == known:
            versions = {"s8": 2, "u8": 2 if name == "RELU" else 1, "s16": 3} if name in ("RELU", "RELU6") else {}
            return _tflite.operator(call, sink, name, inputs, {}, _tflite.version(call.input(0), **versions))
    if not call.output.is_float:
        raise UnsupportedError(f"TensorFlow Lite has no activation {bounds[0]:g}..{bounds[1]:g} of quantized data")
    found = inputs
    for name, bound in zip(("MAXIMUM", "MINIMUM"), bounds, strict=True):
        if math.isfinite(bound):
            found = sink.operator(name, [*found, sink.constant(np.array([bound], np.float32))], call.outputs)
    return [operand for operand in found if operand is not None]


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return [_onnx.clip(sink, str(inputs[0]), call.output, call.op.low, call.op.high)]


@dataclass(frozen=True)
class Relu(_bytes.ByteFunction):
    """y = min(max(x, low), high).

    x, y: s8, u8 or s16 per tensor, or f32
    TFLM's RELU6 clamps stored values and ignores the output's scale; all others requantize.
    Source: TFLite RELU, RELU6, RELU_N1_TO_1, RELU_0_TO_1; reference_ops::ReluX, activations.cc.
    """

    low: float = 0.0
    high: float = math.inf

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (
        *(Import("tflite", name, from_tflite) for name in _BOUNDS),
        Import("onnx", "Relu"),
    )
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    element: ClassVar = {"f32": Element("a", bounds=bounds_f32)}
    kernels = (
        _bytes.table_kernel(),
        _unary.kernel("mg_requantize__s16_s16", "s16", params_s16),
        *_unary.kernels("mg_clamp", element),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        usual = (self.low, self.high) in (_BOUNDS["RELU"], _BOUNDS["RELU6"])
        if not usual and (runtime == "tflm" or call.input(0).dtype == "s16"):
            return f"no kernel for {call.input(0).dtype}"
        return super().refused_by(call, runtime)

    def quantized(self, call: Call) -> Scales:
        return replace(SHARED, matters=(self.low, self.high))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s8", "u8", "s16", "f32"))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(x, self.low, self.high))

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        a, y = call.input(0), call.output
        if only_clamps(call):
            return np.asarray(np.clip(x, *stored_bounds(call, a)))
        scaled = multiply_double_rounding(x.astype(np.int64) - a.zero_point, *multiplier(call)) + y.zero_point
        return np.asarray(np.clip(scaled, *stored_bounds(call, y)))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        a, y, tflm = call.input(0), call.output, quantized.is_tflm(call)
        if tflm and self.high == 6.0:
            return self._clamped(x, a)
        scaled = quantized.rescaled(quantized.centred(x, a), a, y, in_double=tflm)
        return self._clamped(scaled + y.zero_point, y)

    def scaling(self, call: Call) -> Scaling:
        if call.output.is_float:
            return {}
        if only_clamps(call):
            return {"bounds": stored_bounds(call, call.input(0))}
        return {"scale": multiplier(call), "bounds": stored_bounds(call, call.output)}

    def scaling_q(self, call: Call) -> Scaling:
        a, y, tflm = call.input(0), call.output, quantized.is_tflm(call)
        if y.is_float:
            return {}
        if tflm and self.high == 6.0:
            return {"bounds": self._bounds(a)}
        scale = quantized.product_multiplier((a.scale,), y.scale, in_double=tflm)
        return {"scale": scale, "bounds": self._bounds(y)}

    def _clamped(self, x: np.ndarray, t: TensorType) -> np.ndarray:
        return np.asarray(np.clip(x, *self._bounds(t)))

    def _bounds(self, t: TensorType) -> tuple[int, int]:
        least, most = quantized.ends(t)
        least = max(least, quantized.step_of(Fraction(self.low), t))
        most = most if math.isinf(self.high) else min(most, quantized.step_of(Fraction(self.high), t))
        return least, most

    @classmethod
    def examples(cls) -> Sequence[Example]:
        quants = [((0.05, -128), (0.04, 5)), ((0.05, 0), (0.2, -128)), ((0.1, 127), (0.1, 127))]
        integer = [e for k, b in enumerate(_BOUNDS.values()) for e in _unary.examples(cls(*b), "s8", quants, 5 * k)]
        wide = [((0.0003, 0), (0.0002, 0)), ((0.001, 0), (0.001, 0))]
        integer += [e for high in (math.inf, 6.0) for e in _unary.examples(cls(0.0, high), "s16", wide, 30)]
        return [*integer, *(e for b in _BOUNDS.values() for e in _unary.examples(cls(*b), "f32"))]


@unclamped.register(Relu)
def _(op: Relu) -> Op:
    return Relu(-math.inf, math.inf)

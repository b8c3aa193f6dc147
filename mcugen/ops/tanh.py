"""TANH: the hyperbolic tangent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import INT_RANGE, rounding_divide_by_pot
from mcugen.ir.imports import Import
from mcugen.ir.op import Example, Scaling
from mcugen.ir.quant_rule import Scales, fixed
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _bytes, _gemmlowp, _onnx, _sigmoid, _tflite, _unary
from mcugen.oracle import byte_tables, gemmlowp, quantized, sigmoids


def params_s16(call: Call) -> Params:
    mult, shift = _multiplier(call)
    return {"table": _sigmoid.table(), "mult": mult, "shift": shift}


def _multiplier(call: Call) -> tuple[int, int]:
    """(mult, right shift) of an int16 input. Source: reference_integer_ops::Tanh (int16)."""
    mult, shift = _sigmoid.s16_multiplier(call, (0, 1))
    return (3 << shift, 0) if mult == 0 else (mult, shift)


def _tanh_f32(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.tanh(x.astype(np.float64)).astype(np.float32))


class Tanh(_bytes.ByteFunction):
    """y = tanh(x).

    x, y: s8, u8, s16 (per tensor) or f32
    Results have the scale 1/128 and the zero point 0 (128 for u8); s16 results 1/32768 and 0.
    int8: TFLM computes in fixed point, LiteRT rounds float32 results. uint8: as in LiteRT.
    Source: TFLite TANH; reference_integer_ops::Tanh; LUTPopulate.
    """

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f16 f32")
    imports = (Import("tflite", "TANH"), Import("onnx", "Tanh"))
    writes = (_tflite.same("TANH", s8=2, s16=3), _onnx.same("Tanh"))
    element: ClassVar = {"f32": Element("tanh(a)")}
    kernels = (
        _bytes.table_kernel(),
        _unary.kernel("mg_tanh_s16", "s16", params_s16),
        *_unary.kernels("mg_tanh", element),
    )

    def quantized(self, call: Call) -> Scales:
        return fixed((1 / 128, 0), (1 / 32768, 0), matters=(-4.0, 4.0))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s8", "u8", "s16", "f32"))

    def refused_by(self, call: Call, runtime: str) -> str:
        return _sigmoid.undefined(call, runtime) or super().refused_by(call, runtime)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.tanh(x))

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        if call.input(0).dtype == "u8" or call.reference == "litert":
            return _bytes.rounded(call, x, _tanh_f32)
        q4, beyond = _sigmoid.scaled_to_q4(call, x)
        y = rounding_divide_by_pot(_gemmlowp.tanh(q4, 4), 24)
        return np.asarray(np.select([beyond < 0, beyond > 0], [-128, 127], np.clip(y, *INT_RANGE["s8"])))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        if call.input(0).dtype == "s16":
            return sigmoids.tabled_tanh(sigmoids.of_int16(call, x, lefts=(0, 1)))
        if call.input(0).dtype == "u8" or not quantized.is_tflm(call):
            return byte_tables.of_bytes(call, x, byte_tables.float_tanh)
        return sigmoids.of_bytes(call, x, lambda a: gemmlowp.divided(gemmlowp.tanh(a, 4), 24))

    def scaling(self, call: Call) -> Scaling:
        return {"scale": _multiplier(call), "table": _sigmoid.table()} if call.input(0).dtype == "s16" else {}

    def scaling_q(self, call: Call) -> Scaling:
        if call.input(0).dtype != "s16":
            return {}
        return {"scale": sigmoids.multiplier(call, lefts=(0, 1)), "table": byte_tables.sigmoid()}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        out8, out16 = (1 / 128, 0), (1 / 32768, 0)
        near = [((0.05, -3), out8), ((0.08, 127), out8), ((1.3, 0), out8), ((0.004, -128), out8)]
        far = [((2.0**-12, 0), out16), ((2.0**-11, 0), out16), ((0.0003, 0), out16), ((0.00001, 0), out16)]
        return [
            *_unary.examples(cls(), "s8", near),
            *_unary.examples(cls(), "s16", far, 5),
            *_unary.examples(cls(), "f32", seed=10),
        ]

"""LOGISTIC: the sigmoid function."""

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
    """(mult, right shift) of an int16 input. Source: reference_integer_ops::Logistic (int16)."""
    mult, shift = _sigmoid.s16_multiplier(call, (0,))
    return (3 << shift, 0) if mult == 0 else (mult, shift)


def _sigmoid_f32(x: np.ndarray) -> np.ndarray:
    one = np.float32(1)
    with np.errstate(over="ignore"):
        return np.asarray(one / (one + np.exp(-x.astype(np.float64)).astype(np.float32)))


class Logistic(_bytes.ByteFunction):
    """y = 1 / (1 + exp(-x)).

    x, y: s8, u8, s16 (per tensor) or f32; results have the scale 1/256 and the type's least zero point; s16: 1/32768, 0
    int8: TFLM computes in fixed point, LiteRT rounds float32 results. uint8: as in LiteRT.
    Source: TFLite LOGISTIC; reference_integer_ops::Logistic; LUTPopulate.
    """

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f16 f32")
    imports = (Import("tflite", "LOGISTIC"), Import("onnx", "Sigmoid"))
    writes = (_tflite.same("LOGISTIC", s8=2, s16=3), _onnx.same("Sigmoid"))
    element: ClassVar = {"f32": Element("1.0f / (1.0f + exp(-a))")}
    kernels = (
        _bytes.table_kernel(),
        _unary.kernel("mg_logistic_s16", "s16", params_s16),
        *_unary.kernels("mg_logistic", element),
    )

    def quantized(self, call: Call) -> Scales:
        return fixed((1 / 256, -128), (1 / 32768, 0), matters=(-8.0, 8.0))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s8", "u8", "s16", "f32"))

    def refused_by(self, call: Call, runtime: str) -> str:
        return _sigmoid.undefined(call, runtime) or super().refused_by(call, runtime)

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-x)))

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        if call.input(0).dtype == "u8" or call.reference == "litert":
            return _bytes.rounded(call, x, _sigmoid_f32)
        q4, beyond = _sigmoid.scaled_to_q4(call, x)
        y = rounding_divide_by_pot(_gemmlowp.logistic(q4, 4), 23) - 128
        return np.asarray(np.select([beyond < 0, beyond > 0], [-128, 127], np.clip(y, *INT_RANGE["s8"])))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        if call.input(0).dtype == "s16":
            return sigmoids.tabled_logistic(sigmoids.of_int16(call, x, lefts=(0,)))
        if call.input(0).dtype == "u8" or not quantized.is_tflm(call):
            return byte_tables.of_bytes(call, x, byte_tables.float_logistic)
        return sigmoids.of_bytes(call, x, lambda a: gemmlowp.divided(gemmlowp.logistic(a, 4), 23) - 128)

    def scaling(self, call: Call) -> Scaling:
        return {"scale": _multiplier(call), "table": _sigmoid.table()} if call.input(0).dtype == "s16" else {}

    def scaling_q(self, call: Call) -> Scaling:
        if call.input(0).dtype != "s16":
            return {}
        return {"scale": sigmoids.multiplier(call, lefts=(0,)), "table": byte_tables.sigmoid()}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        out8, out16 = (1 / 256, -128), (1 / 32768, 0)
        near = [((0.05, -3), out8), ((0.08, 127), out8), ((1.3, 0), out8), ((0.004, -128), out8)]
        far = [((2.0**-12, 0), out16), ((0.0003, 0), out16), ((0.00001, 0), out16), ((0.002, 0), out16)]
        return [
            *_unary.examples(cls(), "s8", near),
            *_unary.examples(cls(), "s16", far, 5),
            *_unary.examples(cls(), "f32", seed=10),
        ]

"""PRELU: x if x is positive, else alpha * x, where alpha is a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import quantize_multiplier
from mcugen.ir.imports import Import
from mcugen.ir.op import Example, Scaling
from mcugen.ir.quant_rule import OWN_BYTES, Scales
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _elementwise, _onnx, _tflite
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import quantized

Multiplier = tuple[int, int]


def multipliers(call: Call) -> tuple[Multiplier, Multiplier]:
    """(mult, shift) for x, and for x * alpha: in float64 for TFLM, in float32 for LiteRT. Source: prelu_common.cc."""
    precision = np.float64 if call.reference == "tflm" else np.float32
    x, alpha, y = (precision(np.float32(t.scale)) for t in (call.input(0), call.input(1), call.output))
    return quantize_multiplier(float(x / y)), quantize_multiplier(float(x * alpha / y))


def params_s8(call: Call) -> Params:
    plain, scaled = multipliers(call)
    return {
        "prelu.mult": plain[0],
        "prelu.shift": plain[1],
        "prelu.alpha_mult": scaled[0],
        "prelu.alpha_shift": scaled[1],
        "prelu.x_zero_point": call.input(0).zero_point,
        "prelu.alpha_zero_point": call.input(1).zero_point,
        "prelu.out_zero_point": call.output.zero_point,
    }


class Prelu(Pointwise):
    """y = x if x >= 0, else alpha * x; alpha is broadcast.

    x, alpha, y: one type of s8, u8 (per tensor) and f32
    Source: TFLite PRELU; reference_ops::BroadcastPrelu4DSlow.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 f32")
    imports = (Import("tflite", "PRELU"), Import("onnx", "PRelu"))
    writes = (_tflite.same("PRELU"), _onnx.same("PRelu"))
    element: ClassVar = {
        "s8": Element("mg_prelu_of(&prelu, a, b)", {"prelu": "mg_prelu"}, params_s8, headers=("prelu.h",)),
        "f32": Element("a >= 0.0f ? a : a * b"),
    }
    kernels = _elementwise.all_kernels("mg_prelu", element)

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and call.input(0).is_float and len(call.input(0).shape) > 4:
            return f"no kernel for {len(call.input(0).shape)} axes of float data, at most 4"
        return super().refused_by(call, runtime)

    def quantized(self, call: Call) -> Scales:
        return OWN_BYTES

    def infer(self, x: TensorType | None, alpha: TensorType | None) -> tuple[TensorType, ...]:
        result = _elementwise.broadcast_types(x, alpha, ("s8", "u8", "f32"))
        if x is not None and result.shape != x.shape:
            raise ShapeError(f"alpha {list(alpha.shape) if alpha else []} cannot be broadcast to x {list(x.shape)}")
        return (result,)

    def reference(self, x: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        return np.where(x >= 0, x, x * alpha)

    def reference_q(self, call: Call, x: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        a, factor, y = call.input(0), call.input(1), call.output
        steps, in_double = quantized.centred(x, a), quantized.is_tflm(call)
        positive = quantized.rescaled(steps, a, y, in_double=in_double)
        product = steps * quantized.centred(alpha, factor)
        negative = quantized.rescaled(product, a, y, in_double=in_double, factor=factor.scale)
        return quantized.stored(np.where(steps >= 0, positive, negative), y)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.output.is_float else dict(zip(("positive", "negative"), multipliers(call), strict=True))

    def scaling_q(self, call: Call) -> Scaling:
        return {} if call.output.is_float else quantized.gains(call, call.input(1).scale)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        scales = [(0.05, 0.01, 0.04), (0.1, 0.02, 0.1), (0.02, 1.5, 0.3)]
        found = [*_elementwise.examples(cls(), "s8", scales), *_elementwise.examples(cls(), "f32", [(1, 1, 1)], 10)]
        return [e for e in found if e.inputs[0] is not None and e.inputs[0].shape == e.outputs[0].shape]

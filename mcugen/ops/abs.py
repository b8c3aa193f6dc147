"""ABS: the absolute value of each element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import quantize_multiplier
from mcugen.ir.imports import Import
from mcugen.ir.kernel import Cost, Kernel
from mcugen.ir.op import Example, Scaling
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _elementwise, _onnx, _tflite, _unary
from mcugen.ops._float_function import FloatFunction
from mcugen.oracle import quantized


def multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) from the operand's scale to the result's. Source: elementwise.cc, AbsPrepare."""
    x, y = (float(np.float32(t.scale)) for t in (call.input(0), call.output))
    return quantize_multiplier(x / y)


def params(call: Call) -> Params:
    mult, shift = multiplier(call)
    found = {"mult": mult, "shift": shift, "scales": int(call.input(0).scale != call.output.scale)}
    return {f"magnitude.{name}": value for name, value in found.items()}


def work(call: Call) -> dict[str, float]:
    """The cost term: elements that are rescaled, 0 if both scales are equal."""
    return {"scaled": call.output.size if call.input(0).scale != call.output.scale else 0}


def _kernel(kernel: Kernel) -> Kernel:
    found = kernel.ruled(_elementwise.symmetric)
    return replace(found, cost=Cost(work, ("scaled",))) if kernel.symbol == "mg_abs_s16" else found


class Abs(FloatFunction):
    """y = |x|.

    x, y: s16 (per tensor) or f32; s8 in files is computed by a table of bytes
    Source: TFLite ABS; elementwise.cc, AbsEvalQuantized.
    """

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 s16 s32 f32")
    imports = (Import("tflite", "ABS"),)
    writes = (_tflite.same("ABS"), _onnx.same("Abs"))
    element: ClassVar = {
        "s16": Element(
            "mg_magnitude_of(&magnitude, a)", {"magnitude": "mg_magnitude"}, params, headers=("magnitude.h",)
        ),
        "f32": Element("fabs(a)"),
    }
    kernels = tuple(map(_kernel, _unary.kernels("mg_abs", element)))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s16", "f32"))

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(x))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        a, y = call.input(0), call.output
        size = np.abs(quantized.centred(x, a))
        return quantized.stored(size if a.scale == y.scale else quantized.rescaled(size, a, y, in_double=True), y)

    def scaling(self, call: Call) -> Scaling:
        return {} if call.output.is_float else {"scale": multiplier(call)}

    def scaling_q(self, call: Call) -> Scaling:
        if call.output.is_float:
            return {}
        return {"scale": quantized.product_multiplier((call.input(0).scale,), call.output.scale, in_double=True)}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        pairs = [((0.001, 0), (0.001, 0)), ((0.001, 0), (0.0007, 0)), ((0.3, 0), (0.02, 0)), ((1e-5, 0), (0.9, 0))]
        return [*super().examples(), *_unary.examples(cls(), "s16", pairs, 5)]

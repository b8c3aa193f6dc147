"""DIV: the quotient of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mcugen.call import Call
from mcugen.channels import Affine
from mcugen.element import Element
from mcugen.imports import Import, Imported, Source
from mcugen.numeric import activation_bounds
from mcugen.op import Example, Op
from mcugen.ops import _elementwise, _factors, _onnx, _quotients, _tflite
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import once, quantized
from mcugen.types import TensorType, dtypes
from mcugen.writes import Sink, Write

_LARGEST = float(np.finfo(np.float32).max)


def from_tflite(source: Source) -> Imported:
    return Imported(Div(source.attributes["fused_activation_function"]))


def bounds(call: Call) -> tuple[float, float]:
    """The clamp of quotients: also without an activation they are finite."""
    low, high = activation_bounds(call.op.activation)
    return max(low, -_LARGEST), min(high, _LARGEST)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    broadcasts = call.input(0).shape != call.input(1).shape
    number = 2 if broadcasts and len(call.output.shape) > 4 else 1
    return _tflite.operator(call, sink, "DIV", inputs, _tflite.activation(call), number)


@dataclass(frozen=True)
class Div(Pointwise):
    """y = activation(a / b), elementwise, broadcasting; infinite quotients become the largest float.

    a, b, y: f32; s32: the quotient is truncated, and 0 where b is 0, which stops the runtime; s8 or u8 with `rounding`
    rounding: "even" for stored results of real numbers rounded once; the least one for 0 / 0; see _rounding, _quotients
    Source: TFLite DIV.
    """

    activation: str = "NONE"
    rounding: str = ""

    tflm_types = dtypes("f32 s32")
    litert_types = dtypes("f32 s32")
    imports = (Import("tflite", "DIV", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.same("Div"))
    element: ClassVar = {
        "f32": Element("a / b", bounds=bounds),
        "s32": Element("b == 0 ? 0 : (b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b)", bounds=bounds),
    }
    kernels = (
        *_elementwise.all_kernels("mg_div", element),
        *_elementwise.kernels("mg_div_line_s8", "s8", _quotients.ELEMENT, (_quotients.has_lines,)),
    )

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        allowed = ("s8", "u8") if self.rounding else ("f32", "s32")
        return (_elementwise.broadcast_types(a, b, allowed),)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def affine(self, call: Call) -> Affine | None:
        return _factors.quotient_of(call)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return quantized.clamped(np.clip(a / b, -_LARGEST, _LARGEST), self.activation)

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self.rounding:
            return once.divided(call, a, b)
        x, y = np.broadcast_arrays(a.astype(np.int64), b.astype(np.int64))
        size = np.abs(x) // np.maximum(np.abs(y), 1)
        found = np.where(y == 0, 0, np.sign(x) * np.sign(y) * size).astype(np.int32)
        return quantized.clamped_int32(found, self.activation)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            *_elementwise.examples(cls("NONE"), "f32", [(1, 1, 1)]),
            *_elementwise.examples(cls("NONE"), "s32", [(1, 1, 1)]),
            *_elementwise.examples(cls("RELU"), "f32", [(1, 1, 1)], 20)[:3],
            *_elementwise.examples(
                cls(rounding="even"), "s8", [(0.05, 0.04, 0.02), (0.5, 0.25, 0.125), (2.0, 0.1, 0.3)], 30
            ),
        ]

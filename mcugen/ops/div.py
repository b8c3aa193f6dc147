"""DIV: the quotient of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.imports import Import, Imported, Source
from mcugen.op import Example
from mcugen.ops import _elementwise
from mcugen.ops._channelwise import Channelwise
from mcugen.oracle import quantized
from mcugen.types import TensorType, dtypes

_LARGEST = float(np.finfo(np.float32).max)


def from_tflite(source: Source) -> Imported:
    return Imported(Div(source.attributes["fused_activation_function"]))


@dataclass(frozen=True)
class Div(Channelwise):
    """y = activation(a / b), elementwise, broadcasting; infinite quotients become the largest float.

    a, b, y: f32
    Source: TFLite DIV.
    """

    activation: str = "NONE"

    tflm_types = dtypes("f32")
    imports = (Import("tflite", "DIV", from_tflite), Import("onnx", "Div"))
    kernels = _elementwise.kernels("mg_div_f32", "f32", _elementwise.float_clamp)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        return (_elementwise.broadcast_types(a, b, ("f32",)),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return quantized.clamped(np.clip(a / b, -_LARGEST, _LARGEST), self.activation)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            *_elementwise.examples(cls("NONE"), "f32", [(1, 1, 1)]),
            *_elementwise.examples(cls("RELU"), "f32", [(1, 1, 1)], 20)[:3],
        ]

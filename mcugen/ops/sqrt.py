"""SQRT: the square root of each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import Element
from mcugen.ir.imports import Import
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _tflite, _unary
from mcugen.ops._float_function import FloatFunction
from mcugen.oracle import curves


def params(call: Call) -> Params:
    x, y = (float(np.float32(t.scale)) for t in (call.input(0), call.output))
    return {"root.scale[0]": x, "root.scale[1]": y}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.output.dtype == "s16":
        raise UnsupportedError("int16 roots round towards zero here, but not in ONNX: they cannot be written as .onnx")
    return sink.operator("Sqrt", inputs, call.outputs)


class Sqrt(FloatFunction):
    """y = sqrt(x); NaN below 0.

    x, y: s16 (per tensor) or f32; s8 in files is computed by a table of bytes
    s16: computed in float32, rounded towards zero; 0 for x below 0, for which the runtime aborts
    Source: TFLite SQRT; elementwise.cc, SqrtEvalQuantized, measured with LiteRT 2.3.0.
    """

    litert_types = dtypes("s8 s16 f32")
    imports = (Import("tflite", "SQRT"), Import("onnx", "Sqrt"))
    writes = (_tflite.same("SQRT", s16=2), Write("onnx", to_onnx))
    element: ClassVar = {
        "s16": Element("mg_root_of(&root, a)", {"root": "mg_root"}, params, headers=("root.h",)),
        "f32": Element("sqrt(a)"),
    }
    kernels = tuple(k.ruled(_elementwise.symmetric) for k in _unary.kernels("mg_sqrt", element))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s16", "f32"))

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(x))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return curves.square_root(call, x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        pairs = [((7e-4, 0), (2e-4, 0)), ((3e-6, 0), (3e-6, 0)), ((4e-3, 0), (9e-4, 0)), ((0.5, 0), (0.25, 0))]
        return [*super().examples(), *_unary.examples(cls(), "s16", pairs, 5)]

"""GELU: several operators for floats, a table for int8 and uint8, and `Curve` for int16."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.tflite.operators.byte_functions import in_float32, table
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.curve import Curve, erf_gelu, tanh_gelu
from mcugen.ops.float_functions import Erf
from mcugen.ops.mul import Mul
from mcugen.ops.tanh import Tanh

_CUBIC = 0.044715
_ROOT = math.sqrt(2.0 / math.pi)


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """y = x * (1 + erf(x / sqrt 2)) / 2, or with `approximate` by tanh of a cubic. Source: TFLite GELU."""
    x, approximate = e.inputs[0] if e.inputs else None, bool(source.attributes["approximate"])
    if x is None:
        raise ShapeError("the operator has no operand, needs 1")
    e.refuse("tflm", "no such operator")
    if e.type(x).dtype == "s16":
        if e.type(x).zero_point or source.outputs[0].zero_point:
            e.refuse("litert", "it ignores the zero points of int16 data")
        return [e.node(Curve("gelu_by_tanh" if approximate else "gelu"), x, quant=source.outputs[0].quant)]
    if e.type(x).dtype in ("s8", "u8"):
        function = tanh_gelu if approximate else erf_gelu
        return [table(e, x, source.outputs[0], lambda a, y: in_float32(function, a, y))]
    if not e.type(x).is_float:
        raise UnsupportedError(f"{e.type(x).dtype} data is not supported")

    def number(value: float) -> str:
        return e.constant(np.array(value, np.float32))

    if approximate:
        cube = e.node(Mul(), e.node(Mul(), x, e.node(Mul(), x, x)), number(_CUBIC))
        inner = e.node(Tanh(), e.node(Mul(), e.node(Add(), x, cube), number(_ROOT)))
    else:
        inner = e.node(Erf(), e.node(Mul(), x, number(math.sqrt(0.5))))
    return [e.node(Mul(), e.node(Mul(), x, number(0.5)), e.node(Add(), inner, number(1.0)))]


IMPORTS = (Import("tflite", "GELU", expand=expand, halves=True),)

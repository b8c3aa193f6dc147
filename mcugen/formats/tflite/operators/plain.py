"""Operators of .tflite on integers without scales, or whose scales do not matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops import _reduce
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.cast import Cast
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.reduce_plain import ReducePlain, is_wide
from mcugen.ops.sub import Sub

_BOUNDS = {"NONE": (None, None), "RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}


def _has(*dtypes: str) -> Callable[[Source], bool]:
    """Condition that the first operand has one of these types."""

    def condition(source: Source) -> bool:
        return bool(source.inputs) and source.inputs[0] is not None and source.inputs[0].dtype in dtypes

    return condition


def _operands(e: Expansion, count: int) -> list[str]:
    found = [x for x in e.inputs[:count] if x is not None]
    if len(found) < count or len({e.type(x).dtype for x in found}) > 1:
        raise ShapeError(
            f"the operator has operands {', '.join(str(e.type(x)) for x in found)}, needs {count} of one type"
        )
    return found


def _number(e: Expansion, x: str, value: int) -> str:
    """A constant of the type of x."""
    return e.constant(np.array(value, e.type(x).np_dtype))


def negative(source: Source, e: Expansion) -> Sequence[str]:
    """0 - x on stored integers; the least integer stays itself. Source: TFLite NEG; neg.cc."""
    (x,) = _operands(e, 1)
    t, made = e.type(x), source.outputs[0]
    e.refuse("tflm", f"no kernel for {t.dtype}")
    if t.quant != made.quant or (t.quant is not None and any(t.quant.zero_point)):
        e.refuse("litert", "it ignores scales and zero points")
    op = Sub() if t.dtype == "s32" else Arithmetic("sub")
    return [e.node(op, _number(e, x, 0), x, quant=made.quant)]


def magnitude(source: Source, e: Expansion) -> Sequence[str]:
    """max(x, -x); the least integer stays itself. Source: TFLite ABS; elementwise.cc, AbsInt32Eval."""
    (x,) = _operands(e, 1)
    e.refuse("tflm", "no kernel for s32")
    return [e.node(Maximum(), x, e.node(Sub(), _number(e, x, 0), x))]


def sign(source: Source, e: Expansion) -> Sequence[str]:
    """x clamped to -1..1. Source: TFLite SIGN; sign.cc."""
    (x,) = _operands(e, 1)
    e.refuse("tflm", "no such operator")
    return [e.node(Maximum(), _number(e, x, -1), e.node(Minimum(), _number(e, x, 1), x))]


def squared_difference(source: Source, e: Expansion) -> Sequence[str]:
    """(a - b)^2, which wraps. Source: TFLite SQUARED_DIFFERENCE."""
    a, b = _operands(e, 2)
    d = e.node(Sub(), a, b)
    return [e.node(Mul(), d, d)]


def joined(kind: str, lacking: str, source: Source, e: Expansion) -> Sequence[str]:
    """A function of two int64 tensors, and its fused activation. lacking: the runtime without a kernel, "" for none."""
    a, b = _operands(e, 2)
    if lacking:
        e.refuse(lacking, "no kernel for s64")
    y = e.node(Arithmetic(kind), a, b)
    activation = source.attributes.get("fused_activation_function", "NONE")
    if activation not in _BOUNDS:
        raise UnsupportedError(f"fused activation {activation} is not supported")
    low, high = _BOUNDS[activation]
    y = y if low is None else e.node(Arithmetic("max"), y, _number(e, y, low))
    return [y if high is None else e.node(Arithmetic("min"), y, _number(e, y, high))]


def mean(source: Source, e: Expansion) -> Sequence[str]:
    """A 64-bit sum / number of elements, rounded towards zero. Source: TFLite MEAN; reference_ops::Mean."""
    x = _operands(e, 1)[0]
    t, a = e.type(x), _reduce.attributes(source)
    if t.quant is not None:
        raise UnsupportedError(f"means of {t} are not supported", hint="integers without a scale are")
    e.refuse("tflm", f"no kernel for {t.dtype}")
    wide = x if t.dtype == "s64" else e.node(Cast("s64"), x)
    total = e.node(ReducePlain(**a, how="sum"), wide)
    count = t.size // max(e.type(total).size, 1)
    y = e.node(Arithmetic("div"), total, _number(e, total, count))
    return [y if t.dtype == "s64" else e.node(Cast("s32"), y)]


_WIDE = {
    **{name: (name.lower(), "tflm") for name in ("ADD", "SUB", "MUL")},
    "MAXIMUM": ("max", ""),
    "MINIMUM": ("min", ""),
}
IMPORTS = (
    Import("tflite", "NEG", expand=negative, when=_has("s8", "s16", "s32", "s64")),
    Import("tflite", "ABS", expand=magnitude, when=_has("s32")),
    Import("tflite", "SIGN", expand=sign, when=_has("s32")),
    Import("tflite", "SQUARED_DIFFERENCE", expand=squared_difference, when=_has("s32")),
    Import("tflite", "MEAN", expand=mean, when=is_wide),
    *(Import("tflite", name, expand=partial(joined, *how), when=_has("s64")) for name, how in _WIDE.items()),
)

"""ElementFunction: a function of one tensor, made of operators on floats that work element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.op import Example, Scaling, evaluate
from mcugen.ir.quant_rule import Bounds, Scales
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _bytes, _interpolated, _unary
from mcugen.ops._links import Link
from mcugen.ops.add import Add
from mcugen.ops.float_functions import Erf, Log
from mcugen.ops.mul import Mul
from mcugen.oracle import curves, once

_FAR = 2.0**30
_REACH, _POINTS, _DISTANT = 64.0, 8193, 2.0 ** np.arange(7, 24)
"""Where the ends of a function are looked for: numbers from -64 to 64 in steps of 2^-6, and powers of two beyond."""


def calls_of(call: Call) -> list[Call]:
    """The call of each link: values between are plain, and the last result has the type of the whole call."""
    found: list[Call] = []
    for link in call.op.links:
        constants = tuple(call.op.number(at) for at in link.operands)
        types = tuple(
            TensorType((), "f32") if data is not None else found[~at].output if at < 0 else call.input(0)
            for at, data in zip(link.operands, constants, strict=True)
        )
        plain = (TensorType(t.shape, t.dtype if t.quant is None else "f32") for t in types)
        y = link.op.infer(*plain)[0] if len(found) + 1 < len(call.op.links) else call.output
        found.append(Call(link.op, types, (y,), constants, call.reference))
    return found


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    values: list[str] = []
    for link, inner in zip(call.op.links, calls_of(call), strict=True):
        recipe = next((write for write in link.op.writes if write.format == "onnx"), None)
        if recipe is None:
            raise UnsupportedError(f"ONNX has no operator for {type(link.op).__name__}")
        given = [
            sink.constant(data) if data is not None else inputs[0] if at >= 0 else values[~at]
            for at, data in zip(link.operands, inner.constants, strict=True)
        ]
        values += recipe.write(inner, sink, given)
    return values[-1:]


@cache
def _wide_table(op: ElementFunction, x_scale: float, y_scale: float) -> np.ndarray:
    """The 513 entries between which int16 data are interpolated."""
    x, y = np.float32(x_scale), np.float32(y_scale)
    low, high = (y * np.float32(end) for end in INT_RANGE["s16"])

    def limited(values: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = np.nan_to_num(op.reference(values), nan=-np.inf)
        return np.asarray(np.clip(found, low, high), np.float32)

    ends = (float(x * np.float32(INT_RANGE["s16"][0])), float(x * np.float32(INT_RANGE["s16"][1])))
    return _interpolated.populate(limited, ends, float(np.float32(65536) / (high - low)), np.float32)


def wide_table(call: Call) -> np.ndarray:
    """The table of a call on int16 data. Source: common.h, LUTPopulate."""
    assert isinstance(call.op, ElementFunction)
    return _wide_table(call.op, call.input(0).scale, call.output.scale)


def wide_error(call: Call) -> float:
    """The most steps of y by which the table differs from the function, halfway between neighbouring entries.

    Left out are neighbours of which one is an end of y's range.
    """
    assert isinstance(call.op, ElementFunction)
    table = wide_table(call).astype(np.float64)
    low, high = INT_RANGE["s16"]
    spacing = (high + 1 - low) // (len(table) - 1)
    middle = np.arange(low + spacing // 2, high, spacing)
    inside = (low < table[:-1]) & (table[:-1] < high) & (low < table[1:]) & (table[1:] < high)
    errors = np.abs((table[:-1] + table[1:]) / 2 - call.op.entries(call, middle))
    return float(errors[inside].max(initial=0.0))


def _flat_until(values: np.ndarray, room: float) -> int:
    """The last index up to which values differ by at most `room`; 0 if that is none, or if all do."""
    with np.errstate(invalid="ignore"):
        spread = np.maximum.accumulate(values) - np.minimum.accumulate(values)
    count = int(np.argmin(spread <= room)) if not (spread <= room).all() else 0
    return max(0, count - 1)


@dataclass(frozen=True)
class ElementFunction(_bytes.ByteFunction):
    """y = f(x). A link is an operator on x, on constants of one element, and on earlier values; the last gives y.

    x, y: both f32, both s16, or both of s8 and u8   numbers: the constants
    links: operand 0 is x, operand k the number k - 1, and ~k the value of link k
    Every link rounds its floats to float32. 8 bits: x is converted to float32, and y rounded once to its steps, halves
    to even; NaN gives the least y. ONNX computes this for operators between DequantizeLinear and QuantizeLinear.
    16 bits: y is interpolated between 513 values of the function, limited to what y can store, in the steps of
    TensorFlow Lite's tables (common.h, LUTPopulate, LUTLookup).
    Source: none; the pass join_functions makes it.
    """

    links: tuple[Link, ...]
    numbers: tuple[float, ...] = field(default=())

    litert_types = frozenset()
    writes = (Write("onnx", to_onnx),)
    kernels = (
        _bytes.table_kernel(),
        _unary.kernel("mg_curve_s16", "s16", lambda call: {"table": wide_table(call)}),
    )

    def number(self, operand: int) -> np.ndarray | None:
        """The constant that an operand of a link is, else None."""
        return np.array(self.numbers[operand - 1], np.float32) if operand > 0 else None

    def bounds_that_matter(self, room: float) -> Bounds:
        """The range of x outside which results differ by at most `room`: below it, and above it. Else infinite ends."""
        x = np.concatenate([-_DISTANT[::-1], np.linspace(-_REACH, _REACH, _POINTS), _DISTANT])
        with np.errstate(all="ignore"):
            y = np.broadcast_to(self.reference(x), x.shape).astype(np.float64)
        low, high = (_flat_until(values, room) for values in (y, y[::-1]))
        return (float(x[low]) if low else -math.inf, float(x[::-1][high]) if high else math.inf)

    def in_words(self, call: Call) -> str:
        """The operators in order, and the shape of the data."""
        return f"{', '.join(type(link.op).__name__ for link in self.links)} of {super().in_words(call)}"

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("s8", "u8", "s16", "f32"))

    def quantized(self, call: Call) -> Scales:
        return Scales("own", apart="TensorFlow Lite has no operator for a table")

    def reference(self, x: np.ndarray) -> np.ndarray:
        t = TensorType(np.shape(x), "f32")
        values: list[np.ndarray] = []
        for inner, link in zip(calls_of(Call(self, (t,), (t,), (None,), "ort")), self.links, strict=True):
            given = [
                data if data is not None else np.asarray(x, np.float32) if at >= 0 else values[~at]
                for at, data in zip(link.operands, inner.constants, strict=True)
            ]
            values += evaluate(inner, given)
        return values[-1]

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        if call.output.dtype == "s16":
            return curves.in_table(curves.table_of(self.reference, call.input(0).scale, call.output.scale), x)
        real = self.reference(once.real(x, call.input(0))).astype(np.float32)
        return once.quantized(real, call.input(0), call.output)

    def scaling(self, call: Call) -> Scaling:
        return {"table": wide_table(call)} if call.output.dtype == "s16" else {}

    def scaling_q(self, call: Call) -> Scaling:
        if call.output.dtype != "s16":
            return {}
        return {"table": curves.table_of(self.reference, call.input(0).scale, call.output.scale)}

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        a, y = call.input(0), call.output
        steps = (x.astype(np.int32) - a.zero_point).astype(np.float32) * np.float32(a.scale)
        with np.errstate(all="ignore"):
            scaled = np.nan_to_num(self.reference(steps) / np.float32(y.scale), nan=-np.inf)
        return np.asarray(np.clip(np.rint(np.clip(scaled, -_FAR, _FAR)) + y.zero_point, *INT_RANGE[y.dtype]))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        gelu = (Link(Mul(), (0, 1)), Link(Erf(), (~0,)), Link(Add(), (~1, 2)), Link(Mul(), (0, ~2)))
        ops = (cls(gelu, (0.70710678, 1.0)), cls((Link(Log(), (0,)),)))
        return [
            *_unary.examples(ops[0], "s8", [((0.03, 10), (0.05, -120)), ((0.004, -128), (0.002, 0))]),
            *_unary.examples(ops[1], "s8", [((0.03, -100), (0.02, 17))], 5),
            *_unary.examples(ops[0], "s16", [((2e-4, 0), (1.5e-4, 0)), ((1e-3, 0), (3e-5, 0))], 6),
            *_unary.examples(ops[1], "s16", [((1e-4, 0), (2e-4, 0))], 8),
        ]

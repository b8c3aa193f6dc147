# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models of the operators that compute, and of those that change the type."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.runtimes.sketch import ACTIVATIONS, Quant, Shape, Sketch

Draw = Callable[[Sketch], None]
FIXED: dict[tuple[str, str], Quant] = {
    **{("LOGISTIC", t): q for t, q in {"s8": (1 / 256, -128), "u8": (1 / 256, 0), "s16": (1 / 32768, 0)}.items()},
    **{("TANH", t): q for t, q in {"s8": (1 / 128, 0), "u8": (1 / 128, 128), "s16": (1 / 32768, 0)}.items()},
    **{("SOFTMAX", t): q for t, q in {"s8": (1 / 256, -128), "u8": (1 / 256, 0), "s16": (1 / 32768, 0)}.items()},
}
"""Quantization of results that the runtimes prescribe."""

_NEVER_NEGATIVE = ("RSQRT", "SQRT")
"""Functions of which the runtimes refuse negative int8 operands."""


def unary(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        shape = s.shape()
        quant = s.quant()
        if s.dtype == "s16" and name in CURVES:
            _curve(s, name, shape)
            return
        x = s.x(shape, None, (quant[0], -128) if quant and name in _NEVER_NEGATIVE else quant)
        same = s.quants[x] if s.chance(0.3) else s.quant(near=s.quants[x] and s.quants[x][0])
        options = {"alpha": s.rng.choice((0.1, 0.3, 1.0, -0.5, 1.7, 0.0))} if name == "LEAKY_RELU" else None
        options = _gelu(s, name) or options
        s.result(name, [x], shape, None, FIXED.get((name, s.dtype)) or same, options)

    return draw


def _gelu(s: Sketch, name: str) -> dict[str, object] | None:
    return {"approximate": s.chance(0.5)} if name == "GELU" else None


def _curve(s: Sketch, name: str, shape: Shape) -> None:
    """A function of int16 data, most often of scales that need most of the range of both."""
    x = s.x(shape, None, s.quant(near=2e-4), below=32768 if name in _NEVER_NEGATIVE else None)
    s.result(name, [x], shape, None, s.quant(near=2e-4), _gelu(s, name))


def negative(s: Sketch) -> None:
    """NEG of integers, mostly with the operand's scale, and without zero points."""
    shape, quant = s.shape(), s.quant()
    quant = quant and (quant[0], 0 if s.chance(0.9) else quant[1])
    x = s.x(shape, None, quant)
    s.result("NEG", [x], shape, None, quant if s.chance(0.9) else s.quant())


def prelu(s: Sketch) -> None:
    shape = s.shape(least=1)
    x = s.x(shape)
    alpha = s.constant(s.rng.choice((shape[-1:], (*(1 for _ in shape[:-1]), shape[-1]), shape)))
    s.result("PRELU", [x, alpha], shape, None, s.quant(near=s.quants[x] and s.quants[x][0]))


def softmax(s: Sketch) -> None:
    shape = s.shape(least=1)
    x, widen = s.x(shape), s.dtype == "s8" and s.chance(0.2)
    quant = (1 / 65536, -32768) if widen else FIXED.get(("SOFTMAX", s.dtype))
    if widen and s.chance(0.3):
        quant = s.rng.choice(((1 / 32768, 0), (0.0003, -32768)))
    s.result("SOFTMAX", [x], shape, "s16" if widen else s.dtype, quant, {"beta": s.rng.choice((1.0, 1.0, 0.5, 2.0))})


def _broadcast(s: Sketch) -> tuple[Shape, Shape, Shape]:
    """Shapes of two operands and of the result."""
    y = s.shape()
    if s.chance(0.4):
        return y, y, y
    smaller = s.rng.choice(((), y[-1:], (*(d if s.chance(0.5) else 1 for d in y),), y[len(y) // 2 :]))
    a, b = (y, smaller) if s.chance(0.5) else (smaller, y)
    return a, b, y


def binary(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        a_shape, b_shape, shape = _broadcast(s)
        a = s.x(a_shape)
        quant = s.quants[a]
        near = quant and quant[0]
        extremum = name in ("MAXIMUM", "MINIMUM")
        other = quant if extremum and s.chance(0.9) else s.quant(near=near)
        b = s.x(b_shape, None, other) if s.chance(0.6) else s.constant(b_shape, None, other)
        if quant and s.quants[b] and name in ("MUL", "DIV"):
            half = 100.0 if s.dtype != "s16" else 20000.0
            near = near * s.quants[b][0] * half if name == "MUL" else near / s.quants[b][0] / half
        if near and s.quants[b] and name == "SQUARED_DIFFERENCE":
            near = max(near, s.quants[b][0]) ** 2 * (100.0 if s.dtype == "s8" else 20000.0)
        y = quant if extremum and s.chance(0.9) else s.quant(near=near)
        options = {} if extremum or name == "SQUARED_DIFFERENCE" else {"fused_activation_function": _activation(s)}
        if name in ("ADD", "SUB") and s.dtype == "s16" and s.chance(0.5):
            options["pot_scale_int16"] = False
        s.result(name, [b, a] if s.chance(0.2) and a_shape == b_shape else [a, b], shape, None, y, options)

    return draw


def quotient(s: Sketch) -> None:
    """DIV; integers have a constant divisor without zeros, which would crash the runtimes."""
    if s.dtype == "f32":
        binary("DIV")(s)
        return
    if s.dtype != "s32":
        _scaled_quotient(s)
        return
    shape = s.shape()
    divisors = s.data.integers(1, 50, s.rng.choice(((), shape[-1:]))) * s.rng.choice((1, -1))
    operands = [s.x(shape), s.const(divisors)]
    s.result("DIV", operands, shape, None, None, {"fused_activation_function": _activation(s)})


def _scaled_quotient(s: Sketch) -> None:
    """DIV of quantized integers by similar constants: no quotient is below a quarter of a step, where C is
    undefined."""
    shape, least = s.shape(), s.rng.randint(3, 60)
    sizes = s.data.integers(least, 2 * least, s.rng.choice(((), shape[-1:], shape)), endpoint=True)
    x, scale = s.x(shape), s.rng.uniform(0.001, 0.1)
    quant = s.quants[x]
    assert quant is not None
    low = {"s8": -128, "u8": 0, "s16": 0}[s.dtype]
    zero, sign = s.rng.choice(((low, 1), (low + 255, -1))) if s.dtype != "s16" else (0, s.rng.choice((1, -1)))
    divisors = s.tensor(sizes.shape, s.dtype, (scale, zero), zero + sign * sizes)
    result = s.quant(near=quant[0])
    assert result is not None
    step = quant[0] / float(np.float32(scale)) / (2 * least) * s.rng.uniform(0.4, 2.0)
    s.result("DIV", [x, divisors], shape, None, (step, result[1]), {"fused_activation_function": _activation(s)})


def _activation(s: Sketch) -> str:
    return s.rng.choice(ACTIVATIONS)


def reduction(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        shape = s.shape(least=1)
        rank = len(shape)
        axes = sorted(s.rng.sample(range(rank), s.rng.randint(1, rank)))
        keep = s.chance(0.5)
        out = tuple(1 if k in axes else d for k, d in enumerate(shape) if keep or k not in axes)
        x = s.x(shape)
        quant = s.quants[x]
        if name in ("MEAN", "SUM") and quant and s.chance(0.7):
            quant = s.quant(near=quant[0] * (math.prod(shape) / math.prod(out) if name == "SUM" else 1.0))
        stated = s.const([a - rank if s.chance(0.2) else a for a in axes])
        s.result(name, [x, stated], out, None, quant, {"keep_dims": keep})

    return draw


def positions(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        shape = s.shape(least=1)
        axis = s.rng.randrange(len(shape))
        kind = s.rng.choice(("s32", "s32", "s32", "s64"))
        stated = s.const(axis - len(shape) if s.chance(0.2) else axis) if s.chance(0.5) else s.const([axis])
        s.result(name, [s.x(shape), stated], shape[:axis] + shape[axis + 1 :], kind, None, {"output_type": kind})

    return draw


def cast(s: Sketch) -> None:
    shape = s.shape()
    to = s.rng.choice([t for t in ("s8", "u8", "s16", "s32", "s64", "f32", "bool") if t != s.dtype])
    options = {"in_data_type": s.dtype, "out_data_type": to}
    y = s.tensor(shape, to)
    s.writer.op("CAST", [s.plain_x(shape)], [y], options)
    s.outputs.append(y)


def quantize(s: Sketch) -> None:
    shape, to = s.shape(), s.rng.choice(("s8", "u8", "s16", "s32"))
    quant = s.quant() if s.dtype in ("s8", "u8", "s16") else (10.0 ** s.rng.uniform(-10, -5), 0)
    x = s.x(shape, None, quant if s.dtype != "f32" else None)
    low, high = {"s8": (-7, 7), "u8": (0, 8), "s16": (-15, 15)}.get(s.dtype, (-31, 31))
    near = quant[0] * 2.0 ** (max(high, -low) - {"s8": 7, "u8": 7, "s16": 15, "s32": 31}[to]) if quant else None
    if s.dtype == "f32":
        near = {"s8": 0.03, "u8": 0.03, "s16": 0.0001, "s32": 1e-8}[to]
    result = s.quant(to, near) if to != "s32" else (near, 0)
    if {s.dtype, to} == {"s8", "u8"} and quant and s.chance(0.3):
        result = (quant[0], quant[1] + (128 if to == "u8" else -128))
    if s.dtype == "f32" and result:  # the runtimes convert to int32 first: beyond it, C leaves the value open
        result = (max(result[0], 1e-7), result[1])
    s.result("QUANTIZE", [x], shape, to, result)


def dequantize(s: Sketch) -> None:
    shape = s.shape()
    if s.dtype == "f16":
        return _half(s, shape)
    quant = s.quant() if s.dtype != "s32" else (10.0 ** s.rng.uniform(-10, -5), 0)
    s.result("DEQUANTIZE", [s.x(shape, None, quant)], shape, "f32")


def _half(s: Sketch, shape: Shape) -> None:
    """Half-precision numbers are constants that an operator on float32 data reads."""
    c = s.tensor(shape, "f16", None, s.values(shape, "f16", 0))
    y = s.tensor(shape, "f32")
    s.writer.op("DEQUANTIZE", [c], [y])
    s.result("ADD", [s.x(shape, "f32"), y], shape, "f32", None, {})


FLOAT_FUNCTIONS = ("CEIL", "COS", "FLOOR", "ROUND", "SIN", "SQUARE")
BYTE_FUNCTIONS = ("ELU",)
CURVES = ("EXP", "GELU", "LOG", "RSQRT", "SQRT")
CLAMPS = ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
_BYTES_AND_FLOAT = ("s8", "u8", "s16", "f32")
_ALL_NUMBERS = (*_BYTES_AND_FLOAT, "s32", "s64")
OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    **{name: (("f32",), unary(name)) for name in FLOAT_FUNCTIONS},
    **{name: (("s8", "f32"), unary(name)) for name in BYTE_FUNCTIONS},
    **{name: (("s8", "s16", "f32"), unary(name)) for name in CURVES},
    "NEG": (("s8", "s16", "s32", "s64", "f32"), negative),
    "ABS": (("s8", "s16", "s32", "f32"), unary("ABS")),
    **{name: (_BYTES_AND_FLOAT, unary(name)) for name in (*CLAMPS, "LOGISTIC", "TANH", "LEAKY_RELU")},
    "HARD_SWISH": (("s8", "u8", "f32"), unary("HARD_SWISH")),
    "PRELU": (("s8", "u8", "f32"), prelu),
    "SOFTMAX": (_BYTES_AND_FLOAT, softmax),
    **{name: (_ALL_NUMBERS, binary(name)) for name in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")},
    "SQUARED_DIFFERENCE": (("s8", "s16", "s32", "f32"), binary("SQUARED_DIFFERENCE")),
    "DIV": (("s8", "u8", "s16", "f32", "s32"), quotient),
    **{name: (_ALL_NUMBERS, reduction(name)) for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")},
    **{name: (("s8", "u8", "s16", "s32", "f32"), positions(name)) for name in ("ARG_MAX", "ARG_MIN")},
    "CAST": (("s8", "u8", "s16", "s32", "s64", "f32", "bool"), cast),
    "QUANTIZE": (("s8", "u8", "s16", "s32", "f32"), quantize),
    "DEQUANTIZE": (("s8", "u8", "s16", "s32", "f16"), dequantize),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""

# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models of comparisons, logic and plain integers, and of what picks elements by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.runtimes.computing import _broadcast
from tests.runtimes.sketch import Quant, Sketch

Draw = Callable[[Sketch], None]


def _few(s: Sketch) -> None:
    """Make the inputs of few different numbers, so that some are equal."""
    for k, arrays in enumerate(s._feeds):
        for n, array in enumerate(arrays):
            if array.dtype.kind == "f":
                arrays[n] = np.clip(np.round(array * (k + 1)), -2, 2).astype(array.dtype)
            elif array.dtype.kind == "i":
                arrays[n] = (array % 7 - 3).astype(array.dtype)


def comparison(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        a_shape, b_shape, shape = _broadcast(s)
        a = s.x(a_shape)
        quant: Quant = s.quants[a] if s.chance(0.4) else s.quant(near=s.quants[a] and s.quants[a][0])
        operands = [a, s.x(b_shape, None, quant)]
        _few(s)
        s.result(name, operands, shape, "bool")

    return draw


def logical(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        a, b, shape = _broadcast(s)
        operands = [s.x(a), s.x(b)] if name != "LOGICAL_NOT" else [s.x(shape)]
        s.result(name, operands, shape)

    return draw


def select(s: Sketch) -> None:
    a, b, shape = _broadcast(s)
    condition = s.x(s.rng.choice((shape, a)), "bool")
    quant = s.quant()
    s.result("SELECT_V2", [condition, s.x(a, None, quant), s.x(b, None, quant)], shape, None, quant)


def select_whole(s: Sketch) -> None:
    shape, quant = s.shape(), s.quant()
    operands = [s.x(shape, "bool"), s.x(shape, None, quant), s.x(shape, None, quant)]
    s.result("SELECT", operands, shape, None, quant)


def plain(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        shape = s.shape()
        a = s.x(shape)
        if s.dtype == "f32":
            b = s.const(s.data.choice([0.5, 2.0, 3.0] if name == "POW" else [-2.5, 0.75, 3.0], shape), "f32")
        else:
            values = (
                s.data.integers(0, 4, shape) if name in ("POW", "RIGHT_SHIFT") else s.data.choice([-7, 2, 5], shape)
            )
            b = s.const(values, s.dtype)
        if name == "POW":
            _few(s)
            for arrays in s._feeds:
                arrays[:] = [np.abs(array) for array in arrays]
        s.result(name, [a, b], shape, None, s.quants[a])

    return draw


def running_sum(s: Sketch) -> None:
    shape = s.shape(least=1)
    axis = s.rng.randrange(-len(shape), len(shape))
    options = {"exclusive": s.chance(0.4), "reverse": s.chance(0.4)}
    s.result("CUMSUM", [s.x(shape), s.const(axis)], shape, None, None, options)


def reduction(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        shape = s.shape(least=1)
        axes = sorted(s.rng.sample(range(len(shape)), s.rng.randint(1, len(shape))))
        keep = s.chance(0.5)
        made = [1 if k in axes else d for k, d in enumerate(shape) if keep or k not in axes]
        x = s.x(shape)
        if name == "REDUCE_PROD":
            _few(s)
        s.result(name, [x, s.const(axes)], made, None, s.quants[x], {"keep_dims": keep})

    return draw


def gather_nd(s: Sketch) -> None:
    shape = s.shape(rank=s.rng.randint(1, 4))
    depth, count = s.rng.randint(1, len(shape)), s.rng.randint(1, 4)
    x = s.x(shape)
    index = s.const(np.stack([s.data.integers(0, d, count) for d in shape[:depth]], axis=1))
    s.moved("GATHER_ND", [x, index], (count, *shape[depth:]), x)


def mirror_pad(s: Sketch) -> None:
    shape, mode = s.shape(rank=s.rng.randint(1, 4)), s.rng.choice(("REFLECT", "SYMMETRIC"))
    widths = [[s.rng.randint(0, min(2, d - (mode == "REFLECT"))) for _ in "ab"] for d in shape]
    made = [d + sum(pair) for d, pair in zip(shape, widths, strict=True)]
    x = s.x(shape)
    s.moved("MIRROR_PAD", [x, s.const(widths)], made, x, {"mode": mode})


def sign(s: Sketch) -> None:
    shape = s.shape()
    x = s.x(shape)
    _few(s)
    s.result("SIGN", [x], shape)


def top_k(s: Sketch) -> None:
    shape = s.shape(least=1)
    k = s.rng.randint(1, shape[-1])
    x = s.x(shape)
    made = (*shape[:-1], k)
    values, places = s.tensor(made, s.dtype, s.quants[x]), s.tensor(made, "s32")
    s.writer.op("TOPK_V2", [x, s.const(k)], [values, places])
    s.outputs += [values, places]


_ANY = ("s8", "u8", "s16", "s32", "s64", "f32", "bool")
_PLAIN = ("s8", "s16", "s32", "s64", "f32")
OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    **{name: (_ANY, comparison(name)) for name in ("EQUAL", "NOT_EQUAL")},
    **{name: (_ANY[:-1], comparison(name)) for name in ("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")},
    **{name: (("bool",), logical(name)) for name in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT")},
    "SELECT_V2": (_ANY, select),
    "SELECT": (_ANY, select_whole),
    **{name: (_PLAIN, plain(name)) for name in ("FLOOR_DIV", "FLOOR_MOD", "POW")},
    **{name: (("s8", "u8", "s16", "s32"), plain(name)) for name in ("RIGHT_SHIFT", "BITWISE_XOR")},
    "CUMSUM": (("s8", "s32", "s64", "f32"), running_sum),
    **{name: (("bool",), reduction(name)) for name in ("REDUCE_ALL", "REDUCE_ANY")},
    "REDUCE_PROD": (("s8", "s32", "s64", "f32"), reduction("REDUCE_PROD")),
    "GATHER_ND": (("s8", "u8", "s16", "s32", "s64", "f32", "bool"), gather_nd),
    "MIRROR_PAD": (("s8", "u8", "s16", "s32", "s64", "f32"), mirror_pad),
    "SIGN": (("s32", "f32"), sign),
    "TOPK_V2": (("s8", "u8", "s16", "s32", "s64", "f32"), top_k),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""

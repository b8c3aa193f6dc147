# SPDX-License-Identifier: Apache-2.0
"""Models that once showed a difference from a runtime, and graphs in which a wrong label changes a later layer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.runtimes import graphs
from tests.runtimes.sketch import Drawn, Quant, Sketch

GRAPHS = 60


def models() -> Iterator[Drawn]:
    """All of them; what each is about stands in its label."""
    yield _reduced_then_dense()
    for name, coarse in (("TANH", (1 / 128, 0)), ("LOGISTIC", (1 / 256, -128))):
        for scale in (4.0, 8.0, 20.0):
            yield _unary(name, (scale, 3), coarse)
    for scale in (7.0, 60.0, 190.0, 3e4):
        yield _unary("HARD_SWISH", (0.06, 0), (scale, -3))
        yield _unary("HARD_SWISH", (scale, 5), (scale * 70, 0))
    for dtype in ("s8", "s16"):
        yield _sum(dtype)
    for stated in (False, True):
        yield _narrow_bias("CONV_2D", stated)
        yield _narrow_bias("FULLY_CONNECTED", stated)
        yield _narrow_bias("TRANSPOSE_CONV", stated)
    yield _sparse()
    yield from (graphs.draw(seed) for seed in range(GRAPHS))


def _unary(name: str, x: Quant, y: Quant) -> Drawn:
    s = Sketch(f"fault {name} scales {x} {y}", "s8")
    s.result(name, [s.x((256,), None, x)], (256,), None, y)
    model = s.drawn()
    return Drawn(model.label, model.model, [[np.arange(-128, 128).astype(np.int8)]])


def _reduced_then_dense() -> Drawn:
    """A maximum of int16 that only LiteRT computes, then a layer that the runtimes round differently."""
    s = Sketch("fault REDUCE_MAX s16 then FULLY_CONNECTED", "s16")
    quant = (3e-4, 0)
    x, axes, h = s.x((1, 4, 64), None, quant), s.const([1]), s.tensor((1, 64), "s16", quant)
    s.writer.op("REDUCE_MAX", [x, axes], [h], {"keep_dims": False})
    w = s.tensor((32, 64), "s8", (0.005, 0), s.data.integers(-127, 128, (32, 64)))
    b = s.tensor((32,), "s64", (1.5e-6, 0), s.data.integers(-(10**6), 10**6, 32))
    s.result("FULLY_CONNECTED", [h, w, b], (1, 32), None, (2e-3, 0), {})
    return s.drawn()


def _sparse() -> Drawn:
    """A layer whose weights are stored without most of their zeros."""
    s = Sketch("fault FULLY_CONNECTED sparse f32", "f32")
    rows = ((0, 1), (), (4, ((0, 2, 4, 5, 6), (2, 3, 2, 3, 0, 1))))
    x, w = s.x((2, 4)), s.tensor((4, 4), "f32", None, np.array([1, 2, 3, 4, 5, 6]), sparsity=rows)
    s.result("FULLY_CONNECTED", [x, w, s.const([0.5, 1, 2, 3], "f32")], (2, 4), None, None, {})
    return s.drawn()


def _sum(dtype: str) -> Drawn:
    s = Sketch(f"fault SUM {dtype}", dtype)
    quant = (0.1 if dtype == "s8" else 0.0003, 0)
    x = s.x((2, 5), None, quant)
    s.result("SUM", [x, s.const([1])], (2, 1), None, (quant[0] * 3, 0), {"keep_dims": True})
    return s.drawn()


def _narrow_bias(name: str, stated: bool) -> Drawn:
    """An int32 bias of int16 data: read as int64, or refused, where its type is not stated."""
    s = Sketch(f"fault {name} bias s32 {'stated' if stated else 'silent'}", "s16")
    dense = name == "FULLY_CONNECTED"
    x = s.x((1, 3) if dense else (1, 2, 2, 3), None, (3e-4, 0))
    shape = (2, 3) if dense else (2, 2, 2, 3)
    w = s.tensor(shape, "s8", (0.01, 0), s.data.integers(-127, 128, shape))
    b = s.tensor((2,), "s32", (3e-6, 0), np.array([5000, -5000]))
    options = {"quantized_bias_type": "s32"} if stated else {}
    out = {"FULLY_CONNECTED": (1, 2), "CONV_2D": (1, 2, 2, 2), "TRANSPOSE_CONV": (1, 4, 4, 2)}[name]
    if not dense:
        stride = 2 if name == "TRANSPOSE_CONV" else 1
        options = {"padding": "SAME", "stride_h": stride, "stride_w": stride, **options}
    operands = [s.const(out), w, x, b] if name == "TRANSPOSE_CONV" else [x, w, b]
    s.result(name, operands, out, None, (5e-4, 0), options)
    return s.drawn()

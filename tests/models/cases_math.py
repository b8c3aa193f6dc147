# SPDX-License-Identifier: Apache-2.0
"""Cases of the operators that compute without a window: elementwise, reductions, activations."""

from __future__ import annotations

from collections.abc import Callable

from tests.models.family import Family

Cases = Callable[[Family], None]


def _act(name: str) -> dict[str, object]:
    return {"fused_activation_function": name}


def _binary(op: str) -> Cases:
    """Equal shapes: one tensor with itself, constants on both sides, every activation, scales far apart."""

    def cases(f: Family) -> None:
        shape = (1, 3, 5, 4)
        a, b, c = f.x(*shape, k=0), f.x(*shape, k=1), f.x(*shape, k=2)
        fine = f.x(*shape, k=3, scale=0.0011 if f.dtype != "s16" else 0.0000041)
        product = 3.0 if op == "MUL" else 1.0
        scale = None if f.dtype == "f32" else product * (0.04 if f.dtype != "s16" else 0.00031)
        f.op(op, [a, b], shape, _act("NONE"), k=3, scale=scale)
        f.op(op, [b, a], shape, _act("RELU"), k=0, scale=scale)
        f.op(op, [b, c], shape, _act("RELU6"), k=1, scale=scale)
        f.op(op, [c, fine], shape, _act("RELU_N1_TO_1"), k=2)
        f.op(op, [fine, a], shape, _act("NONE"), k=1)
        f.op(op, [a, a], shape, _act("NONE"), k=3, scale=scale)
        f.op(op, [a, f.random(shape, k=3)], shape, _act("NONE"), k=3, scale=scale)
        f.op(op, [f.random(shape, k=1), c], shape, _act("RELU"), k=0, scale=scale)
        f.op(
            op,
            [fine, f.random(shape, like=fine)],
            shape,
            _act("NONE"),
            k=3,
            scale=None if scale is None else scale / 200,
        )

    return cases


def _broadcast(op: str) -> Cases:
    """One operand smaller than the other, on either side; one-dimensional, scalar and middle axes."""

    def cases(f: Family) -> None:
        a, row, column = f.x(1, 3, 5, 4, k=0), f.x(1, 1, 5, 1, k=1), f.x(1, 3, 1, 4, k=2)
        matrix, single, b = f.x(3, 4, k=3), f.x(1, k=1), f.x(1, 3, 5, 4, k=1)
        full = (1, 3, 5, 4)
        scale = None if f.dtype == "f32" else (0.25 if op == "MUL" else 0.09) * (1 if f.dtype != "s16" else 0.007)
        f.op(op, [a, f.random((1, 1, 1, 4), k=1)], full, _act("NONE"), k=3, scale=scale)
        f.op(op, [f.random((4,), k=2), a], full, _act("NONE"), k=1, scale=scale)
        f.op(op, [a, f.random((), k=3)], full, _act("NONE"), k=1, scale=scale)
        f.op(op, [single, b], full, _act("RELU6"), k=3)
        f.op(op, [row, column], full, _act("NONE"), k=3, scale=scale)
        f.op(op, [column, b], full, _act("RELU_N1_TO_1"), k=1)
        f.op(op, [matrix, f.random((4,), k=1)], (3, 4), _act("RELU"), k=3, scale=scale)
        f.op(op, [f.random((3, 1), k=1), matrix], (3, 4), _act("NONE"), k=1, scale=scale)
        f.op(op, [f.random((2, 1, 1, 4), k=3), b], (2, 3, 5, 4), _act("NONE"), k=2, scale=scale)

    return cases


def power_of_two_scales(f: Family) -> None:
    a, b = f.x(1, 3, 5, 4, scale=2.0**-12), f.x(1, 3, 5, 4, scale=2.0**-11)
    f.op("ADD", [a, b], (1, 3, 5, 4), _act("NONE"), scale=2.0**-11)
    f.op("SUB", [a, b], (1, 3, 5, 4), _act("NONE"), scale=2.0**-11)


def mean(f: Family) -> None:
    a, b, c = f.x(1, 3, 5, 4, k=0), f.x(2, 3, 7, k=2), f.x(1, 6, 6, 3, k=3)
    keep, drop = {"keep_dims": True}, {"keep_dims": False}
    f.op("MEAN", [a, f.const([1, 2])], (1, 1, 1, 4), keep, k=3)
    f.op("MEAN", [a, f.const([1, 2])], (1, 4), drop, like=a)
    f.op("MEAN", [a, f.const([2, 1])], (1, 4), drop, k=1)
    f.op("MEAN", [c, f.const([1, 2])], (1, 1, 1, 3), keep, like=c)
    f.op("MEAN", [a, f.const([3])], (1, 3, 5), drop, k=0)
    f.op("MEAN", [b, f.const([-1])], (2, 3, 1), keep, k=3)
    f.op("MEAN", [b, f.const([0, 2])], (3,), drop, k=1)
    f.op("MEAN", [b, f.const([1])], (2, 7), drop, like=b)
    f.op("MEAN", [b, f.const([0, 1, 2])], (1, 1, 1), keep, k=3)


def reduce_max(f: Family) -> None:
    a, b = f.x(1, 3, 5, 4, k=0), f.x(2, 3, 7, k=2)
    f.op("REDUCE_MAX", [a, f.const([1, 2])], (1, 1, 1, 4), {"keep_dims": True}, like=a)
    f.op("REDUCE_MAX", [a, f.const([3])], (1, 3, 5), {"keep_dims": False}, like=a)
    f.op("REDUCE_MAX", [b, f.const([-3, 2])], (3,), {"keep_dims": False}, like=b)
    f.op("REDUCE_MAX", [b, f.const([1])], (2, 1, 7), {"keep_dims": True}, like=b)


def _extremum(op: str) -> Cases:
    def cases(f: Family) -> None:
        a, b = f.x(1, 3, 5, 4, k=1), f.x(1, 3, 5, 4, k=1)
        f.op(op, [a, b], (1, 3, 5, 4), like=a)
        f.op(op, [a, f.random((4,), like=a)], (1, 3, 5, 4), like=a)
        f.op(op, [f.random((1, 3, 1, 1), like=a), b], (1, 3, 5, 4), like=a)
        f.op(op, [a, f.random((), like=a)], (1, 3, 5, 4), like=a)

    return cases


_SOFTMAX_OUT = {"s8": (1 / 256, -128), "u8": (1 / 256, 0), "s16": (1 / 32768, 0), "f32": (None, None)}


def softmax(f: Family) -> None:
    scale, zero = _SOFTMAX_OUT[f.dtype]
    coarse, fine = (None, None) if f.dtype == "f32" else (0.6, 0.004) if f.dtype != "s16" else (0.003, 0.00002)
    xs = [f.x(1, 10, k=0), f.x(3, 7, k=3), f.x(1, 2, 3, 5, k=1), f.x(2, 12, k=2, scale=coarse), f.x(2, 12, scale=fine)]
    for x, beta in zip(xs, (1.0, 1.0, 0.5, 1.0, 2.0), strict=True):
        f.op("SOFTMAX", [x], f.info[x].shape, {"beta": beta}, scale=scale, zero_point=zero)
    f.op("SOFTMAX", [f.x(2, 1, k=3)], (2, 1), {"beta": 1.0}, scale=scale, zero_point=zero)


def _unary(op: str, out: dict[str, tuple[float, int]] | None = None, options: dict[str, object] | None = None) -> Cases:
    """Inputs large enough to hold most s8 values; `out` is the quantization that the operator demands."""

    def cases(f: Family) -> None:
        scales = (None,) * 3 if f.dtype in ("f32", "s8", "u8") else (0.0003, 0.0001, 0.00071)
        for k, scale in enumerate(scales):
            x = f.x(1, 8, 8, 4, k=3 if k == 0 and "RELU" in op else k, scale=scale)
            if f.dtype == "f32":
                f.op(op, [x], (1, 8, 8, 4), options)
            elif out:
                f.op(op, [x], (1, 8, 8, 4), options, scale=out[f.dtype][0], zero_point=out[f.dtype][1])
            else:
                f.op(op, [x], (1, 8, 8, 4), options, k=(3, 0, 1)[k])
                f.op(op, [x], (1, 8, 8, 4), options, like=x)

    return cases


def logistic_coarse(f: Family) -> None:
    for scale in (1.3, 0.011):
        f.op("LOGISTIC", [f.x(4, 64, k=1, scale=scale)], (4, 64), scale=1 / 256, zero_point=-128)
        f.op("TANH", [f.x(4, 64, k=3, scale=scale)], (4, 64), scale=1 / 128, zero_point=0)


_LOGISTIC_OUT = {"s8": (1 / 256, -128), "u8": (1 / 256, 0), "s16": (1 / 32768, 0)}
_TANH_OUT = {"s8": (1 / 128, 0), "u8": (1 / 128, 128), "s16": (1 / 32768, 0)}

_ALL: dict[str, tuple[str, Cases]] = {
    "add": ("s8 s16 u8 f32", _binary("ADD")),
    "sub": ("s8 s16 f32", _binary("SUB")),
    "mul": ("s8 s16 f32", _binary("MUL")),
    "add_broadcast": ("s8 s16 u8 f32", _broadcast("ADD")),
    "sub_broadcast": ("s8 s16 f32", _broadcast("SUB")),
    "mul_broadcast": ("s8 s16 f32", _broadcast("MUL")),
    "add_sub_power_of_two": ("s16", power_of_two_scales),
    "mean": ("s8 f32", mean),
    "reduce_max": ("s8 f32", reduce_max),
    "maximum": ("s8 f32", _extremum("MAXIMUM")),
    "minimum": ("s8 f32", _extremum("MINIMUM")),
    "softmax": ("s8 s16 u8 f32", softmax),
    "relu": ("s8 f32", _unary("RELU")),
    "relu6": ("s8 f32", _unary("RELU6")),
    "logistic": ("s8 s16 u8 f32", _unary("LOGISTIC", _LOGISTIC_OUT)),
    "logistic_tanh_scales": ("s8", logistic_coarse),
    "tanh": ("s8 s16 f32", _unary("TANH", _TANH_OUT)),
    "leaky_relu": ("s8 s16 f32", _unary("LEAKY_RELU", options={"alpha": 0.17})),
    "hard_swish": ("s8 f32", _unary("HARD_SWISH")),
}
FAMILIES = [(dtype, op, cases) for op, (dtypes, cases) in _ALL.items() for dtype in dtypes.split()]

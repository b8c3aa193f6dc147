# SPDX-License-Identifier: Apache-2.0
"""The meaning of ONNX operators, written from the operators' texts alone, on real numbers that are known exactly.

A node takes and gives `Real` arrays, stored integers among them. Numbers that only floats can hold (functions, means
of windows, scales that are computed) are widened by what float32 can lose; with `near` so are all others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.random.exact import EPSILON, Real, between, dot, fractions, minus, plus, quantized, real, times

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1)}
_FLOATS = Fraction(2**128)
_TINY = Fraction(1, 2**140)
"""The error of float32 numbers too small for its exponent."""


class Node:
    """One application: its attributes, and for each operand a Real (None: absent) with the type of its elements."""

    def __init__(
        self, proto: onnx.NodeProto, operands: Sequence[Real | None], dtypes: Sequence[str], near: bool
    ) -> None:
        self.proto, self.operands, self.dtypes, self.near = proto, list(operands), list(dtypes), near
        self.attributes: Mapping[str, Any] = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def x(self, k: int = 0) -> Real:
        found = self.operands[k] if k < len(self.operands) else None
        assert found is not None
        return found

    def has(self, k: int) -> bool:
        return k < len(self.operands) and self.operands[k] is not None

    def ints(self, k: int) -> list[int]:
        """A constant operand of integers."""
        return [int(v) for v in self.x(k).centre.reshape(-1)]

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def rounded(self, x: Real, terms: int, size: np.ndarray, *, always: bool = False) -> Real:
        """The result of `terms` float32 operations on numbers of this size, where it is one of floats."""
        return x.widened(size * EPSILON * (terms + 3) + _TINY) if self.near or always else x


def _along(values: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """Scales or zero points as they broadcast over a tensor."""
    if values.size == 1:
        return values.reshape(())
    shape = [1] * rank
    shape[axis] = -1
    return values.reshape(shape)


def real_of(x: Real, scale: Real, zero: Real | None, axis: int = 1) -> Real:
    """(x - zero point) * scale."""
    rank = len(x.shape)
    steps = x if zero is None else minus(x, zero.moved(lambda a: _along(a, rank, axis)))
    return times(steps, scale.moved(lambda a: _along(a, rank, axis)))


def _dequantize(n: Node) -> Real:
    found = real_of(n.x(), n.x(1), n.x(2) if n.has(2) else None, n.get("axis", 1))
    if n.dtypes[0] == "int32":  # of a bias, whose scale is a product that is rounded to float32
        found = found.widened(np.abs(found.centre) * EPSILON)
    return n.rounded(found, 1, found.most())


def stored_as(n: Node, x: Real, scale: Real, zero: Real | None, dtype: str, axis: int = 1) -> Real:
    """Rounded once to stored integers; `near` by a float32 division."""
    rank = len(x.shape)
    x = n.rounded(x, 2, x.most())
    if scale.radius is not None:
        x = x.widened(x.most() * max(r / c for c, r in zip(scale.centre.flat, scale.radius.flat, strict=True)))
    offset = np.asarray(0, object) if zero is None else _along(zero.centre, rank, axis)
    if zero is None or zero.radius is None:
        return quantized(x, _along(scale.centre, rank, axis), offset, LIMITS[dtype])
    low, high = (
        quantized(x, _along(scale.centre, rank, axis), _along(z, rank, axis), LIMITS[dtype])
        for z in (zero.low, zero.high)
    )
    return between(low.low, high.high)


def _quantize(n: Node) -> Real:
    return stored_as(
        n, n.x(), n.x(1), n.x(2) if n.has(2) else None, n.dtypes[2] if n.has(2) else "uint8", n.get("axis", 1)
    )


def _dynamic(n: Node) -> list[Real]:
    """Scale and zero point of the data's own range, which 0 is part of."""
    x = n.x()
    least, most = (f([Fraction(0), *v.flat]) for f, v in ((min, x.centre), (max, x.centre)))
    scale = (most - least) / 255
    unsure = Real(fractions([scale]).reshape(()), fractions([abs(scale) * EPSILON * 4]).reshape(()))
    low, high = (Fraction(-least) / (scale * (1 + EPSILON * k)) for k in (4, -4))
    zero = between(*(np.asarray(min(255, max(0, round(v))), object) for v in (low, high)))
    return [stored_as(Node(n.proto, n.operands, n.dtypes, True), x, unsure, zero, "uint8"), unsure, zero]


def _sum(n: Node) -> Real:
    found = n.x()
    for k in range(1, len(n.operands)):
        found = plus(found, n.x(k))
    size = sum((n.x(k).most() for k in range(1, len(n.operands))), n.x().most())
    return n.rounded(found, len(n.operands), size)


def _sub(n: Node) -> Real:
    return n.rounded(minus(n.x(), n.x(1)), 1, n.x().most() + n.x(1).most())


def _mul(n: Node) -> Real:
    found = times(n.x(), n.x(1))
    return n.rounded(found, 1, found.most())


def _div(n: Node) -> Real:
    """The quotient; x / 0 is the largest float, and 0 / 0 may be any number."""
    a, b = n.x(), n.x(1)
    ends = [[_quotients(x, y) for x in (a.low, a.high)] for y in (b.low, b.high)]
    found = between(
        np.minimum.reduce([v for pair in ends for v in pair]), np.maximum.reduce([v for pair in ends for v in pair])
    )
    unsure = np.broadcast_to((b.low <= 0) & (b.high >= 0), found.shape)
    nothing = unsure & np.broadcast_to((a.low <= 0) & (a.high >= 0), found.shape)
    if b.radius is not None:
        nothing = nothing | unsure
    found = (
        Real(found.centre, np.where(nothing, _FLOATS * 2, Fraction(0) if found.radius is None else found.radius))
        if nothing.any()
        else found
    )
    return n.rounded(found, 1, found.most())


_quotients = np.frompyfunc(lambda a, b: a / b if b else _FLOATS * ((a > 0) - (a < 0)), 2, 1)


def _matmul(n: Node) -> Real:
    return _product(n, n.x(), n.x(1))


def _product(n: Node, a: Real, b: Real) -> Real:
    found = times(a, b, dot)
    return n.rounded(found, a.shape[-1], dot(a.most(), b.most())) if n.near else found


def _gemm(n: Node) -> Real:
    a, b = (n.x(k).moved(np.transpose) if n.get(name, 0) else n.x(k) for k, name in enumerate(("transA", "transB")))
    found = times(real(np.float32(n.get("alpha", 1.0))), _product(n, a, b))
    if not n.has(2):
        return found
    added = times(real(np.float32(n.get("beta", 1.0))), n.x(2))
    return n.rounded(plus(found, added), 2, found.most() + added.most())


def _pads(n: Node, image: Sequence[int], kernel: Sequence[int]) -> list[tuple[int, int]]:
    rank, auto = len(image), n.get("auto_pad", b"NOTSET").decode()
    if auto in ("NOTSET", "VALID"):
        pads = n.get("pads") or [0] * (2 * rank)
        return [(0, 0)] * rank if auto == "VALID" else list(zip(pads[:rank], pads[rank:], strict=True))
    found = []
    for size, k, stride, dilation in zip(image, kernel, _strides(n, rank), _dilations(n, rank), strict=True):
        total = max(0, (-(-size // stride) - 1) * stride + (k - 1) * dilation + 1 - size)
        found.append((total // 2, total - total // 2) if auto == "SAME_UPPER" else (total - total // 2, total // 2))
    return found


def _strides(n: Node, rank: int) -> list[int]:
    return list(n.get("strides") or [1] * rank)


def _dilations(n: Node, rank: int) -> list[int]:
    return list(n.get("dilations") or [1] * rank)


def _taps(n: Node, array: np.ndarray, kernel: Sequence[int], fill: Any) -> np.ndarray:
    """[N, C, taps, results]: the values that each tap of a window finds in an image [N, C, ...]."""
    image = array.shape[2:]
    rank, pads = len(image), _pads(n, image, kernel)
    strides, dilations = _strides(n, rank), _dilations(n, rank)
    size = _window_size(n, image, kernel)
    beyond = [
        max(0, (o - 1) * s + (k - 1) * d + 1 - (i + p[0]))
        for o, s, k, d, i, p in zip(size, strides, kernel, dilations, image, pads, strict=True)
    ]
    padded = np.pad(
        array, [(0, 0), (0, 0), *((p[0], b) for p, b in zip(pads, beyond, strict=True))], constant_values=fill
    )
    found = []
    for place in itertools.product(*(range(k) for k in kernel)):
        index = tuple(
            slice(p * d, p * d + (o - 1) * s + 1, s) for p, d, o, s in zip(place, dilations, size, strides, strict=True)
        )
        found.append(padded[(slice(None), slice(None), *index)])
    return np.stack(found, 2)


def _window_size(n: Node, image: Sequence[int], kernel: Sequence[int]) -> list[int]:
    found = []
    each = zip(image, kernel, _strides(n, len(image)), _dilations(n, len(image)), _pads(n, image, kernel), strict=True)
    for size, k, stride, dilation, (before, after) in each:
        span = size + before + after - (k - 1) * dilation - 1
        up = bool(n.get("ceil_mode", 0))
        count = (-(-span // stride) if up else span // stride) + 1
        if up and (count - 1) * stride >= size + before:
            count -= 1  # a window that begins in the padding behind is none
        found.append(count)
    return found


def _conv(n: Node) -> Real:
    return _convolution(n, n.x(), n.x(1), n.x(2) if n.has(2) else None)


def _convolution(n: Node, x: Real, w: Real, bias: Real | None) -> Real:
    groups, kernel = n.get("group", 1), w.shape[2:]
    outputs, each = w.shape[0], w.shape[1]

    def sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        taps = _taps(n, a, kernel, Fraction(0))
        size, parts = taps.shape[3:], []
        for g in range(groups):
            rows = taps[:, g * each : (g + 1) * each].reshape(a.shape[0], -1, math.prod(size))
            parts.append(
                dot(b[g * outputs // groups : (g + 1) * outputs // groups].reshape(outputs // groups, -1), rows)
            )
        return np.concatenate(parts, 1).reshape(a.shape[0], outputs, *size)

    found, depth = times(x, w, sums), each * math.prod(kernel)
    size = sums(x.most(), w.most()) if n.near else None
    if bias is not None:
        spread = bias.moved(lambda b: b.reshape(-1, *[1] * len(kernel)))
        found = plus(found, spread)
        size = None if size is None else size + spread.most()
    return found if size is None else n.rounded(found, depth, size)


def _conv_transpose(n: Node) -> Real:
    x, w, rank = n.x(), n.x(1), len(n.x().shape) - 2
    groups, kernel, strides, dilations = n.get("group", 1), w.shape[2:], _strides(n, rank), _dilations(n, rank)
    pads, more = n.get("pads") or [0] * (2 * rank), n.get("output_padding") or [0] * rank
    spans = [
        (i - 1) * s + (k - 1) * d + 1 + o
        for i, s, k, d, o in zip(x.shape[2:], strides, kernel, dilations, more, strict=True)
    ]

    def sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        each, outputs = a.shape[1] // groups, b.shape[1]
        full = np.full((a.shape[0], groups * outputs, *spans), Fraction(0), object)
        for place in itertools.product(*(range(k) for k in kernel)):
            index = tuple(
                slice(p * d, p * d + (i - 1) * s + 1, s)
                for p, d, i, s in zip(place, dilations, a.shape[2:], strides, strict=True)
            )
            for g in range(groups):
                taps = b[(slice(g * each, (g + 1) * each), slice(None), *place)].T
                rows = a[:, g * each : (g + 1) * each].reshape(a.shape[0], each, -1)
                full[(slice(None), slice(g * outputs, (g + 1) * outputs), *index)] += dot(taps, rows).reshape(
                    a.shape[0], outputs, *a.shape[2:]
                )
        cut = tuple(slice(p, s - q) for p, q, s in zip(pads[:rank], pads[rank:], spans, strict=True))
        return full[(slice(None), slice(None), *cut)]

    found = times(x, w, sums)
    size = sums(x.most(), w.most()) if n.near else found.centre
    if n.has(2):
        spread = n.x(2).moved(lambda b: b.reshape(-1, *[1] * rank))
        found, size = plus(found, spread), size + spread.most()
    return n.rounded(found, x.shape[1] * math.prod(kernel), size)


def _average_pool(n: Node, x: Real | None = None) -> Real:
    """Means of windows are sums in float32 in ONNX Runtime, and so they are promised."""
    x, kernel = x or n.x(), n.attributes["kernel_shape"]

    def sums(a: np.ndarray) -> np.ndarray:
        return _taps(n, a, kernel, Fraction(0)).sum(2)

    inside = np.full(x.shape, Fraction(1), object)
    if n.get("count_include_pad", 0):
        pads = [(0, 0), (0, 0), *_pads(n, x.shape[2:], kernel)]
        flat = Node(n.proto, n.operands, n.dtypes, n.near)
        flat.attributes = {**n.attributes, "pads": [0] * (2 * len(kernel)), "auto_pad": b"VALID"}
        counts = _taps(flat, np.pad(inside, pads, constant_values=Fraction(1)), kernel, Fraction(0)).sum(2)
    else:
        counts = sums(inside)
    found = times(x.moved(sums), Real(1 / counts))
    return n.rounded(found, math.prod(kernel), sums(x.most()) / counts, always=True)


def _max_pool(n: Node) -> Real:
    kernel = n.attributes["kernel_shape"]
    return n.x().mapped(lambda a: _taps(n, a, kernel, -_FLOATS * 4).max(2))


def _axes(n: Node) -> tuple[int, ...]:
    rank = len(n.x().shape)
    stated = n.ints(1) if n.has(1) else n.get("axes", range(rank))
    return tuple(a % rank for a in stated)


def _reduced(kind: str) -> Callable[[Node], Real]:
    def compute(n: Node) -> Real:
        axes, keep = _axes(n), bool(n.get("keepdims", 1))
        if kind in ("max", "min"):
            return n.x().mapped(lambda a: getattr(np, kind)(a, axis=axes, keepdims=keep))
        return _total(n, n.x(), axes, keep, mean=kind == "mean")

    return compute


def _total(n: Node, x: Real, axes: tuple[int, ...], keep: bool, *, mean: bool) -> Real:
    count = math.prod(x.shape[a] for a in axes)
    factor = Fraction(1, count) if mean else Fraction(1)
    found = x.moved(lambda a: a.sum(axis=axes, keepdims=keep) * factor)
    return n.rounded(found, count, x.most().sum(axis=axes, keepdims=keep) * factor)


def _global(kind: str) -> Callable[[Node], Real]:
    def compute(n: Node) -> Real:
        axes = tuple(range(2, len(n.x().shape)))
        if kind == "max":
            return n.x().mapped(lambda a: a.max(axis=axes, keepdims=True))
        return _total(n, n.x(), axes, True, mean=True)

    return compute


def _function(compute: Callable[[Node, float], float], least: float = 0.0) -> Callable[[Node], Real]:
    """A rising function of floats. least: an absolute error besides the relative one."""

    def apply(n: Node) -> Real:
        each = np.frompyfunc(lambda v: Fraction(compute(n, float(v))), 1, 1)
        found = n.x().mapped(each)
        slope = n.x().most() * EPSILON  # functions here are no steeper than 1 where they are not proportional
        return n.rounded(found, 6, found.most() + slope, always=True).widened(Fraction(least))

    return apply


def _sigmoid(n: Node, x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def _elu(n: Node, x: float) -> float:
    return x if x >= 0 else float(np.float32(n.get("alpha", 1.0))) * math.expm1(x)


def _hard_sigmoid(n: Node, x: float) -> float:
    a, b = (float(np.float32(n.get(k, v))) for k, v in (("alpha", 0.2), ("beta", 0.5)))
    return max(0.0, min(1.0, a * x + b))


def _leaky(n: Node) -> Real:
    alpha = Fraction(float(np.float32(n.get("alpha", 0.01))))
    x = n.x()
    ends = [np.where(v >= 0, v, v * alpha) for v in (x.low, x.high)]
    return n.rounded(between(np.minimum(*ends), np.maximum(*ends)), 2, x.most(), always=True)


def _relu(n: Node) -> Real:
    return n.x().mapped(lambda a: np.maximum(a, Fraction(0)))


def _clip(n: Node) -> Real:
    low, high = (n.x(k).centre.reshape(()) if n.has(k) else None for k in (1, 2))
    found = n.x() if low is None else n.x().mapped(lambda a: np.maximum(a, low))
    found = found if high is None else found.mapped(lambda a: np.minimum(a, high))
    if n.x().radius is None or found.radius is None:
        return found
    nothing = n.x().radius >= _FLOATS  # 0 / 0, which no bound changes
    return Real(np.where(nothing, n.x().centre, found.centre), np.where(nothing, n.x().radius, found.radius))


def softmax_of(n: Node, x: Real, axis: int) -> Real:
    """exp(x) over its sum; numbers that are not known exactly are taken at both ends."""
    ends = []
    for sign in (-1, 1):
        own, others = (x.low, x.high) if sign < 0 else (x.high, x.low)
        own, others = own.astype(np.float64), others.astype(np.float64)
        most = np.maximum(others.max(axis=axis, keepdims=True), own.max(axis=axis, keepdims=True))
        a, b = np.exp(own - most), np.exp(others - most)
        with np.errstate(invalid="ignore"):
            ends.append(fractions(np.nan_to_num(a / (b.sum(axis=axis, keepdims=True) - b + a))))
    found = between(*ends)
    steepness = x.most() * EPSILON * 8 + EPSILON * 16  # relative: a float32 difference of large numbers
    return found.widened(found.most() * steepness + _TINY)


def _softmax(n: Node) -> Real:
    return softmax_of(n, n.x(), n.get("axis", -1))


def _moving(move: Callable[[Node, np.ndarray], np.ndarray]) -> Callable[[Node], Real]:
    return lambda n: n.x().moved(lambda a: move(n, a))


def _reshape(n: Node, a: np.ndarray) -> np.ndarray:
    return a.reshape([a.shape[k] if d == 0 else d for k, d in enumerate(n.ints(1))])


def _flatten(n: Node, a: np.ndarray) -> np.ndarray:
    return a.reshape(math.prod(a.shape[: n.get("axis", 1)]), -1)


def _slice(n: Node, a: np.ndarray) -> np.ndarray:
    index = [slice(None)] * a.ndim
    for start, end, axis, step in zip(*(n.ints(k) for k in range(1, 5)), strict=True):
        index[axis] = slice(start, end, step)
    return a[tuple(index)]


def _pad(n: Node) -> Real:
    widths, rank = n.ints(1), len(n.x().shape)
    pairs = list(zip(widths[:rank], widths[rank:], strict=True))
    value = n.x(2).centre.reshape(-1)[0] if n.has(2) else Fraction(0)
    found = n.x()
    return Real(
        np.pad(found.centre, pairs, constant_values=value),
        None if found.radius is None else np.pad(found.radius, pairs, constant_values=Fraction(0)),
    )


def _concat(n: Node) -> Real:
    parts, axis = [n.x(k) for k in range(len(n.operands))], n.attributes["axis"]
    return joined(parts, axis)


def joined(parts: Sequence[Real], axis: int) -> Real:
    centre = np.concatenate([p.centre for p in parts], axis)
    if all(p.radius is None for p in parts):
        return Real(centre)
    radii = [np.full(p.shape, Fraction(0), object) if p.radius is None else p.radius for p in parts]
    return Real(centre, np.concatenate(radii, axis))


def _nearest(n: Node, a: np.ndarray) -> np.ndarray:
    """Whole factors, asymmetric, floor: each element several times."""
    for axis, factor in enumerate(n.ints(2)):
        a = np.repeat(a, factor, axis)
    return a


def _cast(n: Node) -> Real:
    return n.rounded(n.x(), 0, n.x().most())


def _integer_product(n: Node) -> Real:
    a, b = (n.x(k) if not n.has(k + 2) else minus(n.x(k), n.x(k + 2)) for k in (0, 1))
    return times(a, b, dot)


def _integer_convolution(n: Node) -> Real:
    x, w = (n.x(k) if not n.has(k + 2) else minus(n.x(k), n.x(k + 2)) for k in (0, 1))
    exact = Node(n.proto, n.operands, n.dtypes, False)
    return _convolution(exact, x, w, None)


OPERATORS: dict[str, Callable[[Node], Real | list[Real]]] = {
    "DequantizeLinear": _dequantize,
    "QuantizeLinear": _quantize,
    "DynamicQuantizeLinear": _dynamic,
    "Add": _sum,
    "Sum": _sum,
    "Sub": _sub,
    "Mul": _mul,
    "Div": _div,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "AveragePool": _average_pool,
    "MaxPool": _max_pool,
    "GlobalAveragePool": _global("mean"),
    "GlobalMaxPool": _global("max"),
    **{f"Reduce{name}": _reduced(name.lower()) for name in ("Mean", "Sum", "Max", "Min")},
    "Sigmoid": _function(_sigmoid),
    "Tanh": _function(lambda n, x: math.tanh(x)),
    "Elu": _function(_elu),
    "HardSigmoid": _function(_hard_sigmoid, 2.0**-22),
    "LeakyRelu": _leaky,
    "Relu": _relu,
    "Clip": _clip,
    "Softmax": _softmax,
    "Transpose": _moving(lambda n, a: a.transpose(n.attributes["perm"])),
    "Reshape": _moving(_reshape),
    "Flatten": _moving(_flatten),
    "Slice": _moving(_slice),
    "Pad": _pad,
    "Concat": _concat,
    "Resize": _moving(_nearest),
    "Cast": _cast,
    "MatMulInteger": _integer_product,
    "ConvInteger": _integer_convolution,
}
"""Operator: its results."""

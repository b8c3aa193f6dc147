# SPDX-License-Identifier: Apache-2.0
"""Operators on stored integers (QLinearConv and its like): the real numbers behind them, and one float32 rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.random import exact_nodes
from tests.random.exact import Real, dot, real, times
from tests.random.exact_nodes import Node, joined, real_of, softmax_of, stored_as

Compute = Callable[[Node], Real]


def _given(n: Node, k: int, axis: int = 0) -> Real:
    """The real numbers of operand k, whose scale and zero point follow it."""
    return real_of(n.x(k), n.x(k + 1), n.x(k + 2) if n.has(k + 2) else None, axis)


def _plain(n: Node, *operands: Real | None, **attributes: Any) -> Node:
    """The application of floats with other operands."""
    found = Node(n.proto, operands, ["float32"] * len(operands), True)
    found.attributes = {**n.attributes, **attributes}
    return found


def _stored(n: Node, x: Real, k: int, dtype: str) -> Real:
    """Stored integers with the scale and zero point that are operands k and k + 1."""
    near = Node(n.proto, n.operands, n.dtypes, True)
    return stored_as(near, x, n.x(k), n.x(k + 1) if n.has(k + 1) else None, dtype)


def _conv(n: Node) -> Real:
    x, w, bias = _given(n, 0), _given(n, 3), None
    if n.has(8):
        scales = n.x(4).centre.reshape(-1) * n.x(1).centre
        bias = Real(n.x(8).centre * scales)
    return _stored(n, exact_nodes._convolution(_plain(n), x, w, bias), 6, n.dtypes[0])


def _matmul(n: Node) -> Real:
    a, b = _given(n, 0), _given(n, 3, axis=1)
    return _stored(n, exact_nodes._product(_plain(n), a, b), 6, n.dtypes[0])


def _gemm(n: Node) -> Real:
    first, second = (bool(n.get(name, 0)) for name in ("transA", "transB"))
    a, b = _given(n, 0), _given(n, 3, axis=0 if second else 1)
    a, b = (v.moved(np.transpose) if turned else v for v, turned in ((a, first), (b, second)))
    product = times(a, b, dot)
    product = product.widened(dot(a.most(), b.most()) * exact_nodes.EPSILON * (a.shape[1] + 3))
    alpha = real(np.float32(n.get("alpha", 1.0)))
    if n.has(6):
        bias = Real(n.x(6).centre * n.x(4).centre.reshape(-1) * n.x(1).centre)
        product = exact_nodes.plus(product, bias.widened(bias.most() * exact_nodes.EPSILON * 4))
    return _stored(n, times(product, alpha), 7, n.dtypes[0])


def _pair(compute: Compute) -> Compute:
    return lambda n: _stored(n, compute(_plain(n, _given(n, 0), _given(n, 3))), 6, n.dtypes[0])


def _single(compute: Compute) -> Compute:
    return lambda n: _stored(n, compute(_plain(n, _given(n, 0))), 3, n.dtypes[0])


def _softmax(n: Node) -> Real:
    """ONNX Runtime multiplies by floor(1 / scale), where the text has a division by the scale."""
    found, scale = softmax_of(n, _given(n, 0), n.get("axis", -1)), n.x(3).centre.reshape(())
    factor = int(np.float32(1) / np.float32(float(scale)))
    return _stored(n, times(found, Real(np.asarray(factor * scale, object))), 3, n.dtypes[0])


def _concat(n: Node) -> Real:
    parts = [_given(n, k) for k in range(2, len(n.operands), 3)]
    return _stored(n, joined(parts, n.attributes["axis"]), 0, n.dtypes[2])


OPERATORS: Mapping[str, Compute] = {
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "QGemm": _gemm,
    "QLinearAdd": _pair(exact_nodes.OPERATORS["Add"]),  # type: ignore[arg-type]
    "QLinearMul": _pair(exact_nodes.OPERATORS["Mul"]),  # type: ignore[arg-type]
    "QLinearAveragePool": _single(exact_nodes.OPERATORS["AveragePool"]),  # type: ignore[arg-type]
    "QLinearGlobalAveragePool": _single(exact_nodes.OPERATORS["GlobalAveragePool"]),  # type: ignore[arg-type]
    "QLinearLeakyRelu": _single(exact_nodes.OPERATORS["LeakyRelu"]),  # type: ignore[arg-type]
    "QLinearSigmoid": _single(exact_nodes.OPERATORS["Sigmoid"]),  # type: ignore[arg-type]
    "QLinearSoftmax": _softmax,
    "QLinearConcat": _concat,
}
"""Operator: its result."""

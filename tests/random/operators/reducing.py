# SPDX-License-Identifier: Apache-2.0
"""Operators that reduce, order or normalize along axes."""

from __future__ import annotations

import numpy as np

from tests.random.operators import draws
from tests.random.sketch import Sketch, Value

_BY_INPUT = {"ReduceSum": 13}
"""The opset from which on axes are an operand; 18 for all others."""


def some_axes(s: Sketch, rank: int) -> list[int]:
    axes = [k for k in range(rank) if s.chance(0.5)] or [s.number(0, rank - 1)]
    return [k - rank if s.opset >= 11 and s.chance(0.3) else k for k in axes]


@draws(
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
    "ReduceLogSum", "ReduceLogSumExp",
)  # fmt: skip
def reduce(s: Sketch, name: str) -> None:
    exact = name in ("ReduceMax", "ReduceMin")
    x = s.take(kind="i" if s.chance(0.1) and name in ("ReduceSum", "ReduceMax", "ReduceMin") else "f")
    if name == "ReduceLogSum":
        x = s.positive(x)
    if name in ("ReduceProd", "ReduceLogSumExp"):
        x = s.bounded(x, -2, 2)
    axes = some_axes(s, x.rank) if s.chance(0.85) else None
    keep = s.pick((None, 0, 1))
    if s.opset < _BY_INPUT.get(name, 18):
        s.node(name, [x], exact, axes=axes, keepdims=keep)
    elif axes is None and s.chance(0.5):
        s.node(name, [x], exact, keepdims=keep, noop_with_empty_axes=s.pick((None, 0)))
    else:
        operand = [] if axes is None else [s.int64(*axes)]
        s.node(name, [x, *operand], exact, keepdims=keep, noop_with_empty_axes=s.pick((None, 0, 1)))


@draws("ArgMax", "ArgMin")
def arg(s: Sketch, name: str) -> None:
    x = s.take(exact=True)
    axis = s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)
    last = s.pick((None, 0, 1)) if s.opset >= 12 else None
    s.node(name, [x], True, axis=axis if s.chance(0.8) else None, keepdims=s.pick((None, 0, 1)), select_last_index=last)


@draws("CumSum", since=11)
def cum_sum(s: Sketch) -> None:
    x = s.take(kind=s.pick(("f", "f", "i")))
    axis = s.const(np.array(s.axis(x.rank), s.pick((np.int32, np.int64))))
    s.node("CumSum", [x, axis], exclusive=s.pick((None, 0, 1)), reverse=s.pick((None, 0, 1)))


@draws("CumProd", since=26)
def cum_prod(s: Sketch) -> None:
    x = s.bounded(s.take(), -1.5, 1.5)
    axis = s.int64(s.axis(x.rank))
    s.node("CumProd", [x, axis], exclusive=s.pick((None, 0, 1)), reverse=s.pick((None, 0, 1)))


@draws("TopK", since=10)
def top_k(s: Sketch) -> None:
    x = s.take(exact=True)
    axis = s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)
    k = s.int64(s.number(1, x.shape[axis]))
    more = {"largest": s.pick((None, 0, 1)), "sorted": s.pick((None, 1))} if s.opset >= 11 else {}
    s.results("TopK", [x, k], 2, True, axis=axis if axis != -1 or s.chance(0.5) else None, **more)


@draws("Softmax", "LogSoftmax")
def softmax(s: Sketch, name: str) -> None:
    x = s.take()
    axis = s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)
    s.node(name, [x], axis=axis if s.chance(0.8) or x.rank < 2 else None)


@draws("Hardmax")
def hardmax(s: Sketch) -> None:
    x = s.take(exact=True)
    axis = s.axis(x.rank) if s.opset >= 11 else s.number(0, x.rank - 1)
    s.node("Hardmax", [x], True, axis=axis if s.chance(0.8) or x.rank < 2 else None)


@draws("LpNormalization")
def lp_normalization(s: Sketch) -> None:
    x = s.positive(s.take(), 0.25)
    s.node("LpNormalization", [x], axis=s.pick((None, -1, s.number(0, x.rank - 1))), p=s.pick((None, 1, 2)))


def channels(s: Sketch, x: Value, count: int) -> list[Value]:
    return [s.weights(x.shape[1]) for _ in range(count)]


def epsilon(s: Sketch) -> float | None:
    return s.pick((None, 1e-3, 0.1))


@draws("BatchNormalization")
def batch_normalization(s: Sketch) -> None:
    x = s.take((2, 3, 4, 5))
    variance = s.const((np.abs(s.floats(x.shape[1:2])) + 0.25).astype(np.float32))
    more = {"spatial": s.pick((None, 1))} if s.opset < 9 else {}
    momentum = s.pick((None, 0.5))
    s.node("BatchNormalization", [x, *channels(s, x, 3), variance], epsilon=epsilon(s), momentum=momentum, **more)


@draws("InstanceNormalization")
def instance_normalization(s: Sketch) -> None:
    x = s.take((3, 4, 5))
    s.need(int(np.prod(x.shape[2:])) > 2)
    s.node("InstanceNormalization", [x, *channels(s, x, 2)], epsilon=epsilon(s))


@draws("LayerNormalization", since=17)
def layer_normalization(s: Sketch) -> None:
    x = s.take()
    axis = s.axis(x.rank)
    s.need(int(np.prod(x.shape[axis:])) > 2)
    scales = [s.weights(*x.shape[axis:]) for _ in range(s.number(1, 2))]
    s.results("LayerNormalization", [x, *scales], s.pick((1, 1, 3)), axis=axis, epsilon=epsilon(s))


@draws("GroupNormalization", since=21)
def group_normalization(s: Sketch) -> None:
    x = s.take((3, 4))
    groups = s.pick([d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0])
    s.need(x.data.size // x.shape[0] // groups > 2)
    s.node("GroupNormalization", [x, *channels(s, x, 2)], epsilon=epsilon(s), num_groups=groups)


@draws("RMSNormalization", since=23)
def rms_normalization(s: Sketch) -> None:
    x = s.take()
    axis = s.axis(x.rank)
    s.node("RMSNormalization", [x, s.weights(*x.shape[axis:])], axis=axis, epsilon=epsilon(s))


@draws("MeanVarianceNormalization", since=9)
def mean_variance(s: Sketch) -> None:
    x = s.take((4,)) if s.chance(0.5) else s.take()
    axes = None if x.rank == 4 and s.chance(0.5) else sorted(k % x.rank for k in some_axes(s, x.rank))
    s.need(axes is None or int(np.prod([x.shape[k] for k in axes])) > 2)
    s.node("MeanVarianceNormalization", [x], axes=axes)


@draws("LRN")
def lrn(s: Sketch) -> None:
    x = s.take(4)
    numbers = {key: float(s.rng.uniform(0.1, 1)) if s.chance(0.5) else None for key in ("alpha", "beta", "bias")}
    s.node("LRN", [x], size=s.pick((1, 3, 5)), **numbers)

"""Explains results near a half, which ONNX Runtime may round to the other side, as it computes them in float32.

The oracle computes QuantizeLinear exactly, so a recorded output may differ if a value lies within NEAR of a half. Such
a difference is explained if rounding one or two of these values the other way gives the recorded output.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops._activation import unclamped
from mcugen.ops.integer_softmax import IntegerSoftmax
from mcugen.ops.normalization import Normalization
from mcugen.ops.softmax import Softmax
from mcugen.ops.table_softmax import TableSoftmax
from mcugen.oracle import interpreter

NEAR = 1e-5
"""Distance from a half, in steps, within which float32 may round the other way."""
_STEPS_NEAR: Mapping[type, float] = {Normalization: 2.0**-11, IntegerSoftmax: 2.0**-14}
"""This distance for operators of which a runtime adds sums in float32, and whose integers are no exact real numbers."""
_KINDS = (TableSoftmax, IntegerSoftmax, Normalization)
"""Operators that round real numbers once, or nearly so, without a field that says so."""

_MOST_RUNS = 60


@dataclass(frozen=True)
class NearTie:
    """A stored result near a half. other: the result rounded the other way. steps: the exact value, in steps."""

    tensor: str
    label: str
    index: tuple[int, ...]
    other: int
    steps: float

    def __str__(self) -> str:
        return f"{self.tensor} {self.label!r} element {list(self.index)}, {self.steps:.7f} steps from zero"


def rounds_once(node: Node) -> bool:
    """Whether a node rounds exact real numbers once to integers. A runtime computes these in float."""
    return getattr(node.op, "rounding", "") == "even" or isinstance(node.op, _KINDS)


def near_of(op: Op) -> float:
    """Distance from a half, in steps, within which a runtime may round a result of an operator the other way."""
    return _STEPS_NEAR.get(type(op), NEAR)


def real_steps(call: Call, operands: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """The exact result of a node that `rounds_once`, in steps of its scale, without the zero point.

    None for conversions of floats.
    """
    op: Any = call.op
    if call.input(0).is_float or call.output.quant is None:
        return None
    plain = Softmax() if isinstance(op, TableSoftmax) else replace(op, rounding="") if hasattr(op, "rounding") else op
    reals = [None if a is None else _real(call, k, a) for k, a in enumerate(operands)]
    found = unclamped(plain).reference(*reals) if hasattr(plain, "reference") else None
    if not isinstance(found, np.ndarray) or type(plain).__name__ == "Quantize":
        found = reals[0]
    return None if found is None else np.asarray(found / np.float64(np.float32(call.output.scale)))


def _real(call: Call, k: int, a: np.ndarray) -> np.ndarray:
    """An operand as real numbers in float64. A bias without a scale has the scale of the sums."""
    t = call.input(k)
    if t.is_float:
        return a.astype(np.float64)
    if t.quant is None:
        w = call.input(1).quant
        scales = np.array(w.scale if w else (1.0,), np.float32).astype(np.float64)
        return a.astype(np.float64) * np.float64(np.float32(call.input(0).scale)) * scales
    return _dequantized(t, a)


def _dequantized(t: TensorType, a: np.ndarray) -> np.ndarray:
    quant = t.quant
    if quant is None:
        return a.astype(np.float64)
    along = [1] * a.ndim
    if quant.per_channel:
        along[quant.axis] = -1
    scale = np.array(quant.scale, np.float32).astype(np.float64).reshape(along)
    return np.asarray((a.astype(np.float64) - np.array(quant.zero_point).reshape(along)) * scale)


def near(graph: Graph, values: Mapping[str, np.ndarray], which: str) -> Iterator[NearTie]:
    """The results of a run that are next to a half."""
    for node in filter(rounds_once, graph.nodes):
        call = graph.call(node, which)
        steps = real_steps(call, [None if n is None else values[n] for n in node.inputs])
        if steps is None:
            continue
        y, name = call.output, node.outputs[0]
        distance = np.abs(steps - np.floor(steps) - 0.5)
        for at in map(tuple, np.argwhere(distance < near_of(node.op))):
            stored = int(values[name][at])
            down = int(np.floor(steps[at])) + y.zero_point
            other = down + (stored == down)
            if y.limits[0] <= other <= y.limits[1] and abs(other - stored) == 1:
                yield NearTie(name, graph.tensors[name].label, tuple(map(int, at)), other, float(steps[at]))


def explained(
    graph: Graph,
    inputs: Sequence[np.ndarray],
    values: Mapping[str, np.ndarray],
    wanted: Sequence[np.ndarray],
    which: str,
) -> tuple[dict[str, np.ndarray], tuple[NearTie, ...]] | None:
    """A run that gives the wanted outputs, with one or two results near a half rounded the other way; None if there is
    none.
    """
    found = sorted(near(graph, values, which), key=lambda h: abs(h.steps - np.floor(h.steps) - 0.5))
    chosen = itertools.chain(((h,) for h in found), itertools.combinations(found, 2))
    for halves in itertools.islice(chosen, _MOST_RUNS):
        seen: dict[str, np.ndarray] = {}
        for half in halves:
            seen[half.tensor] = seen.get(half.tensor, values[half.tensor]).copy()
            seen[half.tensor][half.index] = half.other
        run = interpreter.run(graph, inputs, which, seen=seen)
        if all(_equal(run[name], y) for name, y in zip(graph.outputs, wanted, strict=True)):
            return run, halves
    return None


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool((np.abs(a - b) <= interpreter.FLOAT_TOLERANCE * max(float(np.abs(b).max(initial=0)), 1e-30)).all())


def differs(graph: Graph, values: Mapping[str, np.ndarray], wanted: Sequence[np.ndarray]) -> bool:
    """Whether an output of a run differs from the wanted one, in a graph with operators that `rounds_once` accepts."""
    if not any(map(rounds_once, graph.nodes)):
        return False
    return not all(
        _equal(values[name], y.reshape(values[name].shape)) for name, y in zip(graph.outputs, wanted, strict=True)
    )

"""Banded: a matrix whose rows have few adjacent weights, times the vectors along an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType

FRACTION = 22
"""Fractional bits of the weights of bytes."""
_WEIGHTS = {"f32": "f32", "u8": "s32"}
"""Element type of the data -> that of the weights."""


def is_of(dtype: str) -> Rule:
    """A rule: data of this type and constant weights."""

    def rule(call: Call) -> bool:
        return call.input(0).dtype == dtype and call.constants[1] is not None

    rule.__doc__ = f"the data are {dtype}, and the weights are constant"
    return rule


def sums_fit(call: Call) -> bool:
    "sums of bytes fit 32 bits"
    weights = call.constants[1]
    if weights is None or call.input(0).is_float:
        return True
    return int(255 * np.abs(weights.astype(np.int64)).sum(axis=1).max()) + (1 << (FRACTION - 1)) < 1 << 31


def _rows(weights: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """For each row, the place of its first weight other than 0, and the weights from there to the last such."""
    for row in weights:
        used = np.flatnonzero(row)
        first, end = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 0)
        yield first, row[first:end]


def params(call: Call) -> Params:
    op, shape = call.op, call.input(0).shape
    assert isinstance(op, Banded)
    axis = op.axis % len(shape)
    rows = list(_rows(call.constant(1)))
    lengths = [row.size for _, row in rows]
    return {
        "first": np.array([first + k for first, (k, _) in zip(op.first, rows, strict=True)], np.int32),
        "taps": np.array(lengths, np.uint32),
        "weights": np.concatenate([row for _, row in rows] + [np.zeros(int(not sum(lengths)), call.constant(1).dtype)]),
        "rows": len(rows),
        "step": op.step,
        "length": shape[axis],
        "count": op.count,
        "inner": prod(shape[axis + 1 :]),
        "outer": prod(shape[:axis]),
    }


def work(call: Call) -> dict[str, float]:
    """The cost terms: sums, each of a row of weights, and how often a row is taken."""
    axis = call.op.axis % len(call.output.shape)
    return {"sums": call.output.size, "taken": prod(call.output.shape[: axis + 1])}


_COST = Cost(work, ("sums", "taken"))


@dataclass(frozen=True)
class Banded(Op):
    """y[..., q * rows + r, ...] = sum over k of w[r, k] * x[..., q * step + first[r] + k, ...], along `axis`.

    x: f32 or u8 [..., n, ...], 0 beyond its ends   y: as x, with `count` elements along the axis
    w: constant [rows, taps], with zeros at the ends of a row for taps that it lacks: f32 for f32; for u8 s32 with 22
    fractional bits, whose sums fit 32 bits
    f32: every product and sum is rounded, from k = 0 upwards. u8: the sum is rounded to nearest, and clamped to a byte.
    Source: none, the filters of `--preprocess`.
    """

    axis: int
    first: tuple[int, ...]
    count: int
    step: int = 0

    litert_types = frozenset()
    exact_floats = True
    kernels = tuple(
        Kernel(f"mg_banded_{dtype}", Whole(), (is_of(dtype), sums_fit), params, operands=(0,), cost=_COST)
        for dtype in _WEIGHTS
    )

    def infer(self, x: TensorType | None, w: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or w is None or _WEIGHTS.get(x.dtype) != w.dtype:
            raise UnsupportedError(f"data {x} and weights {w} must be f32 and f32, or u8 and s32")
        if not -len(x.shape) <= self.axis < len(x.shape):
            raise ShapeError(f"axis {self.axis} does not exist in data {list(x.shape)}")
        if len(w.shape) != 2 or len(self.first) != w.shape[0] or not self.first or self.count < 1:
            raise ShapeError(f"{len(self.first)} rows with weights {list(w.shape)} cannot make {self.count} elements")
        shape = list(x.shape)
        shape[self.axis] = self.count
        return (TensorType(tuple(shape), x.dtype),)

    def reference(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return self._sums(x.astype(np.float32), w.astype(np.float32))

    def reference_q(self, call: Call, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        if call.input(0).is_float:
            return self.reference(x, w)
        sums = self._sums(x.astype(np.int64), w.astype(np.int64))
        return np.asarray(np.clip((sums + (1 << (FRACTION - 1))) >> FRACTION, 0, 255))

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The sums, tap by tap, in the type of the operands."""
        data = np.ascontiguousarray(np.moveaxis(x, self.axis, 0))
        sums = np.zeros((self.count, *data.shape[1:]), data.dtype)
        rows = list(_rows(w))
        if len(rows) ** 2 <= self.count:
            for r, (first, row) in enumerate(rows[: self.count]):
                self._add_row(sums[r :: len(rows)], data, self.first[r] + first, row)
        else:
            self._add_taps(sums, data, rows)
        return np.moveaxis(sums, 0, self.axis)

    def _add_row(self, sums: np.ndarray, data: np.ndarray, start: int, row: np.ndarray) -> None:
        """Add the sums of one row of the matrix, whose elements are `step` apart in the data."""
        step = max(self.step, 1)
        for k, weight in enumerate(row):
            low = max(0, -((start + k) // step))
            high = min(len(sums), -((start + k - len(data)) // step)) if self.step else int(start + k < len(data))
            if low < high:
                at = start + k + low * step
                sums[low:high] += weight * data[at : at + (high - low - 1) * step + 1 : step]

    def _add_taps(self, sums: np.ndarray, data: np.ndarray, rows: Sequence[tuple[int, np.ndarray]]) -> None:
        """Add the same tap of all rows at once, then the next."""
        blocks = -(-self.count // len(rows))
        firsts = np.array([first + k for first, (k, _) in zip(self.first, rows, strict=True)])
        starts = (np.arange(blocks)[:, None] * self.step + firsts).reshape(-1)[: self.count]
        taps = np.zeros((len(rows), max(row.size for _, row in rows)), data.dtype)
        for k, (_, row) in enumerate(rows):
            taps[k, : row.size] = row
        lengths = np.tile([row.size for _, row in rows], blocks)[: self.count]
        of_row = np.arange(self.count) % len(rows)
        for k in range(taps.shape[1]):
            at = starts + k
            here = np.flatnonzero((lengths > k) & (at >= 0) & (at < len(data)))
            sums[here] += taps[of_row[here], k].reshape(-1, *[1] * (data.ndim - 1)) * data[at[here]]

    def macs(self, call: Call) -> int:
        weights = call.constants[1]
        taps = call.input(1).shape[1] if weights is None else np.count_nonzero(weights) / len(weights)
        return int(call.output.size * taps)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            (cls(-1, (0, 1, 3), 3), (2, 3, 7), 4),
            (cls(1, (-2,), 9, 1), (1, 9), 5),
            (cls(1, (-1, 0, 2), 8, 4), (2, 11, 3), 3),
            (cls(0, (0, 2), 2), (5, 2), 3),
            (cls(2, (1,), 1), (1, 4, 3), 2),
        )
        return [
            Example(op, (x, w), op.infer(x, w), {1: _drawn(w, k)}, k)
            for k, (op, shape, taps) in enumerate(cases)
            for dtype, weights in _WEIGHTS.items()
            for x, w in [(TensorType(shape, dtype), TensorType((len(op.first), taps), weights))]
        ]


def _drawn(t: TensorType, seed: int) -> np.ndarray:
    """Weights of an example; the first row has zeros at its ends."""
    values = np.random.default_rng(seed).uniform(-1, 1, t.shape) / t.shape[1] * 2
    if len(values) > 1:
        values[0, [0, -1]] = 0
    return (values * (1 if t.is_float else 1 << FRACTION)).astype(t.np_dtype)

"""Banded: a matrix whose rows have few adjacent weights, times the vectors along an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, RowWindow, Text, Whole, Window
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, images_of, rows_of

FRACTION = 22
"""Fractional bits of the weights of bytes."""
_WEIGHTS = {"f32": "f32", "u8": "s32"}
"""Element type of the data -> element type of the weights."""


def is_of(dtype: str) -> Rule:
    """A rule: data of this type and constant weights."""

    def rule(call: Call) -> bool:
        return call.input(0).dtype == dtype and call.constants[1] is not None

    rule.__doc__ = f"the data are {dtype}, and the weights are constant"
    return rule


def sums_fit(call: Call) -> bool:
    "the data are float, or all sums of bytes times weights stay within 32 bits"
    weights = call.constants[1]
    if weights is None or call.input(0).is_float:
        return True
    return int(255 * np.abs(weights.astype(np.int64)).sum(axis=1).max()) + (1 << (FRACTION - 1)) < 1 << 31


def within_rows(call: Call) -> bool:
    "the data are one image of several rows, and the axis lies within a row"
    shape = call.input(0).shape
    return _is_image(call) and call.op.axis % len(shape) >= 2


def across_rows(call: Call) -> bool:
    "the data are one image, the axis is that of the rows, and they are read in order"
    shape = call.input(0).shape
    return _is_image(call) and call.op.axis % len(shape) == 1 and bool((np.diff(_starts(call)) >= 0).all())


def _is_image(call: Call) -> bool:
    return len(call.output.shape) == 4 and images_of(call.output.shape) == 1 and rows_of(call.output.shape) > 1


def _starts(call: Call) -> np.ndarray:
    """For each element along the axis of the result, the place of the first element of the operand with a weight."""
    op = call.op
    assert isinstance(op, Banded)
    block, row = np.divmod(np.arange(op.count), len(op.first))
    firsts = [first + k for first, (k, _) in zip(op.first, _rows(call.constant(1)), strict=True)]
    return np.asarray(block * op.step + np.array(firsts)[row])


def row_within(call: Call) -> RowWindow:
    height = rows_of(call.output.shape)
    return RowWindow(1, 1, 1, 0, height, height)


def window_across(call: Call) -> RowWindow:
    most = max(row.size for _, row in _rows(call.constant(1)))
    return RowWindow.of_firsts(most, _starts(call).tolist(), rows_of(call.input(0).shape))


def params_within(call: Call) -> Params:
    found = params(call)
    return {**found, "outer": found["outer"] // rows_of(call.output.shape)}


def _rows(weights: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """For each row, (index of its first nonzero weight, its weights from the first to the last nonzero weight)."""
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
    """The cost terms. sums: results; taken: how often C sets up a row of weights for the vectors along the axis.

    vectors: results, in place of these two, if the matrix has one row and the axis is the last; triples: those of three
    weights, for which C has a loop of its own.
    """
    axis, shape = call.op.axis % len(call.output.shape), call.output.shape
    if call.op.count == 1 and prod(shape[axis + 1 :]) == 1:
        threes = [row.size for _, row in _rows(call.constant(1))] == [3]
        return {"triples" if threes else "vectors": call.output.size}
    return {"sums": call.output.size, "taken": prod(shape[: axis + 1])}


_COST = Cost(work, ("sums", "taken", "vectors", "triples"))


def _kernels(dtype: str) -> Iterator[Kernel]:
    name, rules = f"mg_banded_{dtype}", (is_of(dtype), sums_fit)
    within, across = (*rules, within_rows), (*rules, across_rows)
    text = Text(helpers=(f"banded_{dtype}.c",))
    yield Kernel(f"{name}__within", Window(row_within), within, params_within, (0,), text=text, cost=_COST)
    yield Kernel(f"{name}__across", Window(window_across), across, params, (0,), cost=_COST)
    yield Kernel(name, Whole(), rules, params, (0,), cost=_COST)


@dataclass(frozen=True)
class Banded(Op):
    """y[..., q * rows + r, ...] = sum over k of w[r, k] * x[..., q * step + first[r] + k, ...], along `axis`.

    x: f32 or u8 [..., n, ...], 0 beyond its ends   y: as x, with `count` elements along the axis
    w: constant [rows, taps], shorter rows padded with zeros; f32 with f32, s32 with 22 fractional bits with u8
    s32: 255 times the sum of the magnitudes in a row must fit 32 bits
    f32: every product and sum is rounded, from k = 0 upwards. u8: the sum is rounded to nearest, and clamped to a byte.
    Source: none, the filters of `--preprocess`.
    """

    axis: int
    first: tuple[int, ...]
    count: int
    step: int = 0

    litert_types = frozenset()
    exact_floats = True
    kernels = tuple(kernel for dtype in _WEIGHTS for kernel in _kernels(dtype))

    def infer(self, x: TensorType | None, w: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or w is None or _WEIGHTS.get(x.dtype) != w.dtype:
            raise UnsupportedError(f"data {x} and weights {w} must be f32 and f32, or u8 and s32")
        if not -len(x.shape) <= self.axis < len(x.shape):
            raise ShapeError(f"axis {self.axis} does not exist in data {list(x.shape)}")
        if len(w.shape) != 2 or len(self.first) != w.shape[0] or not self.first or self.count < 1:
            raise ShapeError(
                f"weights {list(w.shape)} must have {len(self.first)} rows, and count={self.count} must be positive"
            )
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
        """Add the sums of one matrix row. Successive sums read windows of the data that are `step` elements apart."""
        step = max(self.step, 1)
        for k, weight in enumerate(row):
            low = max(0, -((start + k) // step))
            high = min(len(sums), -((start + k - len(data)) // step)) if self.step else int(start + k < len(data))
            if low < high:
                at = start + k + low * step
                sums[low:high] += weight * data[at : at + (high - low - 1) * step + 1 : step]

    def _add_taps(self, sums: np.ndarray, data: np.ndarray, rows: Sequence[tuple[int, np.ndarray]]) -> None:
        """Add to all sums the products with tap 0 of their rows, then with tap 1, and so on."""
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
            (cls(2, (0, 1, 1), 4, 2), (1, 3, 5, 2), 3),
            (cls(-1, (0,), 1), (1, 2, 4, 3), 3),
            (cls(-1, (-1,), 1), (2, 3), 3),
            (cls(1, (-1, 0, 2, 2), 4), (1, 4, 2, 3), 3),
            (cls(1, (0, 1), 5, 2), (1, 5, 3, 1), 2),
            (cls(1, (1, 0), 2), (1, 3, 3, 1), 2),
        )
        return [
            Example(op, (x, w), op.infer(x, w), {1: _drawn(w, k)}, k)
            for k, (op, shape, taps) in enumerate(cases)
            for dtype, weights in _WEIGHTS.items()
            for x, w in [(TensorType(shape, dtype), TensorType((len(op.first), taps), weights))]
        ]


def _drawn(t: TensorType, seed: int) -> np.ndarray:
    """Weights of an example; the first row has zeros at its ends. Of three weights, the middle one is 1: a copy."""
    values = np.random.default_rng(seed).uniform(-1, 1, t.shape) / t.shape[1] * 2
    if len(values) > 1:
        values[0, [0, -1]] = 0
        if t.shape[1] == 3:
            values[0, 1] = 1
    return (values * (1 if t.is_float else 1 << FRACTION)).astype(t.np_dtype)

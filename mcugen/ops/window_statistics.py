"""WindowStatistics: statistics of each channel of a window of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops import _signal
from mcugen.ops._blocks import summed

_SIMPLE = ("mean", "rms", "absolute", "min", "max", "range", "zero-crossings")
_ABOUT_MEAN = ("variance", "std", "mad", "mean-crossings")
_POWERS = ("skewness", "kurtosis")
STATISTICS = (*_SIMPLE, *_ABOUT_MEAN, *_POWERS)
"""The names, in the order of the C."""
_DTYPES = ("f32", "s16")


def params(call: Call) -> Params:
    op, shape = call.op, call.input(0).shape
    assert isinstance(op, WindowStatistics)
    return {
        "length": shape[-2],
        "channels": shape[-1],
        "outer": call.input(0).size // (shape[-2] * shape[-1]),
        "count": len(op.names),
        "statistics": np.array([STATISTICS.index(name) for name in op.names], np.uint8),
        **_parts(op),
    }


def _parts(op: Op) -> dict[str, int]:
    """Whether deviations from the mean are needed, and whether their powers are."""
    assert isinstance(op, WindowStatistics)
    names = set(op.names)
    return {"about_mean": int(not names <= set(_SIMPLE)), "powers": int(not names.isdisjoint(_POWERS))}


def work(call: Call) -> dict[str, float]:
    """The cost term: numbers read, twice for the mean, then for deviations from it and for their powers."""
    return {"read": call.input(0).size * (2 + sum(_parts(call.op).values()))}


@dataclass(frozen=True)
class WindowStatistics(Op):
    """y[..., c * k + j] = statistic `names[j]` of the n numbers x[..., :, c]. k: how many names.

    x: f32 or s16 [..., n, channels]   y: f32 [..., channels * k]
    With m = sum(x) / n and r = sum(x - m) / n, d is (x - m) - r; z is d * (1 / std), or 0 if std is 0.
    Sums are formed within blocks of 64 numbers, then over the blocks.
    mean: m + r   variance: sum(d^2) / n   std: root of the variance   rms: root of sum(x^2) / n
    absolute: sum |x| / n   mad: sum |d| / n   range: max - min   skewness: sum(z^3) / n   kurtosis: sum(z^4) / n - 3
    zero-crossings, mean-crossings: changes of the sign of x and d; a zero has the sign of the number before it.
    Each operation rounds to f32. Source: none, the statistics of `--preprocess`.
    """

    names: tuple[str, ...]

    litert_types = frozenset()
    exact_floats = True
    kernels = tuple(
        Kernel(
            f"mg_window_statistics_{dtype}",
            Whole(),
            (_signal.data_is(dtype),),
            params,
            cost=Cost(work, ("read",)),
        )
        for dtype in _DTYPES
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype not in _DTYPES:
            raise UnsupportedError(f"statistics of {x}: float32 or int16 data are needed")
        if len(x.shape) < 2 or not x.size or not self.names or not set(self.names) <= set(STATISTICS):
            raise ShapeError(f"statistics {list(self.names)} of data {list(x.shape)}: [..., n, channels] are needed")
        return (TensorType((*x.shape[:-2], x.shape[-1] * len(self.names)), "f32"),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        found = _statistics(np.moveaxis(x.astype(np.float32), -2, 0))
        values = np.stack([found[name] for name in self.names], axis=-1)
        return values.reshape(*x.shape[:-2], -1)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return self.reference(x)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            (STATISTICS, (2, 150, 3)),
            (("mean", "max"), (64, 1)),
            (("kurtosis", "min"), (1, 2, 65, 2)),
            (("std",), (1, 4)),
            (("mean-crossings", "zero-crossings"), (1, 31, 2)),
        )
        return [
            Example(cls(names), (x,), cls(names).infer(x), {}, k)
            for k, (names, shape) in enumerate(cases)
            for x in [TensorType(shape, dtype) for dtype in _DTYPES]
        ]


def _statistics(x: np.ndarray) -> dict[str, np.ndarray]:
    """All statistics of float32 [n, ...] along the first axis."""
    n = np.float32(len(x))
    middle = summed(x) / n
    rest = summed(x - middle) / n
    d = (x - middle) - rest
    variance = summed(d * d) / n
    std = np.sqrt(variance)
    z = d * np.where(std > 0, np.float32(1) / std, np.float32(0))
    square = z * z
    low, high = _extremes(x)
    return {
        "mean": middle + rest,
        "rms": np.sqrt(summed(x * x) / n),
        "absolute": summed(np.abs(x)) / n,
        "min": low,
        "max": high,
        "range": high - low,
        "zero-crossings": _crossings(x),
        "variance": variance,
        "std": std,
        "mad": summed(np.abs(d)) / n,
        "mean-crossings": _crossings(d),
        "skewness": summed(square * z) / n,
        "kurtosis": np.where(std > 0, summed(square * square) / n - np.float32(3), np.float32(0)),
    }


def _extremes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest number, of equal numbers the first."""
    low = high = x[0]
    for row in x[1:]:
        low, high = np.where(row < low, row, low), np.where(row > high, row, high)
    return low, high


def _crossings(x: np.ndarray) -> np.ndarray:
    """The number of changes between negative and positive numbers."""
    sign, found = np.zeros(x.shape[1:], np.int8), np.zeros(x.shape[1:], np.int32)
    for row in x:
        now = (row > 0).astype(np.int8) - (row < 0)
        found += now * sign < 0
        sign = np.where(now == 0, sign, now)
    return found.astype(np.float32)

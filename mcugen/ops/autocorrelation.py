"""Autocorrelation: how much each channel of a window resembles itself some samples later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops._blocks import summed


def params(call: Call) -> Params:
    op, shape = call.op, call.input(0).shape
    assert isinstance(op, Autocorrelation)
    return {
        "length": shape[-2],
        "channels": shape[-1],
        "outer": call.input(0).size // (shape[-2] * shape[-1]),
        "count": len(op.lags),
        "lags": np.array(op.lags, np.uint32),
    }


def work(call: Call) -> dict[str, float]:
    """The cost term: products."""
    return {"products": call.op.macs(call)}


@dataclass(frozen=True)
class Autocorrelation(Op):
    """y[..., c * k + j] = sum over t of x[..., t, c] x[..., t + lags[j], c] / sum of x[..., :, c]^2. k: how many lags.

    x: f32 [..., n, channels], with all lags below n   y: f32 [..., channels * k], 0 where the sum of squares is 0
    Sums are formed within blocks of 64 samples, then over the blocks. Each operation rounds to f32.
    Source: none, the autocorrelation of `--preprocess`.
    """

    lags: tuple[int, ...]

    litert_types = frozenset()
    exact_floats = True
    kernels = (Kernel("mg_autocorrelation_f32", Whole(), params=params, cost=Cost(work, ("products",))),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "f32":
            raise UnsupportedError(f"the autocorrelation of {x}: float32 data are needed")
        if len(x.shape) < 2 or not x.size or not self.lags or not 0 <= min(self.lags) <= max(self.lags) < x.shape[-2]:
            raise ShapeError(f"lags {list(self.lags)} do not fit data {list(x.shape)}: [..., n, channels] are needed")
        return (TensorType((*x.shape[:-2], x.shape[-1] * len(self.lags)), "f32"),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        values = np.moveaxis(x.astype(np.float32), -2, 0)
        n, energy = len(values), summed(values * values)
        sums = [summed(values[: n - lag] * values[lag:]) for lag in self.lags]
        found = [np.where(energy > 0, total / energy, np.float32(0)) for total in sums]
        return np.stack(found, axis=-1).reshape(*x.shape[:-2], -1)

    def macs(self, call: Call) -> int:
        shape = call.input(0).shape
        return call.input(0).size // shape[-2] * (shape[-2] + sum(shape[-2] - lag for lag in self.lags))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((1, 2, 149), (2, 150, 3)), ((0, 5), (1, 9, 1)), ((63,), (64, 2)))
        return [
            Example(cls(lags), (x,), cls(lags).infer(x), {}, k)
            for k, (lags, shape) in enumerate(cases)
            for x in [TensorType(shape, "f32")]
        ]

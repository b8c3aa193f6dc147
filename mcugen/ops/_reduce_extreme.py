"""Shared recipe of REDUCE_MAX and REDUCE_MIN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example
from mcugen.ir.quant_rule import SHARED_BYTES, Scales
from mcugen.ir.ranges import Range
from mcugen.ir.types import dtypes
from mcugen.ops import _pool, _reduce


class ReducedExtreme(_reduce.Reduction):
    """The largest or the smallest of the reduced stored integers: a subclass defines `chosen_by`."""

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f32 bool")
    chosen_by: ClassVar[np.ufunc]

    def quantized(self, call: Call) -> Scales:
        return SHARED_BYTES

    def keeps_values(self, call: Call) -> bool:
        return True

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.chosen_by.reduce(x, axis=self.chosen(x.ndim), keepdims=self.keep_dims))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return self.reference(x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (_reduce.operand_range(call),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _reduce.examples(cls, rescaled=False)


def kernels(symbol: str) -> tuple[Kernel, ...]:
    """The kernels <symbol>_<dtype>."""
    rules = {"s8": _pool.int8_data, "s16": _pool.int16_data, "f32": _pool.float_data}
    return tuple(
        Kernel(f"{symbol}_{dtype}", Whole(), accepts=(rule,), params=_reduce.walk) for dtype, rule in rules.items()
    )

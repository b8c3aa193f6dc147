"""REDUCE_MAX: the largest value over axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.call import Call
from mcugen.channels import Range
from mcugen.imports import Import, Imported, Source
from mcugen.kernel import Form, Kernel
from mcugen.op import Example
from mcugen.ops import _pool, _reduce
from mcugen.types import dtypes


def from_tflite(source: Source) -> Imported:
    return Imported(ReduceMax(**_reduce.attributes(source)), inputs=(0,))


@dataclass(frozen=True)
class ReduceMax(_reduce.Reduction):
    """y = largest value of x over `axes`.

    x: s8, u8, s16 or f32, any shape   y: as x, with x's scale; the axes left out, or of size 1 with keep_dims
    Source: TFLite REDUCE_MAX.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "REDUCE_MAX", from_tflite),)
    kernels = tuple(
        Kernel(f"mg_reduce_max_{dtype}", Form.WHOLE, accepts=(rule,), params=_reduce.walk)
        for dtype, rule in (("s8", _pool.int8_data), ("s16", _pool.int16_data), ("f32", _pool.float_data))
    )

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.max(axis=self.chosen(x.ndim), keepdims=self.keep_dims))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Integers are compared as they are stored."""
        return self.reference(x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (_reduce.operand_range(call),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _reduce.examples(cls, rescaled=False)

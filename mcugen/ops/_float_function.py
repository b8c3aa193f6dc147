"""Base of functions of float32 data: one tensor in, one of the same shape out."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.ir.op import Example
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _unary
from mcugen.ops._channelwise import Pointwise


class FloatFunction(Pointwise):
    """y = f(x) for each element of float32 data. A subclass states `element`, `kernels` and `reference`."""

    tflm_types = dtypes("f32")
    litert_types = dtypes("f32")

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("f32",))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [*_unary.examples(cls(), "f32"), *_unary.examples(cls(), "f32", seed=3)]

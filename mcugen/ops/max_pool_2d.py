"""MAX_POOL_2D: the largest value of a sliding window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel, Window
from mcugen.ir.op import Example
from mcugen.ir.types import dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _pool, _tflite
from mcugen.oracle import quantized


def from_tflite(source: Source) -> Imported:
    return Imported(MaxPool2D(**_pool.attributes(source)))


def params(call: Call) -> Params:
    return {**_pool.geometry(call), **_pool.clamp(call)}


def smallest(call: Call) -> int | float:
    """The least value of the type, as padding that never is the maximum."""
    dtype = call.input(0).dtype
    return -float(np.finfo(np.float32).max) if dtype == "f32" else INT_RANGE[dtype][0]


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """MAX_POOL_2D. Padding that is neither SAME nor VALID is written as a PADV2 with the least value."""
    operand = _tflite.around(sink, str(inputs[0]), _pool.pool_of(call).window, smallest(call))
    return _pool.written(call, sink, "MAX_POOL_2D", operand)


class MaxPool2D(_pool.Pool):
    """y[n, i, j, c] = activation(max over taps inside the image of x[n, i*s+kh-p, j*s+kw-p, c]).

    x: s8, u8, s16 or f32 [N, H, W, C]   y: as x, with x's scale and zero point, [N, OH, OW, C]
    Source: TFLite MAX_POOL_2D; quantization specification, section MAX_POOL_2D.
    """

    only_moves = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "MAX_POOL_2D", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.pool("MaxPool"))
    kernels = tuple(
        Kernel(
            f"mg_max_pool_2d_{rule_dtype}",
            Window(_pool.row_window, smallest),
            accepts=(rule,),
            params=params,
            cost=Cost(_pool.work, _pool.TERMS),
        )
        for rule_dtype, rule in (("s8", _pool.int8_data), ("s16", _pool.int16_data), ("f32", _pool.float_data))
    )

    def reference(self, x: np.ndarray) -> np.ndarray:
        return quantized.clamped(self._largest(x, -np.inf), self.activation)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Compares stored integers.

        Source: reference_integer_ops/pooling.h, MaxPool.
        """
        low = quantized.ends(call.input(0))[0]
        return quantized.activated(self._largest(x.astype(np.int64), low), self.activation, call.output)

    def _largest(self, x: np.ndarray, fill: float) -> np.ndarray:
        return reduce(np.maximum, (tap for _, _, tap in self.window.taps(x, fill)))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return _pool.examples(cls, ("s8", "s16", "f32"))

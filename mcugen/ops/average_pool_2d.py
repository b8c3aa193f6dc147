"""AVERAGE_POOL_2D: the mean of a sliding window, over the taps inside the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mcugen.call import Call, Params
from mcugen.imports import Import, Imported, Source
from mcugen.kernel import Form, Kernel
from mcugen.op import Example, Op
from mcugen.ops import _pool
from mcugen.ops._divide import reciprocals
from mcugen.oracle import quantized
from mcugen.types import dtypes

FLIP = 128


def from_tflite(source: Source) -> Imported:
    return Imported(AveragePool2D(**_pool.attributes(source)))


def sums_fit(call: Call) -> bool:
    "no window's sum can leave 31 bits"
    op = _pool.pool_of(call)
    most = 1 << (16 if call.input(0).dtype == "s16" else 9)
    return op.kernel[0] * op.kernel[1] * most < 2**31


def is_global(call: Call) -> bool:
    "the only window covers the whole image"
    x, y = call.input(0).shape, call.output.shape
    counts = [int(_pool.tap_counts(call, d)[0]) for d in (0, 1)]
    return y[1:3] == (1, 1) and counts == [x[1], x[2]]


def params_int(call: Call) -> Params:
    rows, columns = (np.unique(_pool.tap_counts(call, d)) for d in (0, 1))
    rows, columns = (np.arange(n[0], n[-1] + 1) for n in (rows, columns))
    mult, shift = reciprocals(np.outer(rows, columns))
    op = call.op
    assert isinstance(op, AveragePool2D)
    return {
        "recip_mult": mult,
        "recip_shift": shift,
        **_pool.geometry(call),
        "min_rows": int(rows[0]),
        "min_columns": int(columns[0]),
        "recip_pitch": columns.size,
        "offset": FLIP if op.flipped_u8 else 0,
        **_pool.clamp(call),
    }


def params_float(call: Call) -> Params:
    return {**_pool.geometry(call), **_pool.clamp(call)}


def sums_bytes(call: Call) -> int:
    """One 32 bit sum per channel."""
    return 4 * call.output.shape[3]


@dataclass(frozen=True)
class AveragePool2D(_pool.Pool):
    """y[n, i, j, c] = activation(sum over taps inside the image of x[n, i*s+kh-p, j*s+kw-p, c] / their number).

    x: s8, u8, s16 or f32 [N, H, W, C]   y: as x, with x's scale and zero point, [N, OH, OW, C]
    flipped_u8: the data was uint8 before its top bit was flipped, and keeps uint8's rounding.
    Source: TFLite AVERAGE_POOL_2D; quantization specification, section AVERAGE_POOL_2D.
    """

    flipped_u8: bool = False

    only_moves = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "AVERAGE_POOL_2D", from_tflite),)
    kernels = (
        Kernel(
            "mg_average_pool_2d_s8__global",
            Form.ACCUMULATE,
            accepts=(_pool.int8_data, sums_fit, is_global),
            params=params_int,
            scratch=sums_bytes,
        ),
        Kernel(
            "mg_average_pool_2d_s8",
            Form.WINDOW,
            accepts=(_pool.int8_data, sums_fit),
            params=params_int,
            window=_pool.row_window,
            work=_pool.work,
            terms=_pool.TERMS,
            outside=lambda call: 0,
        ),
        Kernel(
            "mg_average_pool_2d_s16",
            Form.WINDOW,
            accepts=(_pool.int16_data, sums_fit),
            params=params_int,
            window=_pool.row_window,
            work=_pool.work,
            terms=_pool.TERMS,
            outside=lambda call: 0,
        ),
        Kernel(
            "mg_average_pool_2d_f32",
            Form.WINDOW,
            accepts=(_pool.float_data,),
            params=params_float,
            window=_pool.row_window,
            work=_pool.work,
            terms=_pool.TERMS,
            outside=lambda call: 0.0,
        ),
    )

    def reference(self, x: np.ndarray) -> np.ndarray:
        return quantized.clamped(self._sums(x) / self._counts(x), self.activation)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """Bit-exact integer mean: halves away from zero, for uint8 on the raw values, which are not negative.

        Source: reference_integer_ops/pooling.h, reference_ops::AveragePool (uint8).
        """
        offset = FLIP if self.flipped_u8 else 0
        count = self._counts(x).astype(np.int64)
        acc = self._sums(x.astype(np.int64)) + offset * count
        mean = np.sign(acc) * ((np.abs(acc) + count // 2) // count)
        return quantized.activated(mean - offset, self.activation, call.output)

    def flipped(self) -> Op:
        return replace(self, flipped_u8=True)

    def _sums(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(sum(tap for _, _, tap in self.window.taps(x, 0)))

    def _counts(self, x: np.ndarray) -> np.ndarray:
        """How many taps lie inside the image, [N, OH, OW, C]."""
        return self._sums(np.ones(x.shape))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        signed = _pool.examples(cls, ("s8", "s16", "f32"))
        flipped = _pool.examples(partial(cls, flipped_u8=True), ("s8",))
        return [*signed, *flipped]

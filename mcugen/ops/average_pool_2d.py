"""AVERAGE_POOL_2D: the mean of a sliding window, over the taps inside the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir import ranges
from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Accumulate, Cost, Kernel, Window
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range
from mcugen.ir.requantize_proof import LinearRounding
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _onnx, _pool, _rounding, _tflite
from mcugen.ops._divide import reciprocals
from mcugen.oracle import once, quantized

FLIP = 128
_SPAN = 255
"""Largest distance of a stored value from its zero point."""


def from_tflite(source: Source) -> Imported:
    return Imported(AveragePool2D(**_pool.attributes(source)))


def sums_fit(call: Call) -> bool:
    "the sums of all windows stay within 32 bits"
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


def by_runtime(call: Call) -> bool:
    "the operator leaves rounding to the runtime, and the result has the scale of the input"
    return not _rounding.is_stated(call)


def _counts_of(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(row counts, column counts): how many rows and columns of a window can lie inside the image, least to largest."""
    rows, columns = (np.unique(_pool.tap_counts(call, d)) for d in (0, 1))
    return np.arange(rows[0], rows[-1] + 1), np.arange(columns[0], columns[-1] + 1)


_IN_FLOAT = ("float", "single")


def _is_far_from_halves(call: Call, counts: np.ndarray) -> bool:
    """Whether all exact means differ from halves by more than the rounding errors of float32.

    counts: the numbers of taps that windows can have.
    """
    ratio = float(_rounding.scale_of(call.input(0).scale) / _rounding.scale_of(call.output.scale))
    taps = int(counts.max())
    unsure = (taps + 6) * 2.0**-24 * (_SPAN * ratio + _SPAN) + 2.0**-40
    for n in np.unique(counts):
        means = np.arange(-_SPAN * n, _SPAN * n + 1) * (ratio / n)
        if bool((np.abs(means - np.floor(means) - 0.5) < unsure).any()):
            return False
    return True


def _lines(call: Call) -> tuple[np.ndarray, LinearRounding | None]:
    """(numbers of taps that windows can have, for each the proved constants of line.h; or None)."""
    x, y = call.input(0), call.output
    counts = np.maximum(np.outer(*_counts_of(call)).reshape(-1), 1)
    least, most = (int(v) - x.zero_point for v in x.limits)
    slope = _rounding.scale_of(x.scale) / _rounding.scale_of(y.scale)
    slopes, none = tuple(slope / int(n) for n in counts), (Fraction(0),) * counts.size
    sums = Range(counts * least, counts * most)
    how = _rounding.rounding_of(call)
    if how in _IN_FLOAT:
        how = "even" if _is_far_from_halves(call, counts) else ""
    if not how:
        return counts, None
    steps = _rounding.steps_of(how, slopes, none, y, call.op.activation, sums)
    return counts, _rounding.line(steps, abs(y.zero_point))


def has_lines(call: Call) -> bool:
    "the operator states how it rounds; a multiplication, a shift and few exceptions give these results"
    return _rounding.is_stated(call) and _lines(call)[1] is not None


def params_line(call: Call) -> Params:
    (counts, found), (rows, columns) = _lines(call), _counts_of(call)
    if found is None:
        return {}
    how, before = "stored" if _rounding.rounding_of(call) == "stored" else "even", counts * call.input(0).zero_point
    return {
        **_rounding.line_fields(found, call.output, call.op.activation, how, before),
        **_pool.geometry(call),
        "min_rows": int(rows[0]),
        "min_columns": int(columns[0]),
        "pitch": columns.size,
    }


def sums_floats(call: Call) -> bool:
    "means are computed in float32"
    return _rounding.rounding_of(call) in _IN_FLOAT


def params_real(call: Call) -> Params:
    x = call.input(0)
    zero, is_inside = call.output.zero_point, _rounding.rounding_of(call) == "single"
    inside = zero + _rounding.flip_of(call) if is_inside else 0
    with np.errstate(over="ignore"):
        real = np.float32(x.scale) * (np.arange(-128, 128) - x.zero_point).astype(np.float32)
    return {
        **_pool.geometry(call),
        "real": real.astype(np.float32),
        "scale": call.output.scale,
        "inside": float(inside),
        "zero_point": zero - inside,
        **_pool.clamp(call),
        "by_columns": int(call.op.by_columns),
    }


def params_float(call: Call) -> Params:
    return {**_pool.geometry(call), **_pool.clamp(call)}


def sums_bytes(call: Call) -> int:
    """Scratch in bytes: one 32-bit sum per channel."""
    return 4 * call.output.shape[3]


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    window, (height, width) = _pool.pool_of(call).window, call.input(0).shape[1:3]
    padding = _tflite.named_padding(window, (height, width))
    if not padding:
        raise UnsupportedError(f"AVERAGE_POOL_2D pads like SAME or VALID, not by {window.padding}")
    return _pool.written(call, sink, "AVERAGE_POOL_2D", (str(inputs[0]), padding))


@dataclass(frozen=True)
class AveragePool2D(_pool.Pool):
    """y[n, i, j, c] = activation(sum over taps inside the image of x[n, i*s+kh-p, j*s+kw-p, c] / their number).

    x: s8, u8, s16 or f32 [N, H, W, C]   y: as x, with x's scale and zero point, [N, OH, OW, C]
    flipped_u8: whether the model's data is uint8; means are then rounded as on uint8
    rounding: if not empty, y may have another scale and zero point:
      "even", "stored"  the exact mean, rounded once; see _rounding
      "float"           a float32 mean, then QuantizeLinear
      "single"          as QLinearAveragePool computes it in ONNX Runtime, in float32, row by row
    by_columns: whether floats are added column by column, as ONNX Runtime does before opset 19
    Source: TFLite AVERAGE_POOL_2D; quantization specification, section AVERAGE_POOL_2D.
    """

    flipped_u8: bool = False
    rounding: str = ""
    by_columns: bool = False

    only_moves = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f32")
    imports = (Import("tflite", "AVERAGE_POOL_2D", from_tflite),)
    writes = (Write("tflite", to_tflite), _onnx.pool("AveragePool"))
    kernels = (
        Kernel(
            "mg_average_pool_2d_s8_line__global",
            Accumulate(),
            accepts=(_pool.int8_data, sums_fit, is_global, has_lines),
            params=params_line,
            scratch=sums_bytes,
        ),
        Kernel(
            "mg_average_pool_2d_s8_line",
            Window(_pool.row_window, lambda call: 0),
            accepts=(_pool.int8_data, sums_fit, has_lines),
            params=params_line,
            cost=Cost(_pool.work, _pool.TERMS),
        ),
        Kernel(
            "mg_average_pool_2d_s8_float",
            Window(_pool.row_window, lambda call: 0),
            accepts=(_pool.int8_data, sums_floats),
            params=params_real,
            cost=Cost(_pool.work, _pool.TERMS),
        ),
        Kernel(
            "mg_average_pool_2d_s8__global",
            Accumulate(),
            accepts=(_pool.int8_data, sums_fit, is_global, by_runtime),
            params=params_int,
            scratch=sums_bytes,
        ),
        Kernel(
            "mg_average_pool_2d_s8",
            Window(_pool.row_window, lambda call: 0),
            accepts=(_pool.int8_data, sums_fit, by_runtime),
            params=params_int,
            cost=Cost(_pool.work, _pool.TERMS),
        ),
        Kernel(
            "mg_average_pool_2d_s16",
            Window(_pool.row_window, lambda call: 0),
            accepts=(_pool.int16_data, sums_fit, by_runtime),
            params=params_int,
            cost=Cost(_pool.work, _pool.TERMS),
        ),
        Kernel(
            "mg_average_pool_2d_f32",
            Window(_pool.row_window, lambda call: 0.0),
            accepts=(_pool.float_data,),
            params=params_float,
            cost=Cost(_pool.work, _pool.TERMS),
        ),
    )

    def reference(self, x: np.ndarray) -> np.ndarray:
        return quantized.clamped(self._sums(x) / self._counts(x), self.activation)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        """The integer mean, halves away from zero. For uint8 data it is the mean of the uint8 values.

        Source: reference_integer_ops/pooling.h, reference_ops::AveragePool (uint8).
        """
        if self.rounding:
            return self._stated(call, x)
        offset = FLIP if self.flipped_u8 else 0
        count = self._counts(x).astype(np.int64)
        acc = self._sums(x.astype(np.int64)) + offset * count
        mean = np.sign(acc) * ((np.abs(acc) + count // 2) // count)
        return quantized.activated(mean - offset, self.activation, call.output)

    def _stated(self, call: Call, x: np.ndarray) -> np.ndarray:
        if self.rounding in _IN_FLOAT:
            real = once.real(x, call.input(0))
            taps = {(i, j): tap for i, j, tap in self.window.taps(real, 0.0)}
            return once.float_mean(call, taps, self._counts(x), self.activation)
        return once.averaged(call, self._sums(x.astype(np.int64)), self._counts(x), self.activation)

    def rounded(self, call: Call) -> Op | None:
        """`rounding` is "even" for the mean of a whole image, else "float"."""
        return replace(self, rounding="even" if is_global(call) else "float")

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        if not _rounding.is_stated(call):
            return super().bounds(call)
        return (ranges.filled(call.output.shape[3], *activation_range(self.activation, call.output)),)

    def keeps_values(self, call: Call) -> bool:
        return False

    def _sums(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(sum(tap for _, _, tap in self.window.taps(x, 0)))

    def _counts(self, x: np.ndarray) -> np.ndarray:
        """The number of taps inside the image, [N, OH, OW, C]."""
        return self._sums(np.ones(x.shape))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        signed = _pool.examples(cls, ("s8", "s16", "f32"))
        flipped = _pool.examples(partial(cls, flipped_u8=True), ("s8",))
        return [*signed, *flipped, *_rounded_examples(cls)]


def _rounded_examples(cls: type[AveragePool2D]) -> list[Example]:
    """Examples with a `rounding` and different scales. Some means are exact halves."""
    found = []
    cases = (
        ((2, 2), 0.5, 0.5, "even"),
        ((3, 2), 0.3, 0.11, "even"),
        ((5, 4), 0.5, 0.25, "stored"),
        ((2, 2), 0.5, 0.5, "float"),
        ((3, 2), 0.1, 0.1, "single"),
        ((2, 3), 0.017, 0.023, "single"),
    )
    for k, (kernel, x_scale, y_scale, rounding) in enumerate(cases):
        op = cls(kernel, (1, 1), "VALID" if k == 2 else "SAME", flipped_u8=k == 4, rounding=rounding)
        op = replace(op, by_columns=k % 2 > 0)
        x = TensorType((1, 5, 4, 3 + 2 * k), "s8", QuantParams((x_scale,), (-3,)))
        y = TensorType(op.infer(x)[0].shape, "s8", QuantParams((y_scale,), (7 - k,)))
        found.append(Example(op, (x,), (y,), {}, k))
    return found

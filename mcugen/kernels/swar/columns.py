"""Depthwise convolutions with 3x3 taps on narrow images: up to six outputs of a channel at once, column by column.

Each input is read once for the three outputs that need it, and the constants of a channel once for a whole row. The
constants of a layer are one stream of 32-bit words; per channel:

    3 biases        of the first output of a row, of inner outputs and of the last output, with the padding beside the
                    image folded in
    9 weights       row by row
    3 words         upper 13 bits of the multiplier; rounding; lower 13 bits of the multiplier + 65536 * shift

An output is floor((floor(sum * multiplier / 2^13) + rounding) / 2^shift), clamped to [0, span], plus the least output.
The multiplier has five bits less than that of the runtime. A layer is refused unless a rounding makes up for them: the
outputs are the runtime's for each sum that the layer can have. Layers with negative outputs that are rounded twice are
refused too, since halves are rounded away from zero there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.fixed_point import activation_range, multiply_double_rounding
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.ops import _filter, _rounding
from mcugen.ops._weighted import activation_of, matrix, rounds_once, row_window, window_of

MOST = 6
"""Largest number of outputs of a row."""
SUM_BITS, PART_BITS = 18, 13
"""Bits of the largest sum without its sign, and of each part of the multiplier. Their product takes 31 bits."""
_NEARBY = (0, 1, -1, 2)
"""Differences from the runtime's multiplier, without its five lowest bits, that are tried."""
_FAR = 1 << 62


def no_simd(call: Call) -> bool:
    "the core has no SIMD instructions"
    return not call.features & {"dsp", "mve"}


def is_narrow(call: Call) -> bool:
    "rows have at most six outputs"
    return call.output.shape[2] <= MOST


def walks_columns(call: Call) -> bool:
    "windows have 3x3 adjacent taps, move by one column, and reach at most one column beyond the image"
    window = window_of(call)
    usual = window.kernel == (3, 3) and window.stride[1] == window.dilation[1] == 1
    return usual and max(_padding(call)) <= 1


def has_short_multipliers(call: Call) -> bool:
    "sums stay below 2^18, outputs vary, and multipliers of 26 bits give the runtime's outputs"
    if not _filter.int8_outside(call) or not _filter.constant_weights(call):
        return False
    return _rounding.is_scaled(call) and scales_of(call) is not None


def _padding(call: Call) -> tuple[int, int]:
    """Columns beyond the image that the first and the last output of a row read."""
    window, (_, height, width, _) = window_of(call), call.input(0).shape
    left = window.pad((height, width))[1]
    return left, max(call.output.shape[2] + window.kernel[1] - 1 - left - width, 0)


@dataclass(frozen=True, eq=False)
class ShortScales:
    """Multiplier, shift and rounding of each channel, as in the stream."""

    mult: np.ndarray
    shift: np.ndarray
    rounding: np.ndarray


@fact
def scales_of(call: Call) -> ShortScales | None:
    """Scales that give the runtime's outputs for all sums of each channel; None if some channel has none."""
    w = matrix(call).astype(np.int64)
    bias = _filter.folded_bias(call, w.sum(axis=1))
    ends = bias + np.stack([np.where(w > 0, -128, 127) * w, np.where(w > 0, 127, -128) * w]).sum(axis=2)
    mult, shift = (v.astype(np.int64) for v in _filter.multipliers(call, len(w)))
    least, most = activation_range(activation_of(call), call.output)
    scaled = ((mult > 0) & (shift <= 0) & (shift > -SUM_BITS)).all()
    if not scaled or least >= most or np.abs(ends).max(initial=0) >= 1 << SUM_BITS:
        return None
    offset = call.output.zero_point - least
    return shortened(RuntimeScaling(mult, shift, offset, rounds_once(call)), ends, most - least)


@dataclass(frozen=True, eq=False)
class RuntimeScaling:
    """The runtime's scaling of each channel. offset: the output's zero point minus the least output."""

    mult: np.ndarray
    shift: np.ndarray
    offset: int
    once: bool

    def outputs(self, sums: np.ndarray) -> np.ndarray:
        """Outputs of sums [n, channels], counted from the least output, before the clamp."""
        if self.once:
            scaled = (sums * self.mult + (np.int64(1) << (30 - self.shift))) >> (31 - self.shift)
        else:
            scaled = multiply_double_rounding(sums, self.mult, self.shift)
        return np.asarray(scaled + self.offset)

    def first_sums(self, levels: np.ndarray) -> np.ndarray:
        """The least sum of each channel with an output of at least each level, [levels, channels]."""
        near = ((2 * (levels - self.offset) - 1) << (30 - self.shift)) // self.mult
        found = near + 3  # rounding twice moves the boundary by at most one sum
        for more in range(2, -3, -1):
            found = np.where(self.outputs(near + more) >= levels, near + more, found)
        return np.asarray(found)


def shortened(runtime: RuntimeScaling, ends: np.ndarray, span: int) -> ShortScales | None:
    """Scales with the runtime's outputs, clamped to [0, span], for all sums from ends[0] to ends[1], [2, channels].

    Level v begins at the sum t if t * multiplier + rounding >= v * 2^shift > (t - 1) * multiplier + rounding. For a
    given multiplier, the levels bound the rounding from both sides. Any rounding between these bounds is exact.
    """
    levels = np.arange(1, span + 1)[:, None]
    first = runtime.first_sums(levels)
    if (runtime.outputs(first) < levels).any() or (runtime.outputs(first - 1) >= levels).any():
        return None
    at, shift = np.clip(first, ends[0], ends[1] + 1), PART_BITS - runtime.shift
    wanted = levels << (shift + PART_BITS)
    mult, rounding = np.zeros_like(runtime.mult), np.zeros_like(runtime.mult)
    for nearby in _NEARBY:
        tried = (runtime.mult >> (31 - 2 * PART_BITS)) + nearby
        lower = np.where(first > ends[1], -_FAR, wanted - at * tried).max(axis=0, initial=-_FAR)
        upper = np.where(first <= ends[0], _FAR, wanted - 1 - (at - 1) * tried).min(axis=0, initial=_FAR)
        middle = ((lower + upper) >> 1) >> PART_BITS
        results = ((ends * tried) >> PART_BITS) + middle
        exact = (lower <= middle << PART_BITS) & (middle << PART_BITS <= upper) & (np.abs(middle) < 2**31)
        fits = exact & (np.abs(results) < 2**31).all(axis=0) & (tried >> (2 * PART_BITS) == 0) & (mult == 0)
        mult, rounding = np.where(fits, tried, mult), np.where(fits, middle, rounding)
    return ShortScales(mult, shift, rounding) if mult.all() else None


def _biases(call: Call) -> np.ndarray:
    """The biases of the first output of a row, of inner outputs and of the last output, [channels, 3].

    A tap in the padding adds zero point times weight. If a row has one output, it is the first and the last.
    """
    w = matrix(call).astype(np.int64).reshape(-1, 3, 3)
    columns, (left, right), x = w.sum(axis=1), _padding(call), call.input(0)
    inner = _filter.folded_bias(call, columns.sum(axis=1))
    first, last = left * x.zero_point * columns[:, 0], right * x.zero_point * columns[:, 2]
    alone = call.output.shape[2] == 1
    return np.stack([inner + first + (last if alone else 0), inner, inner + last], axis=1)


def _params(call: Call) -> Params:
    scales = scales_of(call)
    assert scales is not None  # a rule of the kernel
    low, high = scales.mult & ((1 << PART_BITS) - 1), scales.mult >> PART_BITS
    ends = np.stack([high, scales.rounding, low + (scales.shift << 16)], axis=1)
    return {"stream": np.hstack([_biases(call), matrix(call), ends]).astype(np.int64).reshape(-1).astype(np.uint32)}


def _sizes(call: Call) -> dict[str, int]:
    """Constants of the template: outputs of a row, columns of padding, channels, and the clamp."""
    left, right = _padding(call)
    least, most = activation_range(activation_of(call), call.output)
    sizes = {"outputs": call.output.shape[2], "left": left, "right": right, "channels": call.output.shape[3]}
    return {**sizes, "least": least + 128, "span": most - least}


def _work(call: Call) -> dict[str, float]:
    """The cost term: channels of output rows (lanes)."""
    images, height, _, channels = call.output.shape
    return {"lanes": float(images * height * channels)}


KERNEL = Kernel(
    "mg_depthwise_conv2d_s8__columns",
    Window(row_window, _filter.outside),
    accepts=(no_simd, is_narrow, _filter.int8_outside, _filter.constant_weights, walks_columns, has_short_multipliers),
    params=_params,
    text=Text(_sizes, struct="mg_columns_s8"),
    cost=Cost(_work, ("lanes",)),
    widened=True,
    short="dw_columns",
)
"""Depthwise convolution with 3x3 taps, one output for each input channel, with a window that slides over rows."""

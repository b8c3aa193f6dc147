"""Depthwise convolution that reads int8 rows in place, without scratch memory, for cores with SMLAD.

Data are widened to int16 in registers; see depthwise_conv2d_s8__direct.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.fixed_point import wrap32
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.dsp import planar, scaling, streams
from mcugen.kernels.dsp.planar_sizes import PlanarShape, shape_of
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, row_window
from mcugen.ops._window import MAX_FIELD

GROUP = 4
"""Channels that are computed together."""
MAX_REACH = 4095
"""Largest offset of a load instruction, in bytes."""
MAX_PAIR_TAPS = 36
"""Largest number of taps that are unrolled for pairs of columns."""
MAX_BESIDES = 20
"""Largest number of words of a group in the stream, besides its weights."""
CALL = 55
"""Approximate instructions of a call, for a column of outputs or for pairs of columns."""
CLAMPED = 2.25
"""Instructions per output for a clamp narrower than int8."""
TERMS = ("inner",)


def four_channels(call: Call) -> bool:
    "there are 4 to 4095 channels"
    return GROUP <= call.output.shape[3] <= MAX_REACH


def in_fields(call: Call) -> bool:
    "windows have at most 32757 taps"
    s = shape_of(call)
    return 2 * s.height * s.width + MAX_BESIDES <= MAX_FIELD  # larger images do not occur: see `window_of`


def _taps(s: PlanarShape) -> np.ndarray:
    """Number of taps of a kernel row that are inside the image, for each output column."""
    starts = np.arange(s.out_width) * s.stride - s.pad
    return np.asarray(np.minimum(starts + s.width, s.in_width) - np.maximum(starts, 0))


@dataclass(frozen=True)
class Pairs:
    """Pairs of output columns that are computed together.

    count: number of pairs. first: first output column. left, right: 1 if the first pair reads a column left of the
    image, or the last pair a column right of it.
    """

    count: int = 0
    first: int = 0
    left: int = 0
    right: int = 0

    def instructions(self, s: PlanarShape, result: int) -> int:
        """Instructions of the pairs of an output row, for a group of channels. result: instructions to scale and store
        an output.
        """
        if not self.count:
            return 0
        loads = s.width if s.stride == 1 else 2 * s.width - (s.width > s.stride)
        checks = 2 * (self.left | self.right) + s.height * (self.left + self.right)
        row = 2 + 3 * (s.width + s.stride) + loads + 8 * s.width
        return self.count * (8 + checks + s.height * row + 4 * (1 + 2 * result))

    def others(self, s: PlanarShape) -> np.ndarray:
        """Number of taps of a kernel row that are inside the image, for each output column that is not in a pair."""
        taps = _taps(s)
        return np.asarray(np.r_[taps[: self.first], taps[self.first + 2 * self.count :]])


def _singles(s: PlanarShape, pairs: Pairs, result: int) -> int:
    """Instructions of the output columns of a row that are not in pairs, for a group of channels."""
    around, taps = 12 + 4 * (1 + result), pairs.others(s)
    if s.width == 1 and not pairs.count:
        return len(taps) * (around + 11 * s.height)
    return int((around + s.height * (8 + (11 + (s.channels >= 256)) * taps)).sum())


@fact
def pairs_of(call: Call) -> Pairs:
    """The pairs of adjacent output columns that take the fewest instructions.

    Either only columns with windows inside the image form pairs, or all columns do.
    """
    s, result = shape_of(call), _result(call)
    reach = (s.width + s.stride - 1) * s.channels
    if s.out_width < 2 or reach > MAX_REACH or s.height * s.width > MAX_PAIR_TAPS:
        return Pairs()
    inside = np.flatnonzero(_taps(s) == s.width)
    found = [Pairs(inside.size // 2, int(inside[0]))] if inside.size > 1 else [Pairs()]
    beyond = (s.out_width // 2 * 2 - 1) * s.stride - s.pad + s.width - s.in_width
    if s.width > 1 and s.pad <= 1 and beyond <= 1:
        found.append(Pairs(s.out_width // 2, 0, s.pad, max(beyond, 0)))
    return min(found, key=lambda pairs: pairs.instructions(s, result) + _singles(s, pairs, result))


def _variant(call: Call) -> Mapping[str, int]:
    s, pairs = shape_of(call), pairs_of(call)
    paired = pairs.count > 0
    return {
        "c": s.channels if paired or s.width > 1 else 0,
        "h": s.height * paired, "w": s.width * paired, "s": s.stride * paired, "left": pairs.left, "right": pairs.right,
        "linear": planar.linear_of(call), "shift": scaling.one_shift(call), "clamp": _clamps(call),
    }  # fmt: skip


def _clamps(call: Call) -> int:
    return scaling.clamps(call, activation_of(call))


def _result(call: Call) -> int:
    """Instructions that scale and store an output."""
    return 4 + planar.signs(call)


def _work(call: Call) -> dict[str, float]:
    """Cost term `inner`: instructions of the groups of channels, of calls, and of clamps."""
    s, pairs, result = shape_of(call), pairs_of(call), _result(call)
    rows, groups = call.output.shape[0] * row_window(call).out_rows, -(-s.channels // GROUP)
    parts = 1 + (s.channels % GROUP > 0)
    each = pairs.instructions(s, result) + _singles(s, pairs, result)
    around = CALL * len(pairs.others(s)) + (pairs.count > 0) * CALL + pairs.count * (9 + 3 * s.height)
    return {"inner": rows * (groups * each + parts * around) + CLAMPED * _clamps(call) * call.output.size}


def _code(call: Call) -> int:
    """Code size in bytes of the kernel for this call."""
    s, pairs, result = shape_of(call), pairs_of(call), _result(call)
    single = 350 + 16 * result
    if not pairs.count:
        return single
    sides = 30 * (pairs.left + pairs.right)
    return single + 240 + sides + 4 * pairs.instructions(s, result) // pairs.count + 24 * s.height


def _groups(channels: int) -> np.ndarray:
    """[groups, GROUP] indices of channels. The last group ends with the last channel, and may repeat some."""
    starts = np.minimum(np.arange(0, channels, GROUP), channels - GROUP)
    return np.asarray(starts[:, None] + np.arange(GROUP))


def _words(call: Call) -> int:
    """Number of words of a group in the stream."""
    s = shape_of(call)
    return 8 + 2 * s.height * s.width + GROUP * (2 if planar.linear_of(call) >= 3 else 3)


def _stream(call: Call) -> np.ndarray:
    scale, w = scaling.scales_alike(call), planar.seen_weights(call)
    groups = _groups(len(w))

    def held(bias: np.ndarray) -> np.ndarray:
        found: np.ndarray = wrap32(scale.held(np.where(scale.constant, 0, bias)))[groups]
        return found

    taps = planar.kept(call, w)[groups]
    words = streams.words(taps[:, streams.SWAPPED].transpose(0, 2, 1)).reshape(len(groups), -1)
    finish = [scale.mult, scale.addend, scale.shift][: 2 if planar.linear_of(call) >= 3 else 3]
    constants = np.stack(finish, axis=1)[groups].reshape(len(groups), -1)
    folded, plain = _filter.folded_bias(call, w.sum(axis=1)), _filter.bias_of(call, len(w))
    return streams.stored(np.hstack([held(folded), held(plain), words, constants]))


def _params(call: Call) -> Params:
    s, pairs, clamp = shape_of(call), pairs_of(call), scaling.clamp(call, activation_of(call))
    return {
        "stream": _stream(call),
        "channels": s.channels,
        "height": s.height,
        "width": s.width,
        "in_w": s.in_width,
        "outputs": s.out_width,
        "stride": s.stride,
        "pad": s.pad,
        "first": pairs.first,
        "pairs": pairs.count,
        "group": _words(call),
        "in_zero_point": call.input(0).zero_point,
        "out_min": clamp["low"],
        "out_max": clamp["high"],
    }


DIRECT = Kernel(
    "mg_depthwise_conv2d_s8__direct",
    Window(row_window, _filter.outside),
    accepts=(*planar.USUAL, planar.undilated, four_channels, in_fields),
    params=_params,
    text=Text(_variant, struct="mg_depthwise_conv2d_s8__direct"),
    cost=Cost(_work, TERMS, code=_code),
    needs=scaling.DSP,
    sized=True,
    short="dw_direct",
)

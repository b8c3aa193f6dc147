"""Depthwise convolution on planar rows, for cores with SMLAD: geometry, packing, and when its arithmetic is exact.

A kernel row is a run of int16 neighbours; pairs of taps are words. See depthwise_conv2d_s8__planar_template.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mcugen.numeric import wrap32
from mcugen.op import Call, Form, Kernel, Params, Ring, RowWindow, Rule
from mcugen.ops import _dsp, _filter
from mcugen.ops._filter import Matrix
from mcugen.ops._window import Window

Windows = Callable[[Call], Window]
MAX_REACH = 4092
"""Bytes of a channel's slots and one more, which instructions reach from one pointer."""
MAX_SUMS = {1: 6, 2: 6, 3: 5, 4: 4, 5: 4, 6: 4}
"""Words of weights in registers -> sums that there is room for."""
MAX_STRIDE = 3


@dataclass(frozen=True)
class Shape:
    """Sizes of a planar row's work. Columns of taps that only ever see padding are left out.

    first: of the kernel's columns that are kept; taps: of them in each of `parts` parts, the last may be zeros.
    """

    height: int
    first: int
    width: int
    stride: int
    in_width: int
    out_width: int
    pad: int
    channels: int

    @property
    def parts(self) -> int:
        """Parts of a kernel row, each of so few taps that their words fit the registers."""
        most = 12 if self.stride % 2 == 0 else 7
        return 1 if self.width <= most else -(-self.width // (most // 2 * 2))

    @property
    def taps(self) -> int:
        """Taps of a part; even where there are several, so that each begins with a word of data."""
        return self.width if self.parts == 1 else -(-self.width // self.parts // 2) * 2

    @property
    def words(self) -> int:
        """Words of weights of a part."""
        return (self.taps + 1) // 2 if self.stride % 2 == 0 else max(self.taps - 1, 1)

    @property
    def columns(self) -> int:
        """Elements of a converted row of one channel."""
        return (self.stride * (self.out_width - 1) + self.parts * self.taps + 1) // 2 * 2

    @property
    def blocks(self) -> tuple[int, int, int]:
        """(blocks, outputs of each, outputs of the tail). Blocks of an odd stride are even, to begin with a word."""
        most, step = MAX_SUMS[self.words], 1 + self.stride % 2
        if self.out_width <= most:
            return 0, 0, self.out_width
        count = -(-self.out_width // most)
        size = most // step * step
        for block in range(step, size + 1, step):
            tail = self.out_width - (count - 1) * block
            if 0 < tail <= most:
                return (count, block, 0) if tail == block else (count - 1, block, tail)
        return self.out_width // size, size, self.out_width % size


def shape_of(call: Call, window: Window) -> Shape:
    """The sizes of a call."""
    x, y = call.input(0), call.output
    pad, stride, width = window.pad((x.shape[1], x.shape[2]))[1], window.stride[1], x.shape[2]
    starts = np.arange(y.shape[2]) * stride - pad
    seen = [t for t in range(window.kernel[1]) if np.any((starts + t >= 0) & (starts + t < width))]
    first, end = min(seen, default=0), max(seen, default=0) + 1
    return Shape(window.kernel[0], first, end - first, stride, width, y.shape[2], pad - first, y.shape[3])


def kernel(window_of: Windows) -> Kernel:
    """The kernel of a depthwise convolution whose window is `window_of` the call."""
    shape, matrix = _shape(window_of), _seen(window_of)

    def variant(call: Call) -> Mapping[str, int]:
        return _variant(call, shape(call))

    def ring(call: Call) -> Ring:
        s = shape(call)  # a slot's rows of all channels lie among those of the other slots
        return Ring("s16", s.columns * s.channels, s.columns)

    def window(call: Call) -> RowWindow:
        return window_of(call).rows(call.input(0))

    return Kernel(
        "mg_depthwise_conv2d_s8__planar",
        Form.RING,
        accepts=(
            _filter.int8_data,
            _filter.constant_weights,
            single_multiplier,
            _adjacent(window_of),
            _reachable(shape),
            _dsp.doubled,
            _dsp.scaled,
        ),
        params=lambda call: _params(call, shape(call), matrix(call)),
        window=window,
        ring=ring,
        variant=variant,
        struct="mg_depthwise_conv2d_s8__planar",
        needs=_dsp.DSP,
    )


def single_multiplier(call: Call) -> bool:
    "the depth multiplier is 1"
    return call.output.shape[3] == call.input(0).shape[3]


def _adjacent(window_of: Windows) -> Rule:
    def adjacent(call: Call) -> bool:
        "no dilation, and a horizontal stride of at most 3"
        window = window_of(call)
        return window.dilation == (1, 1) and window.stride[1] <= MAX_STRIDE

    return adjacent


def _reachable(shape: Callable[[Call], Shape]) -> Rule:
    def reachable(call: Call) -> bool:
        "the converted rows of a channel take less than 4 KB, and a pixel, too"
        s = shape(call)
        return max((s.height + 1) * s.columns * 2, s.channels) <= MAX_REACH

    return reachable


def _shape(window_of: Windows) -> Callable[[Call], Shape]:
    return lambda call: shape_of(call, window_of(call))


def _seen(window_of: Windows) -> Matrix:
    """The weights as [channels, taps], without the columns that only see padding."""

    def seen(call: Call) -> np.ndarray:
        s, w = shape_of(call, window_of(call)), call.constant(1)[0].astype(np.int64)
        return np.asarray(w[:, s.first : s.first + s.width].reshape(-1, w.shape[2]).T)

    return seen


def _activation(call: Call) -> str:
    return str(call.op.activation)  # type: ignore[attr-defined]


def _variant(call: Call, s: Shape) -> Mapping[str, int]:
    blocks, block, tail = s.blocks
    return {
        "h": s.height, "parts": s.parts, "taps": s.taps, "words": s.words, "s": s.stride, "in": s.in_width,
        "pad": s.pad, "blocks": blocks, "block": block, "tail": tail, "c": s.channels,
        "linear": int(not _dsp.clamps_at_zero_point(call, _activation(call))),
        "clamp": int(_dsp.clamp(call, _activation(call))["clamps"]),
    }  # fmt: skip


def _params(call: Call, s: Shape, w: np.ndarray) -> Params:
    scale, clamp = _dsp.scales(call), _dsp.clamp(call, _activation(call))
    folded = np.where(scale.constant, 0, _filter.folded_bias(call, w.sum(axis=1)))
    kept = np.where(scale.constant[:, None], 0, w).reshape(w.shape[0], s.height, s.width)
    finish = np.stack([wrap32(2 * folded), scale.mult, scale.addend, scale.shift], axis=1)
    return {
        "weights": pack_weights(s, 2 * kept),
        "finish": finish.reshape(-1).astype(np.int32),
        "in_zero_point": call.input(0).zero_point,
        "out_min": clamp["low"],
        "out_max": clamp["high"],
    }


def pack_weights(s: Shape, w: np.ndarray) -> np.ndarray:
    """Words of weights w [channels, height, width] in the order of reading: rows 0 .. h - 1, then 0 .. h - 2."""
    padded = np.zeros((*w.shape[:2], s.parts * s.taps), np.int64)
    padded[:, :, : w.shape[2]] = w
    parts = padded.reshape(w.shape[0], s.height * s.parts, s.taps)
    if s.stride % 2 == 0:
        even = np.pad(parts, ((0, 0), (0, 0), (0, s.taps % 2)))
        low, high = even[:, :, 0::2], even[:, :, 1::2]
    elif s.taps == 1:
        low, high = parts, np.zeros_like(parts)
    else:
        low, high = parts[:, :, :-1], parts[:, :, 1:]
    words = ((low & 0xFFFF) | (high << 16)).astype(np.int32)
    return np.concatenate([words, words[:, : (s.height - 1) * s.parts]], axis=1).reshape(-1)

"""Depthwise convolution on planar rows, for cores with SMLAD: geometry, packing, and when its arithmetic is exact.

A kernel row is a run of int16 neighbours; pairs of taps are words. See planar_s8.h. A copy of a kernel is made for the
geometry of rows alone: layers of all numbers of channels share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel, Ring, RowWindow
from mcugen.kernels.dsp import scaling
from mcugen.numeric import wrap32
from mcugen.ops import _filter
from mcugen.ops._window import MAX_FIELD, Window

Windows = Callable[[Call], Window]
MAX_REACH = 4092
"""Bytes of a channel's slots and one more, which instructions reach from one pointer."""
MAX_SUMS = {1: 6, 2: 6, 3: 5, 4: 4, 5: 4, 6: 4}
"""Words of weights in registers -> sums that there is room for."""
MAX_STRIDE = 3
LEAST_BLOCK = 4
"""Outputs of the smallest blocks that rows of several widths share."""
SPREAD_CHANNELS = 16
"""Channels of a column that are spread together."""
MAX_SHORT = 16
MAX_SHORT_ROWS = 8
"""Columns and kernel rows of converted rows that are short: spread by code for their columns."""
MAX_COLUMN = 100
TERMS = ("inner", "spread", "slots")


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
    def is_short(self) -> bool:
        """Whether rows are spread by code for their columns."""
        return self.columns <= MAX_SHORT and self.height <= MAX_SHORT_ROWS

    @property
    def seen(self) -> int:
        """Columns of the image that are converted."""
        return min(self.in_width, self.columns - self.pad)

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

    @property
    def even_block(self) -> int:
        """Outputs of a block where a row is a whole number of them, 0 where such blocks are small."""
        most, step = MAX_SUMS[self.words], 1 + self.stride % 2
        sizes = [n for n in range(most // step * step, LEAST_BLOCK - 1, -step) if self.out_width % n == 0]
        return sizes[0] if sizes else 0

    def products(self, outputs: int) -> int:
        """Instructions that multiply, of so many outputs from a word of data on: one for each word that has a tap."""
        starts = np.arange(outputs) * self.stride
        return self.height * self.parts * int(((starts + self.taps + 1) // 2 - starts // 2).sum())

    def loads(self, outputs: int) -> int:
        """The same of instructions that load weights and data."""
        return self.height * self.parts * (1 + (self.stride * (outputs - 1) + self.taps + 3) // 4)

    def instructions(self, linear: int) -> int:
        """Instructions of a row of a channel."""
        count, block, tail = self.blocks
        return (
            count * self.block_instructions(block, linear) + self.block_instructions(tail, linear) + 5 + 5 * (count > 0)
        )

    def blocks_instructions(self, linear: int) -> int:
        """The same in a copy for rows of any number of blocks, which finds the kernel rows when it runs."""
        block = self.even_block
        return self.out_width // block * (self.block_instructions(block, linear) + 2 * self.height) + 13

    def block_instructions(self, outputs: int, linear: int) -> int:
        """Of a block of so many outputs."""
        if not outputs:
            return 0
        moves = 7 + (outputs > 3) + (self.words > 2)
        return self.products(outputs) + self.loads(outputs) + (4 + linear) * outputs + moves

    def code(self, linear: int) -> float:
        """Bytes of a copy without code that spreads, within a tenth."""
        blocks, *sizes = self.blocks
        unrolled = sum(4.4 * (self.products(n) + self.loads(n)) + (18 + 4 * linear) * n for n in sizes if n)
        return 110 + unrolled + 57 * (blocks > 0)

    def blocks_code(self, linear: int) -> float:
        """The same of a copy for rows of any number of blocks."""
        n = self.even_block
        return 205 + 4.4 * (self.products(n) + self.loads(n)) + 6 * self.height + (18 + 4 * linear) * n

    @property
    def spreading(self) -> float:
        """Bytes of the code that spreads short rows."""
        return (120 + 19 * self.columns) * self.is_short


def shape_of(call: Call, window: Window) -> Shape:
    """The sizes of a call."""
    x = call.input(0).shape
    return _shape(window, 1, x[2], window.kernel[0], window.pad((x[1], x[2]))[1], call.output.shape)


def line_of(call: Call, window: Window) -> Shape:
    """The sizes of a call whose images are one pixel wide, all its rows taken for one."""
    x = call.input(0).shape
    return _shape(window, 0, x[1], 1, window.pad((x[1], x[2]))[0], call.output.shape)


def _shape(window: Window, d: int, size: int, height: int, pad: int, y: tuple[int, ...]) -> Shape:
    """The sizes of rows that run along axis d of the image. Columns of taps that see an image at all are neighbours."""
    starts, stride = np.arange(y[1 + d]) * window.stride[d] - pad, window.stride[d]
    seen = [t for t in range(window.kernel[d]) if np.any((starts + t >= 0) & (starts + t < size))]
    first, end = min(seen, default=0), max(seen, default=0) + 1
    return Shape(height, first, end - first, stride, size, y[1 + d], pad - first, y[3])


def kernels(window_of: Windows) -> tuple[Kernel, ...]:
    """The kernels of a depthwise convolution whose window is `window_of` the call."""
    found = _Depthwise(window_of)
    planar = Kernel(
        "mg_depthwise_conv2d_s8__planar",
        Form.RING,
        accepts=(*_USUAL, found.undilated, found.stepping(1), found.reachable(found.shape)),
        params=lambda call: _row_params(call, found.shape(call), found.seen(call)),
        window=lambda call: window_of(call).rows(call.input(0)),
        ring=lambda call: _ring(found.shape(call)),
        variant=lambda call: _row_variant(call, found.shape(call)),
        struct="mg_planar_s8",
        helpers=("planar_s8.c",),
        work=lambda call: _row_work(call, window_of(call)),
        terms=TERMS,
        code=lambda call: round(found.shape(call).code(_linear(call)) + found.shape(call).spreading),
        needs=scaling.DSP,
    )
    narrow = (*_USUAL, found.undilated, one_pixel_wide)
    column = replace(
        planar,
        symbol="mg_depthwise_conv2d_s8__column",
        accepts=(*narrow, found.short),
        params=lambda call: _column_params(call, found.seen(call)),
        ring=lambda call: _column_ring(call.input(0).shape[3], window_of(call).kernel[0]),
        variant=lambda call: _column_variant(call, window_of(call).kernel[0]),
        struct="mg_depthwise_conv2d_s8__column",
        helpers=(),
        work=lambda call: _column_work(call, window_of(call).rows(call.input(0))),
        code=lambda call: _column_code(call.output.shape[3], window_of(call).kernel[0]),
    )
    line = Kernel(
        "mg_depthwise_conv2d_s8__line",
        Form.WHOLE,
        accepts=(*narrow, one_image, found.stepping(0), found.reachable(found.line_shape)),
        params=lambda call: _row_params(call, found.line_shape(call), found.line(call)),
        scratch=lambda call: _line_bytes(found.line_shape(call)),
        variant=lambda call: _variant(call, found.line_shape(call)),
        struct="mg_planar_s8",
        helpers=("planar_s8.c",),
        work=lambda call: _line_work(call, found.line_shape(call)),
        terms=TERMS,
        code=lambda call: round(found.line_shape(call).code(_linear(call))),
        needs=scaling.DSP,
    )
    blocks = replace(
        planar,
        symbol="mg_depthwise_conv2d_s8__planar_blocks",
        accepts=(*planar.accepts, found.in_blocks),
        variant=lambda call: _blocks_variant(call, found.shape(call)),
        work=lambda call: _blocks_work(call, window_of(call)),
        code=lambda call: round(found.shape(call).blocks_code(_linear(call))),
    )
    return (line, column, planar, blocks)


def _line_work(call: Call, s: Shape) -> dict[str, float]:
    return _work(call, s, s.instructions(_linear(call)), RowWindow(1, 1, 1, 0, 1, 1))


def _row_work(call: Call, window: Window) -> dict[str, float]:
    s = shape_of(call, window)
    return _work(call, s, s.instructions(_linear(call)), window.rows(call.input(0)), s.is_short)


def _blocks_work(call: Call, window: Window) -> dict[str, float]:
    s = shape_of(call, window)
    return _work(call, s, s.blocks_instructions(_linear(call)), window.rows(call.input(0)))


def _work(call: Call, s: Shape, instructions: int, rows: RowWindow, is_short: bool = False) -> dict[str, float]:
    """What estimates need to know beside the shapes: instructions that make outputs and that spread rows, about, and
    slots, of which the first is sought.

    instructions: of a row of a channel.
    """
    images, groups = call.output.shape[0], -(-s.channels // 4)
    converted = images * rows.walked_rows
    by_fours = groups * (6 + 5.5 * s.seen if is_short else 32 + 6 * s.seen)
    return {
        "inner": images * rows.out_rows * s.channels * instructions,
        "spread": converted * (by_fours if s.channels >= 4 else 14 * s.columns * s.channels),
        "slots": images * rows.out_rows * rows.size,
    }


def _column_work(call: Call, rows: RowWindow) -> dict[str, float]:
    """The same of columns, whose words of taps are loaded by fours."""
    images, words, channels = call.output.shape[0], _even(rows.size) // 2, call.output.shape[3]
    converted = images * rows.walked_rows
    return {
        "inner": call.output.size * (10 + _linear(call) + words + 2 * -(-words // 4)),
        "spread": converted * (2 * channels + 4 * (channels // SPREAD_CHANNELS)),
        "slots": images * rows.out_rows * rows.size,
    }


def _column_code(channels: int, taps: int) -> int:
    """Bytes of a copy, within an eighth: channels are spread by sixteens, and one by one."""
    return 190 + 3 * taps + 80 * (channels >= SPREAD_CHANNELS) + 5 * (channels % SPREAD_CHANNELS)


def single_multiplier(call: Call) -> bool:
    "the depth multiplier is 1"
    return call.output.shape[3] == call.input(0).shape[3]


def one_pixel_wide(call: Call) -> bool:
    "images are one pixel wide"
    return call.input(0).shape[2] == 1 and call.output.shape[2] == 1


def one_image(call: Call) -> bool:
    "the batch is 1, and more than one row comes out"
    return call.input(0).shape[0] == 1 and call.output.shape[1] > 1


_USUAL = (_filter.int8_data, _filter.constant_weights, single_multiplier, scaling.doubled, scaling.scaled)


@dataclass(frozen=True)
class _Depthwise:
    """What the kernels of an operator ask of its window."""

    window_of: Windows

    def weights(self, call: Call) -> np.ndarray:
        """[height, width, channels]"""
        return np.asarray(call.constant(1)[0], np.int64)

    def shape(self, call: Call) -> Shape:
        return shape_of(call, self.window_of(call))

    def line_shape(self, call: Call) -> Shape:
        return line_of(call, self.window_of(call))

    def seen(self, call: Call) -> np.ndarray:
        """The weights as [channels, taps], without the columns that only see padding."""
        s, w = self.shape(call), self.weights(call)
        return np.asarray(w[:, s.first : s.first + s.width].reshape(-1, w.shape[2]).T)

    def line(self, call: Call) -> np.ndarray:
        """The same of a whole signal: the one column in the image, of rows that see it."""
        s, w = self.line_shape(call), self.weights(call)
        column = self.shape(call).first
        return np.asarray(w[s.first : s.first + s.width, column].T)

    def undilated(self, call: Call) -> bool:
        "no dilation"
        return self.window_of(call).dilation == (1, 1)

    def stepping(self, axis: int) -> Rule:
        def stepping(call: Call) -> bool:
            return self.window_of(call).stride[axis] <= MAX_STRIDE

        stepping.__doc__ = f"a {('vertical', 'horizontal')[axis]} stride of at most {MAX_STRIDE}"
        return stepping

    def reachable(self, sizes: Callable[[Call], Shape]) -> Rule:
        def reachable(call: Call) -> bool:
            "the converted rows of a channel take less than 4 KB, its weights, too; there are at most 65535 channels"
            s = sizes(call)
            weights = s.height * s.parts * s.words * 4
            return max((s.height + 1) * s.columns * 2, weights) <= MAX_REACH and s.channels <= MAX_FIELD

        return reachable

    def in_blocks(self, call: Call) -> bool:
        "a row is a whole number of blocks of at least 4 outputs"
        return self.shape(call).even_block > 0

    def short(self, call: Call) -> bool:
        "the kernel has at most 100 rows, and a pixel at most 65535 channels"
        return self.window_of(call).kernel[0] <= MAX_COLUMN and call.input(0).shape[3] <= MAX_FIELD


def _ring(s: Shape) -> Ring:
    """A slot's rows of all channels lie among those of the other slots."""
    return Ring("s16", s.columns * s.channels, s.columns)


def _column_ring(channels: int, height: int) -> Ring:
    """A channel's slots are neighbours, an even number of them."""
    return Ring("s16", -(-channels * _even(height) // height), 1)


def _line_bytes(s: Shape) -> int:
    return -(-s.columns * s.channels * 2 // 16) * 16


def _even(n: int) -> int:
    return n + n % 2


def _activation(call: Call) -> str:
    return str(call.op.activation)


def _linear(call: Call) -> int:
    """Whether the sign of a sum counts."""
    return int(not scaling.clamps_at_zero_point(call, _activation(call)))


def _variant(call: Call, s: Shape) -> dict[str, int]:
    blocks, block, tail = s.blocks
    return {
        "h": s.height, "parts": s.parts, "taps": s.taps, "words": s.words, "s": s.stride,
        "blocks": blocks, "block": block, "tail": tail, "linear": _linear(call),
    }  # fmt: skip


def _blocks_variant(call: Call, s: Shape) -> Mapping[str, int]:
    return {
        "h": s.height, "parts": s.parts, "taps": s.taps, "words": s.words, "s": s.stride,
        "block": s.even_block, "linear": _linear(call),
    }  # fmt: skip


def _row_variant(call: Call, s: Shape) -> Mapping[str, int]:
    """pad, seen: of short rows."""
    return {**_variant(call, s), "pad": s.is_short * s.pad, "seen": s.is_short * s.seen}


def _kept(call: Call, w: np.ndarray) -> np.ndarray:
    """Weights [channels, taps], zeros where the output is the same for all inputs."""
    return np.asarray(np.where(scaling.scales(call).constant[:, None], 0, w))


def _column_variant(call: Call, taps: int) -> Mapping[str, int]:
    clamps = scaling.clamp(call, _activation(call))["clamps"]
    return {"h": taps, "c": call.output.shape[3], "linear": _linear(call), "clamp": int(clamps)}


def _row_params(call: Call, s: Shape, w: np.ndarray) -> Params:
    """w: the weights as [channels, taps]."""
    return {
        **_params(call, w, pack_weights(s, 2 * _kept(call, w))),
        "clamps": scaling.clamp(call, _activation(call))["clamps"],
        "channels": s.channels,
        "columns": s.columns,
        "step": s.height * s.columns,
        "pad": s.pad,
        "seen": s.seen,
        "outputs": s.out_width,
    }


def _column_params(call: Call, w: np.ndarray) -> Params:
    return _params(call, w, pack_column(2 * _kept(call, w)))


def _params(call: Call, w: np.ndarray, packed: np.ndarray) -> Params:
    """w: the weights as [channels, taps]; packed: as the kernel reads them."""
    scale, clamp = scaling.scales(call), scaling.clamp(call, _activation(call))
    folded = np.where(scale.constant, 0, _filter.folded_bias(call, w.sum(axis=1)))
    finish = np.stack([wrap32(2 * folded), scale.mult, scale.addend, scale.shift], axis=1)
    return {
        "weights": packed,
        "finish": finish.reshape(-1).astype(np.int32),
        "in_zero_point": call.input(0).zero_point,
        "out_min": clamp["low"],
        "out_max": clamp["high"],
    }


def pack_column(w: np.ndarray) -> np.ndarray:
    """Words of weights [channels, rows]: w0 .. w(h-1), w0 .. w(h-1) by pairs; then the same from w1 on."""
    twice = np.concatenate([w, w, w[:, :1]], axis=1)
    both = np.stack([twice[:, :-1], twice[:, 1:]], axis=1)
    return _words(both[:, :, 0::2], both[:, :, 1::2]).reshape(-1)


def pack_weights(s: Shape, w: np.ndarray) -> np.ndarray:
    """Words of weights [channels, taps] in the order of reading: rows 0 .. h - 1, then 0 .. h - 2."""
    padded = np.zeros((len(w), s.height, s.parts * s.taps), np.int64)
    padded[:, :, : s.width] = w.reshape(len(w), s.height, s.width)
    parts = padded.reshape(len(w), s.height * s.parts, s.taps)
    if s.stride % 2 == 0:
        even = np.pad(parts, ((0, 0), (0, 0), (0, s.taps % 2)))
        low, high = even[:, :, 0::2], even[:, :, 1::2]
    elif s.taps == 1:
        low, high = parts, np.zeros_like(parts)
    else:
        low, high = parts[:, :, :-1], parts[:, :, 1:]
    words = _words(low, high)
    return np.concatenate([words, words[:, : (s.height - 1) * s.parts]], axis=1).reshape(-1)


def _words(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Two signed halfwords to a word."""
    return np.asarray(((low & 0xFFFF) | (high << 16)).astype(np.int32))

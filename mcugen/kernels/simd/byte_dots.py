"""Convolutions and fully connected layers in vectors: 16 output channels and four taps at a time, on bytes.

On x86-64, rows are stored with the top bit of each byte flipped, so that data are unsigned and weights signed, as its
dot products of bytes need them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from mcugen.ir.call import Call, Param, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Run, Text
from mcugen.kernels.simd import block_scales
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, pixels, row_window, taps_of, window_of

TAPS = 4
"""Taps that are multiplied together."""

FLIP = 128
"""The number that flipping the top bit of a stored value adds to it."""

BLOCK_BYTES = 8192
"""Bytes of vectors that are converted together, so that they stay in the first cache."""

MOST_BLOCK = 192
LEAST_BLOCK = 12
"""Most and fewest vectors that are converted together."""

TERMS = ("groups", "tiles")


@dataclass(frozen=True)
class ByteSet:
    """Kernels of products of bytes, by the best set of vector operations that they use.

    types: of data and weights, of `TYPES`. how: the set. needs: its features. flip: what rows add to stored values.
    rules: further ones.
    """

    types: str
    how: str
    needs: frozenset[str]
    flip: int
    rules: tuple[Rule, ...] = ()


def no_least_weight(call: Call) -> bool:
    "no weight is -128"
    return call.constants[1] is not None and bool((matrix(call) > -128).all())


@dataclass(frozen=True)
class Segments:
    """The adjacent taps of a window: `count` segments for each of `rows` rows, of `taps` bytes each.

    gap: bytes from the start of a segment to the next. step: bytes from a pixel to the next.
    """

    rows: int
    count: int
    taps: int
    gap: int
    step: int

    @property
    def groups(self) -> int:
        return -(-self.taps // TAPS)

    @property
    def end(self) -> int:
        """Bytes that are read from the start of a pixel on."""
        return (self.count - 1) * self.gap + self.groups * TAPS


@fact
def window_segments(call: Call) -> Segments:
    """The segments of a convolution's window."""
    window, channels = window_of(call), call.input(0).shape[3]
    (rows, columns), step = window.kernel, window.stride[1] * channels
    if window.dilation[1] > 1:
        return Segments(rows, columns, channels, window.dilation[1] * channels, step)
    return Segments(rows, 1, columns * channels, 0, step)


def vector_segments(call: Call) -> Segments:
    """The only segment of a vector."""
    return Segments(1, 1, taps_of(call), 0, taps_of(call))


def _weights(w: np.ndarray, found: Segments) -> np.ndarray:
    """The weights [outputs, taps] as [tiles, segments, groups, 16, 4]."""
    parts = block_scales.filled(w).reshape(-1, block_scales.LANES, found.rows * found.count, found.taps)
    parts = np.pad(parts, [(0, 0)] * 3 + [(0, found.groups * TAPS - found.taps)])
    return parts.reshape(*parts.shape[:3], found.groups, TAPS).transpose(0, 2, 3, 1, 4)


def _dense_fields(call: Call, found: Segments, flip: int) -> dict[str, Param]:
    """The fields of mg_simd_dense."""
    w = matrix(call)
    scale = block_scales.fields(call, flip + call.input(0).zero_point)
    return {
        "dense.weights": _weights(w, found).astype(call.input(1).np_dtype).reshape(-1),
        **{f"dense.scale.{name}": value for name, value in scale.items()},
        "dense.kernel_h": found.rows,
        "dense.segments": found.count,
        "dense.gap": found.gap,
        "dense.groups": found.groups,
        "dense.step": found.step,
        "dense.tiles": block_scales.blocks(w.shape[0]),
        "dense.out_c": w.shape[0],
    }


def before(call: Call) -> int:
    """Bytes of a stored row in front of the image."""
    x = call.input(0).shape
    return window_of(call).pad((x[1], x[2]))[1] * x[3]


def _row_len(call: Call) -> int:
    """Bytes of a stored row."""
    x, found = call.input(0).shape, window_segments(call)
    return max(before(call) + x[2] * x[3], (call.output.shape[2] - 1) * found.step + found.end)


def _window_params(flip: int, call: Call) -> Params:
    x = call.input(0)
    return {
        **_dense_fields(call, window_segments(call), flip),
        "in_len": x.shape[2] * x.shape[3],
        "before": before(call),
        "row_len": _row_len(call),
        "out_w": call.output.shape[2],
        "outside": (x.zero_point + flip) % 256,
    }


def _block(call: Call) -> int:
    """Vectors that are converted together."""
    fitting = BLOCK_BYTES // taps_of(call)
    return min(max(fitting, LEAST_BLOCK), MOST_BLOCK, pixels(call))


def _vector_params(flip: int, call: Call) -> Params:
    found = vector_segments(call)
    return {**_dense_fields(call, found, flip), "in_c": found.taps, "block": _block(call)}


def _scratch(call: Call) -> int:
    """Bytes of a block of vectors, and of the last group's taps behind them."""
    return -(-(_block(call) * taps_of(call) + TAPS) // 16) * 16


def _work(call: Call, found: Segments) -> dict[str, float]:
    """Cost terms: blocks of channels of all pixels, and groups of taps in these."""
    tiles = pixels(call) * block_scales.blocks(call.output.shape[-1])
    return {"tiles": tiles, "groups": tiles * found.rows * found.count * found.groups}


def _window_work(call: Call) -> dict[str, float]:
    return _work(call, window_segments(call))


def _vector_work(call: Call) -> dict[str, float]:
    return _work(call, vector_segments(call))


def _ring(call: Call) -> RowStorage:
    return RowStorage("u8", _row_len(call))


TYPES: Mapping[str, Rule] = {"s8": _filter.int8_data, "s8w16": _filter.int8_data_wide_weights}
"""The types of data and weights in symbols, with their rules."""


def windows(used: ByteSet, *rules: Rule) -> Kernel:
    """The kernel of convolutions. rules: further ones."""
    return Kernel(
        f"mg_conv2d_{used.types}__{used.how}",
        Ring(row_window, _ring),
        _rules(used, rules),
        partial(_window_params, used.flip),
        text=Text(struct="mg_simd_conv", helpers=(f"simd_dense_{used.types}_{used.how}.c",)),
        cost=Cost(_window_work, TERMS),
        needs=used.needs,
    )


def vectors(used: ByteSet, *rules: Rule) -> Kernel:
    """The kernel of 1x1 convolutions and fully connected layers. rules: further ones."""
    return Kernel(
        f"mg_fully_connected_{used.types}__{used.how}",
        Run(pixels),
        _rules(used, rules),
        partial(_vector_params, used.flip),
        scratch=_scratch,
        text=Text(struct="mg_simd_vectors", helpers=(f"simd_dense_{used.types}_{used.how}.c",)),
        cost=Cost(_vector_work, TERMS),
        needs=used.needs,
        short=f"fc_{used.types}_{used.how}",
    )


def _rules(used: ByteSet, further: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return (TYPES[used.types], _filter.constant_weights, *further, block_scales.scales_down, *used.rules)

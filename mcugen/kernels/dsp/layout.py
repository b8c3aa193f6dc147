"""Layouts of taps on cores with SMLAD: groups of four adjacent taps in widened rows, or gathered words of two taps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, fact
from mcugen.kernels.dsp import scaling, streams
from mcugen.ops._weighted import window_of

UNROLLED_GROUPS = 16
"""Largest number of groups of four taps that are unrolled."""
UNROLLED_WORDS = 36
"""Largest number of gathered words of two taps that are unrolled."""

_LEAST_GROUPS = 8
_LEAST_WORDS = 16
_REACH = 1020


@dataclass(frozen=True)
class TapRuns:
    """Adjacent taps as `split` runs. Each has `quads` groups of four taps, and two more taps if `pair` is 1."""

    split: int
    quads: int
    pair: int

    @property
    def length(self) -> int:
        """Elements of a run."""
        return 4 * self.quads + 2 * self.pair


def runs_of(length: int, *, pairs: bool, most: int = UNROLLED_GROUPS) -> TapRuns:
    """The layout for `length` adjacent elements, padded if necessary.

    pairs: whether a run may end with a group of two elements. most: largest number of groups per run.
    """
    quads, rest = divmod(length, 4)
    if quads <= most and pairs and rest in (1, 2):
        return TapRuns(1, quads, 1)
    total = quads + (rest > 0)
    least = -(-total // most)
    exact = [n for n in range(least, total // _LEAST_GROUPS + 1) if total % n == 0]
    split = exact[0] if exact else least
    return TapRuns(split, -(-total // split), 0)


@dataclass(frozen=True)
class Words:
    """Gathered words of two taps: a loop of `times` iterations with `words` words unrolled."""

    times: int
    words: int

    @property
    def total(self) -> int:
        return self.times * self.words


def words_of(total: int, most: int = UNROLLED_WORDS, step: int = 1) -> Words:
    """The layout for `total` words with little padding. most: largest number unrolled. step: words read together."""
    if step > 1:
        found = words_of(-(-total // step), max(most // step, 1))
        return Words(found.times, step * found.words)
    least = -(-total // most)
    exact = [n for n in range(least, total // _LEAST_WORDS + 1) if total % n == 0]
    times = exact[0] if exact else least
    return Words(times, -(-total // times))


def groups_in(call: Call) -> int:
    """Largest number of groups of four taps to unroll on this core."""
    return scaling.unrolled(call, UNROLLED_GROUPS, 64, 192)


def words_in(call: Call) -> int:
    """Largest number of gathered words to unroll on this core."""
    return scaling.unrolled(call, UNROLLED_WORDS, 34, 128)


@dataclass(frozen=True)
class RowLayout:
    """The layout of a convolution's widened rows. Lengths are in elements.

    widen    how rows are widened: 0, 1 or 2, see dsp_ring.h
    in_step  distance from a column to the next
    left     padding before the first column
    step     distance from the taps of an output pixel to those of the next
    parts    number of parts of adjacent taps in a kernel row
    run      layout of each part
    runs     start of every run of a kernel row
    """

    widen: int
    in_step: int
    left: int
    step: int
    parts: int
    run: TapRuns
    runs: tuple[int, ...]
    row_length: int

    @property
    def in_reach(self) -> bool:
        """Whether immediate offsets reach the taps of three pixels."""
        return 4 * self.step + 8 * (self.run.quads - 1) <= _REACH

    def taps(self, w: np.ndarray) -> np.ndarray:
        """Weights [outputs, kernel_h, kernel_w, channels] in the order of reading: [outputs, taps]."""
        parts = streams.padded(w, self.in_step).reshape(*w.shape[:2], self.parts, -1)
        read = streams.padded(parts, self.run.split * self.run.length).reshape(w.shape[0], -1)
        return streams.swapped(read) if self.widen == 0 else read


@fact
def layout(call: Call, gathered: bool) -> RowLayout:
    """The layout for a convolution's window. gathered: whether each part of a kernel row is one run of whole groups."""
    window = window_of(call)
    _, height, columns, channels = call.input(0).shape
    kernel, stride, dilation = window.kernel[1], window.stride[1], window.dilation[1]
    parts = kernel if dilation > 1 else 1
    words = channels * stride % 2 == 0 and (parts == 1 or channels * dilation % 2 == 0)
    in_step = channels if words else channels + 1
    widen = 2 if not words else int(channels % 4 > 0)
    length = kernel // parts * in_step
    run = TapRuns(1, -(-length // 4), 0) if gathered else runs_of(length, pairs=True, most=groups_in(call))
    starts = [j * dilation * in_step + i * run.length for j in range(parts) for i in range(run.split)]
    out_columns = call.output.shape[2]
    step = stride * in_step if out_columns > 1 else 0
    left = window.pad((height, columns))[1] * in_step
    end = max(left + columns * in_step, (out_columns - 1) * step + starts[-1] + run.length)
    return RowLayout(widen, in_step, left, step, parts, run, tuple(starts), -(-end // 4) * 4)

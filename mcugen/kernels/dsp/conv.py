"""Convolutions on cores with SMLAD: three pixels times two channels, on rows widened once or on gathered taps.

Copies for the sizes of a layer are fastest where taps stand in rows; where they are gathered, a copy knows no more than
how many are unrolled, so that layers share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mcugen.call import Call, Params, Rule
from mcugen.kernel import Form, Kernel, Ring, RowWindow
from mcugen.kernels.dsp import scaling
from mcugen.ops import _filter
from mcugen.ops._window import Window

UNROLLED_GROUPS = 16
"""Groups of four taps that are unrolled, at most."""
UNROLLED_WORDS = 36
"""Gathered words of two taps that are unrolled, at most."""
SHARED_WORDS = 8
"""The same in copies for 1x1 convolutions of any size."""

TERMS = ("blocks", "pairs", "groups", "products", "odd_channels")
GATHERED_TERMS = (*TERMS, "looped", "loops", "gathers", "gathered")
FINISH_TERMS = ("below_zero", *scaling.CLAMP_TERMS)

_LEAST_GROUPS = 8
_LEAST_WORDS = 16
_REACH = 1020
_MAX_FIELD = 2**16 - 1
_MAX_RUNS = 512
"""Runs of taps to an output: each has a pointer on the stack."""


@dataclass(frozen=True)
class Runs:
    """Taps in equal runs of `quads` groups of four and, with `pair`, two more. split: runs to each row or pixel."""

    split: int
    quads: int
    pair: int

    @property
    def length(self) -> int:
        """Elements of a run."""
        return 4 * self.quads + 2 * self.pair


def runs_of(length: int, *, pairs: bool, most: int = UNROLLED_GROUPS) -> Runs:
    """How to read `length` neighbouring elements; `pairs`: whether a run may end with two elements."""
    quads, rest = divmod(length, 4)
    if quads <= most and pairs and rest in (1, 2):
        return Runs(1, quads, 1)
    total = quads + (rest > 0)
    least = -(-total // most)
    exact = [n for n in range(least, total // _LEAST_GROUPS + 1) if total % n == 0]
    split = exact[0] if exact else least
    return Runs(split, -(-total // split), 0)


@dataclass(frozen=True)
class Words:
    """Gathered words of two taps: `words` in the text, `times` over."""

    times: int
    words: int

    @property
    def total(self) -> int:
        return self.times * self.words


def words_of(total: int, most: int = UNROLLED_WORDS) -> Words:
    """How to read `total` words, with no more of them than must be."""
    least = -(-total // most)
    exact = [n for n in range(least, total // _LEAST_WORDS + 1) if total % n == 0]
    times = exact[0] if exact else least
    return Words(times, -(-total // times))


def groups_in(call: Call) -> int:
    """Groups of four taps to unroll."""
    return scaling.unrolled(call, UNROLLED_GROUPS, 64, 192)


def words_in(call: Call) -> int:
    """Gathered words to unroll."""
    return scaling.unrolled(call, UNROLLED_WORDS, 34, 128)


@dataclass(frozen=True)
class Layout:
    """How a convolution's rows are widened and read. Lengths in elements.

    widen: 0, 1 or 2, see dsp_ring.h. in_step: from a column to the next. step: from the taps of an output pixel to
    those of the next. parts: neighbouring taps in a row, each read in the runs `run`. runs: where all runs start.
    """

    widen: int
    in_step: int
    left: int
    step: int
    parts: int
    run: Runs
    runs: tuple[int, ...]
    row_length: int

    @property
    def in_reach(self) -> bool:
        """Whether immediate offsets reach the taps of three pixels."""
        return 4 * self.step + 8 * (self.run.quads - 1) <= _REACH

    def taps(self, w: np.ndarray) -> np.ndarray:
        """Weights [outputs, kernel_h, kernel_w, channels] in the order of reading: [outputs, taps]."""
        parts = scaling.padded(w, self.in_step).reshape(*w.shape[:2], self.parts, -1)
        read = scaling.padded(parts, self.run.split * self.run.length).reshape(w.shape[0], -1)
        return scaling.swapped(read) if self.widen == 0 else read


def layout(call: Call, window: Window, *, gathered: bool = False) -> Layout:
    """The layout for a window over input 0. gathered: each part of a row is one run of whole groups."""
    _, height, columns, channels = call.input(0).shape
    kernel, stride, dilation = window.kernel[1], window.stride[1], window.dilation[1]
    parts = kernel if dilation > 1 else 1
    words = channels * stride % 2 == 0 and (parts == 1 or channels * dilation % 2 == 0)
    in_step = channels if words else channels + 1
    widen = 2 if not words else int(channels % 4 > 0)
    length = kernel // parts * in_step
    run = Runs(1, -(-length // 4), 0) if gathered else runs_of(length, pairs=True, most=groups_in(call))
    starts = [j * dilation * in_step + i * run.length for j in range(parts) for i in range(run.split)]
    out_columns = call.output.shape[2]
    step = stride * in_step if out_columns > 1 else 0
    left = window.pad((height, columns))[1] * in_step
    end = max(left + columns * in_step, (out_columns - 1) * step + starts[-1] + run.length)
    return Layout(widen, in_step, left, step, parts, run, tuple(starts), -(-end // 4) * 4)


@dataclass(frozen=True)
class Way:
    """Weights int16 or composite; loads of several words, or single ones, for Cortex-M7."""

    name: str
    is_composite: bool
    is_single: bool

    def block_bytes(self, words: int, sizes: Mapping[str, int], *, gathered: bool) -> float:
        """Bytes of the blocks of three pixels and, with `rest`, of two, so many words in the text, besides the base."""
        extra = (24 + 12 * sizes["linear"]) * self.is_composite + 24 * sizes["linear"] + 16 * sizes["loop"]
        bytes_of = (44.0, 32.0) if self.is_single else _WORD_BYTES[gathered, self.is_composite]
        return sum(words * each + extra for each in bytes_of[: 1 + sizes.get("rest", 0)])


_WAYS = (
    Way("dsp16", False, False),
    Way("dsp8", True, False),
    Way("dsp16_single", False, True),
    Way("dsp8_single", True, True),
)
_WORD_BYTES = {
    (False, False): (32.0, 22.0),
    (False, True): (36.0, 26.0),
    (True, False): (30.7, 22.7),
    (True, True): (33.3, 25.3),
}
"""Of a word of two taps of three pixels and of two, by whether taps are gathered and weights composite."""


@dataclass(frozen=True)
class Convolution:
    """What the kernels ask of an operator: its window, activation, weights as a matrix and as [O, KH, KW, C]."""

    window: Callable[[Call], Window]
    activation: Callable[[Call], str]
    matrix: Callable[[Call], np.ndarray]

    def linear(self, call: Call, way: Way) -> int:
        clamps = scaling.clamps_at_zero_point(call, self.activation(call))
        return int(not clamps or (way.is_composite and not scaling.fit_wide(call)))

    def finish_work(self, call: Call) -> dict[str, float]:
        """Outputs that are clamped apart, and those that may be below the zero point."""
        activation = self.activation(call)
        below = call.output.size * float(not scaling.clamps_at_zero_point(call, activation))
        return {"below_zero": below, **scaling.clamp_work(call, activation)}

    def by_tap(self, call: Call) -> np.ndarray:
        w = self.matrix(call)
        return w.reshape(w.shape[0], *self.window(call).kernel, -1)


@dataclass(frozen=True)
class InRows:
    """Kernels on widened rows. gathered: taps are gathered first, else read where they stand."""

    of: Convolution
    gathered: bool

    def layout(self, call: Call) -> Layout:
        return layout(call, self.of.window(call), gathered=self.gathered)

    def ring(self, call: Call) -> Ring:
        return Ring("s16", self.layout(call).row_length)

    def words(self, call: Call) -> Words:
        """How gathered taps are read."""
        found = self.layout(call)
        return words_of(self.of.window(call).kernel[0] * len(found.runs) * 2 * found.run.quads, words_in(call))

    def scratch(self, call: Call) -> int:
        """Bytes of three pixels' taps."""
        return _gathered_bytes(self.words(call))

    def variant(self, call: Call, way: Way) -> dict[str, int]:
        found, rows = self.layout(call), self.of.window(call).kernel[0]
        if self.gathered:
            words = self.words(call)
            sizes, loop = {"words": words.words}, int(words.times > 1)
        else:
            sizes = {
                "kernel_h": rows,
                "split": len(found.runs),
                "quads": found.run.quads,
                "pair": found.run.pair,
                "step": 2 * found.step,
            }
            loop = int(rows * len(found.runs) * found.run.quads > groups_in(call))
        return {
            **sizes,
            "loop": loop,
            "linear": loop or self.of.linear(call, way),  # an instruction an output, of hundreds: no copy for that
            "widen": found.widen,
            "rest": int(call.output.shape[2] % 3 > 0),
        }

    def params(self, call: Call, way: Way) -> Params:
        found, w = self.layout(call), self.of.matrix(call)
        taps = found.taps(self.of.by_tap(call))
        taken: Params = {}
        if self.gathered:
            words = self.words(call).total
            taps = scaling.padded(taps, 2 * words)
            taken = {
                "words": words,
                "step": found.step,
                "kernel_h": self.of.window(call).kernel[0],
                "split": len(found.runs),
                "groups": found.run.quads,
            }
        return {
            **scaling.stream(call, w, taps, is_composite=way.is_composite, linear=self.variant(call, way)["linear"]),
            "runs": np.array(found.runs, np.uint32),
            "left": found.left,
            "row_length": found.row_length,
            "in_w": call.input(0).shape[2],
            "in_c": call.input(0).shape[3],
            "in_step": found.in_step,
            "out_w": call.output.shape[2],
            "out_c": call.output.shape[3],
            "threes": _threes(call.output.shape[2]),
            **taken,
            "outside": call.input(0).zero_point,
            **scaling.clamp(call, self.of.activation(call)),
        }

    @property
    def terms(self) -> tuple[str, ...]:
        own = GATHERED_TERMS if self.gathered else (*TERMS, "segments", "looped")
        return (*own, *FINISH_TERMS, *(f"widened{how}" for how in range(3)))

    def work(self, call: Call) -> dict[str, float]:
        found, (n, rows, columns, outputs) = self.layout(call), call.output.shape
        threes = _threes(columns)
        blocks = n * rows * np.array([threes // 3, (columns - threes + 1) // 2])
        segments = self.of.window(call).kernel[0] * len(found.runs)
        widened = {f"widened{found.widen}": call.input(0).size, **self.of.finish_work(call)}
        if self.gathered:
            return _gathered_work(blocks, outputs, self.words(call), segments, found.run.quads) | widened
        groups = segments * (found.run.quads + found.run.pair / 2)
        counts = _work(blocks, outputs, groups)
        looped = counts["pairs"] * (segments * found.run.quads > groups_in(call))
        return counts | {"segments": segments * counts["pairs"], "looped": looped} | widened

    def code(self, call: Call, way: Way) -> int:
        """Bytes of a copy."""
        found, sizes = self.layout(call), self.variant(call, way)
        rest, segments = sizes["rest"], 1
        if self.gathered:
            words, base = sizes["words"], 1008
        else:
            runs = self.of.window(call).kernel[0] * len(found.runs)
            words, base = (2 * found.run.quads + found.run.pair) * (1 if sizes["loop"] else runs), 794
            segments = runs + 10 * (len(found.runs) > 1)
        blocks = way.block_bytes(words, sizes, gathered=self.gathered)
        return round(base + (0, 110, -30)[found.widen] + 160 * rest + 12 * segments * (1 + rest) - 12 + blocks)

    def fields_fit(self, call: Call) -> bool:
        "no size is above 65535"
        found, window = self.layout(call), self.of.window(call)
        sizes = (found.in_step, found.run.quads, *window.kernel, *call.output.shape, *call.input(0).shape)
        return max(sizes) <= _MAX_FIELD

    def in_reach(self, call: Call) -> bool:
        "the taps of three pixels are within reach of an instruction, in at most 512 runs"
        found = self.layout(call)
        return found.in_reach and self.of.window(call).kernel[0] * len(found.runs) <= _MAX_RUNS


@dataclass(frozen=True)
class Pixels:
    """Kernels of 1x1 convolutions on runs of pixels, of which three are gathered. shared: one copy for all sizes."""

    of: Convolution
    shared: bool

    def words(self, call: Call) -> Words:
        total = 2 * -(-call.input(0).shape[3] // 4)
        return Words(-(-total // SHARED_WORDS), SHARED_WORDS) if self.shared else words_of(total, words_in(call))

    def scratch(self, call: Call) -> int:
        """Bytes of three pixels' channels, widened."""
        return _gathered_bytes(self.words(call))

    def variant(self, call: Call, way: Way) -> dict[str, int]:
        words = self.words(call)
        loop = int(self.shared or words.times > 1)
        return {"words": words.words, "loop": loop, "linear": loop or self.of.linear(call, way)}

    def work(self, call: Call) -> dict[str, float]:
        outputs = call.output.shape[3]
        blocks = -(-call.output.size // outputs // 3)
        counts = _gathered_work(np.array([blocks, 0]), outputs, self.words(call), 1, call.input(0).shape[3] / 4)
        return counts | self.of.finish_work(call)

    def params(self, call: Call, way: Way) -> Params:
        w, words = self.of.matrix(call), self.words(call)
        taps = scaling.padded(scaling.swapped(scaling.overlapped(w)), 2 * words.total)
        return {
            **scaling.stream(call, w, taps, is_composite=way.is_composite, linear=self.variant(call, way)["linear"]),
            "words": words.total,
            "in_c": w.shape[1],
            "out_c": w.shape[0],
            **scaling.clamp(call, self.of.activation(call)),
        }

    def code(self, call: Call, way: Way) -> int:
        """Bytes of a copy."""
        return round(800 + way.block_bytes(self.words(call).words, self.variant(call, way), gathered=True))


def _threes(columns: int) -> int:
    """Pixels of a row that are computed by threes; the others are by twos."""
    return columns - (0, 4, 2)[columns % 3] if columns != 1 else 0


def _work(blocks: np.ndarray, outputs: int, groups: float) -> dict[str, float]:
    """What blocks of three and of two pixels take, with so many groups of four taps for each pair of channels.

    products: groups times pixels.
    """
    pairs = -(-outputs // 2)
    counts = {"blocks": blocks.sum(), "pairs": pairs * blocks.sum(), "groups": groups * pairs * blocks.sum()}
    counts["products"] = groups * pairs * (blocks @ [3, 2])
    counts["odd_channels"] = outputs % 2 * blocks.sum()
    return {name: float(count) for name, count in counts.items()}


def _gathered_work(blocks: np.ndarray, outputs: int, words: Words, runs: int, groups: float) -> dict[str, float]:
    """The same for gathered words, which come from so many runs of groups of four taps for each pixel."""
    counts = _work(blocks, outputs, words.total / 2)
    looped = counts["pairs"] * (words.times > 1)
    counts |= {"looped": looped, "loops": looped * words.times, "gathers": runs * counts["blocks"]}
    return counts | {"gathered": runs * groups * counts["blocks"]}


def _gathered_bytes(words: Words) -> int:
    return -(-12 * words.total // 16) * 16


def four_channels(call: Call) -> bool:
    "a pixel has 4 to 65535 channels, and so has the output"
    return 4 <= call.input(0).shape[3] <= _MAX_FIELD and call.output.shape[3] <= _MAX_FIELD


def ring_kernels(of: Convolution, window: Callable[[Call], RowWindow], is_dense: Rule) -> tuple[Kernel, ...]:
    """The kernels of a convolution in one group (is_dense), on rows widened once. window: the row geometry."""
    found: tuple[Kernel, ...] = ()
    for suffix, rows in (("", InRows(of, gathered=False)), ("_gathered", InRows(of, gathered=True))):
        base = Kernel(
            "",
            Form.RING,
            accepts=(is_dense, rows.fields_fit, *(() if rows.gathered else (rows.in_reach,))),
            window=window,
            ring=rows.ring,
            scratch=rows.scratch if rows.gathered else None,
            work=rows.work,
            terms=rows.terms,
            struct="mg_dsp_ring",
        )
        found += _all(base, suffix, rows)
    return found


def run_kernels(of: Convolution, is_run: Rule, count: Callable[[Call], int]) -> tuple[Kernel, ...]:
    """The kernels of a 1x1 convolution with stride 1 (is_run). count: pixels of the output."""
    found: tuple[Kernel, ...] = ()
    for suffix, pixels in (("_pointwise", Pixels(of, shared=False)), ("_shared_pointwise", Pixels(of, shared=True))):
        base = Kernel(
            "",
            Form.POINTWISE,
            accepts=(is_run, four_channels),
            count=count,
            scratch=pixels.scratch,
            work=pixels.work,
            terms=(*GATHERED_TERMS, *FINISH_TERMS),
            struct="mg_dsp_run",
        )
        found += _all(base, suffix, pixels)
    return found


def _all(base: Kernel, suffix: str, of: InRows | Pixels) -> tuple[Kernel, ...]:
    """Kernels with int16 weights and with composite ones, for cores that load several words fast and for others."""
    made = []
    for way in _WAYS:
        proofs = (scaling.doubled, scaling.scaled, *((scaling.composite,) if way.is_composite else ()))
        made.append(
            replace(
                base,
                symbol=f"mg_conv2d_s8__{way.name}{suffix}",
                accepts=(_filter.int8_data, _filter.constant_weights, *base.accepts, *proofs),
                variant=partial(of.variant, way=way),
                params=partial(of.params, way=way),
                code=partial(of.code, way=way),
                widened=not way.is_composite,
                needs=scaling.DSP,
            )
        )
    return tuple(made)

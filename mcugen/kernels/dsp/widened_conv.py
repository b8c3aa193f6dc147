"""Convolutions on cores with SMLAD: three pixels times two channels at a time, on widened rows or on gathered taps.

Kernels that read taps from widened rows are compiled for the sizes of each layer. Kernels for gathered taps depend only
on the number of unrolled words, so that layers share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Run, Text
from mcugen.kernels.dsp import nine, scaling, streams
from mcugen.kernels.dsp.layout import RowLayout, Words, groups_in, layout, words_in, words_of
from mcugen.kernels.dsp.ways import SMALL_WAYS, WAYS, Way, constants
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, matrix, pixels, rounds_once, row_window, window_of

SHARED_WORDS = 8
"""Largest number of words of two taps that are unrolled in kernels for layers of any size."""

SUMMED_WORDS = 16
"""Largest number of words per pixel that are unrolled with nine-bit weights. More words run in a loop."""

TERMS = ("blocks", "pairs", "groups", "products", "odd_channels")
GATHERED_TERMS = (*TERMS, "looped", "loops", "gathers", "gathered")
FINISH_TERMS = ("below_zero", *scaling.CLAMP_TERMS)

_MAX_FIELD = 2**16 - 1
_MAX_RUNS = 512
"""Largest number of runs of adjacent taps per output. Each run has a pointer on the stack."""


def _finish(call: Call, way: Way, loop: int, *, shared: bool) -> dict[str, int]:
    """The constants `linear` and `shift` of dsp_block_template.h."""
    shift = 0 if shared else _shift(call, way)
    return {"linear": 5 if shift else _linear(call, way, loop), "shift": shift}


def _linear(call: Call, way: Way, loop: int = 0) -> int:
    """MG_LINEAR of dsp_block_template.h. Loops use the general value: one instruction saved is not worth another
    function."""
    if scaling.how_once(call) == 2:
        return 4
    if rounds_once(call):
        return 3 if way.is_composite and not scaling.fit_wide(call) else 2
    return loop or _needs_sign(call, way)


def _shift(call: Call, way: Way) -> int:
    """MG_SHIFT: the common shift. 16-bit weights can be enlarged so that all channels have the same shift."""
    return scaling.one_shift(call) if way.bits == 16 else 0


def _needs_sign(call: Call, way: Way) -> int:
    clamps = scaling.clamps_at_zero_point(call, activation_of(call))
    return int(not clamps or (way.is_composite and not scaling.fit_wide(call)))


@fact
def _finish_work(call: Call) -> dict[str, float]:
    """Cost terms: outputs with a separate clamp, and outputs that may be below the zero point."""
    activation = activation_of(call)
    signs = not rounds_once(call) and not scaling.clamps_at_zero_point(call, activation)
    below = call.output.size * float(signs)
    return {"below_zero": below, **scaling.clamp_work(call, activation)}


@fact
def _taps_in_rows(call: Call, gathered: bool) -> np.ndarray:
    """The weights [outputs, taps] in the order in which rows are read."""
    w = matrix(call)
    return layout(call, gathered).taps(w.reshape(w.shape[0], *window_of(call).kernel, -1))


@dataclass(frozen=True)
class InRows:
    """Kernels on widened rows.

    gathered: whether taps are copied together first; else they are read in place. shared: whether layers of all sizes
    share a short function, in which few gathered taps are unrolled.
    """

    gathered: bool
    shared: bool = False

    @property
    def gathers(self) -> bool:
        return self.gathered

    def layout(self, call: Call) -> RowLayout:
        return layout(call, self.gathered)

    def ring(self, call: Call) -> RowStorage:
        return RowStorage("s16", self.layout(call).row_length)

    def words(self, call: Call, way: Way) -> Words:
        """The layout of gathered taps."""
        sums = self.sums(call)
        total = sums.following if way.is_summed else sums.taps // 2
        return _shared_words(total) if self.shared else words_of(total, words_in(call), way.step)

    def sums(self, call: Call) -> nine.Sums:
        found = self.layout(call)
        return nine.Sums(found.run.quads, window_of(call).kernel[0] * len(found.runs))

    def scratch(self, call: Call, way: Way) -> int:
        """Bytes of three pixels' taps."""
        return _gathered_bytes(self.words(call, way), way)

    def variant(self, call: Call, way: Way) -> dict[str, int]:
        found, rows = self.layout(call), window_of(call).kernel[0]
        if self.gathered:
            words = self.words(call, way)
            sizes, loop = {"words": words.words}, int(self.shared or words.times > 1)
        else:
            sizes = {
                "kernel_h": rows,
                "split": len(found.runs),
                "quads": found.run.quads,
                "pair": found.run.pair,
                "step": 2 * found.step,
                "odd": call.output.shape[3] % 2,
            }
            loop = int(rows * len(found.runs) * found.run.quads > groups_in(call))
        return {
            **sizes,
            "loop": loop,
            **_finish(call, way, loop, shared=self.shared),
            "widen": found.widen,
            "rest": int(call.output.shape[2] % 3 > 0),
        }

    def params(self, call: Call, way: Way) -> Params:
        found, taps = self.layout(call), _taps_in_rows(call, self.gathered)
        taken: Params = {}
        sums = self.sums(call) if way.is_summed else None
        if self.gathered:
            words = self.words(call, way).total
            taps = streams.padded(taps, 2 * words)
            taken = {
                "words": words + way.is_summed,
                "step": found.step,
                "kernel_h": window_of(call).kernel[0],
                "runs_per_row": len(found.runs),
                "run_groups": found.run.quads,
            }
        return {
            **streams.stream(call, taps, bits=way.bits, linear=self.variant(call, way)["linear"], sums=sums),
            "run_offsets": np.array(found.runs, np.uint32),
            "pad_left": found.left,
            "row_length": found.row_length,
            "in_w": call.input(0).shape[2],
            "in_c": call.input(0).shape[3],
            "in_step": found.in_step,
            "out_w": call.output.shape[2],
            "out_c": call.output.shape[3],
            "triples_end": _threes(call.output.shape[2]),
            **taken,
            "outside": call.input(0).zero_point,
            **scaling.clamp(call, activation_of(call)),
        }

    @property
    def terms(self) -> tuple[str, ...]:
        own = GATHERED_TERMS if self.gathered else (*TERMS, "segments", "halves", "looped")
        return (*own, *FINISH_TERMS, *(f"widened{how}" for how in range(3)))

    def work(self, call: Call, way: Way) -> dict[str, float]:
        found, (n, rows, columns, outputs) = self.layout(call), call.output.shape
        threes = _threes(columns)
        blocks = n * rows * (threes // 3), n * rows * ((columns - threes + 1) // 2)
        segments = window_of(call).kernel[0] * len(found.runs)
        widened = {f"widened{found.widen}": call.input(0).size, **_finish_work(call)}
        if self.gathered:
            return _gathered_work(blocks, outputs, self.words(call, way), segments, found.run.quads) | widened
        groups = segments * (found.run.quads + found.run.pair / 2)
        counts = _work(blocks, outputs, groups)
        looped = counts["pairs"] * (segments * found.run.quads > groups_in(call))
        halves = segments * found.run.pair * counts["pairs"]
        return counts | {"segments": segments * counts["pairs"], "halves": halves, "looped": looped} | widened

    def code(self, call: Call, way: Way) -> int:
        """Code size in bytes of the kernel for this call."""
        found, sizes = self.layout(call), self.variant(call, way)
        rest, segments = sizes["rest"], 1
        if self.gathered:
            words, base = sizes["words"], 1008
        else:
            runs = window_of(call).kernel[0] * len(found.runs)
            words, base = (2 * found.run.quads + found.run.pair) * (1 if sizes["loop"] else runs), 794
            segments = runs + 10 * (len(found.runs) > 1)
        blocks = way.block_bytes(words, sizes, gathered=self.gathered)
        return round(base + (0, 110, -30)[found.widen] + 160 * rest + 12 * segments * (1 + rest) - 12 + blocks)

    def fields_fit(self, call: Call) -> bool:
        "no size is above 65535"
        found, window = self.layout(call), window_of(call)
        sizes = (found.in_step, found.run.quads, *window.kernel, *call.output.shape, *call.input(0).shape)
        return max(sizes) <= _MAX_FIELD

    def in_reach(self, call: Call) -> bool:
        "the taps of three pixels are within reach of an instruction, in at most 512 runs"
        found = self.layout(call)
        return found.in_reach and window_of(call).kernel[0] * len(found.runs) <= _MAX_RUNS


@dataclass(frozen=True)
class Pixels:
    """Kernels of 1x1 convolutions that gather three pixels at a time. shared: whether one function serves all sizes."""

    shared: bool
    gathers: ClassVar[bool] = True

    def words(self, call: Call, way: Way) -> Words:
        sums = self.sums(call)
        total = sums.following if way.is_summed else sums.taps // 2
        return _shared_words(total) if self.shared else words_of(total, words_in(call), way.step)

    def sums(self, call: Call) -> nine.Sums:
        return nine.Sums(-(-call.input(0).shape[3] // 4))

    def scratch(self, call: Call, way: Way) -> int:
        """Bytes of three pixels' channels, widened."""
        return _gathered_bytes(self.words(call, way), way)

    def variant(self, call: Call, way: Way) -> dict[str, int]:
        words = self.words(call, way)
        loop = int(self.shared or words.times > 1 or (way.is_summed and words.words > SUMMED_WORDS))
        signed = loop * (self.shared or not way.is_summed)
        return {"words": words.words, "loop": loop, **_finish(call, way, signed, shared=self.shared)}

    def work(self, call: Call, way: Way) -> dict[str, float]:
        outputs = call.output.shape[3]
        blocks = -(-call.output.size // outputs // 3)
        counts = _gathered_work((blocks, 0), outputs, self.words(call, way), 1, call.input(0).shape[3] / 4)
        return counts | _finish_work(call)

    def params(self, call: Call, way: Way) -> Params:
        w, words = matrix(call), self.words(call, way)
        taps = streams.padded(streams.swapped(streams.overlapped(w)), 2 * words.total)
        sums = self.sums(call) if way.is_summed else None
        return {
            **streams.stream(call, taps, bits=way.bits, linear=self.variant(call, way)["linear"], sums=sums),
            "words": words.total + way.is_summed,
            "in_c": w.shape[1],
            "out_c": w.shape[0],
            **scaling.clamp(call, activation_of(call)),
        }

    def code(self, call: Call, way: Way) -> int:
        """Code size in bytes of the kernel for this call."""
        return round(800 + way.block_bytes(self.words(call, way).words, self.variant(call, way), gathered=True))


def _shared_words(total: int) -> Words:
    return Words(-(-total // SHARED_WORDS), SHARED_WORDS)


def _threes(columns: int) -> int:
    """Number of pixels of a row that are computed three at a time. The rest of the row is computed in pairs."""
    return columns - (0, 4, 2)[columns % 3] if columns != 1 else 0


def _work(blocks: tuple[int, int], outputs: int, groups: float) -> dict[str, float]:
    """Cost terms of blocks of three and of two pixels, with `groups` groups of four taps for each pair of channels.

    products: groups times pixels.
    """
    pairs, (threes, twos) = -(-outputs // 2), blocks
    total = threes + twos
    counts = {"blocks": total, "pairs": pairs * total, "groups": groups * pairs * total}
    counts["products"] = groups * pairs * (3 * threes + 2 * twos)
    counts["odd_channels"] = outputs % 2 * total
    return {name: float(count) for name, count in counts.items()}


def _gathered_work(blocks: tuple[int, int], outputs: int, words: Words, runs: int, groups: float) -> dict[str, float]:
    """Cost terms for gathered words, copied from `runs` runs of `groups` groups of four taps for each pixel."""
    counts = _work(blocks, outputs, words.total / 2)
    looped = counts["pairs"] * (words.times > 1)
    counts |= {"looped": looped, "loops": looped * words.times, "gathers": runs * counts["blocks"]}
    return counts | {"gathered": runs * groups * counts["blocks"]}


def _gathered_bytes(words: Words, way: Way) -> int:
    return -(-12 * (words.total + way.is_summed) // 16) * 16


def four_channels(call: Call) -> bool:
    "input and output have 4 to 65535 channels"
    return 4 <= call.input(0).shape[3] <= _MAX_FIELD and call.output.shape[3] <= _MAX_FIELD


def ring_kernels(is_dense: Rule) -> tuple[Kernel, ...]:
    """The kernels of a convolution, on rows that are widened once. is_dense: the rule that there is one group."""
    found: tuple[Kernel, ...] = ()
    for suffix, rows, ways in (
        ("", InRows(gathered=False), tuple(way for way in WAYS if way.bits in (8, 16))),
        ("_gathered", InRows(gathered=True), WAYS),
        ("_shared_gathered", InRows(gathered=True, shared=True), SMALL_WAYS),
    ):
        base = Kernel(
            "",
            Ring(row_window, rows.ring),
            accepts=(is_dense, rows.fields_fit, *(() if rows.gathered else (rows.in_reach,))),
            text=Text(source=f"dsp_{'gathered' if rows.gathered else 'ring'}_template.h", struct="mg_dsp_ring"),
            cost=Cost(terms=rows.terms),
        )
        found += _all(base, suffix, rows, ways)
    return found


def run_kernels(is_run: Rule) -> tuple[Kernel, ...]:
    """The kernels of a 1x1 convolution. is_run: the rule that the convolution is 1x1."""
    found: tuple[Kernel, ...] = ()
    for suffix, runs in (("_pointwise", Pixels(shared=False)), ("_shared_pointwise", Pixels(shared=True))):
        base = Kernel(
            "",
            Run(pixels),
            accepts=(is_run, four_channels),
            text=Text(source="dsp_run_template.h", struct="mg_dsp_run"),
            cost=Cost(terms=(*GATHERED_TERMS, *FINISH_TERMS)),
        )
        found += _all(base, suffix, runs, WAYS)
    return found


def _initials(suffix: str) -> str:
    """An abbreviated suffix: `_sp` for `_shared_pointwise`."""
    return "".join(["_" if suffix else "", *(word[0] for word in suffix.split("_") if word)])


def _all(base: Kernel, suffix: str, of: InRows | Pixels, ways: Sequence[Way]) -> tuple[Kernel, ...]:
    """One kernel for each way to store and load weights. of: the layout of the taps."""
    packed = {way.bits: _packed(base, of, way) for way in ways}
    return tuple(
        replace(
            packed[way.bits],
            symbol=f"mg_conv2d_s8__{way.name}{suffix}",
            text=replace(packed[way.bits].text, constants=constants(way.bits, single=way.is_single)),
            cost=replace(packed[way.bits].cost, code=partial(of.code, way=way)),
            short=f"conv_{way.short}{_initials(suffix)}",
        )
        for way in ways
    )


def _packed(base: Kernel, of: InRows | Pixels, way: Way) -> Kernel:
    """The kernel for one weight size, before the choice of how constants are loaded. Kernels derived from it share the
    values that are cached for a call."""
    proofs = (scaling.doubled, scaling.scaled, *scaling.PROOFS[way.bits])
    return replace(
        base,
        accepts=(_filter.int8_outside, _filter.constant_weights, *base.accepts, *proofs),
        params=partial(of.params, way=way),
        scratch=partial(of.scratch, way=way) if of.gathers else None,
        text=replace(base.text, variant=partial(of.variant, way=way)),
        cost=replace(base.cost, work=partial(of.work, way=way)),
        needs=scaling.DSP,
        widened=way.bits == 16,
        sized=True,
    )

"""Convolutions on cores with SMLAD: three pixels times two channels, on rows widened once or on gathered pixels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mcugen.op import Call, Form, Kernel, Params, Ring, RowWindow, Rule
from mcugen.ops import _dsp, _filter
from mcugen.ops._window import Window

UNROLLED_GROUPS = 16
"""Groups of four taps that are unrolled, at most."""

_LEAST_GROUPS = 8
_REACH = 1020
_SMALL_MACS = 2**17
_SMALL_GROUPS = 4
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


def runs_of(length: int, *, pairs: bool) -> Runs:
    """How to read `length` neighbouring elements; `pairs`: whether a run may end with two elements."""
    quads, rest = divmod(length, 4)
    if quads <= UNROLLED_GROUPS and pairs and rest in (1, 2):
        return Runs(1, quads, 1)
    total = quads + (rest > 0)
    least = -(-total // UNROLLED_GROUPS)
    exact = [n for n in range(least, total // _LEAST_GROUPS + 1) if total % n == 0]
    split = exact[0] if exact else least
    return Runs(split, -(-total // split), 0)


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
        parts = _dsp.padded(w, self.in_step).reshape(*w.shape[:2], self.parts, -1)
        read = _dsp.padded(parts, self.run.split * self.run.length).reshape(w.shape[0], -1)
        return _dsp.swapped(read) if self.widen == 0 else read


def layout(call: Call, window: Window) -> Layout:
    """The layout for a window over input 0."""
    _, height, columns, channels = call.input(0).shape
    kernel, stride, dilation = window.kernel[1], window.stride[1], window.dilation[1]
    parts = kernel if dilation > 1 else 1
    words = channels * stride % 2 == 0 and (parts == 1 or channels * dilation % 2 == 0)
    in_step = channels if words else channels + 1
    widen = 2 if not words else int(channels % 4 > 0)
    run = runs_of(kernel // parts * in_step, pairs=True)
    starts = [j * dilation * in_step + i * run.length for j in range(parts) for i in range(run.split)]
    out_columns = call.output.shape[2]
    step = stride * in_step if out_columns > 1 else 0
    left = window.pad((height, columns))[1] * in_step
    length = max(left + columns * in_step, (out_columns - 1) * step + starts[-1] + run.length)
    return Layout(widen, in_step, left, step, parts, run, tuple(starts), -(-length // 4) * 4)


@dataclass(frozen=True)
class Convolution:
    """What the kernels ask of an operator: its window, activation, weights as a matrix and as [O, KH, KW, C]."""

    window: Callable[[Call], Window]
    activation: Callable[[Call], str]
    matrix: Callable[[Call], np.ndarray]

    def layout(self, call: Call) -> Layout:
        return layout(call, self.window(call))

    def ring(self, call: Call) -> Ring:
        return Ring("s16", self.layout(call).row_length)

    def linear(self, call: Call) -> int:
        return int(not _dsp.clamps_at_zero_point(call, self.activation(call)))

    def ring_variant(self, call: Call) -> dict[str, int]:
        found, rows = self.layout(call), self.window(call).kernel[0]
        split = len(found.runs)
        loop = int(rows * split * found.run.quads > UNROLLED_GROUPS)
        return {
            "kernel_h": rows,
            "split": split,
            "quads": found.run.quads,
            "pair": found.run.pair,
            "step": 2 * found.step,
            "loop": loop,
            "linear": 1 if loop else self.linear(call),  # an instruction an output, of hundreds: no copy for that
            "widen": found.widen,
            "rest": int(call.output.shape[2] % 3 > 0),
        }

    def ring_params(self, call: Call, *, is_composite: bool) -> Params:
        found, w = self.layout(call), self.matrix(call)
        taps = found.taps(w.reshape(w.shape[0], *self.window(call).kernel, -1))
        return {
            **_dsp.stream(call, w, taps, is_composite=is_composite),
            "runs": np.array(found.runs, np.uint32),
            "left": found.left,
            "row_length": found.row_length,
            "in_w": call.input(0).shape[2],
            "in_c": call.input(0).shape[3],
            "in_step": found.in_step,
            "out_w": call.output.shape[2],
            "out_c": call.output.shape[3],
            "outside": call.input(0).zero_point,
            **_dsp.clamp(call, self.activation(call)),
        }

    def ring_work(self, call: Call) -> dict[str, float]:
        found, (n, rows, columns, outputs) = self.layout(call), call.output.shape
        threes = (columns - (0, 4, 2)[columns % 3]) // 3 if columns != 1 else 0
        groups = self.window(call).kernel[0] * len(found.runs) * (found.run.quads + found.run.pair / 2)
        blocks = n * rows * np.array([threes, (columns - 3 * threes + 1) // 2])
        counts = _work(blocks, outputs, groups)
        segments = self.window(call).kernel[0] * len(found.runs)
        counts |= {"segments": segments * counts["pairs"], f"widened{found.widen}": call.input(0).size}
        return counts | _dsp.clamp_work(call, self.activation(call))

    def ring_code(self, call: Call) -> int:
        """Bytes of a copy: what all have, and the groups of four taps in a block of three pixels, and in one of two."""
        sizes = self.ring_variant(call)
        groups = sizes["quads"] * (1 if sizes["loop"] else sizes["kernel_h"] * sizes["split"])
        return 750 + 64 * groups + (250 + 44 * groups) * sizes["rest"]

    def run_code(self, call: Call) -> int:
        """The same for gathered pixels, which are widened by code of their own."""
        return 600 + 80 * self.run_variant(call)["quads"]

    def in_reach(self) -> Rule:
        """The rule for kernels that read taps where they stand."""

        def fit(call: Call) -> bool:
            "the taps of three pixels are within reach of an instruction, in at most 512 runs; no size is above 65535"
            found, largest = self.layout(call), max(*call.output.shape, *call.input(0).shape)
            runs = self.window(call).kernel[0] * len(found.runs)
            return found.in_reach and runs <= _MAX_RUNS and largest <= _MAX_FIELD

        return fit

    def run_variant(self, call: Call) -> dict[str, int]:
        run = pixel_runs(call)
        loop = int(is_small(call) or run.split > 1)
        tail = 0 if loop else call.input(0).shape[3] % 4
        return {"quads": run.quads, "tail": tail, "loop": loop, "linear": self.linear(call)}

    def run_work(self, call: Call) -> dict[str, float]:
        run, outputs = pixel_runs(call), call.output.shape[3]
        blocks = -(-call.output.size // outputs // 3)
        groups = run.split * run.quads
        counts = _work(np.array([blocks, 0]), outputs, groups)
        counts["loops"] = counts["pairs"] * run.split * self.run_variant(call)["loop"]
        return counts | {"gathered": 3.0 * blocks * groups} | _dsp.clamp_work(call, self.activation(call))

    def run_params(self, call: Call, *, is_composite: bool) -> Params:
        w, run = self.matrix(call), pixel_runs(call)
        taps = _dsp.swapped(_dsp.padded(_dsp.overlapped(w), run.split * run.length))
        return {
            **_dsp.stream(call, w, taps, is_composite=is_composite),
            "quads": run.split * run.quads,
            "in_c": w.shape[1],
            "out_c": w.shape[0],
            **_dsp.clamp(call, self.activation(call)),
        }


def _work(blocks: np.ndarray, outputs: int, groups: float) -> dict[str, float]:
    """What blocks of three and of two pixels take, with so many groups of four taps for each pair of channels.

    products: groups times pixels.
    """
    pairs = -(-outputs // 2)
    counts = {"blocks": blocks.sum(), "pairs": pairs * blocks.sum(), "groups": groups * pairs * blocks.sum()}
    counts["products"] = groups * pairs * (blocks @ [3, 2])
    counts["odd_channels"] = outputs % 2 * blocks.sum()
    return {name: float(count) for name, count in counts.items()}


def is_small(call: Call) -> bool:
    """Whether a 1x1 convolution does not earn a copy of the kernel for its channels."""
    return call.op.macs(call) < _SMALL_MACS


def pixel_runs(call: Call) -> Runs:
    """How the channels of a gathered pixel are read; small convolutions share one way."""
    channels = call.input(0).shape[3]
    if not is_small(call):
        return runs_of(channels, pairs=False)
    return Runs(-(-channels // (4 * _SMALL_GROUPS)), _SMALL_GROUPS, 0)


def run_scratch(call: Call) -> int:
    """Bytes of three pixels' channels, widened."""
    run = pixel_runs(call)
    return -(-24 * run.split * run.quads // 16) * 16


def four_channels(call: Call) -> bool:
    "a pixel has 4 to 65535 channels, and so has the output"
    return 4 <= call.input(0).shape[3] <= _MAX_FIELD and call.output.shape[3] <= _MAX_FIELD


def ring_kernels(of: Convolution, window: Callable[[Call], RowWindow], is_dense: Rule) -> tuple[Kernel, ...]:
    """The kernels of a convolution in one group (is_dense), on rows widened once. window: the row geometry."""
    base = Kernel(
        "",
        Form.RING,
        accepts=(is_dense, of.in_reach()),
        window=window,
        ring=of.ring,
        variant=of.ring_variant,
        work=of.ring_work,
        code=of.ring_code,
        struct="mg_dsp_ring",
    )
    return _all(base, "", of.ring_params)


def run_kernels(of: Convolution, is_run: Rule, count: Callable[[Call], int]) -> tuple[Kernel, ...]:
    """The kernels of a 1x1 convolution with stride 1 (is_run). count: pixels of the output."""
    base = Kernel(
        "",
        Form.POINTWISE,
        accepts=(is_run, four_channels),
        count=count,
        scratch=run_scratch,
        variant=of.run_variant,
        work=of.run_work,
        code=of.run_code,
        struct="mg_dsp_run",
    )
    return _all(base, "_pointwise", of.run_params)


_WAYS = (("dsp16", False), ("dsp8", True), ("dsp16_single", False), ("dsp8_single", True))
"""Names of the kernels, and whether their weights are composite; `single` ones load single words, for Cortex-M7."""


def _all(base: Kernel, suffix: str, params: Callable[..., Params]) -> tuple[Kernel, ...]:
    """Kernels with int16 weights and with composite ones, for cores that load several words fast and for others."""
    made = []
    for name, is_composite in _WAYS:
        proofs = (_dsp.doubled, _dsp.scaled, *((_dsp.composite,) if is_composite else ()))
        made.append(
            replace(
                base,
                symbol=f"mg_conv2d_s8__{name}{suffix}",
                accepts=(_filter.int8_data, _filter.constant_weights, *base.accepts, *proofs),
                params=partial(params, is_composite=is_composite),
                widened=not is_composite,
                needs=_dsp.DSP,
            )
        )
    return tuple(made)

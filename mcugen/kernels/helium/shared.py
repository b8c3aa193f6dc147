"""Convolutions on gathered patches with one function for layers of all sizes.

Kernels that are compiled for one layer unroll all steps, up to 2 KB. This kernel loops over the steps instead, and
reads the sizes from the layer's constants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Text
from mcugen.kernels.helium import conv, packing
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, sums_fit, window_of
from mcugen.ops._window import MAX_FIELD

CODE_BYTES = 704

FINISH = {0: 2, 1: 2, 2: 2, 3: 4, 4: 4, 5: 5}
"""Index in `packing.FINISHES` -> index of a more general requantization with equal results, so that fewer
functions are compiled.
"""

TERMS = (*packing.VECTOR_TERMS, "pairs", "blocks", "pair_steps", "copies", "gathered")


@dataclass(frozen=True)
class Patch:
    """A patch: `kernel_h` rows of `runs` runs of `run` bytes, which start `gap` bytes apart; `steps` vectors in all."""

    kernel_h: int
    runs: int
    run: int
    gap: int
    stride: int
    steps: int

    @property
    def nbytes(self) -> int:
        return self.steps * packing.LANES


def patch_of(call: Call) -> Patch:
    window, channels = window_of(call), call.input(0).shape[3]
    rows, columns = window.kernel
    runs = columns if window.dilation[1] > 1 else 1
    steps = -(-rows * columns * channels // packing.LANES)
    run = columns // runs * channels
    return Patch(rows, runs, run, window.dilation[1] * channels, window.stride[1] * channels, steps)


def _left(call: Call) -> int:
    """Number of bytes of padding before a row that are read."""
    x = call.input(0)
    return min(window_of(call).pad((x.shape[1], x.shape[2]))[1] * x.shape[3], _read(call))


def _used(call: Call) -> int:
    """Number of bytes of an input row that are read."""
    x = call.input(0)
    return min(x.shape[2] * x.shape[3], _read(call) - _left(call))


def _read(call: Call) -> int:
    """Number of bytes of a padded row that are read."""
    patch = patch_of(call)
    return (call.output.shape[2] - 1) * patch.stride + (patch.runs - 1) * patch.gap + patch.run


def fields_fit(call: Call) -> bool:
    "no row or patch is longer than 65535 bytes"
    patch = patch_of(call)
    return max(_read(call), patch.gap, patch.nbytes) <= MAX_FIELD


def ring(call: Call) -> RowStorage:
    return RowStorage("s8", -(-_read(call) // packing.LANES) * packing.LANES)


def scratch(call: Call) -> int:
    return max(call.output.shape[2], 2) * patch_of(call).nbytes


def variant(call: Call) -> dict[str, int]:
    return {"finish": FINISH[packing.finish_of(call) or 0]}


def code(call: Call) -> int:
    return CODE_BYTES


def work(call: Call) -> dict[str, float]:
    """Cost terms: pairs of pixels, blocks of a pair and four outputs, their steps (pair_steps), copied runs of taps
    (copies), and vectors of these (gathered)."""
    y, patch = call.output.shape, patch_of(call)
    pairs = y[0] * y[1] * -(-y[2] // 2)
    blocks = pairs * -(-y[3] // packing.BLOCK)
    copies = y[0] * y[1] * y[2] * patch.kernel_h * patch.runs
    return {
        **packing.vector_work(call, patch.kernel_h),
        "pairs": pairs,
        "blocks": blocks,
        "pair_steps": blocks * patch.steps,
        "copies": copies,
        "gathered": copies * -(-patch.run // packing.LANES),
    }


def params(call: Call) -> Params:
    patch, w = patch_of(call), matrix(call)
    return {
        "stream": packing.stream(call, w, packing.padded(w), list(range(patch.steps))),
        **conv.outputs(call),
        "steps": patch.steps,
        "kernel_h": patch.kernel_h,
        "runs": patch.runs,
        "run_length": patch.run,
        "run_stride": patch.gap,
        "stride": patch.stride,
        "left_bytes": _left(call),
        "row_used": _used(call),
        "row_bytes": ring(call).length,
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_conv2d_s8__mve_shared. rules: rules of the operator."""
    return replace(MODEL, accepts=(_filter.int8_data, *rules, _filter.constant_weights, *FITTING))


FITTING = (conv.has_block, fields_fit, packing.finishes, sums_fit)
"""Rules that hold for weights of any size."""

MODEL = replace(
    conv.MODEL,
    symbol="mg_conv2d_s8__mve_shared",
    form=Ring(row_window, ring),
    params=params,
    scratch=scratch,
    text=Text(variant, struct="mg_conv2d_s8__mve_shared"),
    cost=Cost(work, TERMS, code=code),
    short="conv_mve_shared",
)

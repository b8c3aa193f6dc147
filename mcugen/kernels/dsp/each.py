"""Depthwise convolution on planar rows, one output at a time. One short function serves layers of all widths and
strides.

Weights stay int8. One set of weights serves all rotations of the kernel rows in the ring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import wrap32
from mcugen.kernels.dsp import planar, scaling
from mcugen.kernels.dsp.planar_sizes import PlanarShape, shape_of
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, rounds_once, row_window

MAX_ROWS = 3
MAX_TAPS = 4
"""Largest kernel whose weights fit the registers: rows, and taps of a row."""
BYTE_ORDER = (0, 2, 1, 3)
"""Order of the taps in the bytes of a word. SXTB16 then yields adjacent taps as halfwords."""


def fits_registers(call: Call) -> bool:
    "the kernel has at most 3 rows of at most 4 taps that read the image"
    s = shape_of(call)
    return s.height <= MAX_ROWS and s.width <= MAX_TAPS


def eight_bits(call: Call) -> bool:
    "weights lie between -128 and 127"
    w = call.constants[1]
    return w is not None and bool(w.min(initial=0) >= -128 and w.max(initial=0) <= 127)


def _linear(call: Call) -> int:
    """MG_LINEAR: 1 if the sign of a sum may matter, 2 if sums are rounded once, 3 if a float scales them."""
    return 1 + scaling.how_once(call) if rounds_once(call) else 1


def _variant(call: Call) -> Mapping[str, int]:
    s = shape_of(call)
    return {"h": s.height, "taps": s.width, "linear": _linear(call)}


def _instructions(s: PlanarShape) -> int:
    """Instruction count of one output row of one channel."""
    each = 4 if s.width > 2 else 2
    return s.out_width * (10 + s.height * (each + 1)) + 20 + 6 * s.height


def _work(call: Call) -> dict[str, float]:
    """Cost terms, the same as in planar.py."""
    s = shape_of(call)
    return planar.shape_work(call, s, _instructions(s), row_window(call))


def _code(call: Call) -> int:
    """Code size in bytes of the kernel for this call."""
    s = shape_of(call)
    return 176 + (72 if s.width > 2 else 64) * s.height


def _params(call: Call) -> Params:
    s, w, scale = shape_of(call), planar.seen_weights(call), scaling.scales(call)
    folded = np.where(scale.constant, 0, _filter.folded_bias(call, w.sum(axis=1)))
    finish = np.stack([wrap32(2 * folded), scale.mult, scale.addend, scale.shift], axis=1)
    clamp = scaling.clamp(call, activation_of(call))
    return {
        "weights": pack(np.where(scale.constant[:, None], 0, w).reshape(len(w), s.height, s.width)),
        "finish": finish.reshape(-1).astype(np.int32),
        "in_zero_point": call.input(0).zero_point,
        "out_min": clamp["low"],
        "out_max": clamp["high"],
        **planar.sizes_of(call, s),
    }


def pack(w: np.ndarray) -> np.ndarray:
    """Weights [channels, rows, taps] as words, one word per row."""
    taps = np.zeros((*w.shape[:2], MAX_TAPS), np.int8)
    taps[:, :, : w.shape[2]] = w
    return np.ascontiguousarray(taps[:, :, BYTE_ORDER]).view("<i4").reshape(-1)


EACH = replace(
    planar.PLANAR,
    symbol="mg_depthwise_conv2d_s8__planar_each",
    accepts=(*planar.PLANAR.accepts, fits_registers, eight_bits),
    params=_params,
    text=replace(planar.PLANAR.text, variant=_variant),
    cost=replace(planar.PLANAR.cost, work=_work, code=_code),
    frugal=True,
    short="dw_each",
)

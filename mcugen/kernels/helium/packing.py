"""Shared parts of the int8 kernels for cores with Helium: requantization, and packing of weights."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Rule, fact
from mcugen.ir.fixed_point import activation_range
from mcugen.ops import _filter, _rounding

NEEDS = frozenset({"mve"})
FLOATS = frozenset({"mve_float"})
LANES = 16
BLOCK = 4
"""Number of outputs that are computed together."""
_LARGEST = 2.0**31 - 2.0**8
"""Scaled sums below this fit 32 bits with a zero point added."""


def output_range(call: Call) -> tuple[int, int]:
    """The least and largest output."""
    return activation_range(getattr(call.op, "activation", "NONE"), call.output)


def _shifts(call: Call) -> np.ndarray:
    """Shifts of the outputs: 0, or negative for right shifts."""
    quant = call.input(1).quant
    return _filter.multipliers(call, len(quant.scale) if quant else 1)[1]


@fact
def finish_of(call: Call) -> int | None:
    """The cheapest exact requantization of sums, as an index of FINISHES; None if there is none."""
    if not _filter.int8_outside(call) or not _filter.constant_weights(call):
        return None
    return finish_of_sums(call)


@fact
def finish_of_sums(call: Call) -> int | None:
    """`finish_of` for int8 data, whether weights are constant or not."""
    if not _rounding.is_scaled(call):
        return 5 if _scaled_by_floats(call) else None
    if _rounding.is_stated(call):
        return 3 if output_range(call) == (-128, 127) else 4
    shift = int(_shifts(call).max(initial=-1))
    if output_range(call) == (-128, 127):
        return 0 if call.output.zero_point == -128 and shift <= 0 else 1 if shift < 0 else None
    return 2 if shift < 0 else None


def finishes_low(call: Call) -> bool:
    "outputs are clamped to all of int8, their zero point is -128, and no multiplier is 1 or more"
    return finish_of(call) == 0


def finishes_linear(call: Call) -> bool:
    "outputs are clamped to all of int8, and all multipliers are below one half"
    return finish_of(call) == 1


def finishes_clamped(call: Call) -> bool:
    "all multipliers are below one half, and outputs are clamped"
    return finish_of(call) == 2


def finishes_once(call: Call) -> bool:
    "outputs are rounded once, by a multiplication and shift proved exact, and clamped to all of int8"
    return finish_of(call) == 3


def finishes_once_clamped(call: Call) -> bool:
    "outputs are rounded once, by a multiplication and shift proved exact, and clamped"
    return finish_of(call) == 4


def finishes(call: Call) -> bool:
    "all multipliers are below one half, or below 1 if outputs start at the zero point; or they are proved exact"
    return finish_of(call) is not None


def finishes_float(call: Call) -> bool:
    "outputs are rounded once, and floats scale the sums because no multiplication and shift is exact"
    return finish_of(call) == 5


def _scaled_by_floats(call: Call) -> bool:
    """Whether the core has float vectors, and scaling by floats gives the exact results of the operator."""
    if call.accumulators is None or not call.features >= FLOATS:
        return False
    factor, proved = _rounding.floats(call, str(call.op.activation))
    ends = np.maximum(np.abs(call.accumulators.low), np.abs(call.accumulators.high))
    return bool(proved.all() and factor.max() < 1 and (ends * factor.astype(np.float64)).max() < _LARGEST)


FINISH_TERMS = ("blocks", "linear_blocks", "clamped_blocks")


def finish_work(call: Call, blocks: float) -> dict[str, float]:
    """Cost terms: blocks of outputs, blocks that round ties away from zero, and blocks that are clamped."""
    return finish_terms(finish_of(call) or 0, blocks)


def finish_terms(finish: int, blocks: float) -> dict[str, float]:
    """`finish_work` for an index of FINISHES."""
    return {
        "blocks": blocks,
        "linear_blocks": blocks * (finish in (1, 2)),
        "clamped_blocks": blocks * (finish in (2, 4, 5)),
    }


FINISHES: tuple[tuple[str, Rule], ...] = (
    ("", finishes_low),
    ("_linear", finishes_linear),
    ("_clamp", finishes_clamped),
    ("_once", finishes_once),
    ("_once_clamp", finishes_once_clamped),
    ("_float", finishes_float),
)
"""(suffix of the kernel's name, rule); the index is MG_FINISH in C. MG_LINEAR is 0, 1, 1, 2, 2, 3, and MG_CLAMP is 0,
0, 1, 0, 1, 1.
"""


VECTOR_TERMS = ("vectors", "row_vectors", "channel_vectors", "fours")


def vector_work(call: Call, rows: int = 1) -> dict[str, float]:
    """Cost terms: vectors of 16 taps per output (vectors) or per kernel row of an output (row_vectors), vectors of 16
    channels per tap (channel_vectors), and blocks of four outputs (fours).

    rows: the number of rows of the window.
    """
    outputs, channels = call.output.size, call.output.shape[-1]
    taps, pixels = call.op.macs(call) // max(outputs, 1), outputs // max(channels, 1)
    blocks = pixels * -(-channels // BLOCK)
    return {
        "vectors": BLOCK * blocks * -(-taps // LANES),
        "row_vectors": BLOCK * blocks * rows * -(-taps // (LANES * rows)),
        "channel_vectors": pixels * taps * -(-channels // LANES),
        "fours": blocks,
    }


def blocks_of(outputs: int) -> np.ndarray:
    """[blocks, BLOCK] indices of outputs. The last block repeats earlier outputs if necessary.

    If there are fewer than BLOCK outputs, the only block repeats the last output.
    """
    starts = np.arange(0, outputs, BLOCK)
    starts = np.minimum(starts, max(outputs - BLOCK, 0))
    return np.asarray(np.minimum(starts[:, None] + np.arange(BLOCK), outputs - 1))


def padded(w: np.ndarray, lanes: int = LANES) -> np.ndarray:
    """w [..., k] with zeros up to a multiple of `lanes`."""
    missing = -w.shape[-1] % lanes
    return np.pad(w, [(0, 0)] * (w.ndim - 1) + [(0, missing)])


def finishing(call: Call, w: np.ndarray, picked: np.ndarray) -> np.ndarray:
    """Bias, multiplier and shift of each output, int32 [blocks, 3, BLOCK]. A float multiplier is stored as its bits.

    w: [channels, taps], zero points removed.
    """
    bias = _filter.wrap_bias(call, _filter.folded_bias(call, w.sum(axis=1)))
    if finish_of(call) == 5:
        mult = _rounding.floats(call, str(call.op.activation))[0].view(np.int32)
        shift = np.zeros(w.shape[0], np.int8)
    else:
        mult, shift = _filter.multipliers(call, w.shape[0])
    return np.stack([bias[picked], mult[picked], shift[picked].astype(np.int32)], axis=1)


def step_order(steps: int, first: int) -> list[int]:
    """The order in which kernels process the steps of a vector: 0, then first - 1 down to 1, then first and on."""
    return [0, *range(first - 1, 0, -1), *range(first, steps)]


def eights_of(outputs: int) -> np.ndarray:
    """[blocks, BLOCK] indices of outputs. Each 8 outputs form a block of even and one of odd indices. The last 8 may
    overlap earlier ones.
    """
    starts = np.minimum(np.arange(0, outputs, 2 * BLOCK), outputs - 2 * BLOCK)
    return np.asarray((starts[:, None, None] + np.arange(2 * BLOCK).reshape(BLOCK, 2).T).reshape(-1, BLOCK))


def stream(
    call: Call, w: np.ndarray, taps: np.ndarray, order: list[int], picked: np.ndarray | None = None
) -> np.ndarray:
    """Blocks of outputs as bytes: weights [steps, BLOCK, LANES], then int32 bias, multiplier and shift [BLOCK] each.

    w: [channels, taps], zero points removed; taps: the weights in the kernel's order, padded to steps of LANES.
    order: the order of the steps. picked: the outputs of each block; by default, those of `blocks_of`.
    """
    picked = blocks_of(w.shape[0]) if picked is None else picked
    narrow = np.clip(taps, -128, 127)  # outliers are computed anew: see `outliers`
    weights = narrow[picked].reshape(*picked.shape, -1, LANES).transpose(0, 2, 1, 3)[:, order].astype(np.int8)
    rest = np.ascontiguousarray(finishing(call, w, picked).reshape(len(picked), -1)).view(np.int8)
    return np.concatenate([weights.reshape(len(picked), -1), rest], axis=1).reshape(-1)

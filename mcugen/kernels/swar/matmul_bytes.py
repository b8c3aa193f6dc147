"""Products of two computed matrices on cores without SIMD: two rows times two columns, from unsigned bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.swar import channel_pairs
from mcugen.kernels.swar.words import aligned
from mcugen.ops import _rounding, batch_matmul
from mcugen.ops._weighted import activation_of

BLOCK = 2
"""Rows, and columns, of a block."""
FOUR = 4
"""Parts of a multiplier; products lose their 24 lowest bits, which leaves the most room for sums."""
FOUR_DROPS = 7
"""The bit of a product without its 24 lowest bits that gemmlowp's second rounding subtracts from negative ones."""
TERMS = ("copies", "copied", "blocks", "steps")


def int8_data(call: Call) -> bool:
    "the matrices are int8"
    return batch_matmul.data_types(call) == {"s8"}


def requantizes(call: Call) -> bool:
    "sums stay below 2^23, and the multiplier scales them down"
    if not int8_data(call) or not _rounding.is_scaled(call):
        return False
    return bool(_scaled(call).parts.all())


@fact
def _scaled(call: Call) -> channel_pairs.Channels:
    """The scaling of the sums, as that of a layer with one output and no weights."""
    found = call.accumulators
    assert found is not None
    ends = np.stack([found.low, found.high])
    none, bias = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    made = channel_pairs.scaled_sums(call, activation_of(call), ends, none, bias)
    return replace(made, parts=np.where(made.parts > 0, FOUR, 0))


def _params(call: Call) -> Params:
    made = _scaled(call)
    *_, rounding, shift = made.ends[FOUR][0]
    least, most = activation_range(activation_of(call), call.output)
    is_linear = channel_pairs.is_linear(call, made.offset) and not made.constant[0]
    return {
        **batch_matmul.sizes(call),
        **batch_matmul.zero_points(call),
        "mult": 0 if made.constant[0] else int(made.mult[0]),
        "shift": shift,
        "rounding": rounding,
        "below": -(1 << FOUR_DROPS) if is_linear else 0,
        "out_min": least,
        "out_span": most - least,
    }


def _scratch(call: Call) -> int:
    """Bytes of all columns of a matrix, their sums, and two rows."""
    columns = -(-call.output.shape[-1] // BLOCK) * BLOCK
    return aligned(4 * columns + (columns + BLOCK) * batch_matmul.depth(call))


def _work(call: Call) -> dict[str, float]:
    """Cost terms: pairs of rows and of columns (copies) and their elements (copied), blocks of both, and products of
    these (steps)."""
    rows, cols = (-(-n // BLOCK) for n in call.output.shape[-2:])
    batches, depth = call.output.size // (call.output.shape[-2] * call.output.shape[-1]), batch_matmul.depth(call)
    copies, blocks = batches * (rows + cols), batches * rows * cols
    return {"copies": copies, "copied": copies * depth, "blocks": blocks, "steps": blocks * depth}


KERNEL = Kernel(
    "mg_batch_matmul_s8__swar",
    Whole(),
    accepts=(int8_data, requantizes),
    params=_params,
    operands=(0, 1),
    scratch=_scratch,
    text=Text(struct="mg_swar_matmul"),
    cost=Cost(_work, TERMS),
    short="matmul_swar",
)

"""Products of two computed matrices on cores with Helium: two rows times four columns, 16 products at a time.

Columns of the second matrix become, at run time, the stream of weights that dense layers have in flash.
"""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.helium import packing
from mcugen.ops import _filter, _rounding, batch_matmul

STREAM = 4096
"""Bytes of the stream of a panel of columns, unless the least panel takes more."""
FARTHEST = (2**16 - 1) // 7
"""Most elements from a row of the second matrix to the next one: offsets of eight elements have 16 bits."""
TERMS = ("streamed", "copied", "row_pairs", "row_steps", *packing.FINISH_TERMS, "block_steps")


def _steps(call: Call) -> int:
    return -(-batch_matmul.depth(call) // packing.LANES)


def _block_bytes(call: Call) -> int:
    return 64 * _steps(call) + 48


def _panel(call: Call) -> int:
    """Number of columns of a panel: all, or a multiple of four; panels are about equal."""
    blocks = -(-call.output.shape[-1] // packing.BLOCK)
    most = max(STREAM // _block_bytes(call), 1)
    return packing.BLOCK * -(-blocks // -(-blocks // most))


def scratch(call: Call) -> int:
    """Bytes of two rows and of the stream of a panel."""
    blocks = -(-min(_panel(call), call.output.shape[-1]) // packing.BLOCK)
    return 2 * packing.LANES * _steps(call) + blocks * _block_bytes(call)


def int8_data(call: Call) -> bool:
    "the matrices are int8, elements of rows of the first are adjacent, and the second has 4 to 9362 columns"
    if batch_matmul.data_types(call) != {"s8"} or call.op.transpose_a or call.output.shape[-1] < packing.BLOCK:
        return False
    return bool(batch_matmul.sizes(call)["b_row"] <= FARTHEST and batch_matmul.sums_fit(call))


def finishes(call: Call) -> bool:
    "the multiplier is below one half, or below 1 if outputs start at the zero point; or it is proved exact"
    return int8_data(call) and packing.finish_of_sums(call) is not None


def _variant(call: Call) -> dict[str, int]:
    return {"finish": int(packing.finish_of_sums(call) or 0)}


def params(call: Call) -> Params:
    found = batch_matmul.sizes(call)
    low, high = packing.output_range(call)
    if packing.finish_of_sums(call) == 5:
        mult, shift = _rounding.floats(call, "NONE")[0].view(np.int32), np.zeros(1, np.int8)
    else:
        mult, shift = _filter.multipliers(call, 1)
    names = ("first", "batches", "rows", "depth", "cols", "a_row", "b_row", "b_col")
    return {
        **{name: found[name] for name in names},
        **batch_matmul.zero_points(call),
        "mult": int(mult[0]),
        "shift": int(shift[0]),
        "panel": _panel(call),
        "out_zero_point": call.output.zero_point,
        "out_min": low,
        "out_max": high,
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms: columns that become streams (streamed) and their steps (copied), pairs of rows of a panel (row_pairs)
    and their steps (row_steps), blocks of two rows and four columns, and steps of these (block_steps)."""
    rows, cols = call.output.shape[-2:]
    batches, panels, pairs = call.output.size // (rows * cols), -(-cols // _panel(call)), -(-rows // 2)
    columns = batches * -(-cols // packing.BLOCK) * packing.BLOCK
    blocks = pairs * columns // packing.BLOCK
    finish = packing.finish_of_sums(call) or 0
    return {
        "streamed": columns,
        "copied": columns * _steps(call),
        "row_pairs": batches * panels * pairs,
        "row_steps": batches * panels * pairs * _steps(call),
        "block_steps": blocks * _steps(call),
        **packing.finish_terms(finish, blocks),
    }


KERNEL = Kernel(
    "mg_batch_matmul_s8__mve",
    Whole(),
    accepts=(int8_data, finishes),
    params=params,
    operands=(0, 1),
    scratch=scratch,
    text=Text(_variant, source="matmul_s8__mve_template.h", struct="mg_matmul_s8__mve"),
    cost=Cost(work, TERMS),
    needs=packing.NEEDS,
    short="matmul_mve",
)

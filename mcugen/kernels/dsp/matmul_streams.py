"""Products of two computed matrices on cores with SMLAD: three rows times two columns at a time.

Columns of the second matrix become, at run time, the stream of constants that 1x1 convolutions have in flash.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.dsp import scaling
from mcugen.kernels.dsp.layout import Words, words_in, words_of
from mcugen.kernels.dsp.ways import Way, constants
from mcugen.ops import batch_matmul
from mcugen.ops._weighted import activation_of, rounds_once

STREAM = 2048
"""Bytes of the stream of a panel of columns, unless the least panel takes more."""
LEAST = 4
"""Least number of columns of a panel, if there are that many."""
TERMS = ("blocks", "pairs", "looped", "loops", "gathered", "products", "packed", "columns")
_WAYS = (Way("dsp", 16), Way("dsp_single", 16, is_single=True))
_PAIR_WORDS = 8
"""Words of biases and scales of a pair of columns."""


def words(call: Call) -> Words:
    """The words of two elements along the depth, in whole groups of four elements."""
    return words_of(-(-batch_matmul.depth(call) // 4) * 2, words_in(call))


def panel(call: Call) -> int:
    """Number of columns of a panel: all, or an even number; panels are about equal."""
    cols = call.output.shape[-1]
    most = max(STREAM // _pair_bytes(call) * 2, LEAST)
    if cols <= most:
        return cols
    each = -(-cols // -(-cols // most))
    return each + each % 2


def scratch(call: Call) -> int:
    """Bytes of three widened rows and of the stream of a panel."""
    return -(-(12 * words(call).total + (panel(call) + 1) // 2 * _pair_bytes(call)) // 16) * 16


def _pair_bytes(call: Call) -> int:
    return 4 * (_PAIR_WORDS + 2 * words(call).total)


def int8_data(call: Call) -> bool:
    "the matrices are int8, and a row of the first is at least 4 adjacent elements"
    return batch_matmul.data_types(call) == {"s8"} and not call.op.transpose_a and batch_matmul.depth(call) >= 4


def scaled(call: Call) -> bool:
    "no sum reaches 2^30; results are scaled by a right shift of at most 22, or (with an FPU) by a float"
    if not int8_data(call) or not scaling.below_limit(call):
        return False
    return bool(scaling.scales(call).proved.all())


def variant(call: Call) -> dict[str, int]:
    found = words(call)
    return {"words": found.words, "loop": int(found.times > 1), "linear": _linear(call)}


def _linear(call: Call) -> int:
    """MG_LINEAR of dsp_block_template.h."""
    if scaling.how_once(call) == 2:
        return 4
    return 2 if rounds_once(call) else int(not scaling.clamps_at_zero_point(call, activation_of(call)))


def params(call: Call) -> Params:
    found, scale = batch_matmul.sizes(call), scaling.scales(call)
    pair = np.stack([scale.mult, scale.addend, scale.shift]).repeat(2).astype(np.int32)
    names = ("first", "batches", "rows", "depth", "cols", "a_row", "b_row", "b_col")
    return {
        **{name: found[name] for name in names},
        **batch_matmul.zero_points(call),
        "scales": pair,
        "words": words(call).total,
        "panel": panel(call),
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms: columns and elements that become streams (columns, packed), blocks of three rows and a panel, groups
    of four elements of these (gathered), pairs of columns of blocks (pairs), their words (products), and loops over
    parts of them (looped, loops)."""
    rows, cols = call.output.shape[-2:]
    found, batches = words(call), call.output.size // (rows * cols)
    panels, threes = -(-cols // panel(call)), rows if rows < 3 else -(-rows // 3)
    blocks, pairs = batches * panels * threes, batches * threes * -(-cols // 2)
    looped = pairs * (found.times > 1)
    return {
        "blocks": blocks,
        "pairs": pairs,
        "looped": looped,
        "loops": looped * found.times,
        "gathered": blocks * batch_matmul.depth(call) / 4,
        "products": pairs * found.total,
        "packed": batches * cols * batch_matmul.depth(call),
        "columns": batches * cols,
    }


def _code(call: Call, way: Way) -> int:
    """Code size in bytes of the kernel for this call."""
    return round(900 + way.block_bytes(words(call).words, variant(call), gathered=True))


def _kernel(way: Way) -> Kernel:
    return Kernel(
        f"mg_batch_matmul_s8__{way.name}",
        Whole(),
        accepts=(int8_data, scaled),
        params=params,
        operands=(0, 1),
        scratch=scratch,
        text=Text(
            variant, constants(way.bits, single=way.is_single), source="dsp_matmul_template.h", struct="mg_dsp_matmul"
        ),
        cost=Cost(work, TERMS, code=partial(_code, way=way)),
        needs=scaling.DSP,
        short=f"matmul_{way.short}",
    )


KERNELS = tuple(map(_kernel, _WAYS))

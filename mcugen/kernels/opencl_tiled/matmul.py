"""Products of two computed matrices by tiles, and of a computed matrix and a vector, in every transposition."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Grid, Kernel, NDRange, Text, Tile
from mcugen.kernels.opencl_tiled.products import BLOCKS, FLOAT_BYTES, LARGEST, NAMES
from mcugen.ops import batch_matmul

NEEDS = frozenset({"cl12"})
MAX_BATCHES = 65535
"""Number of work-groups that every device supports along the third axis of a launch."""


def in_fours(call: Call) -> bool:
    "rows of both matrices, as stored, have a multiple of 4 elements"
    return call.input(0).shape[-1] % 4 == 0 and call.input(1).shape[-1] % 4 == 0


def matrix_in_fours(call: Call) -> bool:
    "rows of the matrix, as stored, have a multiple of 4 elements"
    return call.input(0 if _is_flipped(call) else 1).shape[-1] % 4 == 0


def one_vector(call: Call) -> bool:
    "one of the operands is a vector"
    return 1 in call.output.shape[-2:]


def small(call: Call) -> bool:
    "tensors have less than 2^31 elements, and there are at most 65535 batches"
    sizes = (call.input(0).size, call.input(1).size, call.output.size)
    return max(sizes) <= LARGEST and math.prod(call.output.shape[:-2]) <= MAX_BATCHES


def params(call: Call) -> Params:
    found = batch_matmul.params(call)
    sizes = {"pixels": found["rows"], "channels": found["cols"], "pitch": found["cols"], "taps": found["depth"]}
    return {"first": found["first"], **sizes}


def variant(call: Call) -> dict[str, int]:
    flips = {"FLIP_A": int(call.op.transpose_a), "FLIP_B": int(call.op.transpose_b)}
    return {"PAIR": 1, **flips, "POINT": 1, "VEC": 4}


def _sizes(call: Call) -> tuple[int, int, int]:
    found = batch_matmul.params(call)
    return int(found["rows"]), int(found["cols"]), int(found["depth"])


def tiles(call: Call) -> Sequence[Tile]:
    """The blocks with at least 40 % of useful work, and all blocks of at most 1,024 results."""
    rows, cols, depth = _sizes(call)
    found = []
    for block in BLOCKS:
        tile = dict(zip(NAMES, block, strict=True))
        share = rows * cols / (_across(rows, tile["BM"]) * _across(cols, tile["BN"]))
        if share >= 0.4 or tile["BM"] * tile["BN"] <= 1024:
            edge = rows % tile["BM"] or cols % tile["BN"] or depth % (tile["BK"] * tile["SK"])
            found.append({**tile, "EDGE": int(bool(edge))})
    return found


def _across(size: int, block: int) -> int:
    """Elements in the blocks that cover `size` elements."""
    return -(-size // block) * block


def grid(call: Call, tile: Tile) -> NDRange:
    rows, cols, _ = _sizes(call)
    threads = tile["BM"] // tile["TM"] * (tile["BN"] // tile["TN"]) * tile["SK"]
    stage = tile["BK"] * (tile["BM"] + 4 + tile["BN"] + 4 * call.op.transpose_b)
    local = max(2 * tile["SK"] * stage, tile["SK"] // 2 * tile["BM"] * tile["BN"])
    wide, high = _across(rows, tile["BM"]), _across(cols, tile["BN"])
    launch = (wide // tile["BM"] * threads, high // tile["BN"], math.prod(call.output.shape[:-2]))
    effort = wide * high / (rows * cols) * (1.0 + 24.0 / (tile["TM"] * tile["TN"]))
    return NDRange(launch, (threads, 1, 1), local * FLOAT_BYTES, effort)


PAIR = Kernel(
    "mg_pair_f32__tiled",
    Grid(grid, tiles=tiles),
    accepts=(batch_matmul.float_data, in_fours, small),
    params=params,
    operands=(0, 1),
    text=Text(variant, source="matmul_tiled.cl"),
    needs=NEEDS,
)


def _is_flipped(call: Call) -> bool:
    """Whether the vector is the second operand."""
    return call.output.shape[-1] == 1


def _is_along(call: Call) -> bool:
    """Whether the taps of an output are adjacent in the stored matrix."""
    return not call.op.transpose_a if _is_flipped(call) else bool(call.op.transpose_b)


def vector_params(call: Call) -> Params:
    rows, cols, depth = _sizes(call)
    channels = rows * cols
    pitch = depth if _is_along(call) else channels
    return {"first": batch_matmul.params(call)["first"], "channels": channels, "pitch": pitch, "taps": depth}


def vector_variant(call: Call) -> dict[str, int]:
    return {"PAIR": 1, "ALONG": int(_is_along(call)), "FLIP": int(_is_flipped(call))}


def vector_grid(call: Call, tile: Tile) -> NDRange:
    rows, cols, _ = _sizes(call)
    width = 1 if _is_along(call) else 4
    groups = -(-rows * cols // (width * tile["LANES"]))
    local = width * FLOAT_BYTES * tile["GROUP"]
    return NDRange((groups * tile["GROUP"], math.prod(call.output.shape[:-2])), (tile["GROUP"], 1), local)


VECTOR = Kernel(
    "mg_pair_vector_f32__tiled",
    Grid(
        vector_grid, tiles=lambda call: [{"LANES": lanes, "GROUP": group} for group in (256, 64) for lanes in (1, 2, 8)]
    ),
    accepts=(batch_matmul.float_data, one_vector, matrix_in_fours, small),
    params=vector_params,
    operands=(0, 1),
    text=Text(vector_variant, source="vector_f32.cl"),
    needs=NEEDS,
)
"""Computed matrix times vector; memory bandwidth limits its speed."""

"""A matrix of int8 times one vector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Grid, Kernel, NDRange, Tile
from mcugen.kernels.opencl_tiled.products import FLOAT_BYTES, S8, VECTOR, in_runs, one_vector, params_s8, taps
from mcugen.ops import _rounding
from mcugen.ops._weighted import matrix

_LEFT_OUT = ("pitch_in0", "pixels", "in_zero_point")


def params(call: Call) -> Params:
    rows = matrix(call).astype(np.int8)
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4)))
    found = {name: value for name, value in params_s8(call).items() if name not in _LEFT_OUT}
    return {**found, "weights": rows, "pitch": rows.shape[1]}


def variant(call: Call) -> dict[str, int]:
    return {"WHOLE": int(taps(call) % 4 == 0), "LINE": int(_rounding.is_stated(call))}


def grid(call: Call, tile: Tile) -> NDRange:
    groups = -(-call.input(1).shape[0] // tile["LANES"])
    return NDRange((groups * tile["GROUP"],), (tile["GROUP"],), FLOAT_BYTES * tile["GROUP"])


VECTOR_S8: Kernel = replace(
    VECTOR,
    symbol="mg_vector_s8__tiled",
    form=Grid(grid, tiles=VECTOR.grid.tiles, pitched=in_runs),
    accepts=(*S8.accepts, one_vector),
    params=params,
    text=replace(VECTOR.text, variant=variant, source="vector_s8.cl"),
)
"""int8 matrix times one vector. Each weight is read once, in words of four adjacent taps."""

"""Products of int8 matrices on devices that add the products of four pairs of int8 in one instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, NDRange, Tile
from mcugen.kernels.opencl_tiled import products
from mcugen.kernels.opencl_tiled.products import S8, SHORTEST, SPLIT_S8, is_point, taps

DOT = "dot8"
"""The feature of devices that add four products of int8 in one instruction."""
FASTER = 0.5
"""Effort relative to float products: one instruction does four products, at half the rate."""
WORD = 4


def has_words(call: Call) -> bool:
    "four consecutive taps belong to one pixel"
    return is_point(call) or call.input(0).shape[3] % WORD == 0


def weights(call: Call) -> np.ndarray:
    """The weights as [taps / 4, channels, 4], both padded with zeros to multiples of four."""
    w = products.weights(call).astype(np.int8)
    words = np.pad(w, ((0, -len(w) % WORD), (0, 0))).reshape(-1, WORD, w.shape[1])
    return np.ascontiguousarray(words.transpose(0, 2, 1))


def _dots(kernel: Kernel, symbol: str) -> Kernel:
    """The variant of a kernel that multiplies words of four taps. BK counts words."""
    grid, params, variant, tiles = kernel.grid, kernel.params, kernel.text.variant, kernel.grid.tiles
    assert params
    assert variant
    assert tiles

    def fields(call: Call) -> Params:
        return {**params(call), "weights": weights(call)}

    def constants(call: Call) -> dict[str, int]:
        return {**variant(call), "VEC": 1, "INT_SUMS": 0, "DOT": 1}

    def launch(call: Call, tile: Tile) -> NDRange:
        plain = grid.launch(call, tile)
        return replace(plain, effort=FASTER * plain.effort)

    def fitting(call: Call) -> Sequence[Tile]:
        longest = max(2 * taps(call), SHORTEST)
        return [t for t in tiles(call) if WORD * t["BK"] * t["SK"] * t["SPLITS"] <= longest]

    return replace(
        kernel,
        symbol=symbol,
        form=replace(grid, launch=launch, tiles=fitting),
        accepts=(*kernel.accepts, has_words),
        params=fields,
        text=replace(kernel.text, variant=constants),
        needs=kernel.needs | {DOT},
    )


DOTS = (_dots(S8, "mg_matmul_s8__dots"), _dots(SPLIT_S8, "mg_matmul_s8__split_dots"))

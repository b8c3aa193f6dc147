"""3x3 convolutions by Winograd's F(4, 3) along rows, on cores with SMLAD: half the products, exact in integers.

Six sums of products of transformed data and weights give four outputs. The transformed weights are scaled by 24, so
that they are integers, and the results are 24 times the sums; see dsp_winograd.h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Cost, Kernel, Ring, RowStorage, Text
from mcugen.kernels.dsp import scaling, streams
from mcugen.ops import _filter
from mcugen.ops._weighted import activation_of, matrix, row_window, window_of

TILE = 4
"""Number of output columns that are computed together."""
POSITIONS = 6
WEIGHTS = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]])
"""24 times the matrix that transforms a row of weights."""
OFFSET = 2048
"""The offset added to transformed data so that none is negative."""

NEEDS = scaling.DSP | {"multiple_loads"}
"""multiple_loads: LDM and LDRD are as fast as single loads. On Cortex-M7 they are slower, because they cannot
dual-issue.
"""

_LARGEST_SUM = 2**28
_UNROLLED = 24
_MOST_QUADS = 42
_MOST = 2**16 - 1


@dataclass(frozen=True)
class Sizes:
    """Sizes of a call.

    quads: groups of four input channels. tiles: tiles per output row. pad: columns of padding on the left.
    """

    quads: int
    tiles: int
    pad: int
    in_columns: int
    out_columns: int

    @property
    def threes(self) -> int:
        return self.tiles - (0, TILE, 2)[self.tiles % 3]

    @property
    def inside(self) -> int:
        """Number of tiles that read no column outside the image."""
        firsts = np.minimum(np.arange(self.tiles) * TILE, self.out_columns - TILE) - self.pad
        return int(((firsts >= 0) & (firsts + POSITIONS <= self.in_columns)).sum())


def sizes_of(call: Call) -> Sizes:
    _, height, columns, channels = call.input(0).shape
    pad = window_of(call).pad((height, columns))[1]
    return Sizes(channels // 4, -(-call.output.shape[2] // TILE), pad, columns, call.output.shape[2])


def window_fits(call: Call) -> bool:
    "the window is 3x3, with adjacent columns and a horizontal stride of 1"
    window = window_of(call)
    return window.kernel == (3, 3) and window.stride[1] == window.dilation[1] == 1


def sizes_fit(call: Call) -> bool:
    "the input has 4 to 168 channels, a multiple of 4; the output has an even number of channels and at least 5 columns"
    (_, _, columns, channels), y = call.input(0).shape, call.output.shape
    found = channels % 4 == 0 and 1 <= channels // 4 <= _MOST_QUADS and y[3] % 2 == 0 and y[2] > TILE
    return found and max(columns, y[2], y[3], 2 * channels * (y[2] // TILE + 1)) <= _MOST


def sums_fit(call: Call) -> bool:
    "no sum of products reaches 2^28"
    return scaling.is_int8(call) and bool(scaling.largest(call).max(initial=0) < _LARGEST_SUM)


def transformed(w: np.ndarray) -> np.ndarray:
    """24 times the transforms of the rows of weights [outputs, 3, 3, channels]: [outputs, 6, 3, channels]."""
    return np.asarray(np.einsum("pj,oijc->opic", WEIGHTS, w))


def _stream(call: Call) -> np.ndarray:
    scale, w = scaling.scales(call), matrix(call)
    u = transformed(w.reshape(len(w), 3, 3, -1))
    taps = streams.swapped(u).reshape(len(w), -1)
    live = streams.in_blocks(taps, scale, 2).reshape(-1, 2, POSITIONS, taps.shape[1] // POSITIONS)
    first = -OFFSET * live.sum(axis=3)
    shifted = np.where(scale.constant, 0, 128 * w.sum(axis=1)).reshape(-1, 2)
    first[:, :, 1] += 24 * (streams.folded(call, scaling.scales).reshape(-1, 2) - shifted)
    words = streams.words(live).transpose(0, 2, 3, 1).reshape(len(live), POSITIONS, -1)
    body = np.concatenate([first.transpose(0, 2, 1), words], axis=2).reshape(len(live), -1)
    return streams.stored(np.hstack([body, streams.finish(call, scaling.scales, 2)]))


def _params(call: Call) -> Params:
    sizes, stream = sizes_of(call), _stream(call)
    return {
        "stream": stream,
        "words": stream.size,
        "in_w": sizes.in_columns,
        "pad": sizes.pad,
        "out_w": call.output.shape[2],
        "out_c": call.output.shape[3],
        "triples_end": sizes.threes,
        "outside": call.input(0).zero_point,
        **scaling.clamp(call, activation_of(call)),
    }


def _variant(call: Call) -> dict[str, int]:
    sizes = sizes_of(call)
    loop = int(3 * sizes.quads > scaling.unrolled(call, _UNROLLED, 64, 192))
    blocks = {"threes": int(sizes.threes > 0), "rest": int(sizes.threes < sizes.tiles)}
    return {"quads": sizes.quads, "tiles": sizes.tiles, "loop": loop, "once": scaling.how_once(call), **blocks}


def _ring(call: Call) -> RowStorage:
    sizes = sizes_of(call)
    return RowStorage("s16", POSITIONS * sizes.tiles * 4 * sizes.quads)


TERMS = ("pairs", "groups", "products", "looped", "tiled", "twice", "inside", "edges", *scaling.CLAMP_TERMS)


def _work(call: Call) -> dict[str, float]:
    """Cost terms of a call.

    pairs, groups, products  pairs of channels per block of tiles; their groups of four taps; these groups times tiles
    looped                   pairs whose groups are computed in a loop
    tiled, twice             outputs of all tiles, and outputs that are rounded twice
    inside, edges            groups of four channels in transformed tiles, inside the image and at its sides
    """
    sizes, variant, (n, rows, _, outputs) = sizes_of(call), _variant(call), call.output.shape
    blocks = n * rows * (sizes.threes // 3 + (sizes.tiles - sizes.threes) // 2)
    pairs, groups = blocks * (outputs // 2), 3 * POSITIONS * sizes.quads
    found = {
        "pairs": pairs,
        "groups": pairs * groups,
        "products": groups * (outputs // 2) * n * rows * sizes.tiles,
        "looped": pairs * variant["loop"],
        "tiled": n * rows * sizes.tiles * outputs,
        "twice": call.output.size * (not variant["once"]),
        "inside": n * call.input(0).shape[1] * sizes.inside * sizes.quads,
        "edges": n * row_window(call).walked_rows * (sizes.tiles - sizes.inside) * sizes.quads,
    }
    return {name: float(value) for name, value in found.items()} | scaling.clamp_work(call, activation_of(call))


def _code(call: Call) -> int:
    """Code size in bytes of the kernel for this call."""
    found = _variant(call)
    runs = found["quads"] * (1 if found["loop"] else 3)
    return 1310 + (64 * runs + 430) * found["threes"] + (44 * runs + 430) * found["rest"]


def kernel(is_dense: Rule) -> Kernel:
    """The kernel of a convolution. is_dense: the rule that there is one group."""
    return Kernel(
        "mg_conv2d_s8__winograd",
        Ring(row_window, _ring),
        accepts=(
            _filter.int8_data,
            _filter.constant_weights,
            is_dense,
            window_fits,
            sizes_fit,
            sums_fit,
            scaling.scaled,
        ),
        params=_params,
        text=Text(_variant, struct="mg_dsp_winograd"),
        cost=Cost(_work, TERMS, code=_code),
        needs=NEEDS,
        widened=True,
        sized=True,
        short="conv_winograd",
    )

"""Convolutions of images with few channels in little memory: the inputs of a piece, a few adjacent pixels, are
interleaved and then multiplied.
"""

from __future__ import annotations

from mcugen.ir.call import Call, Params, Rule, fact
from mcugen.ir.kernel import Cost, Kernel, Text, Window
from mcugen.kernels.helium import packing, woven
from mcugen.kernels.helium.conv import has_block
from mcugen.ops import _filter
from mcugen.ops._weighted import matrix, row_window, sums_fit, window_of

MOST_BYTES = 256
"""Limit of the interleaved bytes of a piece, unless two pixels need more."""

MOST_OUTPUTS = 255
"""Largest number of outputs per pixel, due to constants in the code."""

BEGUN = 80.0
"""Instructions per piece, besides those of its pairs of pixels and its vectors."""

TERMS = (*packing.FINISH_TERMS, "pieces", "pairs", "block_steps", "sides", "woven", "woven_sides")


def in_pieces(call: Call) -> bool:
    "output rows have at least 2 pixels, of at most 255 channels"
    y = call.output.shape
    return y[2] > 1 and y[3] <= MOST_OUTPUTS


def _columns(call: Call, piece: int) -> int:
    window = window_of(call)
    return (piece - 1) * window.stride[1] + window.kernel[1]


def _bytes(call: Call, piece: int) -> int:
    found = woven.woven_of(call)
    return max((piece - 1) * found.pixel + found.steps * packing.LANES, _columns(call, piece) * found.column)


def _vectors(call: Call, piece: int) -> int:
    """Number of vectors of 16 bytes that are interleaved for one piece of `piece` pixels, over all kernel rows."""
    return window_of(call).kernel[0] * -(-_columns(call, piece) * call.input(0).shape[3] // packing.LANES)


def _blocks(call: Call) -> int:
    return -(-call.output.shape[3] // packing.BLOCK)


@fact
def piece_of(call: Call) -> int:
    """The number of pixels per piece: the fastest choice within the memory limit."""
    width, steps = call.output.shape[2], woven.woven_of(call).steps
    pair = 10 + _blocks(call) * (22 + 12 * steps)

    def taken(piece: int) -> float:
        return -(-width // piece) * (BEGUN + 3 * _vectors(call, piece) + pair * -(-piece // 2))

    fitting = [n for n in range(2, width + 1) if n == 2 or _bytes(call, n) <= MOST_BYTES]
    return min(fitting, key=taken)


def scratch(call: Call) -> int:
    return _bytes(call, piece_of(call))


def _starts(call: Call) -> list[int]:
    """The first pixel of each piece."""
    width, piece = call.output.shape[2], piece_of(call)
    return [min(x, width - piece) for x in range(0, width, piece)]


def variant(call: Call) -> dict[str, int]:
    found, window, x = woven.woven_of(call), window_of(call), call.input(0).shape
    columns = _columns(call, piece_of(call))
    return {
        "finish": packing.finish_of(call) or 0,
        "width": call.output.shape[2],
        "outputs": call.output.shape[3],
        "steps": found.steps,
        "taps": window.kernel[1] * found.column,
        "rows": window.kernel[0],
        "channels": x[3],
        "pixel": found.pixel,
        "used": columns * x[3],
        "left": window.pad((x[1], x[2]))[1],
        "columns": columns,
        "chunk": found.chunk,
        "piece": piece_of(call),
        "stride": window.stride[1],
        "in_width": x[2],
    }


def work(call: Call) -> dict[str, float]:
    """Cost terms: pieces, pairs of pixels, steps of blocks, pieces at the sides of the image (sides), and interleaved
    vectors of inner pieces (woven) and of pieces at the sides (woven_sides)."""
    y, x, window, piece = call.output.shape, call.input(0).shape, window_of(call), piece_of(call)
    first = [start * window.stride[1] - window.pad((x[1], x[2]))[1] for start in _starts(call)]
    within = sum(column >= 0 and column + _columns(call, piece) <= x[2] for column in first)
    inner = y[0] * within * sum(_reads_inside(call, row) for row in range(y[1]))
    pieces = y[0] * y[1] * len(first)
    pairs = pieces * -(-piece // 2)
    return {
        **packing.finish_work(call, pairs * _blocks(call)),
        "pieces": pieces,
        "pairs": pairs,
        "block_steps": pairs * _blocks(call) * woven.woven_of(call).steps,
        "sides": pieces - inner,
        "woven": inner * _vectors(call, piece),
        "woven_sides": (pieces - inner) * _vectors(call, piece),
    }


def _reads_inside(call: Call, row: int) -> bool:
    """Whether all rows of the windows of an output row are inside the image."""
    rows = row_window(call)
    return rows.first(row) >= 0 and rows.last(row) < rows.in_rows


def params(call: Call) -> Params:
    y, (low, high) = call.output, packing.output_range(call)
    steps = list(range(woven.woven_of(call).steps))
    return {
        "stream": packing.stream(call, matrix(call), woven.taps_of(call), steps),
        "places": woven.places_of(call).astype("u1"),
        "out_zero_point": y.zero_point,
        "out_min": low,
        "out_max": high,
        "in_zero_point": call.input(0).zero_point,
    }


def kernel(*rules: Rule) -> Kernel:
    """The kernel mg_conv2d_s8__mve_pieces. rules: rules of the operator."""
    first = (_filter.int8_data, *rules, _filter.constant_weights, has_block)
    return Kernel(
        "mg_conv2d_s8__mve_pieces",
        Window(row_window),
        (*first, woven.pays, woven.is_woven, in_pieces, packing.finishes, sums_fit),
        params=params,
        scratch=scratch,
        text=Text(variant, struct="mg_conv2d_s8__mve_pieces"),
        cost=Cost(work, TERMS),
        needs=packing.NEEDS,
        short="conv_mve_pieces",
    )

"""Depthwise convolution on planar rows with little memory: the kernels of planar.py on a few channels at a time.

For each output row, all rows that it reads are converted anew, slice by slice of the channels. See planar_s8.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Window
from mcugen.kernels.dsp import planar
from mcugen.kernels.dsp.planar_sizes import PlanarShape, line_of, shape_of
from mcugen.ops._weighted import row_window

ROWS_BYTES = 1024
SIGNAL_BYTES = 256
"""Limit in bytes of a slice's converted data, unless the slice has only four channels."""
ROWS_CODE = 130
LINE_CODE = 80
"""Code bytes of a kernel in addition to planar.py's."""
TERMS = ("inner", "spread", "slices")


def slice_of(s: PlanarShape, most_bytes: int) -> int:
    """Number of channels per slice: a multiple of four, so that slices have similar sizes of at most `most_bytes`."""
    most = max(most_bytes // (2 * s.height * s.columns) // 4, 1) * 4
    count = -(-s.channels // most)
    return -(-s.channels // count // 4) * 4


def in_slices(call: Call) -> bool:
    "there are more channels than a slice holds: four, or as many as fill 1 KB with converted rows"
    s = shape_of(call)
    return slice_of(s, ROWS_BYTES) < s.channels


def in_line_slices(call: Call) -> bool:
    "there are more channels than a slice holds: four, or as many as fill 256 bytes with converted signals"
    s = line_of(call)
    return slice_of(s, SIGNAL_BYTES) < s.channels


def one_image(call: Call) -> bool:
    "the batch is 1"
    return call.input(0).shape[0] == 1


def _row_slice(call: Call) -> int:
    return slice_of(shape_of(call), ROWS_BYTES)


def _line_slice(call: Call) -> int:
    return slice_of(line_of(call), SIGNAL_BYTES)


def _scratch(s: PlanarShape, channels: int) -> int:
    return -(-channels * s.height * s.columns * 2 // 16) * 16


def _rows_work(call: Call) -> dict[str, float]:
    """Cost terms of `planar.row_work` in slices, with each output row converting all rows that it reads."""
    rows, found = row_window(call), planar.row_work(call)
    found["spread"] *= rows.out_rows * rows.size / rows.walked_rows
    return _in_slices(call, _row_slice(call), call.output.shape[0] * rows.out_rows, found)


def _line_work(call: Call) -> dict[str, float]:
    return _in_slices(call, _line_slice(call), 1, planar.line_work(call))


def _in_slices(call: Call, channels: int, rows: int, found: Mapping[str, float]) -> dict[str, float]:
    """The cost terms of `rows` output rows with `channels` channels per slice. Channels in two slices count twice."""
    count = -(-call.output.shape[3] // channels)
    twice = count * channels / call.output.shape[3]
    return {"inner": twice * found["inner"], "spread": twice * found["spread"], "slices": rows * count}


def _rows_params(call: Call) -> Params:
    return planar.planar_params(call, shape_of(call), planar.seen_weights(call), _row_slice(call))


def _line_params(call: Call) -> Params:
    return planar.planar_params(call, line_of(call), planar.line_weights(call), _line_slice(call))


ROWS = replace(
    planar.PLANAR,
    symbol="mg_depthwise_conv2d_s8__planar_slices",
    form=Window(row_window),
    accepts=(*planar.PLANAR.accepts, in_slices),
    params=_rows_params,
    scratch=lambda call: _scratch(shape_of(call), _row_slice(call)),
    cost=Cost(_rows_work, TERMS, code=lambda call: planar.row_code(call) + ROWS_CODE),
    short="dw_slices",
)
LINE = replace(
    planar.LINE,
    symbol="mg_depthwise_conv2d_s8__line_slices",
    accepts=(*planar.NARROW, one_image, planar.stepping(0), planar.reachable(line_of), in_line_slices),
    params=_line_params,
    scratch=lambda call: _scratch(line_of(call), _line_slice(call)),
    cost=Cost(_line_work, TERMS, code=lambda call: planar.line_code(call) + LINE_CODE),
    short="dw_line_slices",
)
KERNELS = (LINE, ROWS)

"""Conversions of floats on OpenCL devices: float32 to float16 and back, and float32 to int8 or uint8."""

from __future__ import annotations

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.element import Line, Loop, Operand, Walk
from mcugen.ir.fixed_point import INT_RANGE, round_array_half_away
from mcugen.ir.kernel import Grid, Kernel, Text
from mcugen.kernels.grid import GridLoop
from mcugen.kernels.opencl_basic.channel_windows import NEEDS, indexable


def between_floats(call: Call) -> bool:
    "one side is float32, the other float16"
    return {call.input(0).dtype, call.output.dtype} == {"f16", "f32"}


def _loop(call: Call) -> GridLoop:
    same = Loop(Walk.RUN, (Operand("a", "f32"),), (), (Line("y0", "f32", "a"),))
    return GridLoop(same, half_in=call.input(0).dtype == "f16", half_out=call.output.dtype == "f16")


def _kernel(dtype: str) -> Kernel:
    def to_type(call: Call) -> bool:
        return call.output.dtype == dtype

    to_type.__doc__ = f"the result is {dtype}"
    return Kernel(
        f"mg_cast_{dtype}__cl",
        Grid(),
        accepts=(between_floats, to_type, indexable),
        params=lambda call: {"total": call.output.size},
        text=Text(generate=_loop),
        needs=NEEDS,
    )


CASTS = tuple(_kernel(dtype) for dtype in ("f16", "f32"))
"""One kernel for each direction, as their texts differ."""

SMALLEST_SCALE = 2.0**-100
"""Smallest scale of results: their thresholds are then far from subnormals, which some devices flush to 0."""


def to_bytes(call: Call) -> bool:
    "the input is float32, the output int8 or uint8, with a scale of 2**-100 or more"
    types = (call.input(0).dtype, call.output.dtype)
    return types in (("f32", "s8"), ("f32", "u8")) and call.output.scale >= SMALLEST_SCALE


@fact
def begins(call: Call) -> np.ndarray:
    """The least float32 that gives each result except the first, by bisection over all floats in order."""
    low, high = INT_RANGE[call.output.dtype]
    wanted = np.arange(low + 1, high + 1)
    below, reached = (np.full(wanted.size, key, np.int64) for key in (_key(-np.inf), _key(np.inf)))
    while (reached - below > 1).any():
        middle = (below + reached) // 2
        found = _stored(call, _float(middle)) >= wanted
        below, reached = np.where(found, below, middle), np.where(found, middle, reached)
    return _float(reached)


def _stored(call: Call, x: np.ndarray) -> np.ndarray:
    """The stored result for each float."""
    with np.errstate(over="ignore"):
        steps = np.clip(x / np.float32(call.output.scale), -(2.0**20), 2.0**20)
    whole = np.rint(steps) if call.op.rounding else round_array_half_away(steps)
    return np.clip(whole.astype(np.int64) + call.output.zero_point, *INT_RANGE[call.output.dtype])


def _key(x: float) -> int:
    """Maps a float32 to an integer that sorts in the same order."""
    bits = int(np.float32(x).view(np.int32))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def _float(keys: np.ndarray) -> np.ndarray:
    """The floats that `_key` maps to these integers."""
    return np.where(keys >= 0, keys, -keys | 0x80000000).astype(np.uint32).view(np.float32)


def _to_bytes(call: Call) -> Params:
    inverse = 1.0 / call.output.scale
    low, zero = INT_RANGE[call.output.dtype][0], call.output.zero_point
    return {"begins": begins(call), "inverse": inverse, "zero_point": zero, "out_min": low, "total": call.output.size}


QUANTIZE = Kernel(
    "mg_quantize__cl",
    Grid(halved=()),
    accepts=(to_bytes, indexable),
    params=_to_bytes,
    text=Text(lambda call: {"SIGNED": int(call.output.dtype == "s8")}, source="quantize.cl"),
    needs=NEEDS,
)

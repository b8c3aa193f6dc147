"""Unary functions of 8-bit data as tables of 256 bytes, which are filled without the oracle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import INT_RANGE, round_array_half_away
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.ranges import Range
from mcugen.ir.types import NUMPY_DTYPES
from mcugen.ops._channelwise import Pointwise

_BYTES = ("s8", "u8")


def byte_to_byte(call: Call) -> bool:
    "input and output are int8 or uint8"
    return call.input(0).dtype in _BYTES and call.output.dtype in _BYTES


class ByteFunction(Pointwise):
    """Base of unary functions that are computed by a table if input and output are int8 or uint8."""

    def entries(self, call: Call, x: np.ndarray) -> np.ndarray:
        """The table entries for stored bytes x, computed without `reference`: tests compare the two."""
        raise NotImplementedError

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        x = call.range_of(0)
        if x is None or not byte_to_byte(call):
            return super().bounds(call)
        return (image_of(x, table(call).view(call.output.np_dtype)),)


def image_of(x: Range, values: np.ndarray) -> Range:
    """Bounds of values[x]. values: one entry per byte, indexed by the byte's unsigned value."""
    pairs, place = np.unique(np.stack([x.low, x.high], axis=1), axis=0, return_inverse=True)
    found = [between(values, low, high) for low, high in pairs]
    ends = np.array([(part.min(), part.max()) for part in found], np.int64)[place.reshape(-1)]
    return Range(ends[:, 0], ends[:, 1])


def between(values: np.ndarray, low: int, high: int) -> np.ndarray:
    """values[x] of each stored byte x from low to high, as int64. values: indexed by the byte's unsigned value."""
    return np.asarray(values[np.arange(low, high + 1) % 256].astype(np.int64))


def byte_table(call: Call) -> np.ndarray | None:
    """`table` of the call; None if the operator is no function of one byte alone."""
    return table(call) if isinstance(call.op, ByteFunction) and byte_to_byte(call) else None


def table(call: Call) -> np.ndarray:
    """The result for every stored byte, indexed by the byte's unsigned value."""
    x = np.arange(256, dtype=np.uint8).view(NUMPY_DTYPES[call.input(0).dtype])
    assert isinstance(call.op, ByteFunction)
    return np.asarray(call.op.entries(call, x)).astype(call.output.np_dtype).view(np.uint8)


def params(call: Call) -> Params:
    return {"table": table(call)}


def elements(call: Call) -> int:
    """The number of elements of the output."""
    return call.output.size


def table_kernel() -> Kernel:
    """One look-up per byte."""
    return Kernel("mg_table_b1", Run(elements), (byte_to_byte,), params, operands=(0,), in_place=(0,))


def rounded(call: Call, x: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A real function of stored bytes, requantized in float32 as in LiteRT's tables. Source: common.h, LUTPopulateInt8.

    function: takes and returns float32.
    """
    a, y = call.input(0), call.output
    real = np.float32(a.scale) * (x.astype(np.int64) - a.zero_point).astype(np.float32)
    steps = round_array_half_away(function(real) * (np.float32(1) / np.float32(y.scale)))
    return np.asarray(np.clip(steps.astype(np.float64) + y.zero_point, *INT_RANGE[y.dtype]))

"""Floats that change their form in memory on OpenCL devices: float to half, and back."""

from __future__ import annotations

from mcugen.call import Call
from mcugen.element import Line, Loop, Operand, Walk
from mcugen.grid import GridLoop
from mcugen.kernel import Form, Grid, Kernel
from mcugen.kernels.opencl_basic.windows import NEEDS, indexable


def between_floats(call: Call) -> bool:
    "one side is float, the other half"
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
        Form.GRID,
        accepts=(between_floats, to_type, indexable),
        params=lambda call: {"total": call.output.size},
        loop=_loop,
        grid=lambda call, tile: Grid.each(call.output.size),
        needs=NEEDS,
    )


CASTS = tuple(_kernel(dtype) for dtype in ("f16", "f32"))
"""One kernel for each direction, as their texts differ."""

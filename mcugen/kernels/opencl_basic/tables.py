"""Functions of bytes on OpenCL devices: one look-up in a table."""

from __future__ import annotations

from mcugen.ir.kernel import Form, Grid, Kernel
from mcugen.kernels.opencl_basic.windows import NEEDS
from mcugen.ops import _bytes

TABLE = Kernel(
    "mg_table_b1__cl",
    Form.GRID,
    accepts=(_bytes.byte_to_byte,),
    params=lambda call: {**_bytes.params(call), "total": call.output.size},
    operands=(0,),
    in_place=(0,),
    grid=lambda call, tile: Grid.each(call.output.size),
    needs=NEEDS,
    source="table_b1.cl",
)


def of_bytes(kind: type) -> tuple[Kernel, ...]:
    """The kernel of an operator that states the table of its bytes."""
    return (TABLE,) if issubclass(kind, _bytes.ByteFunction) else ()

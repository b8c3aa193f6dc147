"""Byte-to-byte functions on OpenCL devices, by look-up in a table."""

from __future__ import annotations

from mcugen.ir.kernel import Grid, Kernel, Text
from mcugen.kernels.opencl_basic.channel_windows import NEEDS
from mcugen.ops import _bytes

TABLE = Kernel(
    "mg_table_b1__cl",
    Grid(),
    accepts=(_bytes.byte_to_byte,),
    params=lambda call: {**_bytes.params(call), "total": call.output.size},
    operands=(0,),
    in_place=(0,),
    text=Text(source="table_b1.cl"),
    needs=NEEDS,
)


def of_bytes(kind: type) -> tuple[Kernel, ...]:
    """The look-up kernel for an operator that is defined by a table of bytes."""
    return (TABLE,) if issubclass(kind, _bytes.ByteFunction) else ()

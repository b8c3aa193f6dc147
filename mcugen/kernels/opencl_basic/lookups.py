"""Batched matrix products, gathers and dequantization on OpenCL devices."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Grid, Kernel, NDRange, Text
from mcugen.kernels.opencl_basic.channel_windows import NEEDS, indexable
from mcugen.ops import batch_matmul, dequantize, gather

_WIDEST = 16
_UNSHARED = 25.0
"""Relative effort of products that load their operands for each result, like tiles of one element."""


def _word(call: Call) -> int:
    """Bytes moved at once: 16 if the length of a gathered run is a multiple of 16, else one element."""
    run = int(gather.params(call)["run"])
    return _WIDEST if run % _WIDEST == 0 else call.output.np_dtype.itemsize


def _gather_params(call: Call) -> Params:
    found = {name: value for name, value in gather.params(call).items() if name != "batches"}
    word = _word(call)
    return {**found, "run": int(found["run"]) // word, "total": call.output.nbytes // word}


def one_type(call: Call) -> bool:
    "operand and result have the same element type"
    return call.input(0).dtype == call.output.dtype


GATHER = Kernel(
    "mg_gather__cl",
    Grid(lambda call, tile: NDRange.each(call.output.nbytes // _word(call))),
    accepts=(one_type, indexable),
    params=_gather_params,
    operands=(0, 1),
    text=Text(lambda call: {"WORD_BYTES": _word(call), "WIDE": int(call.input(1).dtype == "s64")}, source="gather.cl"),
    needs=NEEDS,
)


MATMUL_F32 = Kernel(
    "mg_batch_matmul_f32__cl",
    Grid(lambda call, tile: replace(NDRange.each(call.output.size), effort=_UNSHARED), halved=()),
    accepts=(batch_matmul.float_data, indexable),
    params=lambda call: {**batch_matmul.params(call), "total": call.output.size},
    operands=(0, 1),
    text=Text(lambda call: {"INT8": int(not call.output.is_float)}, source="batch_matmul.cl"),
    needs=NEEDS,
)
MATMUL_S8 = replace(
    MATMUL_F32,
    symbol="mg_batch_matmul_s8__cl",
    form=replace(MATMUL_F32.grid, halved=None),
    accepts=(batch_matmul.int8_data, indexable),
)


def has_stored_type(call: Call) -> bool:
    "the input is int8, uint8, int16 or int32"
    return call.input(0).dtype in ("s8", "u8", "s16", "s32")


DEQUANTIZE = Kernel(
    "mg_dequantize__cl",
    Grid(halved=()),
    accepts=(has_stored_type, dequantize.per_tensor, indexable),
    params=lambda call: {**dequantize.params(call), "total": call.output.size},
    text=Text(
        lambda call: {
            "BYTES": call.input(0).np_dtype.itemsize,
            "SIGNED": int(call.input(0).dtype.startswith("s")),
        },
        source="dequantize.cl",
    ),
    needs=NEEDS,
)

"""Products of two computed matrices, gathered runs, and integers as real numbers, on OpenCL devices."""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Form, Grid, Kernel
from mcugen.kernels.opencl_basic.windows import NEEDS, indexable
from mcugen.ops import batch_matmul, dequantize, gather

_WIDEST = 16
_UNSHARED = 25.0
"""Effort of products that load operands for each element: like tiles of one element."""


def _word(call: Call) -> int:
    """Bytes moved at once: 16 where a run is a multiple of that."""
    run = int(gather.params(call)["run"])
    return _WIDEST if run % _WIDEST == 0 else call.output.np_dtype.itemsize


def _gather_params(call: Call) -> Params:
    found = {name: value for name, value in gather.params(call).items() if name != "batches"}
    word = _word(call)
    return {**found, "run": int(found["run"]) // word, "total": call.output.nbytes // word}


def one_type(call: Call) -> bool:
    "operand and result have one type"
    return call.input(0).dtype == call.output.dtype


GATHER = Kernel(
    "mg_gather__cl",
    Form.GRID,
    accepts=(one_type, indexable),
    params=_gather_params,
    operands=(0, 1),
    variant=lambda call: {"WORD_BYTES": _word(call), "WIDE": int(call.input(1).dtype == "s64")},
    grid=lambda call, tile: Grid.each(call.output.nbytes // _word(call)),
    needs=NEEDS,
    source="gather.cl",
)


def _each(call: Call, tile: object) -> Grid:
    return Grid.each(call.output.size)


MATMUL_F32 = Kernel(
    "mg_batch_matmul_f32__cl",
    Form.GRID,
    accepts=(batch_matmul.float_data, indexable),
    params=lambda call: {**batch_matmul.params(call), "total": call.output.size},
    operands=(0, 1),
    variant=lambda call: {"INT8": int(not call.output.is_float)},
    halved=(),
    grid=lambda call, tile: replace(Grid.each(call.output.size), effort=_UNSHARED),
    needs=NEEDS,
    source="batch_matmul.cl",
)
MATMUL_S8 = replace(
    MATMUL_F32, symbol="mg_batch_matmul_s8__cl", accepts=(batch_matmul.int8_data, indexable), halved=None
)


def has_stored_type(call: Call) -> bool:
    "the input is int8, uint8, int16 or int32"
    return call.input(0).dtype in ("s8", "u8", "s16", "s32")


DEQUANTIZE = Kernel(
    "mg_dequantize__cl",
    Form.GRID,
    accepts=(has_stored_type, dequantize.per_tensor, indexable),
    params=lambda call: {**dequantize.params(call), "total": call.output.size},
    variant=lambda call: {
        "BYTES": call.input(0).np_dtype.itemsize,
        "SIGNED": int(call.input(0).dtype.startswith("s")),
    },
    halved=(),
    grid=_each,
    needs=NEEDS,
    source="dequantize.cl",
)

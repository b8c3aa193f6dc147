"""Products of two computed float matrices: the columns of the second are copied to the weights of a 1x1 convolution."""

from __future__ import annotations

from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.kernels.quads.pixel_quads import BLOCK, NEEDS, SOURCE, TERMS
from mcugen.ops import batch_matmul


def floats_in_rows(call: Call) -> bool:
    "the matrices are float32, and elements of rows of the first are adjacent"
    return batch_matmul.float_data(call) and not call.op.transpose_a


def _params(call: Call) -> Params:
    found = batch_matmul.sizes(call)
    return {name: found[name] for name in ("first", "batches", "rows", "depth", "cols", "b_row", "b_col")}


def _fours(call: Call) -> int:
    return -(-call.output.shape[-1] // BLOCK)


def _scratch(call: Call) -> int:
    """Bytes of the weights of all columns of a matrix, with their biases, and of a row of results."""
    words = _fours(call) * BLOCK * (batch_matmul.depth(call) + 1) + call.output.shape[-1]
    return -(-4 * words // 16) * 16


def _work(call: Call) -> dict[str, float]:
    """Cost terms: blocks of four rows (placed), blocks of these and four columns, words of weights that they read, and
    words that are copied."""
    rows, cols = call.output.shape[-2:]
    batches, depth = call.output.size // (rows * cols), batch_matmul.depth(call)
    placed = batches * -(-rows // BLOCK)
    blocks = placed * _fours(call)
    return {"placed": placed, "blocks": blocks, "words": blocks * depth, "copied": batches * _fours(call) * depth}


KERNEL = Kernel(
    "mg_batch_matmul_f32__quads",
    Whole(),
    accepts=(floats_in_rows,),
    params=_params,
    operands=(0, 1),
    scratch=_scratch,
    text=Text(struct="mg_batch_matmul_f32__quads", helpers=(SOURCE,)),
    cost=Cost(_work, (*TERMS, "copied")),
    needs=NEEDS,
)

"""Softmax between Dequantize and Quantize in the integers of IntegerSoftmax, where the file states these."""

from __future__ import annotations

from mcugen.ir.graph import Node
from mcugen.ir.types import TensorType
from mcugen.ops.integer_softmax import MAX_CLASSES, RESULT, IntegerSoftmax
from mcugen.ops.softmax import Softmax
from mcugen.passes._softmax_operand import SearchedTensors, operand_of
from mcugen.passes.qdq.rewritten_graph import BYTES, Draft


def in_steps(draft: Draft, maker: Node, t: TensorType) -> str | None:
    """The result of a softmax, quantized as t, by IntegerSoftmax; None where the file does not state it."""
    if not isinstance(maker.op, Softmax) or not maker.op.steps or t.quant != RESULT.get(t.dtype):
        return None
    values = SearchedTensors(
        draft.makers.get, draft.constant, draft.type_of, lambda name: draft.stored(name) is not None
    )
    found = operand_of(str(maker.inputs[0]), maker.op.beta, values)
    stored = draft.stored(found.x)
    if stored is None or draft.type_of(stored).dtype not in BYTES or t.shape[-1] > MAX_CLASSES:
        return None
    keys = found.rows_of_keys(t.shape[-1])
    inputs = [stored] if keys is None else [stored, draft.new(keys, "bool", None)]
    return draft.node(IntegerSoftmax(float(found.beta)), inputs, [t])[0]

"""Sums of several float tensors before a Quantize. A tree of additions becomes one sum that is rounded once."""

from __future__ import annotations

from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.graph import Node
from mcugen.ir.types import TensorType
from mcugen.ops.add import Add
from mcugen.ops.exact_sum import ExactSum
from mcugen.passes.qdq.rewritten_graph import Draft, has_own_kernel


def summed(r: Draft, maker: Node, t: TensorType) -> str | None:
    """The tensor, quantized as t, with the sum of a tree of at least two additions of stored bytes; None for other
    nodes.
    """
    parts = _parts(r, maker)
    if parts is None or len(parts) < 3:
        return None
    op, types = ExactSum(), tuple(r.type_of(n) for n in parts)
    try:
        inferred = op.infer(*types)[0]
    except McugenError:
        return None
    signed = [TensorType(x.shape, "s8", x.quant) for x in (*types, t)]
    as_int8 = Call(op, tuple(signed[:-1]), (signed[-1],), (None,) * len(parts), r.reference)
    fits = inferred.shape == t.shape and inferred.dtype == t.dtype and has_own_kernel(as_int8)
    return r.node(op, parts, [t])[0] if fits else None


def _parts(r: Draft, maker: Node) -> list[str] | None:
    """The tensors of stored integers that a tree of additions adds up; None if an addend is not stored integers."""
    if not isinstance(maker.op, Add) or maker.op.activation != "NONE":
        return None
    found: list[str] = []
    for name in map(str, maker.inputs):
        stored, before = r.stored(name), r.makers.get(name)
        if stored is not None and r.tensors[stored].data is None:
            found.append(stored)
            continue
        below = None if before is None else _parts(r, before)
        if below is None:
            return None
        found += below
    return found

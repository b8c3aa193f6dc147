"""Recurrent layers before a Quantize. They have several results, and the form on integers has fixed scales for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.graph import Node
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops._integer_recurrent import IntegerRecurrent
from mcugen.ops.add import Add
from mcugen.passes.qdq.rewritten_graph import Draft, has_own_kernel


def recurrent(r: Draft, maker: Node, name: str, t: TensorType) -> str | None:
    """The result `name` of a recurrent layer, quantized as t; None if the layer has no form on integers, or t is not
    the type that this form gives.
    """
    types = tuple(None if n is None else r.type_of(n) for n in maker.inputs)
    floats = tuple(r.type_of(n) for n in maker.outputs)
    exact = maker.op.rounded(Call(maker.op, types, floats, (None,) * len(types), r.reference))
    if not isinstance(exact, IntegerRecurrent):
        return None
    if maker.name not in r.layers:
        r.layers[maker.name] = _layer(r, exact, maker)
    made = r.layers[maker.name]
    found = None if made is None else made[maker.outputs.index(name)]
    return found if found is not None and r.type_of(found) == t else None


def _layer(r: Draft, op: IntegerRecurrent, maker: Node) -> list[str] | None:
    """The results of the layer on stored integers; None if an operand has none, or no kernel takes these."""
    operands = [None if n is None else r.stored(_of_sum(r, n)) for n in maker.inputs]
    if any(n is None for n in operands):
        return None
    names = [str(n) for n in operands]
    steps = (r.type_of(names[0]).quant, op.read_quant)
    if not all(_fits(r, names[k], steps[k - 3], names[k - 2]) for k in range(3, op.state)):
        return None
    try:
        y, *states = op.infer(*(r.type_of(n) for n in names))
    except McugenError:
        return None
    kinds = [replace(y, quant=op.read_quant)]
    kinds += [replace(s, quant=r.type_of(names[op.state + k]).quant) for k, s in enumerate(states)]
    if not has_own_kernel(r.call(op, names, kinds)):
        return None
    return r.node(op, names, kinds)


def _of_sum(r: Draft, name: str) -> str:
    """The first of two biases that are added up, if the second is stored zeros; else the tensor itself."""
    maker = r.makers.get(name)
    if maker is None or not isinstance(maker.op, Add):
        return name
    first, second = (str(n) for n in maker.inputs)
    stored = r.stored(second)
    data = None if stored is None else r.tensors[stored].data
    return first if data is not None and not data.any() else name


def _fits(r: Draft, name: str, x: QuantParams | None, weights: str) -> bool:
    """Whether a bias is in steps of the products of weights with what they multiply, of the quantization x."""
    t, w = r.type_of(name), r.type_of(weights).quant
    if x is None or w is None or t.quant is None or t.dtype != "s32" or x.per_channel or any(t.quant.zero_point):
        return False
    steps = np.float32(x.scale[0]) * np.array(w.scale, np.float32)
    return np.array_equal(np.broadcast_to(np.array(t.quant.scale, np.float32), steps.shape), steps)

"""Operators on int16 before a Quantize whose file states that they compute as runtimes do.

TensorFlow Lite has operators on int16 data; ONNX has none. `mcugen quantize` writes them as float operators, and states
by the text of QuantizeLinear that their results are those of TensorFlow Lite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.graph import Node
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.element_function import ElementFunction, wide_error
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import Quantize
from mcugen.ops.relu import Relu
from mcugen.ops.stored import Stored
from mcugen.passes.join_functions import function_of
from mcugen.passes.qdq.rewritten_graph import MAX_DEPTH, Draft, has_own_kernel

MOST_ERROR = 16.0
"""The most steps of int16 by which the table of a function may be off halfway between two entries."""

WithBias = Callable[[Node], tuple[Op, tuple[str | None, ...]] | None]
"""Function: an Add -> (operator, operands with the bias) of the matrix product to which it adds one, or None."""


def in_runtime_steps(r: Draft, name: str, t: TensorType, with_bias: WithBias, depth: int = 0) -> str | None:
    """The values of a float tensor, quantized as t, by an operator on int16; None if none has a kernel."""
    t = t.with_shape(r.type_of(name).shape)
    stored = r.stored(name)
    if stored is not None:
        x = r.type_of(stored)
        same = (x.dtype, x.quant) == (t.dtype, t.quant)
        return stored if same else _made(r, Quantize(t.dtype), [stored], t)
    maker = r.makers.get(name)
    if maker is None or len(maker.outputs) > 1 or depth > MAX_DEPTH:
        return None
    call = r.graph.call(maker, r.reference)
    if isinstance(maker.op, Relu) or call.op.keeps_values(call):
        floats = [n for n in maker.inputs if n is not None and r.type_of(n).is_float]
        below = [in_runtime_steps(r, n, t, with_bias, depth + 1) for n in floats]
        if None not in below:
            found = iter(below)
            return _made(r, maker.op, [next(found) if n in floats else n for n in maker.inputs], t)
    return _computed(r, maker, t, with_bias) or _function(r, maker, t)


def _made(r: Draft, op: Op, operands: Sequence[str | None], t: TensorType) -> str | None:
    """The result of an operator on stored integers; None if it does not give this type, or has no kernel."""
    try:
        (found,) = op.infer(*(None if n is None else r.type_of(n) for n in operands))
    except McugenError:
        return None
    if (found.dtype, found.shape) != (t.dtype, t.shape) or not has_own_kernel(r.call(op, operands, [t])):
        return None
    return r.node(op, operands, [t])[0]


def _computed(r: Draft, maker: Node, t: TensorType, with_bias: WithBias) -> str | None:
    """The result of the operator `maker` itself on stored integers."""
    op, inputs = maker.op, maker.inputs
    if isinstance(op, Add):
        op, inputs = with_bias(maker) or (op, inputs)
    operands = r.operands(op, inputs)
    if operands is None:
        return None
    if op.weight_operands and len(operands) > max(op.weight_operands) + 1:
        at = max(op.weight_operands) + 1
        operands[at] = _wide_bias(r, [str(n) for n in operands[:at]], inputs[at])
        if operands[at] is None and inputs[at] is not None:
            return None
    return _made(r, op, operands, t)


def _wide_bias(r: Draft, before: Sequence[str], name: str | None) -> str | None:
    """A bias as int64 in steps of the products' scales; None if it is computed."""
    data = None if name is None else r.constant(name)
    x, w = (r.type_of(n).quant for n in before[:2])
    if data is None or x is None or w is None:
        return None
    scales = np.float32(x.scale[0]) * np.array(w.scale, np.float32)
    steps = np.rint(data.reshape(-1).astype(np.float64) / scales.astype(np.float64)).astype(np.int64)
    return r.new(steps, "s64", QuantParams(tuple(float(s) for s in scales), (0,) * scales.size))


def _function(r: Draft, maker: Node, t: TensorType) -> str | None:
    """The result of a function of one tensor, element by element, that ends in `maker`; None if its table is coarse.

    A product with a positive number changes the scale alone. A function that bends sharply within the range of t stays
    on floats.
    """
    found = function_of(r.graph, maker, r.reference)
    stored = None if found is None else r.stored(found[0])
    if found is None or stored is None or (r.type_of(stored).dtype, t.dtype) != ("s16", "s16"):
        return None
    factor = _factor(found[1])
    x = r.type_of(stored)
    if factor > 0 and x.quant is not None:
        view = replace(x, quant=QuantParams((float(np.float32(x.scale) * np.float32(factor)),), x.quant.zero_point))
        return _made(r, Quantize(t.dtype), [r.node(Stored(), [stored], [view])[0]], t)
    if wide_error(r.call(found[1], [stored], [t])) > MOST_ERROR:
        return None
    return _made(r, found[1], [stored], t)


def _factor(function: ElementFunction) -> float:
    """The number with which a function multiplies its operand; 0 if it does something else."""
    (first, *others), numbers = function.links, function.numbers
    alone = not others and len(numbers) == 1 and first.op == Mul() and 0 in first.operands
    return numbers[0] if alone else 0.0

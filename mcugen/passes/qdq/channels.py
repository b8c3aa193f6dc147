"""Factors and addends of float channels before a Quantize, as in batch normalization, and the factors of PReLU.

A chain of sums and products with constants equals one factor and one addend per channel. After a convolution or matrix
product with no other reader, they are folded into its weight scales and bias, in float32. After stored integers, they
become a depthwise 1x1 convolution with weights 1 or -1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.errors import McugenError
from mcugen.ir.call import Call
from mcugen.ir.graph import Node
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.div import Div
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.mul import Mul
from mcugen.ops.prelu import Prelu
from mcugen.ops.reshape import Reshape
from mcugen.ops.sub import Sub
from mcugen.ops.transpose import Transpose
from mcugen.passes.qdq.rewritten_graph import Draft


@dataclass(frozen=True)
class Chain:
    """base * factor + addend. base: a float tensor. factor, addend: float64, broadcast to its shape."""

    base: str
    factor: np.ndarray
    addend: np.ndarray


def by_channels(r: Draft, maker: Node, t: TensorType) -> str | None:
    """The tensor with the result of an operator that scales channels, quantized as t; None for other operators."""
    if isinstance(maker.op, Prelu):
        return _sloped(r, maker, t)
    found = _chain(r, maker.outputs[0])
    if found is None or r.type_of(found.base).shape != t.shape:
        return None
    stored = r.stored(found.base)
    return _weighted(r, found, t) if stored is None else _scaled(r, stored, found.factor, found.addend, t)


def _chain(r: Draft, name: str) -> Chain | None:
    """The chain that ends in the float tensor `name`; None if there is none."""
    factor, addend, base = np.ones(()), np.zeros(()), name
    while (step := _step(r, base)) is not None:
        before, times, plus = step
        base, factor, addend = before, factor * times, addend + factor * plus
    finite = np.isfinite(factor).all() and np.isfinite(addend).all()
    return Chain(base, factor, addend) if base != name and finite else None


def _step(r: Draft, name: str) -> tuple[str, np.ndarray, np.ndarray] | None:
    """(x, times, plus) of an operator whose result is x * times + plus and has the shape of x."""
    maker = r.makers.get(name)
    if maker is None or not isinstance(maker.op, Add | Sub | Mul | Div) or maker.op.activation != "NONE":
        return None
    known = [r.constant(str(n)) for n in maker.inputs]
    if (known[0] is None) == (known[1] is None) or (isinstance(maker.op, Div) and known[1] is None):
        return None
    at = 0 if known[1] is not None else 1
    data, x = np.asarray(known[1 - at], np.float64), str(maker.inputs[at])
    if r.type_of(x).shape != r.type_of(name).shape:
        return None
    one, none = np.ones(()), np.zeros(())
    if isinstance(maker.op, Mul | Div):
        return (x, data, none) if isinstance(maker.op, Mul) else (x, _reciprocal(data), none)
    sign = -1.0 if isinstance(maker.op, Sub) else 1.0
    return (x, one, sign * data) if at == 0 else (x, sign * one, data)


def _reciprocal(data: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / data)


def _sloped(r: Draft, maker: Node, t: TensorType) -> str | None:
    """PReLU as max(x, slope * x) if no slope is above 1, or min(x, slope * x) if no slope is below 1; else None."""
    stored, slope = r.stored(str(maker.inputs[0])), r.constant(str(maker.inputs[1]))
    if stored is None or slope is None or not ((slope <= 1).all() or (slope >= 1).all()):
        return None
    plain = r.rescaled(stored, t)
    scaled = _scaled(r, stored, slope.astype(np.float64), np.zeros(()), t)
    if plain is None or scaled is None:
        return None
    return r.node(Maximum() if (slope <= 1).all() else Minimum(), [plain, scaled], [t])[0]


def _scaled(r: Draft, stored: str, factor: np.ndarray, addend: np.ndarray, t: TensorType) -> str | None:
    """Stored bytes times a factor plus an addend per index of one axis, quantized as t; None if that is not
    possible.
    """
    x, axis = r.type_of(stored), _axis(factor, addend, t.shape)
    if axis is None or not r.is_bytes(x) or t.shape != x.shape:
        return None
    perm = (*(k for k in range(len(x.shape)) if k != axis), axis)
    last = tuple(x.shape[k] for k in perm)
    image = last if len(last) == 4 else (1, int(np.prod(last[:-1])), 1, last[-1])
    times, plus = (_along(v, axis, x.shape) for v in (factor, addend))
    scale = tuple(float(np.float32(abs(v))) if v else 1.0 for v in times)
    if not all(np.isfinite(scale)) or not all(scale):
        return None
    weights = r.new(np.sign(times).reshape(1, 1, 1, -1), "s8", QuantParams(scale, (0,) * len(scale), 3))
    data = _moved(r, stored, (Transpose(perm), last), (Reshape(image), image))
    op = DepthwiseConv2D(padding="VALID", rounding="even")
    y = r.node(op, [data, weights, r.new(plus, "f32", None)], [replace(t, shape=image)])[0]
    back = tuple(perm.index(k) for k in range(len(perm)))
    return _moved(r, y, (Reshape(last), last), (Transpose(back), t.shape))


def _moved(r: Draft, name: str, *moves: tuple[Op, tuple[int, ...]]) -> str:
    for op, shape in moves:
        name = r.node(op, [name], [replace(r.type_of(name), shape=shape)])[0]
    return name


def _axis(factor: np.ndarray, addend: np.ndarray, shape: Sequence[int]) -> int | None:
    """The only axis along which the factor or the addend varies; None if there is not exactly one."""
    axes = {v.ndim - k for v in (factor, addend) for k, size in enumerate(v.shape) if size > 1}
    return len(shape) - axes.pop() if len(axes) == 1 else None


def _along(values: np.ndarray, axis: int, shape: Sequence[int]) -> np.ndarray:
    """Values that vary along one axis only, one per index."""
    line = np.moveaxis(np.broadcast_to(values, shape), axis, 0)
    return np.ascontiguousarray(line.reshape(shape[axis], -1)[:, 0])


def _weighted(r: Draft, found: Chain, t: TensorType) -> str | None:
    """The result, quantized as t, of an operator with weights whose scales and bias include the chain.

    None if there is no such operator before the chain, or its results have other readers.
    """
    readers = Counter(n for node in r.graph.nodes for n in node.inputs)
    readers.update(r.graph.kept)
    name, moves = found.base, list[Node]()
    while (maker := r.makers.get(name)) is not None and readers[name] == 1 and len(maker.outputs) == 1:
        if maker.op.weight_operands:
            return _rescaled_weights(r, maker, moves, found, t)
        if len(maker.inputs) != 1 or not maker.op.keeps_values(r.graph.call(maker, r.reference)):
            return None
        moves.append(maker)
        name = str(maker.inputs[0])
    return None


def _rescaled_weights(r: Draft, maker: Node, moves: Sequence[Node], found: Chain, t: TensorType) -> str | None:
    factor, addend = _of_channels(r, maker, moves, found)
    operands = r.operands(maker.op, maker.inputs)
    if factor is None or addend is None or operands is None or getattr(maker.op, "activation", "") != "NONE":
        return None
    x, w = (str(n) for n in operands[:2])
    quant, axis = r.type_of(w).quant, getattr(maker.op, "scaled_axis", 0)
    old = np.broadcast_to(np.array(quant.scale if quant else (), np.float32), factor.shape)
    scale = np.where(factor == 0, old, (old * np.abs(factor)).astype(np.float32))
    spread = tuple(-1 if k == axis else 1 for k in range(len(r.type_of(w).shape)))
    data = np.asarray(r.tensors[w].data, np.int16) * np.sign(factor).astype(np.int16).reshape(spread)
    fits = data.min(initial=0) >= -128 and data.max(initial=0) <= 127
    scales = QuantParams(tuple(float(s) for s in scale), (0,) * scale.size, axis)
    bias = _real_bias(r, operands, old) * factor + addend
    finite = np.isfinite(scale).all() and (scale > 0).all() and np.isfinite(bias.astype(np.float32)).all()
    if not finite:
        return None
    made = [x, r.new(data, "s8" if fits else "s16", scales), r.new(bias, "f32", None)]
    types = tuple(r.type_of(n) for n in made)
    exact = maker.op.rounded(Call(maker.op, types, (r.type_of(maker.outputs[0]),), (None,) * 3, r.reference))
    try:
        shape = exact.infer(*types)[0].shape if exact is not None else ()
    except McugenError:
        return None
    if exact is None or not r.is_bytes(r.type_of(x)):
        return None
    y = r.node(exact, made, [replace(t, shape=shape)])[0]
    return _moved(r, y, *((move.op, r.type_of(move.outputs[0]).shape) for move in reversed(moves)))


def _of_channels(
    r: Draft, maker: Node, moves: Sequence[Node], chain: Chain
) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """The chain's factor and addend per output channel of the operator `maker`, with the data movements `moves` in
    between.

    (None, None) if a channel has several factors, if a movement selects the larger of several elements, or if it fills
    in zeros to which an addend would be added.
    """
    shape = r.type_of(maker.outputs[0]).shape
    index = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    mirrored = -index
    for move in reversed(moves):
        index, mirrored = np.asarray(move.op.reference(index)), np.asarray(move.op.reference(mirrored))
    factors, addends = (np.broadcast_to(v, index.shape).reshape(-1) for v in (chain.factor, chain.addend))
    place = index.astype(np.int64).reshape(-1)
    filled = place == 0
    if not np.array_equal(index, -mirrored) or addends[filled].any():
        return None, None
    channel, found = (place - 1)[~filled] % shape[-1], np.zeros((2, shape[-1]))
    for values, flat in zip(found, (factors[~filled], addends[~filled]), strict=True):
        values[channel] = flat
        if not np.array_equal(values[channel], flat):
            return None, None
    return found[0], found[1]


def _real_bias(r: Draft, operands: Sequence[str | None], scale: np.ndarray) -> np.ndarray:
    """The bias of an operator in real numbers."""
    name, x = operands[2] if len(operands) > 2 else None, r.type_of(str(operands[0])).quant
    if name is None or x is None:
        return np.zeros(scale.shape)
    data = np.asarray(r.tensors[name].data, np.float64).reshape(-1)
    if r.type_of(name).is_float:
        return data
    return data * np.float64(np.float32(x.scale[0])) * scale.astype(np.float64)

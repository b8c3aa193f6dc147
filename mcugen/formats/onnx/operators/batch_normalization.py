"""BatchNormalization: a factor and an addend for each channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError
from mcugen.formats.operators.elements import operands
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.reshape import Reshape
from mcugen.ops.rsqrt import Rsqrt
from mcugen.ops.square import Square
from mcugen.ops.sub import Sub


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """y = (x - mean) / sqrt(var + epsilon) * scale + bias, by channel (axis 1). Source: ONNX BatchNormalization-15."""
    a = source.attributes
    momentum, x = a["momentum"], e.inputs[0]
    if a["training_mode"]:
        return _training(e, a["epsilon"], momentum)
    if _is_computed(e):
        return [_normalized(e, operands(e, 5), a["epsilon"])]
    values = [None if name is None else e.data(name) for name in e.inputs[1:5]]
    known = [value.astype(np.float64) for value in values if value is not None]
    if x is None or len(known) != 4:
        raise ShapeError("batch normalization needs data and four statistics")
    shape = e.type(x).shape
    if len(shape) < 2 or any(value.shape != (shape[1],) for value in known):
        raise ShapeError(f"the statistics do not fit data {list(shape)}")
    scale, bias, mean, var = known
    if (var + a["epsilon"] <= 0).any():
        raise CorruptModelError("a variance is not positive")
    factor = scale / np.sqrt(var + a["epsilon"])
    spread = (-1, *(1,) * (len(shape) - 2))
    scaled = e.node(Mul(), x, e.constant(factor.astype(np.float32).reshape(spread)))
    return [e.node(Add(), scaled, e.constant((bias - mean * factor).astype(np.float32).reshape(spread)))]


def _is_computed(e: Expansion) -> bool:
    return any(name is not None and e.data(name) is None for name in e.inputs[1:5])


def _normalized(e: Expansion, names: Sequence[str], epsilon: float) -> str:
    """BatchNormalization with statistics that are computed at run time."""
    x, scale, bias, mean, var = names
    shape = e.type(x).shape
    if len(shape) < 2 or any(e.type(name).shape != (shape[1],) for name in (scale, bias, mean, var)):
        raise ShapeError(f"the statistics do not fit data {list(shape)}")
    added = e.node(Add(), var, e.constant(np.array(epsilon, np.float32)))
    factor = e.node(Mul(), scale, e.node(Rsqrt(), added))
    spread = (shape[1], *(1,) * (len(shape) - 2))
    centred = e.node(Sub(), x, e.node(Reshape(spread), mean))
    return e.node(Add(), e.node(Mul(), centred, e.node(Reshape(spread), factor)), e.node(Reshape(spread), bias))


def _training(e: Expansion, epsilon: float, momentum: float) -> Sequence[str]:
    """Training mode: normalizes by the statistics of the data, and updates the running statistics."""
    x, scale, bias, *running = operands(e, 5)
    axes = tuple(k for k in range(len(e.type(x).shape)) if k != 1)
    mean = e.node(Mean(axes), x)
    spread = (-1, *(1,) * (len(axes) - 1))
    var = e.node(Mean(axes), e.node(Square(), e.node(Sub(), x, e.node(Reshape(spread), mean))))
    old, new = (e.constant(np.array(v, np.float32)) for v in (momentum, 1.0 - momentum))
    pairs = zip(running, (mean, var), strict=True)
    moved = [e.node(Add(), e.node(Mul(), a, old), e.node(Mul(), b, new)) for a, b in pairs]
    return [_normalized(e, (x, scale, bias, mean, var), epsilon), *moved]


IMPORTS = (Import("onnx", "BatchNormalization", expand=expand),)

"""BatchNormalization: a factor and an addend for each channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.mul import Mul


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """y = (x - mean) / sqrt(var + epsilon) * scale + bias, by channel (axis 1). Source: ONNX BatchNormalization-15."""
    a = source.attributes
    if a["training_mode"]:
        raise UnsupportedError("batch normalization in training mode is not supported")
    a["momentum"]  # only for training
    x = e.inputs[0]
    values = [None if name is None else e.data(name) for name in e.inputs[1:5]]
    known = [value.astype(np.float64) for value in values if value is not None]
    if x is None or len(known) != 4:
        raise UnsupportedError("batch normalization with computed statistics is not supported")
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


IMPORTS = (Import("onnx", "BatchNormalization", expand=expand),)

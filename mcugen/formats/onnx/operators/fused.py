"""FusedConv and FusedGemm: ONNX Runtime's operators, in optimized models, for a product and its activation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.formats.onnx.operators import convolutions, matrices
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ir.op import Op
from mcugen.ops.add import Add
from mcugen.ops.leaky_relu import LeakyRelu
from mcugen.ops.logistic import Logistic
from mcugen.ops.mul import Mul
from mcugen.ops.relu import Relu
from mcugen.ops.tanh import Tanh

_CONV = {"auto_pad": "NOTSET", "dilations": None, "group": 1, "kernel_shape": None, "pads": None, "strides": None}
_GEMM = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}


def convolution(source: Source, e: Expansion) -> Sequence[str]:
    """activation(Conv(x, w, b) + z). Source: com.microsoft FusedConv-1."""
    a, z = source.attributes, e.inputs[3] if len(e.inputs) > 3 else None
    x, w, *rest = e.inputs
    if x is None or w is None:
        raise UnsupportedError("a convolution without data or weights is not supported")
    plain = Attributes({}, {name: a.get(name, default) for name, default in _CONV.items()})
    convolutions.check(plain, e.type(x).shape, e.type(w).shape)
    y = convolutions.convolution(e, plain, x, w, rest[0] if rest else None)
    y = y if z is None else e.node(Add(), y, z)
    return [_activated(e, a.get("activation", ""), a.get("activation_params", ()), y)]


def gemm(source: Source, e: Expansion) -> Sequence[str]:
    """activation(Gemm(a, b, c)). Source: com.microsoft FusedGemm-1."""
    a = source.attributes
    plain = Attributes({}, {name: a.get(name, default) for name, default in _GEMM.items()})
    y = matrices.product(plain, e)
    numbers = [a.get(f"activation_{name}") for name in ("alpha", "beta", "gamma")]
    return [_activated(e, a.get("activation", ""), [v for v in numbers if v is not None], y)]


def _activated(e: Expansion, name: str, numbers: Sequence[float], x: str) -> str:
    if name == "HardSigmoid" and len(numbers) == 2:
        factor, addend = (e.constant(np.array(v, np.float32)) for v in numbers)
        return e.node(Relu(0.0, 1.0), e.node(Add(), e.node(Mul(), x, factor), addend))
    kinds: dict[str, tuple[int, type[Op]]] = {
        "Relu": (0, Relu),
        "Sigmoid": (0, Logistic),
        "Tanh": (0, Tanh),
        "LeakyRelu": (1, LeakyRelu),
        "Clip": (2, Relu),
    }
    count, kind = kinds.get(name, (0, None))
    if kind is None or len(numbers) < count:
        raise UnsupportedError(f"the activation {name!r} with {list(numbers)} is not supported")
    return e.node(kind(*(float(v) for v in numbers[:count])), x)


IMPORTS = (
    Import("onnx", "com.microsoft:FusedConv", expand=convolution),
    Import("onnx", "com.microsoft:FusedGemm", expand=gemm),
)

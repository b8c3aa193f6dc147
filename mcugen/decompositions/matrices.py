"""Gemm and MatMul with constant matrices: fully connected layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.imports import Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.transpose import Transpose


def gemm(source: Source, e: Expansion) -> Sequence[str]:
    """y = alpha * A' * B' + beta * C, where A' and B' may be transposed. Source: ONNX Gemm-13."""
    a, x, w, *rest = source.attributes, *e.inputs
    if x is None or w is None or len(e.type(x).shape) != 2 or len(e.type(w).shape) != 2:
        raise ShapeError("a matrix product needs two matrices")
    if a["transA"]:
        x = e.node(Transpose((1, 0)), x)
    data = _constant(e, w)
    weights = data.astype(np.float64) * a["alpha"]
    kernel = e.constant(np.ascontiguousarray(weights if a["transB"] else weights.T).astype(data.dtype))
    c = rest[0] if rest else None
    if c is None:
        return [e.node(FullyConnected(), x, kernel)]
    outputs = e.type(kernel).shape[0]
    added = _scaled(e, c, a["beta"])
    vector = e.data(added)
    if vector is not None and vector.size in (1, outputs) and vector.shape[-1:] in ((), (1,), (outputs,)):
        bias = e.constant(np.broadcast_to(vector.reshape(-1), (outputs,)).copy())
        return [e.node(FullyConnected(), x, kernel, bias)]
    return [e.node(Add(), e.node(FullyConnected(), x, kernel), added)]


def matmul(source: Source, e: Expansion) -> Sequence[str]:
    """y[..., i, j] = sum over k of a[..., i, k] * b[k, j]. Source: ONNX MatMul-13."""
    x, w = e.inputs[0], e.inputs[1]
    if x is None or w is None or not e.type(x).shape:
        raise ShapeError("a matrix product needs two operands")
    data = _constant(e, w)
    if data.ndim != 2:
        raise UnsupportedError(f"a product with a constant {list(data.shape)} is not supported")
    shape = e.type(x).shape
    if shape[-1] != data.shape[0]:
        raise ShapeError(f"{list(shape)} and {list(data.shape)} cannot be multiplied")
    return [e.node(FullyConnected(keep_dims=True), x, e.constant(np.ascontiguousarray(data.T)))]


def _scaled(e: Expansion, name: str, factor: float) -> str:
    data = e.data(name)
    if factor == 1.0:
        return name
    if data is None:
        raise UnsupportedError(f"beta {factor} with a matrix that is computed is not supported")
    return e.constant((data.astype(np.float64) * factor).astype(data.dtype))


def _constant(e: Expansion, name: str) -> np.ndarray:
    data = e.data(name)
    if data is None:
        raise UnsupportedError("a product of two computed matrices is not supported")
    return data


IMPORTS = (Import("onnx", "Gemm", expand=gemm), Import("onnx", "MatMul", expand=matmul))

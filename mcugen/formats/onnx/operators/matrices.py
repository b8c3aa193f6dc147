"""Gemm and MatMul: fully connected layers if the second matrix is constant, else products of two computed matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.imports import Attributes, Expansion, Import, Source
from mcugen.ops.add import Add
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.mul import Mul
from mcugen.ops.reshape import Reshape
from mcugen.ops.transpose import Transpose


def gemm(source: Source, e: Expansion) -> Sequence[str]:
    """y = alpha * A' * B' + beta * C, where A' and B' may be transposed. Source: ONNX Gemm-13."""
    return [product(source.attributes, e)]


def product(a: Attributes, e: Expansion) -> str:
    """A matrix product with the operands and attributes of Gemm."""
    x, w, *rest = e.inputs
    a.ignore("beta")  # not read if there is no addend C
    if x is None or w is None or len(e.type(x).shape) != 2 or len(e.type(w).shape) != 2:
        raise ShapeError("a matrix product needs two matrices")
    data = e.data(w)
    if data is None:
        return _computed(a, e, x, w, rest[0] if rest else None)
    if a["transA"]:
        x = e.node(Transpose((1, 0)), x)
    kernel = _kernel(e, w, data, a["alpha"], is_transposed=bool(a["transB"]))
    c = rest[0] if rest else None
    if c is None:
        return e.node(FullyConnected(), x, kernel)
    outputs = e.type(kernel).shape[0]
    added = _scaled(e, c, a["beta"])
    vector = e.data(added)
    if vector is not None and vector.size == 1:
        return e.node(FullyConnected(), x, kernel, e.constant(np.full(outputs, vector.reshape(()))))
    if vector is not None and vector.size == vector.shape[-1] == outputs:
        return e.node(FullyConnected(), x, kernel, e.node(Reshape((outputs,)), added))
    return e.node(Add(), e.node(FullyConnected(), x, kernel), added)


def _kernel(e: Expansion, w: str, data: np.ndarray, alpha: float, *, is_transposed: bool) -> str:
    """The constant matrix as [outputs, inputs], times alpha; if alpha is 1, passes still see its stored integers."""
    if alpha == 1.0:
        return w if is_transposed else e.node(Transpose((1, 0)), w)
    weights = (data.astype(np.float64) * alpha).astype(data.dtype)
    return e.constant(np.ascontiguousarray(weights if is_transposed else weights.T))


def _computed(a: Attributes, e: Expansion, x: str, w: str, c: str | None) -> str:
    """The product of two computed matrices, scaled, plus the addend."""
    y = e.node(BatchMatmul(bool(a["transA"]), bool(a["transB"])), x, w)
    if a["alpha"] != 1.0:
        y = e.node(Mul(), y, e.constant(np.array(a["alpha"], np.float32)))
    if c is not None and a["beta"] != 1.0:
        c = e.node(Mul(), c, e.constant(np.array(a["beta"], np.float32)))
    return y if c is None else e.node(Add(), y, c)


def matmul(source: Source, e: Expansion) -> Sequence[str]:
    """y[..., i, j] = sum over k of a[..., i, k] * b[k, j]. Source: ONNX MatMul-13."""
    x, w = e.inputs[0], e.inputs[1]
    if x is None or w is None or not (e.type(x).shape and e.type(w).shape):
        raise ShapeError("a matrix product needs two operands")
    data, shape = e.data(w), e.type(x).shape
    if data is None or data.ndim != 2:
        return [_batches(e, x, w)]
    if shape[-1] != data.shape[0]:
        raise ShapeError(f"{list(shape)} and {list(data.shape)} cannot be multiplied")
    return [e.node(FullyConnected(keep_dims=True), x, e.node(Transpose((1, 0)), w))]


def _scaled(e: Expansion, name: str, factor: float) -> str:
    data = e.data(name)
    if factor == 1.0:
        return name
    if data is None:
        raise UnsupportedError(f"beta {factor} with an addend C computed at run time is not supported")
    return e.constant((data.astype(np.float64) * factor).astype(data.dtype))


def _batches(e: Expansion, a: str, b: str) -> str:
    """A batched product. A vector counts as a matrix of one row (a) or one column (b), which the result drops again."""
    left, right = e.type(a).shape, e.type(b).shape
    if len(left) == 1:
        a = e.node(Reshape((1, *left)), a)
    if len(right) == 1:
        b = e.node(Reshape((*right, 1)), b)
    y = e.node(BatchMatmul(), a, b)
    shape = e.type(y).shape
    kept = (*shape[:-2], *(shape[-2:-1] if len(left) > 1 else ()), *(shape[-1:] if len(right) > 1 else ()))
    return y if kept == shape else e.node(Reshape(kept), y)


IMPORTS = (Import("onnx", "Gemm", expand=gemm), Import("onnx", "MatMul", expand=matmul))

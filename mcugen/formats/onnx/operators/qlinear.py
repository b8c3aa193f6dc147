"""QLinearConv, QLinearMatMul and com.microsoft's operators on stored integers, bit for bit as in ONNX Runtime.

Each operand is followed by its scale and zero point. Functions of one tensor become tables for all bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats.onnx.operators.quantize_linear import quantization, stored
from mcugen.formats.operators import _images
from mcugen.ir.fixed_point import INT_RANGE
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import QuantParams
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.lookup import Lookup
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.reshape import Reshape
from mcugen.ops.table_softmax import TableSoftmax
from mcugen.ops.transpose import Transpose

_BYTES = ("s8", "u8")
_SOFTMAX_SCALE = "results are between 0 and 1: give them a scale near 1 / 256"
_Function = Callable[[np.ndarray], np.ndarray]


def _given(e: Expansion, k: int) -> str:
    """Operand k. Raises ShapeError if it is absent."""
    name = e.inputs[k] if k < len(e.inputs) else None
    if name is None:
        raise ShapeError(f"operand {k} is absent")
    return name


def _operand(e: Expansion, k: int, axis: int = 0) -> str:
    """Operand k, of int8 or uint8, with the quantization that operands k + 1 (scale) and k + 2 (zero point) state."""
    x = _given(e, k)
    if e.type(x).dtype not in _BYTES:
        raise UnsupportedError(f"operand {k} must be int8 or uint8, not {e.type(x).dtype}")
    zero = e.inputs[k + 2] if k + 2 < len(e.inputs) else None
    quant, data = quantization(e, e.type(x).shape, _given(e, k + 1), zero, axis), e.data(x)
    return e.constant(data, quant) if data is not None else stored(e, x, quant)


def _result(e: Expansion, k: int) -> QuantParams:
    """The quantization of the result: operands k (scale) and k + 1 (zero point)."""
    zero = e.inputs[k + 1] if k + 1 < len(e.inputs) else None
    return quantization(e, (), _given(e, k), zero)


def _weights(e: Expansion, k: int, axis: int) -> tuple[np.ndarray, QuantParams]:
    """Constant weights minus their zero points, as int8 if they fit, else int16; scales along an axis."""
    data = e.data(_given(e, k))
    if data is None:
        raise UnsupportedError("weights that are not constant are not supported")
    zero = e.inputs[k + 2] if k + 2 < len(e.inputs) else None
    quant = quantization(e, data.shape, _given(e, k + 1), zero, axis)
    along = [1] * data.ndim
    along[quant.axis if quant.per_channel else 0] = -1
    found = data.astype(np.int16) - np.array(quant.zero_point, np.int16).reshape(along)
    fits = found.min(initial=0) >= -128 and found.max(initial=0) <= 127
    return found.astype(np.int8 if fits else np.int16), replace(quant, zero_point=(0,) * len(quant.scale))


def convolution(source: Source, e: Expansion) -> Sequence[str]:
    """A convolution: y = round(f32(sum) * f32(f32(sx * sw) / sy)), with scales s. Source: ONNX QLinearConv-10."""
    x, (w, quant) = _operand(e, 0), _weights(e, 3, 0)
    y, bias = _result(e, 6), e.inputs[8] if len(e.inputs) > 8 else None
    shape, groups, stated = e.type(x).shape, source.attributes["group"], source.attributes["kernel_shape"]
    if len(shape) < 3 or len(shape) != w.ndim or groups < 1 or (stated and tuple(stated) != w.shape[2:]):
        raise ShapeError(f"weights {list(w.shape)} in {groups} groups do not fit an image {list(shape)}")
    if shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise ShapeError(f"weights of shape {list(w.shape)} do not fit {shape[1]} channels in {groups} groups")
    window = _images.geometry(source.attributes, shape, w.shape[2:])
    data = _images.to_last(e, x)
    if not window.fits():
        data = _images.padded(e, data, window.padding)
        window = replace(window, padding=((0, 0), (0, 0)))
    kernel = w.reshape(*w.shape[:2], 1, w.shape[2]) if w.ndim == 3 else w
    single = groups == shape[1] > 1
    axes, axis = ((1, 2, 3, 0), 3) if single else ((0, 2, 3, 1), 0)
    taps = e.constant(
        np.ascontiguousarray(kernel.transpose(axes)), replace(quant, axis=axis if quant.per_channel else 0)
    )
    kind = DepthwiseConv2D if single else Conv2D
    op = kind(window.stride, window.dilation, window.padding, rounding="single")
    return [_images.to_first(e, e.node(op, data, taps, bias, quant=y), len(shape))]


def product(source: Source, e: Expansion) -> Sequence[str]:
    """A product of two matrices, the second constant or computed. Source: ONNX QLinearMatMul-10."""
    if e.data(_given(e, 3)) is None:
        return [e.node(BatchMatmul(rounding="single"), _operand(e, 0), _operand(e, 3), quant=_result(e, 6))]
    x, (w, quant) = _operand(e, 0), _weights(e, 3, 1)
    if w.ndim != 2 or e.type(x).shape[-1:] != w.shape[:1]:
        raise UnsupportedError(f"a product of {list(e.type(x).shape)} and {list(w.shape)} is not supported")
    matrix = e.constant(np.ascontiguousarray(w.T), replace(quant, axis=0))
    return [e.node(FullyConnected(keep_dims=True, rounding="single"), x, matrix, quant=_result(e, 6))]


def gemm(source: Source, e: Expansion) -> Sequence[str]:
    """A matrix product plus an int32 bias in steps of alpha * scale(A) * scale(B). Source: com.microsoft QGemm-1."""
    a, x, bias = source.attributes, _operand(e, 0), e.inputs[6] if len(e.inputs) > 6 else None
    w, quant = _weights(e, 3, 0 if a.get("transB", 0) else 1)
    if len(e.inputs) < 8 or e.inputs[7] is None:
        raise UnsupportedError("a float result of QGemm is not supported")
    if len(e.type(x).shape) != 2 or w.ndim != 2:
        raise ShapeError("a matrix product needs two matrices")
    if a.get("transA", 0):
        x = e.node(Transpose((1, 0)), x)
    alpha, own = np.float32(a.get("alpha", 1.0)), e.type(x).quant
    if alpha != 1 and own is not None:
        x = e.node(Reshape(e.type(x).shape), x, quant=replace(own, scale=(float(alpha * np.float32(own.scale[0])),)))
    matrix = e.constant(np.ascontiguousarray(w if a.get("transB", 0) else w.T), replace(quant, axis=0))
    data = None if bias is None else e.data(bias)
    if data is not None:
        if data.size not in (1, e.type(matrix).shape[0]):
            raise UnsupportedError(f"a bias {list(data.shape)} of QGemm is not supported, only one row is")
        bias = e.constant(np.broadcast_to(data.reshape(-1), (e.type(matrix).shape[0],)).copy())
    return [e.node(FullyConnected(rounding="single"), x, matrix, bias, quant=_result(e, 7))]


def pair(op: Add | Mul, source: Source, e: Expansion) -> Sequence[str]:
    """A sum or a product of two tensors. Source: com.microsoft QLinearAdd-1, QLinearMul-1."""
    return [e.node(op, _operand(e, 0), _operand(e, 3), quant=_result(e, 6))]


def average_pool(source: Source, e: Expansion) -> Sequence[str]:
    """Means of windows, in float32, row by row. Source: com.microsoft QLinearAveragePool-1."""
    a, x = source.attributes, _operand(e, 0)
    last = bool(a.get("channels_last", 0))
    shape = e.type(x).shape
    if last:
        shape = (shape[0], shape[-1], *shape[1:-1])
    if len(shape) != 4 or len(a["kernel_shape"]) != 2:
        raise UnsupportedError(f"a window {a['kernel_shape']} on {list(shape)} is not supported")
    stated = window = _images.geometry(a, shape, a["kernel_shape"])
    if a.get("ceil_mode", 0):
        window = _images.rounded_up(window, (shape[2], shape[3]))
    data = x if last else _images.to_last(e, x)
    if a.get("count_include_pad", 0):
        data = _images.padded(e, data, stated.padding)
        rest = [(w[0] - s[0], w[1] - s[1]) for w, s in zip(window.padding, stated.padding, strict=True)]
        window = replace(window, padding=(rest[0], rest[1]))
    if window.dilation != (1, 1) or not window.fits():
        raise UnsupportedError("dilated pooling, and windows that lie in the padding alone, are not supported")
    op = AveragePool2D(window.kernel, window.stride, window.padding, rounding="single")
    y = e.node(op, data, quant=_result(e, 3))
    return [y if last else _images.to_first(e, y, 4)]


def global_average(source: Source, e: Expansion) -> Sequence[str]:
    """Means of whole images. Source: com.microsoft QLinearGlobalAveragePool-1."""
    x, last = _operand(e, 0), bool(source.attributes.get("channels_last", 0))
    rank = len(e.type(x).shape)
    axes = tuple(range(1, rank - 1) if last else range(2, rank))
    return [e.node(Mean(axes, keep_dims=True, rounding="single"), x, quant=_result(e, 3))]


def _tabulated(e: Expansion, x: str, y: QuantParams, function: _Function) -> str:
    """A function of real numbers as a table of its results for all bytes, each step in float32."""
    t, dtype = e.type(x), e.type(x).dtype
    if t.quant is None or t.quant.per_channel:
        raise UnsupportedError("this operator does not support a scale for each channel")
    low, high = INT_RANGE[dtype]
    steps = (np.arange(low, high + 1) - t.zero_point).astype(np.float32)
    found = np.rint(function(np.float32(t.scale) * steps) / np.float32(y.scale[0])) + y.zero_point[0]
    values = (np.clip(found, low, high) - low).astype(np.uint8).tobytes()
    return e.node(Lookup(values, dtype), x, quant=y)


def leaky_relu(source: Source, e: Expansion) -> Sequence[str]:
    """x, or alpha * x below 0. Source: com.microsoft QLinearLeakyRelu-1."""
    alpha = np.float32(source.attributes.get("alpha", 0.01))
    return [_tabulated(e, _operand(e, 0), _result(e, 3), lambda x: np.where(x >= 0, x, x * alpha).astype(np.float32))]


def sigmoid(source: Source, e: Expansion) -> Sequence[str]:
    """1 / (1 + exp(-x)). Source: com.microsoft QLinearSigmoid-1."""

    def function(x: np.ndarray) -> np.ndarray:
        return np.asarray((1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32))

    return [_tabulated(e, _operand(e, 0), _result(e, 3), function)]


def concatenation(source: Source, e: Expansion) -> Sequence[str]:
    """Tensors concatenated, each requantized to the result's scale. Source: com.microsoft QLinearConcat-1."""
    y, parts = _result(e, 0), []
    for k in range(2, len(e.inputs), 3):
        x = _operand(e, k)
        parts.append(x if e.type(x).quant == y else _tabulated(e, x, y, lambda v: v))
    return [e.node(Concatenation(source.attributes["axis"]), *parts, quant=y)]


def softmax(source: Source, e: Expansion) -> Sequence[str]:
    """Softmax along `axis`; before opset 13, over all axes from it on. Source: com.microsoft QLinearSoftmax-1."""
    x, y = _operand(e, 0), _result(e, 3)
    shape, axis = e.type(x).shape, source.attributes.get("axis", -1)
    if not 2.0**-29 < y.scale[0] <= 1:
        raise UnsupportedError(f"a softmax with results of scale {y.scale[0]:g} is not supported", hint=_SOFTMAX_SCALE)
    rank = len(shape)
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} is not an axis of {list(shape)}")
    op = TableSoftmax(lifts=True)
    if source.attributes.get("opset", 13) < 13:
        rows = int(np.prod(shape[: axis % rank]))
        return [e.node(Reshape(shape), e.node(op, e.node(Reshape((rows, -1)), x), quant=y))]
    perm = [*(k for k in range(rank) if k != axis % rank), axis % rank]
    back = tuple(perm.index(k) for k in range(rank))
    return [e.node(Transpose(back), e.node(op, e.node(Transpose(tuple(perm)), x), quant=y))]


_MICROSOFT: dict[str, Callable[[Source, Expansion], Sequence[str]]] = {
    "QGemm": gemm,
    "QLinearAdd": partial(pair, Add(rounding="single")),
    "QLinearMul": partial(pair, Mul(rounding="single")),
    "QLinearAveragePool": average_pool,
    "QLinearGlobalAveragePool": global_average,
    "QLinearLeakyRelu": leaky_relu,
    "QLinearSigmoid": sigmoid,
    "QLinearConcat": concatenation,
    "QLinearSoftmax": softmax,
}
IMPORTS = (
    Import("onnx", "QLinearConv", since=10, expand=convolution),
    Import("onnx", "QLinearMatMul", since=10, expand=product),
    *(Import("onnx", f"com.microsoft:{name}", expand=expand) for name, expand in _MICROSOFT.items()),
)

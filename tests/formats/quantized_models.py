# SPDX-License-Identifier: Apache-2.0
"""Small quantized ONNX models, each of a few operators: of stored integers, and of floats between Q and DQ.

`ci/onnx-vectors` records what ONNX Runtime computes of them. Scales of some are such that exact halves occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.formats.quantized_islands import ISLANDS
from tests.formats.quantized_writer import TYPES, Quantized, Writer

Build = Callable[[Writer], Quantized]


def conv(
    x_type: str = "s8",
    w_type: str = "s8",
    zero: int = 0,
    axis: int | None = 0,
    groups: int = 1,
    bias: str = "int",
    relu: str = "",
    y_type: str = "s8",
    rank: int = 4,
) -> Build:
    def build(w: Writer) -> Quantized:
        c, o = (6, 6) if groups > 1 else (3, 5)
        x = w.input((1, c, 7, 6)[:rank], x_type)
        kernel, scales = w.weights((o, c // groups, 3, 2)[:rank], axis, w_type, zero)
        operands = [w.dequantized(x), kernel]
        if bias == "int":
            operands.append(w.bias(x, scales, o))
        if bias == "float":
            operands.append(w.constant(w.rng.normal(0, 0.3, o)))
        y = w.node("Conv", operands, group=groups, pads=[1, 0, 1, 1] if rank == 4 else [1, 0], strides=[1] * (rank - 2))
        if relu == "clip":
            y = w.node("Clip", [y, w.constant(-0.37), w.constant(1.21)])
        elif relu:
            y = w.node("Relu", [y])
        return w.quantized(y, y_type)

    return build


def conv_transposed(dtype: str = "s8", zero: int = 0, bias: bool = True, **attributes: Any) -> Build:
    def build(w: Writer) -> Quantized:
        x = w.input((1, 4, 5, 6), dtype)
        kernel, scales = w.weights((4, 5, 3, 2), None if zero else 1, dtype, zero)
        operands = [w.dequantized(x), kernel, *([w.bias(x, scales, 5)] if bias else [])]
        return w.quantized(w.node("ConvTranspose", operands, **attributes), dtype)

    return build


def normalized(before: str = "", shape: Sequence[int] = (1, 4, 5, 6), dtype: str = "s8", relu: bool = False) -> Build:
    """Batch normalization, some of whose factors are negative or 0, of stored integers or of what an operator makes."""

    def build(w: Writer) -> Quantized:
        x, c = w.input(shape, dtype), shape[1]
        y = w.dequantized(x)
        if before:
            size = (c, c, 3, 3) if before == "Conv" else (c, c)
            kernel, scales = w.weights(size, 0 if before == "Conv" else 1)
            y = w.node(before, [y, kernel, w.bias(x, scales, c)])
        parts = [w.rng.normal(0, 1, c) * (np.arange(c) != 2), *w.rng.normal(0, 0.5, (2, c)), w.rng.uniform(0.3, 2, c)]
        y = w.node("BatchNormalization", [y, *(w.constant(part) for part in parts)])
        return w.quantized(w.node("Relu", [y]) if relu else y, dtype)

    return build


def sloped(slopes: Sequence[float], dtype: str = "s8") -> Build:
    def build(w: Writer) -> Quantized:
        x = w.dequantized(w.input((1, 3, 5, 4), dtype))
        return w.quantized(w.node("PRelu", [x, w.constant(np.reshape(slopes, (3, 1, 1)))]), dtype)

    return build


def divided(w: Writer) -> Quantized:
    divisors = w.constant(w.rng.uniform(0.4, 3, (1, 4, 1)))
    return w.quantized(w.node("Div", [w.dequantized(w.input((2, 4, 7))), divisors]))


def best(w: Writer) -> Quantized:
    """The greatest of stored integers, and their places, which nothing reads."""
    x = w.input((3, 9))
    w.nodes.append(helper.make_node("TopK", [w.dequantized(x), w.constant([4], np.int64)], ["best", "places"]))
    return w.quantized("best", "s8", x.scale, x.zero)


def reduced(kind: str, axes: Sequence[int], dtype: str = "s8", keep: int = 0) -> Build:
    def build(w: Writer) -> Quantized:
        x = w.input((2, 4, 5, 6), dtype)
        y = w.node(kind, [w.dequantized(x), w.constant(axes, np.int64)], keepdims=keep)
        return w.quantized(y, dtype, 0.5 if kind == "ReduceSum" else None)

    return build


def gemm(kind: str) -> Build:
    def build(w: Writer) -> Quantized:
        x = w.input((3, 20))
        if kind == "Gemm":
            kernel, scales = w.weights((7, 20))
            return w.quantized(w.node("Gemm", [w.dequantized(x), kernel, w.bias(x, scales, 7)], transB=1))
        kernel, scales = w.weights((20, 7), 1)
        y = w.node("MatMul", [w.dequantized(x), kernel])
        return w.quantized(w.node("Add", [y, w.bias(x, scales, 7)]) if kind == "bias" else y)

    return build


def binary(kind: str, dtype: str = "s8", scales: Sequence[Any] = (None, None, None)) -> Build:
    def build(w: Writer) -> Quantized:
        parts = [w.dequantized(w.input((2, 3, 5, 7), dtype, scale)) for scale in scales[:-1]]
        return w.quantized(w.node(kind, parts), dtype, scales[-1])

    return build


def products(dtype: str = "s8", scale: Any = 0.5) -> Build:
    """A product of two computed matrices, as attention has them."""

    def build(w: Writer) -> Quantized:
        a, b = w.input((2, 5, 20), dtype), w.input((2, 20, 6), dtype)
        return w.quantized(w.node("MatMul", [w.dequantized(a), w.dequantized(b)]), dtype, scale)

    return build


def unary(*kinds: tuple[str, dict[str, Any]], dtype: str = "s8", scale: Any = None) -> Build:
    def build(w: Writer) -> Quantized:
        x = w.input((1, 4, 8, 8), dtype, scale)
        y = w.dequantized(x)
        for kind, attributes in kinds:
            y = w.node(kind, [y], **attributes)
        return w.quantized(y, dtype)

    return build


def hard_swish(w: Writer) -> Quantized:
    x = w.input((1, 3, 9, 5))
    real = w.dequantized(x)
    shifted = w.node("Clip", [w.node("Add", [real, w.constant(3.0)]), w.constant(0.0), w.constant(6.0)])
    return w.quantized(w.node("Div", [w.node("Mul", [real, shifted]), w.constant(6.0)]))


def joined(w: Writer) -> Quantized:
    parts = [w.input((1, c, 4, 3)) for c in (2, 3, 4)]
    return w.quantized(w.node("Concat", [w.dequantized(p) for p in parts], axis=1))


def moved(w: Writer) -> Quantized:
    """A path of moves with one scale, as exporters write it."""
    x = w.input((1, 4, 6, 6))
    same = (x.scale, x.zero)
    y = w.quantized(w.node("MaxPool", [w.dequantized(x)], kernel_shape=[2, 2], strides=[2, 2]), "s8", *same)
    y = w.quantized(w.node("Transpose", [w.dequantized(y)], perm=[0, 2, 3, 1]), "s8", *same)
    return w.quantized(w.node("Reshape", [w.dequantized(y), w.constant([1, -1], np.int64)]), "s8", *same)


def pooled(scale: float, opset: int = 21, **attributes: Any) -> Build:
    def build(w: Writer) -> Quantized:
        w.opset = opset
        x = w.input((1, 5, 8, 7), "s8", scale)
        y = w.node("AveragePool", [w.dequantized(x)], **{"kernel_shape": [3, 2], **attributes})
        return w.quantized(y, "s8", scale)

    return build


FLOATS: Mapping[str, Build] = {
    "conv": conv(),
    "conv_relu": conv(relu="relu"),
    "conv_clip": conv(relu="clip"),
    "conv_u8": conv("u8", "u8", 131, None, y_type="u8"),
    "conv_u8_s8": conv("u8", "s8", y_type="u8"),
    "conv_s8_zeros": conv("s8", "s8", -9),
    "conv_groups": conv(groups=2),
    "conv_depthwise": conv(groups=6),
    "conv_depthwise_u8": conv("u8", "u8", 128, groups=6, y_type="u8"),
    "conv_float_bias": conv(bias="float"),
    "conv_1d": conv(rank=3, bias=""),
    "conv_transpose": conv_transposed(strides=[2, 2]),
    "conv_transpose_cut": conv_transposed(pads=[1, 0, 1, 1], strides=[2, 1], output_padding=[1, 0]),
    "conv_transpose_u8": conv_transposed("u8", 119, False, strides=[1, 2]),
    "gemm": gemm("Gemm"),
    "matmul": gemm(""),
    "matmul_add": gemm("bias"),
    "matmul_computed": products(),
    "matmul_computed_u8": products("u8", 0.1),
    "add": binary("Add"),
    "add_u8": binary("Add", "u8"),
    "add_halves": binary("Add", scales=(0.25, 0.5, 0.5)),
    "sub": binary("Sub"),
    "sum": binary("Sum", "u8", (None, 0.25, 0.5, None, 0.5)),
    "mul": binary("Mul"),
    "div": binary("Div", "u8"),
    "div_halves": binary("Div", scales=(0.25, 0.5, 0.25)),
    "mul_halves": binary("Mul", scales=(0.25, 0.5, 0.25)),
    "sigmoid": unary(("Sigmoid", {})),
    "hard_sigmoid_u8": unary(("HardSigmoid", {"alpha": 0.3}), dtype="u8"),
    "leaky": unary(("LeakyRelu", {"alpha": 0.17})),
    "tanh_relu": unary(("Tanh", {}), ("Relu", {})),
    "global": unary(("GlobalAveragePool", {})),
    "global_max": unary(("GlobalMaxPool", {})),
    "reduce_max": reduced("ReduceMax", [1], "u8"),
    "reduce_min": reduced("ReduceMin", [0, 3], keep=1),
    "reduce_sum": reduced("ReduceSum", [2, 3]),
    "reduce_sum_u8": reduced("ReduceSum", [1], "u8", 1),
    "softmax": unary(("Softmax", {"axis": 1})),
    "requantized": unary(),
    "top_k": best,
    "batch_norm": normalized(),
    "batch_norm_u8": normalized(shape=(3, 5), dtype="u8"),
    "conv_batch_norm": normalized("Conv", relu=True),
    "conv_batch_norm_u8": normalized("Conv", dtype="u8"),
    "gemm_batch_norm": normalized("Gemm", (3, 8)),
    "prelu_channels": sloped((0.25, -0.1, 0.7)),
    "prelu_steep_u8": sloped((1.5, 1, 2.25), "u8"),
    "div_channels": divided,
    "hard_swish": hard_swish,
    "concat": joined,
    "moves": moved,
    "average": pooled(0.06),
    "average_by_columns": pooled(0.06, 15),
    "average_halves": pooled(0.25, kernel_shape=[2, 2], strides=[2, 1]),
    "average_pads": pooled(0.25, kernel_shape=[2, 2], pads=[1, 1, 0, 0], count_include_pad=1),
}
"""Float operators between DequantizeLinear and QuantizeLinear, by name."""


def linear(
    kind: str,
    dtype: str = "s8",
    scales: Sequence[Any] = (None, None),
    shape: Sequence[int] = (1, 4, 9, 8),
    **attributes: Any,
) -> Build:
    """An operator of com.microsoft on one tensor."""

    def build(w: Writer) -> Quantized:
        x, y = w.input(shape, dtype, scales[0]), w.parameters(dtype, scales[1])
        name = w.node(kind, [x.name, *x.parameters, *y[2]], domain="com.microsoft", **attributes)
        return Quantized(name, y[0], y[1], dtype, y[2])

    return build


def linear_pair(kind: str, dtype: str = "s8", scales: Sequence[Any] = (None, None, None)) -> Build:
    def build(w: Writer) -> Quantized:
        a, b, y = (
            w.input((1, 3, 9, 8), dtype, scales[0]),
            w.input((1, 3, 9, 8), dtype, scales[1]),
            w.parameters(dtype, scales[2]),
        )
        name = w.node(kind, [a.name, *a.parameters, b.name, *b.parameters, *y[2]], domain="com.microsoft")
        return Quantized(name, y[0], y[1], dtype, y[2])

    return build


def linear_conv(
    x_type: str = "s8", w_type: str = "s8", zero: int = 0, groups: int = 1, many: bool = True, bias: bool = True
) -> Build:
    def build(w: Writer) -> Quantized:
        c, o = (6, 6) if groups > 1 else (5, 8)
        x, y, kind = w.input((1, c, 9, 8), x_type), w.parameters(x_type), TYPES[w_type][0]
        scales = w.rng.uniform(0.002, 0.02, o if many else 1).astype(np.float32)
        weights = w.drawn((o, c // groups, 3, 3), w_type)
        if (x_type, w_type) == ("u8", "s8"):  # x86 cores without VNNI let the sums of two products saturate at 16 bits
            weights //= 2
        operands = [
            x.name,
            *x.parameters,
            w.constant(weights, kind),
            w.constant(scales if many else scales[0]),
            w.constant(np.full(o, zero) if many else zero, kind),
            *y[2],
        ]
        if bias:
            operands.append(w.constant(w.rng.integers(-3000, 3000, o), np.int32))
        name = w.node("QLinearConv", operands, group=groups, pads=[1, 1, 1, 1], strides=[2, 1])
        return Quantized(name, y[0], y[1], x_type, y[2])

    return build


def linear_product(dtype: str = "s8", w_type: str = "s8", zero: int = 0) -> Build:
    def build(w: Writer) -> Quantized:
        x, y, kind = w.input((4, 30), dtype), w.parameters(dtype), TYPES[w_type][0]
        operands = [
            x.name,
            *x.parameters,
            w.constant(w.drawn((30, 9), w_type), kind),
            w.constant(0.007),
            w.constant(zero, kind),
        ]
        return Quantized(w.node("QLinearMatMul", [*operands, *y[2]]), y[0], y[1], dtype, y[2])

    return build


def linear_products(dtype: str) -> Build:
    def build(w: Writer) -> Quantized:
        a, b, y = w.input((2, 5, 20), dtype), w.input((2, 20, 6), dtype), w.parameters(dtype, 0.4)
        name = w.node("QLinearMatMul", [a.name, *a.parameters, b.name, *b.parameters, *y[2]])
        return Quantized(name, y[0], y[1], dtype, y[2])

    return build


def linear_gemm(w: Writer) -> Quantized:
    x, y = w.input((4, 30)), w.parameters("s8")
    scales = w.rng.uniform(0.002, 0.02, 9).astype(np.float32)
    operands = [
        x.name,
        *x.parameters,
        w.constant(w.drawn((9, 30)), np.int8),
        w.constant(scales),
        w.constant(np.zeros(9), np.int8),
    ]
    bias = w.constant(w.rng.integers(-3000, 3000, 9), np.int32)
    name = w.node("QGemm", [*operands, bias, *y[2]], domain="com.microsoft", transB=1, alpha=0.7)
    return Quantized(name, y[0], y[1], "s8", y[2])


def linear_concat(w: Writer) -> Quantized:
    parts, y = [w.input((1, c, 4, 3), "u8") for c in (2, 3)], w.parameters("u8")
    operands = [*y[2], *(name for p in parts for name in (p.name, *p.parameters))]
    return Quantized(w.node("QLinearConcat", operands, domain="com.microsoft", axis=1), y[0], y[1], "u8", y[2])


def linear_padded(*value: int) -> Build:
    """Stored integers around stored integers: 0 where no value is given."""

    def build(w: Writer) -> Quantized:
        x, y = w.input((1, 3, 5, 4), "u8"), w.parameters("u8")
        before = w.node("QLinearLeakyRelu", [x.name, *x.parameters, *y[2]], domain="com.microsoft", alpha=0.13)
        widths = w.constant([0, 0, 1, 2, 0, 0, 2, 1], np.int64)
        padded = w.node("Pad", [before, widths, *(w.constant(v, np.uint8) for v in value)])
        last = w.parameters("u8")
        operands = [padded, *y[2], *last[2]]
        return Quantized(w.node("QLinearSigmoid", operands, domain="com.microsoft"), last[0], last[1], "u8", last[2])

    return build


def half_table(dtype: str, kind: str) -> Build:
    """A function of each byte whose results lie half way between two steps for every second one; all 256 are asked."""

    def build(w: Writer) -> Quantized:
        x = w.dequantized(w.input((4, 256), dtype, 0.125, 3))
        operands = {"Mul": [x, w.constant(0.5)], "LeakyRelu": [x]}[kind]
        y = w.node(kind, operands, **({"alpha": 0.5} if kind == "LeakyRelu" else {}))
        return w.quantized(y, dtype, 0.125, 3)

    return build


INTEGERS: Mapping[str, Build] = {
    "conv": linear_conv(),
    "conv_one_scale": linear_conv(many=False),
    "conv_u8": linear_conv("u8", "u8", 117, many=False),
    "conv_u8_s8": linear_conv("u8", "s8"),
    "conv_groups": linear_conv(groups=3),
    "conv_depthwise": linear_conv(groups=6, bias=False),
    "matmul": linear_product(),
    "matmul_u8": linear_product("u8", "u8", 99),
    "matmul_computed": linear_products("s8"),
    "matmul_computed_u8": linear_products("u8"),
    "gemm": linear_gemm,
    "add": linear_pair("QLinearAdd"),
    "add_u8": linear_pair("QLinearAdd", "u8"),
    "add_halves": linear_pair("QLinearAdd", "s8", (0.25, 0.5, 0.5)),
    "add_thirds": linear_pair("QLinearAdd", "s8", (0.1, 0.1, 0.6)),
    "mul": linear_pair("QLinearMul"),
    "mul_u8_halves": linear_pair("QLinearMul", "u8", (0.25, 0.5, 0.25)),
    "average": linear("QLinearAveragePool", kernel_shape=[3, 2], strides=[2, 2]),
    "average_halves": linear("QLinearAveragePool", "u8", (0.1, 0.1), kernel_shape=[2, 2], pads=[1, 0, 1, 0]),
    "average_pads": linear("QLinearAveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    "average_last": linear("QLinearAveragePool", "s8", (0.3, 0.3), kernel_shape=[2, 3], channels_last=1),
    "global": linear("QLinearGlobalAveragePool", channels_last=0),
    "leaky": linear("QLinearLeakyRelu", alpha=0.13),
    "sigmoid": linear("QLinearSigmoid", "u8"),
    "softmax": linear("QLinearSoftmax", "s8", (None, 0.00390625), (5, 12), axis=-1, opset=13),
    "softmax_u8": linear("QLinearSoftmax", "u8", (None, 0.004), (2, 3, 4), axis=1, opset=11),
    "concat": linear_concat,
    "padded": linear_padded(131),
    "padded_by_default": linear_padded(),
}
"""Operators on stored integers, by name."""
MODELS: Mapping[str, Build] = {
    **{f"qdq_{n}": b for n, b in FLOATS.items()},
    **{f"qlinear_{n}": b for n, b in INTEGERS.items()},
    **{f"island_{n}": b for n, b in ISLANDS.items()},
    **{f"half_{kind}_{dtype}": half_table(dtype, kind) for kind in ("Mul", "LeakyRelu") for dtype in ("s8", "u8")},
}


def made(name: str) -> tuple[onnx.ModelProto, list[list[np.ndarray]]]:
    """A model and its input sets."""
    writer = Writer(sum(map(ord, name)))
    return writer.model(MODELS[name](writer)), writer.data(2)

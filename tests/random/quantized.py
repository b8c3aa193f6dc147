# SPDX-License-Identifier: Apache-2.0
"""Random quantized ONNX models: floats between DequantizeLinear and QuantizeLinear, operators on stored integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from tests.random.quantized_sketch import BYTES, MOST_ELEMENTS, Draw, Sketch, Stored

MOST_OPERATORS = 5


@dataclass(frozen=True, eq=False)
class Drawn:
    """A model and its input sets."""

    label: str
    model: onnx.ModelProto
    sets: list[list[np.ndarray]]


def draw(seed: int) -> Drawn:
    """The model of this seed: always the same."""
    first = np.random.default_rng([7, seed])
    dtype = str(first.choice(["int8"] * 9 + ["uint8"] * 7 + ["int16"] * 2 + ["uint16"]))
    s = Sketch(seed, dtype)
    if s.chance(0.1):
        _dynamic(s)
    else:
        if s.chance(0.25):
            s.quantize(s.float_input(s.shape(int(s.pick((2, 3, 4, 4))))))
        names = [name for name in DRAWS if dtype in BYTES or name not in LINEAR]
        for _ in range(int(s.rng.integers(1, MOST_OPERATORS, endpoint=True))):
            DRAWS[str(s.pick(names))](s)
    return Drawn(f"quantized {dtype} {seed}", s.model(), s.feeds)


def _then(s: Sketch, name: str, like: Stored | None = None) -> Stored:
    """An activation now and then, and QuantizeLinear, in a few cases to the other type of bytes."""
    for _ in range(int(s.pick((0, 0, 0, 1)))):
        name = s.node("Relu", [name]) if s.chance(0.5) else _clip(s, name)
    other = str(s.pick(BYTES)) if s.dtype in BYTES and s.chance(0.2) else s.dtype
    return s.quantize(name, other, like)


def _clip(s: Sketch, name: str) -> str:
    most = s.most(name) or 1.0
    low, high = sorted(s.rng.uniform(-1, 1, 2) * most)
    return s.node("Clip", [name, s.constant(low), s.constant(high)])


def _weights(s: Sketch, shape: tuple[int, ...], axis: int) -> tuple[list[str], np.ndarray]:
    """[data, scale, zero point] of constant weights, and the scales: one, or one for each index of an axis."""
    dtype = str(s.pick(("int8", "int8", "int8", "uint8"))) if s.dtype in BYTES else "int8"
    many, kind = s.chance(0.6), np.dtype(dtype)
    count = shape[axis] if many else 1
    scales = (10 ** s.rng.uniform(-4, 0) * s.rng.uniform(0.3, 1.7, count)).astype(np.float32)
    zeros = (
        s.rng.integers(100, 156, count)
        if dtype == "uint8"
        else np.zeros(count)
        if s.chance(0.8)
        else s.rng.integers(-9, 9, count)
    )
    data = s.rng.integers(*((0, 255) if dtype == "uint8" else (-127, 127)), shape, endpoint=True)
    names = [
        s.constant(data, kind),
        s.constant(scales if many else scales[0]),
        s.constant(zeros if many else zeros[0], kind),
    ]
    return names, scales


def _real_weights(s: Sketch, shape: tuple[int, ...], axis: int) -> tuple[str, np.ndarray]:
    names, scales = _weights(s, shape, axis)
    return s.node("DequantizeLinear", names, **({"axis": axis} if scales.size > 1 else {})), scales


def _bias(s: Sketch, x: Stored, scales: np.ndarray, count: int) -> list[str]:
    how = s.rng.random()
    if how < 0.25:
        return []
    sums = np.float32(x.scale) * np.broadcast_to(scales, (count,))
    data = s.rng.integers(-20000, 20000, count)
    if how < 0.5:
        return [s.constant(data * sums.astype(np.float64) * s.rng.uniform(0.5, 2))]
    zeros = s.constant(np.zeros(count), np.int32)
    return [s.node("DequantizeLinear", [s.constant(data, np.int32), s.constant(sums), zeros], axis=0)]


def _window(s: Sketch, image: tuple[int, ...], *, dilate: bool) -> tuple[list[int], dict[str, Any]]:
    """Kernel sizes and attributes of a window with at least one result in each direction."""
    rank = len(image)
    kernel = [int(s.rng.integers(1, min(3, size) + 1)) for size in image]
    more: dict[str, Any] = {"strides": [int(s.pick((1, 1, 2, 3))) for _ in image]} if s.chance(0.6) else {}
    if s.chance(0.5):
        pads = [int(s.rng.integers(0, k)) for k in kernel * 2]
        more["pads"] = pads
    elif s.chance(0.2):
        more["auto_pad"] = str(s.pick(("SAME_UPPER", "SAME_LOWER", "VALID")))
    if dilate and s.chance(0.2) and "auto_pad" not in more:
        wide = [int(s.pick((1, 2))) for _ in image]
        if all((k - 1) * d < size for k, d, size in zip(kernel, wide, image, strict=True)):
            more["dilations"] = wide
    assert rank == len(kernel)
    return kernel, more


def _conv_parts(s: Sketch, dtypes: tuple[str, ...] = ()) -> tuple[Stored, tuple[int, ...], dict[str, Any]]:
    x = s.value(int(s.pick((4, 4, 4, 3))), dtypes)
    shape = s.shape_of(x.name)
    groups = int(s.pick([g for g in (1, 1, shape[1], 2) if shape[1] % g == 0]))
    outputs = groups * int(s.pick((1, 1, 2, 3) if groups > 1 else (1, 2, 3, 5)))
    kernel, more = _window(s, shape[2:], dilate=True)
    return x, (outputs, shape[1] // groups, *kernel), {**more, "group": groups}


def conv(s: Sketch) -> None:
    x, shape, more = _conv_parts(s)
    w, scales = _real_weights(s, shape, 0)
    _then(s, s.node("Conv", [s.real(x), w, *_bias(s, x, scales, shape[0])], **more))


def linear_conv(s: Sketch) -> None:
    x, shape, more = _conv_parts(s, BYTES)
    names, _ = _weights(s, shape, 0)
    if x.dtype == "uint8":  # x86 cores without VNNI let the sums of two products of uint8 and int8 saturate at 16 bits
        data = s.machine.values[names[0]].centre.astype(np.int64) // 2
        names[0] = s.constant(data, s.machine.dtypes[names[0]])
    bias = [s.constant(s.rng.integers(-20000, 20000, shape[0]), np.int32)] if s.chance(0.7) else []

    def floats() -> str:
        return s.node("Conv", [s.real(x), s.node("DequantizeLinear", names, axis=0)], **more)

    s.linear("QLinearConv", [x.name, *x.parameters, *names], floats, x.dtype, bias, domain="", **more)


def conv_transpose(s: Sketch) -> None:
    x = s.value(int(s.pick((4, 4, 3))))
    shape = s.shape_of(x.name)
    groups = int(s.pick([g for g in (1, 1, 1, 2) if shape[1] % g == 0]))
    kernel = [int(s.rng.integers(1, 4)) for _ in shape[2:]]
    strides = [int(s.pick((1, 2, 3))) for _ in shape[2:]]
    more: dict[str, Any] = {"strides": strides, "group": groups}
    if s.chance(0.4):
        spans = [(size - 1) * t + k for size, t, k in zip(shape[2:], strides, kernel, strict=True)]
        before = [int(s.rng.integers(0, min(k, span))) for k, span in zip(kernel, spans, strict=True)]
        more["pads"] = before + [
            int(s.rng.integers(0, min(k, span - b))) for k, span, b in zip(kernel, spans, before, strict=True)
        ]
    if s.chance(0.2):
        more["output_padding"] = [int(s.rng.integers(0, t)) for t in strides]
    sizes = (shape[1], int(s.pick((1, 2, 3))), *kernel)
    if math.prod(shape[2:]) * math.prod(strides) * sizes[1] * groups > 2 * MOST_ELEMENTS:
        return conv(s)
    w, scales = _real_weights(s, sizes, 1)
    scales = np.tile(scales, groups) if scales.size > 1 else scales
    _then(s, s.node("ConvTranspose", [s.real(x), w, *_bias(s, x, scales, sizes[1] * groups)], **more))
    return None


def matmul(s: Sketch) -> None:
    x = s.value(int(s.pick((2, 2, 3))))
    shape, outputs = s.shape_of(x.name), int(s.pick((1, 2, 3, 5, 8)))
    if s.chance(0.25):
        batch = shape[:-2]
        other = s.input((*batch, shape[-1], outputs))
        _then(s, s.node("MatMul", [s.real(x), s.real(other)]))
        return
    w, scales = _real_weights(s, (shape[-1], outputs), 1)
    y = s.node("MatMul", [s.real(x), w])
    bias = _bias(s, x, scales, outputs) if s.chance(0.5) else []
    _then(s, s.node("Add", [y, *bias]) if bias else y)


def gemm(s: Sketch) -> None:
    x = s.value(2)
    shape, outputs, turned = s.shape_of(x.name), int(s.pick((1, 2, 3, 5, 8))), s.chance(0.6)
    w, scales = _real_weights(s, (outputs, shape[1]) if turned else (shape[1], outputs), 0 if turned else 1)
    more = {"alpha": float(s.pick((0.5, 2.0, 0.7)))} if s.chance(0.1) else {}
    _then(s, s.node("Gemm", [s.real(x), w, *_bias(s, x, scales, outputs)], transB=int(turned), **more))


def linear_matmul(s: Sketch) -> None:
    x = s.value(2, BYTES)
    names, _ = _weights(s, (s.shape_of(x.name)[1], int(s.pick((1, 3, 8)))), 1)
    if x.dtype == "uint8":
        names[0] = s.constant(s.machine.values[names[0]].centre.astype(np.int64) // 2, s.machine.dtypes[names[0]])

    def floats() -> str:
        return s.node("MatMul", [s.real(x), s.node("DequantizeLinear", names, axis=1)])

    s.linear("QLinearMatMul", [x.name, *x.parameters, *names], floats, x.dtype, domain="")


def _pair(s: Sketch, dtypes: tuple[str, ...] = ()) -> tuple[Stored, Stored]:
    a = s.value(int(s.pick((2, 3, 4))), dtypes)
    shape = s.shape_of(a.name)
    other = shape if s.chance(0.6) else tuple(d if s.chance(0.5) else 1 for d in shape)
    b = s.value(len(shape), (a.dtype,), other)
    return (a, b) if s.chance(0.7) else (b, a)


def binary(kind: str) -> Draw:
    def apply(s: Sketch) -> None:
        a, b = _pair(s)
        second = s.real(b)
        if s.chance(0.2):
            second = s.constant(s.rng.normal(0, 1, s.shape_of(b.name) if s.chance(0.3) else ()))
        elif kind == "Div":
            second = s.constant(s.rng.uniform(0.3, 3, s.shape_of(b.name))) if s.chance(0.4) else second
        _then(s, s.node(kind, [s.real(a), second]))

    return apply


def linear_pair(kind: str) -> Draw:
    def apply(s: Sketch) -> None:
        a, b = _pair(s, BYTES)
        operands = [a.name, *a.parameters, b.name, *b.parameters]
        s.linear(f"QLinear{kind}", operands, lambda: s.node(kind, [s.real(a), s.real(b)]), a.dtype)

    return apply


def summed(s: Sketch) -> None:
    a = s.value(int(s.pick((2, 4))))
    parts = [
        s.real(s.value(len(s.shape_of(a.name)), (a.dtype,), s.shape_of(a.name))) for _ in range(int(s.pick((2, 3))))
    ]
    _then(s, s.node("Sum", [s.real(a), *parts]))


def concat(s: Sketch) -> None:
    a = s.value(int(s.pick((2, 3, 4))))
    shape = s.shape_of(a.name)
    axis = int(s.rng.integers(0, len(shape)))
    parts = [
        a,
        *(
            s.input(tuple(int(s.pick((1, 2, 3))) if k == axis else d for k, d in enumerate(shape)), a.dtype)
            for _ in range(int(s.pick((1, 1, 2))))
        ),
    ]
    if a.dtype in BYTES and s.chance(0.3):
        operands = [name for p in parts for name in (p.name, *p.parameters)]
        s.linear(
            "QLinearConcat",
            operands,
            lambda: s.node("Concat", [s.real(p) for p in parts], axis=axis),
            a.dtype,
            first=True,
            axis=axis,
        )
    else:
        _then(
            s,
            s.node("Concat", [s.real(p) for p in parts], axis=axis),
            a if s.chance(0.3) and a.dtype == s.dtype else None,
        )


def pool(kind: str) -> Draw:
    def apply(s: Sketch) -> None:
        x = s.value(int(s.pick((4, 4, 3))))
        kernel, more = _window(s, s.shape_of(x.name)[2:], dilate=False)
        if kind == "AveragePool":
            more["count_include_pad"] = int(s.chance(0.3))
        y = s.node(kind, [s.real(x)], kernel_shape=kernel, **more)
        _then(s, y, x if s.chance(0.5) else None)

    return apply


def linear_pool(s: Sketch) -> None:
    x = s.value(4, BYTES)
    kernel, more = _window(s, s.shape_of(x.name)[2:], dilate=False)
    more |= {"kernel_shape": kernel, "count_include_pad": int(s.chance(0.3))}
    s.linear(
        "QLinearAveragePool",
        [x.name, *x.parameters],
        lambda: s.node("AveragePool", [s.real(x)], **more),
        x.dtype,
        **more,
    )


def global_pool(s: Sketch) -> None:
    x = s.value(4)
    if x.dtype in BYTES and s.chance(0.3):
        s.linear(
            "QLinearGlobalAveragePool",
            [x.name, *x.parameters],
            lambda: s.node("GlobalAveragePool", [s.real(x)]),
            x.dtype,
            channels_last=0,
        )
    else:
        _then(s, s.node(str(s.pick(("GlobalAveragePool", "GlobalMaxPool"))), [s.real(x)]))


def reduction(s: Sketch) -> None:
    x = s.value(int(s.pick((2, 3, 4))))
    rank, kind = len(s.shape_of(x.name)), str(s.pick(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")))
    axes = sorted(s.rng.choice(rank, int(s.rng.integers(1, rank)), replace=False).tolist())
    if kind == "ReduceSum" or s.opset >= 18:
        y = s.node(kind, [s.real(x), s.constant(axes, np.int64)], keepdims=int(s.chance(0.5)))
    else:
        y = s.node(kind, [s.real(x)], axes=axes, keepdims=int(s.chance(0.5)))
    _then(s, y)


def function(s: Sketch) -> None:
    kinds = {
        "Sigmoid": {},
        "Tanh": {},
        "LeakyRelu": {"alpha": 0.13},
        "Elu": {"alpha": 0.8},
        "HardSigmoid": {},
        "Relu": {},
    }
    x = s.value(int(s.pick((2, 3, 4))))
    kind = str(s.pick(list(kinds)))
    if kind in ("Sigmoid", "LeakyRelu") and x.dtype in BYTES and s.chance(0.4):
        s.linear(
            f"QLinear{kind}",
            [x.name, *x.parameters],
            lambda: s.node(kind, [s.real(x)], **kinds[kind]),
            x.dtype,
            **kinds[kind],
        )
    else:
        _then(s, s.node(kind, [s.real(x)], **kinds[kind]))


def softmax(s: Sketch) -> None:
    x = s.value(int(s.pick((2, 3))))
    axis = int(s.pick((-1, -1, 1)))
    if x.dtype in BYTES and s.chance(0.3):
        s.linear(
            "QLinearSoftmax",
            [x.name, *x.parameters],
            lambda: s.node("Softmax", [s.real(x)], axis=axis),
            x.dtype,
            axis=axis,
            opset=13,
        )
    else:
        s.quantize(s.node("Softmax", [s.real(x)], axis=axis), s.dtype)


def move(s: Sketch) -> None:
    """A move whose result has the scale of its operand, most often."""
    x = s.value(int(s.pick((2, 3, 4, 4))))
    real, shape = s.real(x), s.shape_of(x.name)
    rank, kind = len(shape), str(s.pick(("Transpose", "Reshape", "Flatten", "Slice", "Pad", "Resize")))
    if kind == "Transpose":
        y = s.node(kind, [real], perm=s.rng.permutation(rank).tolist())
    elif kind == "Reshape":
        y = s.node(kind, [real, s.constant([*shape[:1], -1] if s.chance(0.5) else [*shape, 1][:5], np.int64)])
    elif kind == "Flatten":
        y = s.node(kind, [real], axis=1)
    elif kind == "Slice":
        starts = [int(s.rng.integers(0, d)) for d in shape]
        parts = (starts, shape, list(range(rank)), [int(s.pick((1, 1, 2))) for _ in shape])
        y = s.node(kind, [real, *(s.constant(part, np.int64) for part in parts)])
    elif kind == "Pad":
        widths = s.rng.integers(0, 2, 2 * rank)
        y = s.node(kind, [real, s.constant(widths, np.int64), *([s.constant(s.rng.normal())] if s.chance(0.4) else [])])
    else:
        factors = [1] * rank if rank < 3 else [1, 1, *(int(s.pick((1, 2))) for _ in shape[2:])]
        y = s.node(
            kind,
            [real, "", s.constant(factors)],
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
    s.quantize(y, s.dtype, x if s.chance(0.7) else None)


def _dynamic(s: Sketch) -> None:
    """Floats whose scale is that of their own range, times constant weights of bytes."""
    image = s.chance(0.4)
    x = s.float_input(s.shape(4 if image else 2))
    stored = s.node("DynamicQuantizeLinear", [x], 3)
    scale, zero = f"{stored}_1", f"{stored}_2"
    shape = s.shape_of(x)
    w_scale = 10 ** s.rng.uniform(-3, 0)
    outputs = int(s.pick((1, 3, 5)))
    dtype, low, high, mid = s.pick((("int8", -63, 63, 0), ("uint8", 0, 127, 61)))
    if image:
        kernel, more = _window(s, shape[2:], dilate=False)
        sizes: tuple[int, ...] = (outputs, shape[1], *kernel)
    else:
        sizes, more = (shape[1], outputs), {}
    w = s.constant(s.rng.integers(low, high, sizes, endpoint=True), dtype)
    operands = [stored, w, zero, *([s.constant(mid, dtype)] if s.chance(0.7) or mid else [])]
    sums = s.node("ConvInteger" if image else "MatMulInteger", operands, **more)
    scales = s.node("Mul", [scale, s.constant(w_scale)])
    s.node("Mul", [s.node("Cast", [sums], to=onnx.TensorProto.FLOAT), scales])


DRAWS: dict[str, Draw] = {
    "conv": conv,
    "conv again": conv,
    "linear conv": linear_conv,
    "conv transpose": conv_transpose,
    "matmul": matmul,
    "gemm": gemm,
    "linear matmul": linear_matmul,
    **{kind: binary(kind) for kind in ("Add", "Sub", "Mul", "Div")},
    **{f"linear {kind}": linear_pair(kind) for kind in ("Add", "Mul")},
    "sum": summed,
    "concat": concat,
    "average pool": pool("AveragePool"),
    "max pool": pool("MaxPool"),
    "linear pool": linear_pool,
    "global pool": global_pool,
    "reduction": reduction,
    "function": function,
    "softmax": softmax,
    "move": move,
}
LINEAR = ("linear conv", "linear matmul", "linear Add", "linear Mul", "linear pool")
"""Names of draws that need stored bytes."""

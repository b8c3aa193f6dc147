# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models of the operators with weights, and of pools."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tests.runtimes.sketch import ACTIVATIONS, Shape, Sketch

Draw = Callable[[Sketch], None]
WEIGHTS = {"s8": "s8", "s16": "s8", "u8": "u8", "f32": "f32"}
BIAS = {"s8": "s32", "s16": "s64", "u8": "s32", "f32": "f32"}
_ROOT_MEAN_SQUARE = {"s8": 100.0, "u8": 100.0, "s16": 20000.0}


def _out(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    if padding == "SAME":
        return -(-size // stride)
    return (size - (kernel - 1) * dilation - 1) // stride + 1


def _window(s: Sketch, image: Shape, *, dilate: bool) -> tuple[Shape, Shape, dict[str, object]]:
    """(kernel, output size, options) of a window that fits the image."""
    while True:
        kernel = (s.rng.choice((1, 2, 3, 3, 5)), s.rng.choice((1, 2, 3, 3, 4)))
        stride = (s.rng.choice((1, 1, 2, 3)), s.rng.choice((1, 1, 2, 3)))
        dilation = (s.rng.randint(1, 2), s.rng.randint(1, 3)) if dilate and s.chance(0.2) else (1, 1)
        padding = s.rng.choice(("SAME", "VALID"))
        each = zip(image[1:3], kernel, stride, dilation, strict=True)
        size = tuple(_out(*sizes, padding) for sizes in each)
        if min(size) >= 1:
            break
    options = {"padding": padding, "stride_h": stride[0], "stride_w": stride[1]}
    options["fused_activation_function"] = s.rng.choice(ACTIVATIONS)
    if dilate:
        options |= {"dilation_h_factor": dilation[0], "dilation_w_factor": dilation[1]}
    return kernel, size, options


def _parameters(s: Sketch, x: int, shape: Shape, axis: int, taps: int, result: float) -> tuple[list[int], float]:
    """([weights, bias or -1], the result's scale) so that most results are in range."""
    outputs, quant = shape[axis], s.quants[x]
    if quant is None:
        weights = s.tensor(shape, "f32", None, s.values(shape, "f32", 0))
        return [weights, s.const(s.data.standard_normal(outputs), "f32") if s.chance(0.7) else -1], 0.0
    dtype, zero = WEIGHTS[s.dtype], s.rng.randrange(256) if s.dtype == "u8" else 0
    low, high = (0, 255) if dtype == "u8" else (-127, 127)
    data = s.data.integers(low, high, shape, endpoint=True)
    spread = 73.0 * math.sqrt(taps) * _ROOT_MEAN_SQUARE[s.dtype]
    per_channel = s.dtype != "u8" and s.chance(0.6)
    factors = s.data.uniform(0.5, 1.5, outputs if per_channel else 1)
    wanted = 10.0 ** s.rng.uniform(-3, 0) if s.chance(0.8) else 10.0 ** s.rng.uniform(-6, 2)
    scales = (wanted * factors / 73.0).astype(np.float32)
    y_scale = float(quant[0] * wanted / 73.0 * spread / _ROOT_MEAN_SQUARE[s.dtype] / result)
    more = {"axis": axis} if per_channel else {}
    weights = s.tensor(shape, dtype, (scales, zero), data, **more)
    return [weights, _bias(s, x, scales, outputs, spread)], y_scale


def _bias(s: Sketch, x: int, scales: np.ndarray, outputs: int, spread: float) -> int:
    """A bias of about the sums' size, now and then as large as its type allows; -1 where there is none."""
    if s.chance(0.2):
        return -1
    bound = int(spread) if s.chance(0.9) else 2**38 if s.dtype == "s16" else 2**30
    data = s.data.integers(-bound, bound, outputs, endpoint=True)
    quant = s.quants[x]
    scale = scales * np.float32(quant[0] if quant else 1.0)
    dtype = "s32" if s.dtype == "s16" and bound < 2**31 and s.chance(0.2) else BIAS[s.dtype]
    return s.tensor((outputs,), dtype, (scale, 0), data)


def _apply(s: Sketch, name: str, operands: list[int], shape: Sequence[int], scale: float, options: dict) -> None:
    if name != "DEPTHWISE_CONV_2D" and _has_narrow_bias(s, operands) and s.chance(0.5):
        options = options | {"quantized_bias_type": "s32"}
    quant = s.quant(near=scale or None)
    if quant and s.chance(0.8):
        quant = (float(np.float32(scale * s.rng.uniform(0.5, 2.0))), quant[1])
    s.result(name, operands, shape, None, quant, options)


def _has_narrow_bias(s: Sketch, operands: list[int]) -> bool:
    """Whether the bias is int32 where int16 data usually has an int64 one."""
    return s.dtype == "s16" and s.dtypes.get(operands[-1]) == "s32"


def conv_2d(s: Sketch) -> None:
    image = s.shape(rank=4)
    kernel, size, options = _window(s, image, dilate=True)
    groups = s.rng.choice([g for g in (1, 1, 1, 2) if image[3] % g == 0])
    outputs, depth = groups * s.rng.choice((1, 2, 3, 5, 8)), image[3] // groups
    x = s.x(image)
    weights, scale = _parameters(s, x, (outputs, *kernel, depth), 0, math.prod(kernel) * depth, s.rng.uniform(0.5, 2))
    _apply(s, "CONV_2D", [x, *_given(s, weights)], (image[0], *size, outputs), scale, options)


def _given(s: Sketch, operands: list[int]) -> list[int]:
    """Operands with an absent bias left out, or stated as absent."""
    return operands[:1] if operands[1] == -1 and s.chance(0.5) else operands


def depthwise_conv_2d(s: Sketch) -> None:
    image = s.shape(rank=4)
    kernel, size, options = _window(s, image, dilate=True)
    multiply = s.rng.choice((1, 1, 1, 2, 3))
    x, outputs = s.x(image), image[3] * multiply
    weights, scale = _parameters(s, x, (1, *kernel, outputs), 3, math.prod(kernel), s.rng.uniform(0.5, 2))
    options["depth_multiplier"] = multiply
    _apply(s, "DEPTHWISE_CONV_2D", [x, *_given(s, weights)], (image[0], *size, outputs), scale, options)


def fully_connected(s: Sketch) -> None:
    keep = s.chance(0.3)
    shape = s.shape(rank=s.rng.randint(2, 4))
    depth, units = shape[-1], s.rng.choice((1, 2, 3, 7, 16))
    if not keep and s.chance(0.3):
        depth = math.prod(shape[1:])
    x = s.x(shape)
    out = (*shape[:-1], units) if keep else (math.prod(shape) // depth, units)
    weights, scale = _parameters(s, x, (units, depth), 0, depth, s.rng.uniform(0.5, 2))
    options = {"fused_activation_function": s.rng.choice(ACTIVATIONS), "keep_num_dims": keep}
    _apply(s, "FULLY_CONNECTED", [x, *weights], out, scale, options)


def transpose_conv(s: Sketch) -> None:
    while True:
        y = (s.rng.randint(1, 7), s.rng.randint(1, 7))
        kernel, size, options = _window(s, (1, *y, 1), dilate=False)
        if min(size) >= 1:
            break
    n, c, outputs = s.rng.choice((1, 1, 2)), s.rng.choice((1, 2, 3, 5)), s.rng.choice((1, 2, 4))
    x = s.x((n, *size, c))
    weights, scale = _parameters(s, x, (outputs, *kernel, c), 0, math.prod(kernel) * c, s.rng.uniform(0.5, 2))
    stated = s.const([n, *y, outputs])
    if s.chance(0.7):
        options["fused_activation_function"] = "NONE"
    _apply(s, "TRANSPOSE_CONV", [stated, weights[0], x, *weights[1:]], (n, *y, outputs), scale, options)


def batch_matmul(s: Sketch) -> None:
    """A product of two computed matrices, either of which may be stated transposed."""
    batch = s.shape(rank=s.rng.randint(0, 2))
    rows, depth, columns = (s.rng.randint(1, 6) for _ in range(3))
    across, turned = s.chance(0.3), s.chance(0.3)
    a = s.x((*batch, depth, rows) if across else (*batch, rows, depth))
    b = s.x((*batch, columns, depth) if turned else (*batch, depth, columns))
    quants = (s.quants[a], s.quants[b])
    near = quants[0][0] * quants[1][0] * 60.0 * math.sqrt(depth) if quants[0] and quants[1] else None
    options = {"adj_x": across, "adj_y": turned}
    s.result("BATCH_MATMUL", [a, b], (*batch, rows, columns), None, s.quant(near=near), options)


def pool(name: str) -> Draw:
    def draw(s: Sketch) -> None:
        image = s.shape(rank=4)
        kernel, size, options = _window(s, image, dilate=False)
        x = s.x(image)
        options |= {"filter_height": kernel[0], "filter_width": kernel[1]}
        s.moved(name, [x], (image[0], *size, image[3]), x, options)

    return draw


_TYPES = ("s8", "u8", "s16", "f32")
OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "CONV_2D": (_TYPES, conv_2d),
    "DEPTHWISE_CONV_2D": (_TYPES, depthwise_conv_2d),
    "FULLY_CONNECTED": (_TYPES, fully_connected),
    "TRANSPOSE_CONV": (_TYPES, transpose_conv),
    "BATCH_MATMUL": (_TYPES, batch_matmul),
    "AVERAGE_POOL_2D": (_TYPES, pool("AVERAGE_POOL_2D")),
    "MAX_POOL_2D": (_TYPES, pool("MAX_POOL_2D")),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""

# SPDX-License-Identifier: Apache-2.0
"""A chain of layers in NumPy: computed in float, quantized by TFLite's rules, written as an int8 .tflite file.

Images are [N, H, W, C]; weights have TFLite's layouts: convolution [O, KH, KW, I], depthwise [1, KH, KW, C], fully
connected [O, I]. Hidden filters are drawn at random and kept; only the last layer is trained, by ridge regression on
what they see, which for small tasks is enough and takes a second.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.tflite_writer import ModelWriter

Array = np.ndarray[Any, Any]
_RIDGE = 1e-3
_SHARPNESS = 12.0
"""How many logits lie between a right class and a wrong one after training."""


@dataclass(frozen=True)
class Layer:
    """A layer of the chain. kind: a builtin operator's name. window: of pooling; weights and bias: of all others."""

    kind: str
    weights: Array | None = None
    bias: Array | None = None
    window: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: str = "VALID"

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the window."""
        return self.window if self.weights is None else (self.weights.shape[1], self.weights.shape[2])


def random_layer(kind: str, shape: tuple[int, ...], rng: np.random.Generator, **options: Any) -> Layer:
    """A layer of He-scaled random filters, each with its mean taken off, and small random biases."""
    weights = rng.standard_normal(shape)
    weights -= weights.mean(axis=(1, 2, 3), keepdims=True) if kind == "CONV_2D" else 0
    fan_in = weights[0].size if kind == "CONV_2D" else shape[1] * shape[2]
    channels = shape[0] if kind == "CONV_2D" else shape[3]
    return Layer(kind, weights * np.sqrt(2 / fan_in), rng.uniform(-0.1, 0.1, channels), **options)


def forward(layers: Sequence[Layer], x: Array) -> list[Array]:
    """The input and every layer's output; convolutions end in ReLU, the fully connected layer in nothing."""
    values = [x]
    for layer in layers:
        values.append(_apply(layer, values[-1]))
    return values


def _apply(layer: Layer, x: Array) -> Array:
    if layer.kind == "FULLY_CONNECTED":
        out: Array = x.reshape(len(x), -1) @ given(layer.weights).T + given(layer.bias)
        return out
    windows = _windows(layer, x)
    if layer.kind == "MAX_POOL_2D":
        return windows.max(axis=(4, 5))
    if layer.kind == "AVERAGE_POOL_2D":
        return windows.mean(axis=(4, 5))
    equation = "nhwcij,oijc->nhwo" if layer.kind == "CONV_2D" else "nhwcij,zijc->nhwc"
    out = np.einsum(equation, windows, given(layer.weights), optimize=True) + given(layer.bias)
    return np.maximum(out, 0)


def _windows(layer: Layer, x: Array) -> Array:
    """What each output pixel sees: [N, H, W, C, KH, KW]."""
    reach = [(k - 1) * d + 1 for k, d in zip(layer.size, layer.dilation, strict=True)]
    if layer.padding == "SAME":
        sides = zip(x.shape[1:3], reach, layer.stride, strict=True)
        total = [max((-(-n // s) - 1) * s + r - n, 0) for n, r, s in sides]
        x = np.pad(x, ((0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(1, 2))
    (sy, sx), (dy, dx) = layer.stride, layer.dilation
    return seen[:, ::sy, ::sx, :, ::dy, ::dx]


def given(array: Array | None) -> Array:
    if array is None:
        raise ValueError("a layer lacks its weights")
    return array


def with_head(layers: Sequence[Layer], x: Array, labels: Array) -> list[Layer]:
    """The layers with a fully connected one behind them that tells the labels apart: ridge regression."""
    seen = forward(layers, x)[-1].reshape(len(x), -1)
    classes = int(labels.max()) + 1
    wanted = _SHARPNESS * (np.eye(classes)[labels] - 1 / classes)
    mean = seen.mean(axis=0)
    centred = seen - mean
    penalty = _RIDGE * len(x) * centred.var() * np.eye(seen.shape[1])
    weights = np.linalg.solve(centred.T @ centred + penalty, centred.T @ wanted).T
    return [*layers, Layer("FULLY_CONNECTED", weights, -weights @ mean)]


@dataclass(frozen=True)
class Scale:
    """Quantization of an activation: real = scale * (q - zero_point)."""

    scale: float
    zero_point: int


def scale_of(real: Array) -> Scale:
    """The range of the tensor, widened to hold zero exactly."""
    low, high = min(0.0, float(real.min())), max(0.0, float(real.max()))
    scale = float(np.float32((high - low) / 255))
    return Scale(scale, int(np.clip(round(-128 - low / scale), -128, 127)))


def to_tflite(layers: Sequence[Layer], x: Array, image: Scale, description: str) -> bytes:
    """The int8 model: the layers, RESHAPE before the fully connected one, SOFTMAX behind it. x: for the ranges."""
    m = ModelWriter()
    values = forward(layers, x)
    shape = (1, *x.shape[1:])
    inputs = at = m.tensor("input", shape, "s8", scale=image.scale, zero_point=image.zero_point)
    scale = image
    for k, (layer, value) in enumerate(zip(layers, values[1:], strict=True)):
        out = scale if "POOL" in layer.kind else scale_of(value)
        if layer.kind == "FULLY_CONNECTED":
            at = flattened(m, at, int(np.prod(shape)), scale)
        shape = (1, *value.shape[1:])
        y = m.tensor(f"layer{k}", shape, "s8", scale=out.scale, zero_point=out.zero_point)
        m.op(layer.kind, [at, *constants(m, layer, scale, k)], [y], options_of(layer), version=3)
        at, scale = y, out
    scores = m.tensor("scores", shape, "s8", scale=1 / 256, zero_point=-128)
    m.op("SOFTMAX", [at], [scores], {"beta": 1.0}, version=2)
    return m.build([inputs], [scores], description=description)


def flattened(m: ModelWriter, x: int, length: int, scale: Scale) -> int:
    y = m.tensor("flat", (1, length), "s8", scale=scale.scale, zero_point=scale.zero_point)
    m.op("RESHAPE", [x, m.tensor("flat/shape", (2,), "s32", data=[-1, length])], [y])
    return y


def options_of(layer: Layer) -> dict[str, Any]:
    if layer.kind == "FULLY_CONNECTED":
        return {}
    given = {"padding": layer.padding, "stride_h": layer.stride[0], "stride_w": layer.stride[1]}
    if "POOL" in layer.kind:
        return given | {"filter_height": layer.size[0], "filter_width": layer.size[1]}
    given |= {"dilation_h_factor": layer.dilation[0], "dilation_w_factor": layer.dilation[1]}
    given |= {"fused_activation_function": "RELU"}
    return given | ({"depth_multiplier": 1} if layer.kind == "DEPTHWISE_CONV_2D" else {})


def constants(m: ModelWriter, layer: Layer, x: Scale, k: int) -> list[int]:
    """Weights, symmetric and per output channel (fully connected: per tensor), and biases in 32 bits."""
    if layer.weights is None:
        return []
    axis = 3 if layer.kind == "DEPTHWISE_CONV_2D" else 0
    others = tuple(i for i in range(layer.weights.ndim) if i != axis or layer.kind == "FULLY_CONNECTED")
    scales = (np.abs(layer.weights).max(axis=others, keepdims=True) / 127).astype(np.float32)
    weights = np.round(layer.weights / scales).astype(np.int8)
    counts = np.float32(x.scale) * scales.reshape(-1)
    bias = np.round(given(layer.bias) / counts).astype(np.int32)
    w = m.tensor(f"layer{k}/weights", weights.shape, "s8", scale=scales.reshape(-1).tolist(), axis=axis, data=weights)
    return [w, m.tensor(f"layer{k}/bias", bias.shape, "s32", scale=counts.tolist(), data=bias)]


def at_8_bits(layers: Sequence[Layer], x: Array) -> list[Layer]:
    """The layers with their outputs scaled to comparable ranges, so that 8 bits serve each: x sets the ranges."""
    scaled: list[Layer] = []
    for layer in layers:
        if layer.weights is not None and layer.kind != "FULLY_CONNECTED":
            size = float(np.abs(forward([*scaled, layer], x)[-1]).max())
            layer = replace(layer, weights=layer.weights / size, bias=given(layer.bias) / size)
        scaled.append(layer)
    return scaled

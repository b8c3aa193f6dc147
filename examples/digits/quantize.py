# SPDX-License-Identifier: Apache-2.0
"""Turns the trained network into an int8 .tflite file, by TFLite's quantization rules.

real = scale * (q - zero_point): activations per tensor, int8; weights symmetric and per output channel (fully
connected: per tensor), int8; biases int32 in counts of scale_x * scale_w.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from network import CHANNELS, CLASSES, POOLED, Activations, Array, Parameters, convolve, depthwise, pointwise, pool

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.tflite_writer import ModelWriter

Windowed = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Scale:
    """Quantization of an activation tensor."""

    scale: float
    zero_point: int

    def quantize(self, real: Array) -> Array:
        """real -> s8, to nearest."""
        return np.clip(np.round(real / self.scale) + self.zero_point, -128, 127).astype(np.int8)


@dataclass(frozen=True)
class Layer:
    """Integer weights and bias of one layer, and the quantization of its output."""

    weights: Array
    bias: Array
    scale_w: Array
    scale_b: Array
    out: Scale

    def multiplier(self, x: Scale) -> Array:
        """scale_x * scale_w / scale_y, per output channel."""
        return x.scale * self.scale_w / self.out.scale


@dataclass(frozen=True)
class QuantizedNetwork:
    """The network in integers."""

    image: Scale
    layers: Mapping[str, Layer]


def quantize(p: Parameters, a: Activations) -> QuantizedNetwork:
    """Scales of the activations from the tensors of a calibration pass, weights and biases from `p`."""
    outputs = {"conv": a.conv, "depthwise": a.depthwise, "pointwise": a.pointwise, "dense": a.logits}
    x = image = _scale_of(a.image)
    layers = {}
    for name, output in outputs.items():
        axis = {"depthwise": (0, 1, 2), "dense": (0, 1)}.get(name, (1, 2, 3))
        w = p[f"{name}_w"]
        scale_w = (np.abs(w).max(axis=axis, keepdims=True) / 127).astype(np.float32)
        weights = np.clip(np.round(w / scale_w), -127, 127).astype(np.int8)
        scale_b = np.float32(x.scale) * scale_w.reshape(-1)
        bias = np.round(p[f"{name}_b"] / scale_b).astype(np.int32)
        layers[name] = Layer(weights, bias, scale_w.reshape(-1), scale_b, _scale_of(output))
        x = layers[name].out
    return QuantizedNetwork(image, layers)


def _scale_of(real: Array) -> Scale:
    """The range of the tensor, widened to hold zero exactly."""
    low, high = min(0.0, float(real.min())), max(0.0, float(real.max()))
    scale = float(np.float32((high - low) / 255))
    return Scale(scale, int(np.clip(round(-128 - low / scale), -128, 127)))


def predict(q: QuantizedNetwork, image: Array) -> Array:
    """Classes by integer arithmetic, each result rounded to nearest.

    The runtimes round in fixed point, which may move a result by one; `mcugen verify` computes their exact bits.
    """
    x, scale = q.image.quantize(image), q.image
    windows: dict[str, Windowed] = {"conv": convolve, "depthwise": depthwise, "pointwise": pointwise}
    for name, window in windows.items():
        x = _apply(q.layers[name], scale, x, window, low=q.layers[name].out.zero_point)
        scale = q.layers[name].out
    flat = pool(x).reshape(len(x), -1)
    logits = _apply(q.layers["dense"], scale, flat, lambda v, w: v @ w.T, low=-128)
    classes: Array = logits.argmax(axis=1)
    return classes


def _apply(layer: Layer, x_scale: Scale, x: Array, window: Windowed, *, low: int) -> Array:
    acc = window(x.astype(np.int64) - x_scale.zero_point, layer.weights.astype(np.int64)) + layer.bias
    real: Array = np.round(acc * layer.multiplier(x_scale)) + layer.out.zero_point
    return real.clip(low, 127).astype(np.int8)


def to_tflite(q: QuantizedNetwork) -> bytes:
    """The .tflite file, with the operators and names that a converter would write."""
    m = ModelWriter()
    image = m.tensor("image", (1, 8, 8, 1), "s8", scale=q.image.scale, zero_point=q.image.zero_point)
    same = {"padding": "SAME", "stride_h": 1, "stride_w": 1, "fused_activation_function": "RELU"}
    conv = _add_layer(m, q, "conv", "CONV_2D", image, (1, 8, 8, CHANNELS[0]), same, axis=0)
    deep_options = same | {"depth_multiplier": 1}
    deep = _add_layer(m, q, "depthwise", "DEPTHWISE_CONV_2D", conv, (1, 8, 8, CHANNELS[0]), deep_options, axis=3)
    point = _add_layer(m, q, "pointwise", "CONV_2D", deep, (1, 8, 8, CHANNELS[1]), same, axis=0)
    scale = q.layers["pointwise"].out
    pooled = m.tensor("pooled", (1, 4, 4, CHANNELS[1]), "s8", scale=scale.scale, zero_point=scale.zero_point)
    window = {"padding": "VALID", "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}
    m.op("MAX_POOL_2D", [point], [pooled], window, version=2)
    flat = m.tensor("flat", (1, POOLED), "s8", scale=scale.scale, zero_point=scale.zero_point)
    shape = m.tensor("flat/shape", (2,), "s32", data=[-1, POOLED])
    m.op("RESHAPE", [pooled, shape], [flat])
    logits = _add_layer(m, q, "dense", "FULLY_CONNECTED", flat, (1, CLASSES), {}, axis=0)
    scores = m.tensor("scores", (1, CLASSES), "s8", scale=1 / 256, zero_point=-128)
    m.op("SOFTMAX", [logits], [scores], {"beta": 1.0}, version=2)
    return m.build([image], [scores], description="handwritten digits, 8x8")


def _add_layer(
    m: ModelWriter,
    q: QuantizedNetwork,
    name: str,
    op: str,
    x: int,
    shape: tuple[int, ...],
    options: Mapping[str, object],
    *,
    axis: int,
) -> int:
    layer = q.layers[name]
    scale_w, scale_b = layer.scale_w.tolist(), layer.scale_b.tolist()
    w = m.tensor(f"{name}/weights", layer.weights.shape, "s8", scale=scale_w, axis=axis, data=layer.weights)
    b = m.tensor(f"{name}/bias", layer.bias.shape, "s32", scale=scale_b, data=layer.bias)
    y = m.tensor(name, shape, "s8", scale=layer.out.scale, zero_point=layer.out.zero_point)
    m.op(op, [x, w, b], [y], options, version=3 if "CONV" in op else 4)
    return y

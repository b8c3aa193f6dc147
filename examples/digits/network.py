# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network in NumPy, with its gradients: what `train.py` trains.

Images are [N, H, W, C]; weights have TFLite's layouts: convolution [O, KH, KW, I], depthwise [1, KH, KW, C],
fully connected [O, I]. All windows are SAME with stride 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Parameters = dict[str, Array]

CLASSES = 10
CHANNELS = (8, 24)  # after the first and the second convolution
POOLED = 4 * 4 * CHANNELS[1]


@dataclass(frozen=True)
class Activations:
    """Every tensor of a forward pass that the gradient or the quantization needs."""

    image: Array
    conv: Array
    depthwise: Array
    pointwise: Array
    pooled: Array
    logits: Array


def initial_parameters(rng: np.random.Generator) -> Parameters:
    """He initialization; biases are zero."""
    shapes = {
        "conv": (CHANNELS[0], 3, 3, 1),
        "depthwise": (1, 3, 3, CHANNELS[0]),
        "pointwise": (CHANNELS[1], 1, 1, CHANNELS[0]),
        "dense": (CLASSES, POOLED),
    }
    fan_in = {"conv": 9, "depthwise": 9, "pointwise": CHANNELS[0], "dense": POOLED}
    weights = {f"{k}_w": rng.standard_normal(s) * np.sqrt(2 / fan_in[k]) for k, s in shapes.items()}
    biases = {f"{k}_b": np.zeros(s[3] if k == "depthwise" else s[0]) for k, s in shapes.items()}
    return weights | biases


def patches(x: Array) -> Array:
    """The 3x3 neighbourhood of every pixel, zero outside: [N, H, W, C] -> [N, H, W, 9, C]."""
    n, h, w, c = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.stack([padded[:, i : i + h, j : j + w] for i in range(3) for j in range(3)], axis=3).reshape(
        n, h, w, 9, c
    )


def patches_gradient(g: Array) -> Array:
    """Transpose of `patches`: adds the nine contributions to each pixel."""
    n, h, w, _, c = g.shape
    padded = np.zeros((n, h + 2, w + 2, c), g.dtype)
    for tap in range(9):
        i, j = divmod(tap, 3)
        padded[:, i : i + h, j : j + w] += g[:, :, :, tap]
    return padded[:, 1:-1, 1:-1]


def convolve(x: Array, w: Array) -> Array:
    """3x3 convolution without bias."""
    p = patches(x)
    return p.reshape(*p.shape[:3], -1) @ w.reshape(w.shape[0], -1).T


def depthwise(x: Array, w: Array) -> Array:
    """3x3 depthwise convolution without bias."""
    out: Array = np.einsum("nhwkc,kc->nhwc", patches(x), w.reshape(9, -1))
    return out


def pointwise(x: Array, w: Array) -> Array:
    """1x1 convolution without bias."""
    return x @ w.reshape(w.shape[0], -1).T


def pool(x: Array) -> Array:
    """2x2 maximum with stride 2."""
    n, h, w, c = x.shape
    out: Array = x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))
    return out


def forward(p: Parameters, image: Array) -> Activations:
    """The network: convolution, depthwise, pointwise (each with ReLU), pooling, fully connected."""
    conv = np.maximum(convolve(image, p["conv_w"]) + p["conv_b"], 0)
    deep = np.maximum(depthwise(conv, p["depthwise_w"]) + p["depthwise_b"], 0)
    point = np.maximum(pointwise(deep, p["pointwise_w"]) + p["pointwise_b"], 0)
    pooled = pool(point)
    logits = pooled.reshape(len(image), -1) @ p["dense_w"].T + p["dense_b"]
    return Activations(image, conv, deep, point, pooled, logits)


def gradient(p: Parameters, a: Activations, labels: Array) -> Parameters:
    """Gradient of the mean cross-entropy of the logits."""
    n = len(labels)
    g = np.exp(a.logits - a.logits.max(axis=1, keepdims=True))
    g /= g.sum(axis=1, keepdims=True)
    g[np.arange(n), labels] -= 1
    g /= n
    flat = a.pooled.reshape(n, -1)
    out = {"dense_w": g.T @ flat, "dense_b": g.sum(axis=0)}

    g_pooled = (g @ p["dense_w"]).reshape(a.pooled.shape)
    up = np.repeat(np.repeat(a.pooled, 2, axis=1), 2, axis=2)
    g_point = np.repeat(np.repeat(g_pooled, 2, axis=1), 2, axis=2) * ((up == a.pointwise) & (a.pointwise > 0))
    out["pointwise_w"] = np.einsum("nhwo,nhwi->oi", g_point, a.depthwise).reshape(p["pointwise_w"].shape)
    out["pointwise_b"] = g_point.sum(axis=(0, 1, 2))

    g_deep = (g_point @ p["pointwise_w"].reshape(g_point.shape[-1], -1)) * (a.depthwise > 0)
    out["depthwise_w"] = np.einsum("nhwkc,nhwc->kc", patches(a.conv), g_deep).reshape(p["depthwise_w"].shape)
    out["depthwise_b"] = g_deep.sum(axis=(0, 1, 2))

    g_patches = g_deep[:, :, :, None, :] * p["depthwise_w"].reshape(9, -1)
    g_conv = patches_gradient(g_patches) * (a.conv > 0)
    out["conv_w"] = np.einsum("nhwki,nhwo->oki", patches(a.image), g_conv).reshape(p["conv_w"].shape)
    out["conv_b"] = g_conv.sum(axis=(0, 1, 2))
    return out


def train(p: Parameters, images: Array, labels: Array, rng: np.random.Generator, *, epochs: int = 40) -> Parameters:
    """Adam over shuffled batches, the step falling linearly to zero."""
    batch, step, decay = 32, 4e-3, (0.9, 0.999)
    first = {k: np.zeros_like(v) for k, v in p.items()}
    second = {k: np.zeros_like(v) for k, v in p.items()}
    p, t, total = dict(p), 0, epochs * (len(images) // batch)
    for _ in range(epochs):
        order = rng.permutation(len(images))
        for start in range(0, len(images) - batch + 1, batch):
            chosen = order[start : start + batch]
            g = gradient(p, forward(p, images[chosen]), labels[chosen])
            t += 1
            for k in p:
                first[k] = decay[0] * first[k] + (1 - decay[0]) * g[k]
                second[k] = decay[1] * second[k] + (1 - decay[1]) * g[k] ** 2
                mean, spread = first[k] / (1 - decay[0] ** t), second[k] / (1 - decay[1] ** t)
                p[k] = p[k] - step * (1 - t / (total + 1)) * mean / (np.sqrt(spread) + 1e-8)
    return p

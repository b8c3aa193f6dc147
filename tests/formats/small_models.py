# SPDX-License-Identifier: Apache-2.0
"""Small .tflite files of many operators, written for the tests of damaged input and of the emitted code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite

from tests.support.tflite_writer import ModelWriter

_NAME_FIELD = 10  # of the table Tensor


def three_dense(hidden: int = 16, activation: str = "RELU") -> bytes:
    """Three fully connected layers, 1 -> hidden -> hidden -> 1: about 2.5 KB of file."""
    rng = np.random.default_rng(1)
    m = ModelWriter()
    tensors = [m.tensor("x", (1, 1), "s8", scale=0.025, zero_point=-128)]
    for k, (inputs, outputs) in enumerate(((1, hidden), (hidden, hidden), (hidden, 1))):
        w = rng.integers(-127, 128, (outputs, inputs))
        b = rng.integers(-500, 500, outputs)
        weights = m.tensor(f"w{k}", w.shape, "s8", scale=0.008, zero_point=0, data=w)
        bias = m.tensor(f"b{k}", b.shape, "s32", scale=0.0002, zero_point=0, data=b)
        tensors.append(m.tensor(f"y{k}", (1, outputs), "s8", scale=0.03, zero_point=-100 if k < 2 else 4))
        used = activation if k < 2 else "NONE"
        m.op("FULLY_CONNECTED", [tensors[k], weights, bias], [tensors[-1]], {"fused_activation_function": used})
    return m.build(tensors[:1], tensors[-1:])


def elu() -> bytes:
    """ELU of ten floats, for which the C calls expm1f of the mathematical library."""
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 10), "f32") for name in "xy")
    m.op("ELU", [x], [y])
    return m.build([x], [y])


_NAMES = ("image", "conv", "depthwise", "pool", "flat", "logits", "labels")


def image_net(names: Sequence[str | bytes] = _NAMES) -> bytes:
    """CONV_2D, DEPTHWISE_CONV_2D, MAX_POOL_2D, RESHAPE, FULLY_CONNECTED, SOFTMAX on a 6x6x2 image."""
    rng = np.random.default_rng(2)
    m = ModelWriter()
    step = {"stride_h": 1, "stride_w": 1}
    x = m.tensor(names[0], (1, 6, 6, 2), "s8", scale=0.05, zero_point=3)
    wc = _weights(m, rng, "wc", (5, 3, 3, 2), 0)
    bc = _bias(m, rng, "bc", 5)
    conv = m.tensor(names[1], (1, 6, 6, 5), "s8", scale=0.06, zero_point=-128)
    m.op("CONV_2D", [x, wc, bc], [conv], {"padding": "SAME", **step, "fused_activation_function": "RELU"})
    wd = _weights(m, rng, "wd", (1, 3, 3, 5), 3)
    bd = _bias(m, rng, "bd", 5)
    deep = m.tensor(names[2], (1, 4, 4, 5), "s8", scale=0.04, zero_point=-7)
    m.op("DEPTHWISE_CONV_2D", [conv, wd, bd], [deep], {"padding": "VALID", **step, "depth_multiplier": 1})
    pool = m.tensor(names[3], (1, 2, 2, 5), "s8", scale=0.04, zero_point=-7)
    window = {"padding": "VALID", "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}
    m.op("MAX_POOL_2D", [deep], [pool], window)
    flat = m.tensor(names[4], (1, 20), "s8", scale=0.04, zero_point=-7)
    m.op("RESHAPE", [pool, m.tensor("shape", (2,), "s32", data=np.array([1, 20]))], [flat])
    wf = _weights(m, rng, "wf", (3, 20), 0)
    bf = _bias(m, rng, "bf", 3)
    logits = m.tensor(names[5], (1, 3), "s8", scale=0.1, zero_point=10)
    m.op("FULLY_CONNECTED", [flat, wf, bf], [logits])
    labels = m.tensor(names[6], (1, 3), "s8", scale=1 / 256, zero_point=-128)
    m.op("SOFTMAX", [logits], [labels], {"beta": 1.0})
    return m.build([x], [labels])


def _weights(m: ModelWriter, rng: np.random.Generator, name: str, shape: tuple[int, ...], axis: int) -> int:
    count = shape[axis]
    scale = rng.uniform(0.005, 0.01, count)
    data = rng.integers(-127, 128, shape)
    return m.tensor(name, shape, "s8", scale=scale, zero_point=[0] * count, axis=axis, data=data)


def _bias(m: ModelWriter, rng: np.random.Generator, name: str, count: int) -> int:
    return m.tensor(name, (count,), "s32", scale=0.0004, zero_point=0, data=rng.integers(-900, 900, count))


def shared_name(tensors: int, name_bytes: int) -> bytes:
    """Many tensors whose tables all point at one long name: a file that claims far more bytes than it has."""
    m = ModelWriter()
    long_named = m.tensor("n" * name_bytes, (1,), "s8", scale=1.0)
    for k in range(tensors - 1):
        m.tensor(f"t{k}", (1,), "s8", scale=1.0)
    data = bytearray(m.build([long_named], [long_named]))
    graph = tflite.Model.GetRootAsModel(data, 0).Subgraphs(0)
    target = _name_place(graph.Tensors(0))
    for k in range(1, tensors):
        tab = graph.Tensors(k)._tab
        field = tab.Pos + tab.Offset(_NAME_FIELD)
        data[field : field + 4] = ((target - field) % 2**32).to_bytes(4, "little")
    return bytes(data)


def _name_place(tensor: Any) -> int:
    field = tensor._tab.Pos + tensor._tab.Offset(_NAME_FIELD)
    return int(field + int.from_bytes(tensor._tab.Bytes[field : field + 4], "little"))

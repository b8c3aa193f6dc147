# SPDX-License-Identifier: Apache-2.0
"""Writes a network over time as one that takes a few rows per run, and keeps the earlier rows that its layers need.

Each layer reads rows of earlier runs from a variable (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE), as in the models of
microWakeWord. The results are those of the whole window.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sequential import Array, Layer, Scale, constants, flattened, forward, options_of, scale_of

from tests.support.tflite_writer import ModelWriter

_SHARE = Scale(1 / 256, -128)


def to_tflite(layers: Sequence[Layer], x: Array, rows: int, given: Scale, description: str) -> bytes:
    """The int8 model: `rows` rows of features to a probability as uint8. x: whole windows, for the ranges."""
    m, values, scale = ModelWriter(), forward(layers, x), given
    features = x.shape[3]
    inputs = at = _activation(m, "rows", (1, rows, features), given)
    at = _reshaped(m, at, (1, rows, 1, features), given)
    for k, (layer, before, after) in enumerate(zip(layers, values, values[1:], strict=False)):
        out = scale if "POOL" in layer.kind else scale_of(after)
        if layer.kind == "FULLY_CONNECTED":
            at, count = flattened(m, at, before.shape[3], scale), ()
        else:
            count = (1 if layer.kind == "AVERAGE_POOL_2D" else rows, 1)
            at = _with_earlier(m, at, (rows, before.shape[3]), layer, count[0], scale, k)
        y = _activation(m, f"layer{k}", (1, *count, after.shape[-1]), out)
        m.op(layer.kind, [at, *constants(m, layer, scale, k)], [y], options_of(layer), version=3)
        at, scale = y, out
    share = _activation(m, "share", (1, 1), _SHARE)
    m.op("LOGISTIC", [at], [share])
    y = m.tensor("probability", (1, 1), "u8", scale=1 / 256, zero_point=0)
    m.op("QUANTIZE", [share], [y])
    return m.build([inputs], [y], description=description)


def _activation(m: ModelWriter, name: str, shape: Sequence[int], scale: Scale) -> int:
    return m.tensor(name, shape, "s8", scale=scale.scale, zero_point=scale.zero_point)


def _reshaped(m: ModelWriter, x: int, shape: Sequence[int], scale: Scale) -> int:
    y = _activation(m, "row", shape, scale)
    m.op("RESHAPE", [x, m.tensor("row/shape", (len(shape),), "s32", data=shape)], [y])
    return y


def _with_earlier(
    m: ModelWriter, x: int, shape: tuple[int, int], layer: Layer, results: int, scale: Scale, k: int
) -> int:
    """The rows that `results` windows of a layer read: those of a variable, then the new ones, shape [rows, channels].

    The variable then gets the newest of them.
    """
    rows, channels = shape
    length = (layer.size[0] - 1) * layer.dilation[0] + results
    kept = _activation(m, f"earlier{k}", (1, length - rows, 1, channels), scale)
    handle = m.tensor(f"variable{k}", (), "resource")
    m.op("VAR_HANDLE", [], [handle], {"container": "", "shared_name": f"variable{k}"})
    m.op("READ_VARIABLE", [handle], [kept])
    joined = _activation(m, f"joined{k}", (1, length, 1, channels), scale)
    m.op("CONCATENATION", [kept, x], [joined], {"axis": 1})
    newest = _activation(m, f"newest{k}", (1, length - rows, 1, channels), scale)
    ends = ([0, rows, 0, 0], [1, length, 1, channels], [1, 1, 1, 1])
    parts = [m.tensor(f"newest{k}/{i}", (4,), "s32", data=np.array(end)) for i, end in enumerate(ends)]
    m.op("STRIDED_SLICE", [joined, *parts], [newest], {})
    m.op("ASSIGN_VARIABLE", [handle, newest], [])
    return joined

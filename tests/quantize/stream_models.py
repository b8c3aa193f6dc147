# SPDX-License-Identifier: Apache-2.0
"""Small networks of one frame, whose states are inputs and outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from tests.formats.onnx_models import Writer

UNITS, BANDS = 12, 4


def stream(folder: Path, kind: str) -> Path:
    """One frame of a network for 4 bands: a dense layer, a GRU or LSTM, and a dense layer. Outputs r0, r1 are states of
    the next frame, inputs s0, s1.
    """
    rng, gates, model = np.random.default_rng(3), {"GRU": 3, "LSTM": 4}[kind], Writer(17)

    def weights(*shape: int, size: float = 0.5) -> str:
        return model.constant(rng.normal(0, size, shape).astype(np.float32))

    x = model.input((1, 1, BANDS))
    states = [model.input((1, 1, UNITS)) for _ in range(1 if kind == "GRU" else 2)]
    data = model.node("Relu", [model.node("MatMul", [x, weights(BANDS, UNITS)])])
    given = [data, weights(1, gates * UNITS, UNITS), weights(1, gates * UNITS, UNITS, size=0.3)]
    stated = {"linear_before_reset": 1} if kind == "GRU" else {}
    y, *after = model.node(
        kind, [*given, weights(1, 2 * gates * UNITS), "", *states], 1 + len(states), hidden_size=UNITS, **stated
    )
    flat = model.node("Squeeze", [y, model.constant(np.array([1], np.int64))])
    made = model.model(model.node("MatMul", [flat, weights(UNITS, BANDS)]), *after)
    names = dict(zip((x, *states), ("x", "s0", "s1"), strict=False))
    names |= dict(zip([o.name for o in made.graph.output], ("y", "r0", "r1"), strict=False))
    return renamed(made, names, folder / "stream.onnx")


def renamed(model: onnx.ModelProto, names: dict[str, str], path: Path) -> Path:
    for value in (*model.graph.input, *model.graph.output):
        value.name = names.get(value.name, value.name)
    for node in model.graph.node:
        for values in (node.input, node.output):
            values[:] = [names.get(v, v) for v in values]
    onnx.save(model, path)
    return path

# SPDX-License-Identifier: Apache-2.0
"""Unrolled recurrent layers: all steps keep the same weights, biases and scales."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner

from mcugen import pipeline
from mcugen.cli import cli
from mcugen.options import Options
from tests.support.tflite_writer import ModelWriter

STEPS = 4


def unrolled(path: Path) -> None:
    """A few steps of h = tanh(W h + b), with the same names in each, as the body of a loop in a file has them."""
    m, rng = ModelWriter(), np.random.default_rng(0)
    w = m.tensor("w", (8, 8), "f32", data=rng.standard_normal((8, 8)))
    b = m.tensor("b", (8,), "f32", data=rng.standard_normal(8))
    x = first = m.tensor("x", (1, 8), "f32")
    for _ in range(STEPS):
        sums, h = m.tensor("sums", (1, 8), "f32"), m.tensor("h", (1, 8), "f32")
        m.op("FULLY_CONNECTED", [x, w, b], [sums], {})
        m.op("TANH", [sums], [h])
        x = h
    path.write_bytes(m.build([first], [x]))


def test_steps_keep_their_weights_biases_and_scales(tmp_path: Path) -> None:
    unrolled(tmp_path / "net.tflite")
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(1).standard_normal((64, 8)).astype(np.float32))
    arguments = ["quantize", tmp_path / "net.tflite", "--data", tmp_path / "data.npz", "-o", tmp_path / "q.tflite"]
    result = CliRunner().invoke(cli, [*map(str, arguments), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    graph = pipeline.inspect(tmp_path / "q.tflite", Options()).imported
    layers = [node for node in graph.nodes if node.op.scaled_axis is not None]
    assert len(layers) == STEPS
    assert len({graph.tensors[str(node.inputs[1])].data.tobytes() for node in layers}) == 1
    assert len({graph.type(node.outputs[0]).quant for node in layers}) == 1
    # The first step reads the input of the model; what the others read is stored alike.
    assert len({graph.tensors[str(node.inputs[2])].data.tobytes() for node in layers[1:]}) == 1

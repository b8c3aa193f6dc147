# SPDX-License-Identifier: Apache-2.0
"""Recurrent ONNX layers in the variants in which runtimes differ, against results that ONNX Runtime 1.32 gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import mcugen
import mcugen.oracle.interpreter
from mcugen.errors import ShapeError, UnsupportedError
from mcugen.formats import read, registry

T, N, H = 3, 2, 2
COUPLED = {
    False: [[-0.3075836, -0.1446835], [-0.0022921, -0.2062549], [0.7011089, -0.0865785]],
    True: [[-0.3081629, -0.0091411], [-0.003743, 0.6681432], [0.3201713, 0.5972202]],
}
"""Whether the cell has weights: the results [T, H] of an LSTM with input_forget=1."""


def waves(*shape: int) -> np.ndarray:
    """Values between -2 and 2 that tell the gates apart."""
    return (2 * np.sin(np.arange(np.prod(shape)) * 1.7 + len(shape))).reshape(shape).astype(np.float32)


def layer(folder: Path, kind: str, gates: int, more: tuple[str, ...] = (), **attributes: object) -> Path:
    """A file of one layer on x [T, 1, N]. more: names of further operands, which are constant."""
    shapes = {"w": (1, gates * H, N), "r": (1, gates * H, H), "b": (1, 2 * gates * H)}
    shapes |= {"h": (1, 1, H), "c": (1, 1, H), "p": (1, 3 * H)}
    names = ["x", "w", "r", "b", *more]
    data = [numpy_helper.from_array(waves(*shapes[name]), name) for name in names[1:] if name]
    node = helper.make_node(kind, names, ["y"], **{"hidden_size": H, **attributes})
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, s)]
        for name, s in (("x", (T, 1, N)), ("y", (T, 1, 1, H)))
    ]
    graph = helper.make_graph([node], "g", *ends, data)
    path = folder / "net.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8).SerializeToString()
    )
    return path


@pytest.mark.parametrize("peepholes", COUPLED)
def test_a_coupled_forget_gate_is_what_the_input_gate_leaves(peepholes: bool, tmp_path: Path) -> None:
    operands = ("", "h", "c", "p") if peepholes else ("", "h", "c")
    path = layer(tmp_path, "LSTM", 4, operands, input_forget=1)
    graph = read.load(path, registry.load())
    x = waves(T, 1, N)
    oracle = mcugen.oracle.interpreter.run(graph, [x], "ort")[graph.outputs[0]]
    assert np.allclose(oracle.reshape(T, H), COUPLED[peepholes], atol=1e-6)
    assert np.allclose(np.reshape(mcugen.load(path).run(x), (T, H)), COUPLED[peepholes], atol=1e-6)


@pytest.mark.parametrize(("kind", "gates", "count"), [("RNN", 1, 1), ("GRU", 3, 2), ("LSTM", 4, 3)])
def test_attributes_that_mean_nothing_are_refused_by_name(kind: str, gates: int, count: int, tmp_path: Path) -> None:
    cases = [
        ({"activations": ["Nonsense"] * count}, "Nonsense"),
        ({"activations": [""] * count}, "activations"),
        ({"activations": ["Tanh"] * (2 * count + 1)}, f"{2 * count + 1} activations for 1 directions"),
        ({"direction": "sideways"}, "direction='sideways'"),
        ({"direction": "bidirectional"}, "2 directions"),
        ({"layout": 7}, "layout=7"),
        ({"hidden_size": -1}, "hidden_size=-1"),
        *(({"clip": clip}, f"clip={clip:g} is not supported") for clip in (0.0, -1.0, float("nan"))),
    ]
    for attributes, message in cases:
        with pytest.raises((UnsupportedError, ShapeError), match=message):
            read.load(layer(tmp_path, kind, gates, **attributes), registry.load())


@pytest.mark.parametrize(("kind", "gates", "count"), [("GRU", 3, 2), ("LSTM", 4, 3)])
def test_activations_may_be_written_in_any_case(kind: str, gates: int, count: int, tmp_path: Path) -> None:
    """ONNX Runtime takes "relu" and "TANH" for them."""
    x, found = waves(T, 1, N), []
    for names in (["Relu", "Tanh", "Sigmoid"], ["relu", "TANH", "siGmoid"]):
        graph = read.load(layer(tmp_path, kind, gates, activations=names[:count]), registry.load())
        found.append(mcugen.oracle.interpreter.run(graph, [x], "ort")[graph.outputs[0]])
    assert found[0].any()
    assert np.array_equal(*found)

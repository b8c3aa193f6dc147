# SPDX-License-Identifier: Apache-2.0
"""Interfaces in the layout asked for: the same values in another order, and no transpose where the model has it so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.ops.transpose import Transpose
from mcugen.oracle import interpreter
from mcugen.passes.layouts import in_file, in_interface
from mcugen.verify import checks
from tests.formats.onnx_models import Writer, expected, write
from tests.passes.net import Net


def moves(graph: Graph) -> int:
    return sum(isinstance(node.op, Transpose) for node in graph.nodes)


def image_to_image(w: Writer, last: bool = False) -> str:
    """Convolutions from an image of three channels to one of five."""
    x = w.input([1, 6, 7, 3] if last else [1, 3, 6, 7])
    x = w.node("Mul", [x, w.constant(np.float32([0.5]))])
    first = w.node("Transpose", [x], perm=[0, 3, 1, 2]) if last else x
    y = w.node("Relu", [w.node("Conv", [first, w.weights(5, 3, 3, 3)], pads=[1, 1, 1, 1])])
    return str(w.node("Transpose", [y], perm=[0, 2, 3, 1]) if last else y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("last", "given", "returned", "left"),
    [
        (False, "", "", 2),
        (False, "nchw", "nchw", 2),
        (False, "nhwc", "", 1),
        (False, "", "nhwc", 1),
        (False, "nhwc", "nhwc", 0),
        (True, "nhwc", "nhwc", 0),
        (True, "nchw", "nchw", 2),
    ],
)
def test_images_are_given_as_asked(last: bool, given: str, returned: str, left: int, tmp_path: Path) -> None:
    w = Writer(seed=3)
    model = w.model(image_to_image(w, last))
    artifact = mcugen.compile(write(model, tmp_path), input_layout=given, output_layout=returned)
    graph = artifact.imported
    wanted = {"nhwc": (1, 6, 7, 3), "nchw": (1, 3, 6, 7), "": (1, 6, 7, 3) if last else (1, 3, 6, 7)}
    assert graph.type(graph.inputs[0]).shape == wanted[given]
    assert moves(artifact.graph) == left
    assert checks.verify(artifact, 1, None, None, lambda text: None).agrees
    x = w.rng.normal(size=wanted[""]).astype(np.float32)
    values = interpreter.run(graph, in_interface(graph, graph.inputs, [x]), "ort")
    (y,) = in_file(graph, graph.outputs, [values[graph.outputs[0]]])
    np.testing.assert_allclose(y, expected(model, {"input0": x})[0], atol=1e-4)


def test_signals_are_turned_where_a_convolution_reads_them(tmp_path: Path) -> None:
    w = Writer(seed=5)
    y = w.node("Conv", [w.node("Sigmoid", [w.input([1, 3, 16])]), w.weights(4, 3, 5)])
    artifact = mcugen.compile(write(w.model(y), tmp_path), input_layout="nhwc", output_layout="nhwc")
    assert [artifact.imported.type(n).shape for n in (artifact.imported.inputs[0], artifact.imported.outputs[0])] == [
        (1, 16, 3),
        (1, 12, 4),
    ]
    assert moves(artifact.graph) == 0
    assert len(artifact.report.notes) >= 2


def test_sequences_and_vectors_are_left_as_they_are(tmp_path: Path) -> None:
    w = Writer(seed=6)
    y = w.node("MatMul", [w.input([1, 5, 8]), w.weights(8, 3)])
    artifact = mcugen.compile(write(w.model(y), tmp_path), input_layout="nhwc", output_layout="nhwc")
    assert artifact.imported.type(artifact.imported.inputs[0]).shape == (1, 5, 8)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["s8", "f32"])
def test_channels_last_files_take_channels_first(dtype: str, tmp_path: Path) -> None:
    net = Net(channels=3, dtype=dtype)
    y = net.conv(net.x, [1, 2], size=3)
    (tmp_path / "m.tflite").write_bytes(net.build(y))
    same = mcugen.compile(tmp_path / "m.tflite", input_layout="nhwc")
    assert same.imported.inputs == mcugen.compile(tmp_path / "m.tflite").imported.inputs
    turned = mcugen.compile(tmp_path / "m.tflite", input_layout="nchw", output_layout="nchw")
    graph = turned.imported
    assert graph.type(graph.inputs[0]).shape == (1, 3, 4, 4) and graph.type(graph.outputs[0]).shape == (1, 2, 2, 2)
    assert checks.verify(turned, 1, None, None, lambda text: None).agrees


def test_recordings_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    w = Writer(seed=7)
    model = w.model(image_to_image(w))
    x = w.rng.normal(size=(1, 3, 6, 7)).astype(np.float32)
    np.savez(tmp_path / "golden.npz", in0_0=x, out0_0=expected(model, {"input0": x})[0])
    artifact = mcugen.compile(write(model, tmp_path), input_layout="nhwc", output_layout="nhwc")
    result = checks.verify(artifact, 0, tmp_path / "golden.npz", None, lambda text: None)
    assert result.agrees and result.recorded is not None and result.recorded.cases == 1


def test_another_layout_is_a_usage_error(tmp_path: Path) -> None:
    w = Writer()
    path = write(w.model(image_to_image(w)), tmp_path)
    with pytest.raises(UsageError, match=r"--input-layout cannot be 'chwn'"):
        mcugen.compile(path, input_layout="chwn")

# SPDX-License-Identifier: Apache-2.0
"""Sizes and places that the text of ONNX and ONNX Runtime do not agree on are those of ONNX Runtime, as recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from mcugen.errors import ShapeError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from tests.formats.onnx_models import Writer, write
from tests.formats.onnx_windows import layers, model

RECORDED = Path(__file__).parent.parent / "vectors/onnx_windows.npz"


def test_results_are_those_of_onnx_runtime(tmp_path: Path) -> None:
    """All elements: the same ones where elements are chosen, else within the tolerance of floats."""
    with np.load(RECORDED) as recorded:
        wanted = dict(recorded)
    assert wanted.keys() == layers().keys()
    wrong = []
    for name, layer in layers().items():
        net, data = model(layer)
        graph = read.load(write(net, tmp_path), registry.load())
        got = interpreter.run(graph, [data], "ort")[graph.outputs[0]]
        tolerance = 0.0 if name.startswith(("nearest", "MaxPool")) else 1e-5 * float(np.abs(wanted[name]).max())
        if got.shape != wanted[name].shape or np.abs(got - wanted[name]).max() > tolerance:
            wrong.append(name)
    assert not wrong


@pytest.mark.parametrize(
    ("kind", "more", "wanted"),
    [
        ("MaxPool", {}, -1.0),
        ("AveragePool", {}, -2.0),
        ("AveragePool", {"count_include_pad": 1}, -2.0),
        ("LpPool", {"p": 1}, 4.0),
    ],
)
@pytest.mark.parametrize("auto_pad", ["NOTSET", "VALID"])
def test_a_window_that_lacks_less_than_a_stride_is_one(
    kind: str, more: dict[str, int], wanted: float, auto_pad: str, tmp_path: Path
) -> None:
    """ONNX Runtime takes the elements within the image; beyond a stride it refuses the model, as mcugen does."""
    for stride in (3, 2):
        w = Writer(opset=19)
        net = w.node(kind, [w.input([1, 1, 2])], kernel_shape=[4], strides=[stride], auto_pad=auto_pad, **more)
        value = helper.make_tensor_value_info(net, TensorProto.FLOAT, None)
        graph = helper.make_graph(w.nodes, "g", w.inputs, [value])
        path = write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), tmp_path)
        if stride == 2:
            with pytest.raises(ShapeError):
                read.load(path, registry.load())
            continue
        loaded = read.load(path, registry.load())
        got = interpreter.run(loaded, [np.float32([[[-1.0, -3.0]]])], "ort")[loaded.outputs[0]]
        assert got.tolist() == [[[wanted]]]

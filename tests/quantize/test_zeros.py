# SPDX-License-Identifier: Apache-2.0
"""Tensors that are 0 for all samples, such as the first state of an unrolled recurrent layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from mcugen import pipeline
from mcugen.cli import cli
from mcugen.errors import NoKernelError, QuantizationError
from mcugen.options import Options

COMMON, TINY = 0.3, 1e-6


def recurrent(path: Path, gain: float) -> Path:
    """A step of a gated layer whose state is 0: y = z * h + (x W + (z * h) R), z = sigmoid(x W)."""
    rng = np.random.default_rng(0)
    w, r = (rng.standard_normal((4, 4)).astype(np.float32) * np.float32(g) for g in (gain, 1.0))
    steps = [
        ("MatMul", ["x", "w"], "a"),
        ("Sigmoid", ["a"], "z"),
        ("Mul", ["z", "h"], "k"),
        ("MatMul", ["k", "r"], "kr"),
        ("Add", ["a", "kr"], "s"),
        ("Add", ["k", "s"], "y"),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", "y")]
    constants = {"w": w, "r": r, "h": np.zeros((1, 4), np.float32)}
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, [output]) for kind, inputs, output in steps],
        "recurrent",
        values[:1],
        values[1:],
        [numpy_helper.from_array(data, name) for name, data in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    np.savez(path.with_suffix(".npz"), x=rng.standard_normal((8, 4)).astype(np.float32))
    return path


def command(model: Path, file: Path) -> list[str]:
    data = str(model.with_suffix(".npz"))
    return ["quantize", str(model), "--data", data, "-o", str(file), "--method", "min-max", "--jobs", "1"]


@pytest.mark.parametrize("gain", [COMMON, TINY])
def test_zeros_have_the_scale_of_what_is_computed_from_them(tmp_path: Path, gain: float) -> None:
    file = tmp_path / "net.tflite"
    result = CliRunner().invoke(cli, command(recurrent(tmp_path / "net.onnx", gain), file))
    assert result.exit_code == 0, result.output
    graph = pipeline.inspect(file, Options()).imported
    for node in graph.nodes:
        if "ADD" in node.source:
            scales = [graph.type(str(name)).scale for name in (*node.inputs, *node.outputs)]
            assert max(scales) <= 4 * min(scales)


def test_what_cannot_be_built_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(path: Path, options: Options) -> None:
        raise NoKernelError("operator 4 ADD has no kernel")

    model, file = recurrent(tmp_path / "net.onnx", COMMON), tmp_path / "net.tflite"
    monkeypatch.setattr(pipeline, "inspect", refuses)
    result = CliRunner().invoke(cli, command(model, file))
    assert isinstance(result.exception, QuantizationError)
    assert "operator 4 ADD has no kernel" in str(result.exception)
    assert not file.exists()

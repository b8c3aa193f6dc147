# SPDX-License-Identifier: Apache-2.0
"""Data without any spread give what ONNX Runtime gives, where the functions of ONNX give something else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import mcugen
from mcugen.oracle import interpreter
from mcugen.verify import host
from mcugen.verify.cases import Case
from tests.formats.onnx_models import Writer, write


def dynamic(shape: tuple[int, ...]) -> onnx.ModelProto:
    w = Writer()
    return w.model(*w.node("DynamicQuantizeLinear", [w.input(shape)], results=3))


def normalized(shape: tuple[int, ...]) -> onnx.ModelProto:
    w = Writer()
    model = w.model(w.node("MeanVarianceNormalization", [w.input(shape)], axes=[1]))
    model.opset_import[0].CopyFrom(helper.make_opsetid("", 13))
    return model


def agrees(model: onnx.ModelProto, x: np.ndarray, folder: Path) -> list[np.ndarray]:
    """The oracle's results, with which the C and all witnesses agree."""
    artifact = mcugen.compile(write(model, folder))
    assert host.verify(artifact, [Case("given", [x])]).agrees
    values = interpreter.run(artifact.imported, [x], "ort")
    return [values[name] for name in artifact.imported.outputs]


@pytest.mark.parametrize("shape", [(1, 4), (2, 3, 2)])
def test_zeros_have_the_scale_one(shape: tuple[int, ...], tmp_path: Path) -> None:
    y, scale, zero = agrees(dynamic(shape), np.zeros(shape, np.float32), tmp_path)
    assert (scale, zero, y.any(), y.dtype, y.shape) == (1.0, 0, False, np.uint8, shape)


@pytest.mark.parametrize("low", [-1.0, 0.5])
def test_the_range_of_the_data_holds_zero(low: float, tmp_path: Path) -> None:
    x = np.linspace(low, 2.0, 12, dtype=np.float32).reshape(1, 12)
    y, scale, zero = agrees(dynamic(x.shape), x, tmp_path)
    assert scale == np.float32(2.0 - min(low, 0.0)) / np.float32(255)
    assert zero == round(-min(low, 0.0) / float(scale))
    assert np.abs((y - np.float32(zero)) * scale - x).max() <= 0.51 * scale


def test_equal_elements_have_no_deviation_to_divide_by(tmp_path: Path) -> None:
    x = np.float32([[0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 2.0, 2.0]])
    (y,) = agrees(normalized(x.shape), x, tmp_path)
    assert np.isnan(y[0]).all()
    assert y[1].tolist() == [-1.0, -1.0, 1.0, 1.0]

"""Sizes that the C parameter structs cannot hold are refused, not cut off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.errors import UnsupportedError
from tests.support.tflite_writer import ModelWriter


def _convolution(width: int) -> bytes:
    model = ModelWriter()
    x = model.tensor("x", (1, 1, width, 1), "s8", scale=0.5)
    w = model.tensor("w", (2, 1, 3, 1), "s8", scale=[0.5, 0.25], zero_point=[0, 0], data=np.ones((2, 1, 3, 1), np.int8))
    b = model.tensor("b", (2,), "s32", data=np.zeros(2, np.int32))
    y = model.tensor("y", (1, 1, width, 2), "s8", scale=1.0)
    model.op("CONV_2D", [x, w, b], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    return model.build([x], [y])


def test_the_widest_row_builds(tmp_path: Path) -> None:
    (tmp_path / "wide.tflite").write_bytes(_convolution(65535))
    assert b".in_w = 65535" in mcugen.compile(tmp_path / "wide.tflite").files["wide.c"]


def test_a_wider_row_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "wide.tflite").write_bytes(_convolution(65536))
    with pytest.raises(UnsupportedError, match=r"operator 0 CONV_2D: .*65536"):
        mcugen.compile(tmp_path / "wide.tflite")


@pytest.mark.parametrize(("outputs", "inputs"), [(1, 65536), (65536, 1)])
def test_a_transposed_convolution_of_more_channels_is_refused_by_name(
    outputs: int, inputs: int, tmp_path: Path
) -> None:
    model, shape = ModelWriter(), (outputs, 1, 1, inputs)
    x = model.tensor("x", (1, 1, 1, inputs), "s8", scale=0.5)
    w = model.tensor("w", shape, "s8", scale=0.5, data=np.ones(shape, np.int8))
    size = model.tensor("size", (4,), "s32", data=np.array([1, 1, 1, outputs], np.int32))
    y = model.tensor("y", (1, 1, 1, outputs), "s8", scale=1.0)
    model.op("TRANSPOSE_CONV", [size, w, x], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    (tmp_path / "deep.tflite").write_bytes(model.build([x], [y]))
    with pytest.raises(UnsupportedError, match=r"operator 0 TRANSPOSE_CONV: .*65536.*65535 channels"):
        mcugen.compile(tmp_path / "deep.tflite")

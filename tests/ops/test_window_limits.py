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

# SPDX-License-Identifier: Apache-2.0
"""The header of a model with pushed rows names the input that is pushed, and the inputs that are not read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mcugen
from tests.support.tflite_writer import ModelWriter


def test_the_header_names_the_pushed_input_beside_one_that_is_not_read(tmp_path: Path) -> None:
    m = ModelWriter()
    quant = {"scale": 0.05, "zero_point": 3}
    idle = m.tensor("idle", (1, 4), "s8", **quant)
    x = m.tensor("picture", (1, 9, 5, 3), "s8", **quant)
    weights = np.random.default_rng(1).integers(-127, 127, (8, 3, 3, 3))
    w = m.tensor("w", weights.shape, "s8", scale=0.01, data=weights)
    y = m.tensor("y", (1, 9, 5, 8), "s8", **quant)
    m.op("CONV_2D", [x, w, -1], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    path = tmp_path / "net.tflite"
    path.write_bytes(m.build([idle, x], [y]))
    header = mcugen.compile(path, input_mode="rows").files["net.h"].decode()
    assert "Adds the next row of the input 'picture'" in header
    idle_line, picture_line = (line for line in header.splitlines() if line.startswith("/* Input "))
    assert idle_line.startswith("/* Input 'idle'")
    assert idle_line.endswith("; not read at run time. */")
    assert "not read" not in picture_line

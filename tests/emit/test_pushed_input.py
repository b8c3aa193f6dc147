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


def test_comments_of_a_model_fed_frames_fit_and_speak_of_frames() -> None:
    sweeps = Path(__file__).resolve().parents[2] / "examples" / "microphone" / "sweeps.tflite"
    files = mcugen.compile(sweeps, input_mode="frames", weights_blob=True).files
    header, example = files["sweeps.h"].decode(), files["examples/main.c"].decode()
    assert "Adds the newest frame of the input" in header and max(map(len, header.splitlines())) <= 120
    assert "a model that has no block yet must not run" in " ".join(header.replace("\n *", " ").split())
    files = mcugen.compile(sweeps, input_mode="frames", weights_blob=True, export=("arduino", "cpp")).files
    sketch = files["examples/sweeps/sweeps.ino"].decode()
    for text, otherwise in ((example, "return 1;"), (sketch, "for (;;) { }")):
        assert f"if (sweeps_load(&model, sweeps_blob, sizeof sweeps_blob) != 0) {{\n        {otherwise}" in text
        assert "put your data here, frame by frame" in text and "row" not in text.partition("*/")[2]
    assert "put your data here, frame by frame" in files["examples/main.cpp"].decode()

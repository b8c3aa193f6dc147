# SPDX-License-Identifier: Apache-2.0
"""A dense layer behind an image takes its rows as they come, so that the image need not be in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

SIZE, CHANNELS = 12, 16


def write_network(path: Path, outputs: int) -> Path:
    """A 3x3 convolution, and a dense layer on all its results."""
    m, rng, taps = ModelWriter(), np.random.default_rng(outputs), SIZE * SIZE * CHANNELS
    x = m.tensor("x", (1, SIZE, SIZE, 2), "s8", scale=0.1, zero_point=-3)
    w = m.tensor("w", (CHANNELS, 3, 3, 2), "s8", scale=0.01, data=rng.integers(-127, 127, (CHANNELS, 3, 3, 2)))
    b = m.tensor("b", (CHANNELS,), "s32", scale=0.001, data=np.zeros(CHANNELS))
    y = m.tensor("y", (1, SIZE, SIZE, CHANNELS), "s8", scale=0.1, zero_point=-128)
    window = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "fused_activation_function": "RELU"}
    m.op("CONV_2D", [x, w, b], [y], window)
    flat = m.tensor("flat", (1, taps), "s8", scale=0.1, zero_point=-128)
    m.op("RESHAPE", [y], [flat], {"new_shape": (1, taps)})
    v = m.tensor("v", (outputs, taps), "s8", scale=0.01, data=rng.integers(-127, 127, (outputs, taps)))
    c = m.tensor("c", (outputs,), "s32", scale=0.001, data=rng.integers(-9000, 9000, outputs))
    z = m.tensor("z", (1, outputs), "s8", scale=5.0, zero_point=1)
    m.op("FULLY_CONNECTED", [flat, v, c], [z], {})
    path.write_bytes(m.build([x], [z]))
    return path


@pytest.mark.parametrize("outputs", [4, 6])
def test_the_image_is_never_whole_in_memory(tmp_path: Path, outputs: int) -> None:
    made = mcugen.compile(write_network(tmp_path / "net.tflite", outputs), optimize="ram", board="cortex-m4")
    assert made.schedule.steps[-1].choice.kernel.symbol == "mg_fully_connected_s8_rows"
    assert made.report.ram_bytes < SIZE * SIZE * CHANNELS / 2
    some = list(cases(made.imported, 2))[:5]
    assert host.verify(made, some).exact and emulated.simulate(made, some[:2]).agrees


def test_time_alone_keeps_the_faster_kernel(tmp_path: Path) -> None:
    made = mcugen.compile(write_network(tmp_path / "net.tflite", 4), optimize="speed", board="cortex-m4")
    assert made.schedule.steps[-1].choice.kernel.symbol != "mg_fully_connected_s8_rows"

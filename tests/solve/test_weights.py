# SPDX-License-Identifier: Apache-2.0
"""Kernels are chosen by what the constants' memory costs: narrow weights where reads of them wait."""

from __future__ import annotations

from typing import Any

import pytest

import mcugen
from mcugen.boards import target
from mcugen.options import Options
from mcugen.solve import costs
from mcugen.solve.schedule import Choice
from mcugen.solve.weights import waits_per_byte
from tests.emit.built import ROOT

SHAPES = ROOT / "examples/camera/shapes.tflite"


@pytest.mark.parametrize(
    ("board", "choices", "expected"),
    [
        ("cortex-m4", {}, None),
        ("nrf52840-dk", {}, None),
        ("stm32f746-disco", {}, None),
        ("nucleo-l4r5zi", {}, 0.0),
        ("nucleo-l4r5zi", {"weights_in": "auto"}, 0.0),
        ("nucleo-l4r5zi", {"weights_in": "sram=64K"}, 0.0),
        ("nucleo-l4r5zi", {"weights_in": "none"}, 5 / 8 / 2),
        ("nucleo-l4r5zi", {"weights_in": "flash=300K"}, 5 / 8 / 2),
        ("nucleo-l4r5zi", {"ram": "200K"}, 5 / 8 / 2),
        ("nucleo-l4r5zi", {"optimize": "balanced"}, 5 / 8 / 2),
        ("stm32f4-disco", {"weights_in": "none"}, 5 / 16 / 2),
        ("nucleo-u575zi", {"weights_in": "none"}, (4 + 16 / 4 - 1) / 16 / 2),
        ("apollo510-evb", {"optimize": "balanced"}, (32 / 1.6 - 1) / 32 / 2),
        ("apollo510-evb", {}, 0.0),
        ("nucleo-h743zi", {"weights_in": "axi_sram=64K"}, (32 / 4 - 1) / 32 / 2),
    ],
)
def test_a_byte_waits_its_share_of_a_line(board: str, choices: dict[str, Any], expected: float | None) -> None:
    options = Options(**{"board": board, "optimize": "speed", **choices})
    assert waits_per_byte(options, target.load(board)) == expected


def test_weights_are_read_for_each_block_of_pixels() -> None:
    artifact = mcugen.compile(SHAPES, board="cortex-m4", name="model")
    found: dict[str, tuple[Choice, float]] = {}
    for step in artifact.schedule.steps:
        found[type(step.choice.call.op).__name__] = step.choice, costs.constant_reads(step.choice)
    full, reads = found["FullyConnected"]
    assert reads == full.constant_bytes
    convolution, reads = found["Conv2D"]
    pixels = convolution.call.output.size // convolution.call.output.shape[-1]
    assert reads == pytest.approx(convolution.constant_bytes * pixels / 3)
    kept = costs.constant_reads(convolution, convolution.constant_bytes)
    assert kept == convolution.constant_bytes < reads == costs.constant_reads(convolution, kept - 1)
    pool, reads = found["MaxPool2D"]
    assert reads == pool.constant_bytes


def test_speed_takes_narrow_weights_where_they_wait() -> None:
    made = [
        mcugen.compile(
            SHAPES,
            board="nucleo-l4r5zi",
            optimize="speed",
            weights_in=where,
            features="-multiple_loads",
            name="model",
        )
        for where in ("auto", "none")
    ]
    moved, waiting = (a.schedule.steps for a in made)
    assert any(step.choice.kernel.widened for step in moved)
    assert not any(step.choice.kernel.widened for step in waiting)
    assert made[1].report.weights_bytes < 0.7 * made[0].report.weights_bytes

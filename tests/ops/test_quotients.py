# SPDX-License-Identifier: Apache-2.0
"""Quotients far below a step of the result, as LiteRT and TFLM compute them on processors of 64 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mcugen.oracle.interpreter
from mcugen.formats import read, registry
from tests.support.tflite_writer import ModelWriter

PAIRS = (
    (0, -96),
    (1, -50),
    (-99, -96),
    (99, 1),
    (5, 3),
    (-5, 60),
    (100, 159),
    (-1, 1),
    (20, -20),
    (-60, -7),
    (156, -1),
)
RECORDED = (80, 0, 255, 90, 255, 0, 255, 0, 0, 80, 62)
"""Results of LiteRT 2 on x86-64 for pairs of a dividend and a divisor, without zero points."""


def test_small_quotients_are_those_of_the_runtime(tmp_path: Path) -> None:
    m = ModelWriter()
    shape = (1, len(PAIRS))
    a = m.tensor("a", shape, "u8", scale=0.005471156444400549, zero_point=99)
    b = m.tensor("b", shape, "u8", scale=0.47842735052108765, zero_point=96)
    y = m.tensor("y", shape, "u8", scale=0.10723870247602463, zero_point=79)
    m.op("DIV", [a, b], [y], {"fused_activation_function": "NONE"})
    path = tmp_path / "net.tflite"
    path.write_bytes(m.build([a, b], [y]))
    graph = read.load(path, registry.load())
    inputs = [np.array([column], np.uint8) + np.uint8(zero) for column, zero in zip(_columns(), (99, 96), strict=True)]
    for runtime in ("litert", "tflm"):
        assert mcugen.oracle.interpreter.run(graph, inputs, runtime)[graph.outputs[0]].tolist() == [list(RECORDED)]
    found = mcugen.load(path, reference="litert").run(*inputs)
    assert np.array_equal(np.reshape(found, -1), RECORDED)


def _columns() -> list[list[int]]:
    """Dividends and divisors, as bytes that wrap."""
    return [[value % 256 for value in column] for column in zip(*PAIRS, strict=True)]

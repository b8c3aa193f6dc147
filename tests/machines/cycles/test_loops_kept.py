# SPDX-License-Identifier: Apache-2.0
"""Loops of kernels stay within the code that a board with flash wait states caches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.machines.toolchain.count import Counts
from mcugen.verify import emulated
from mcugen.verify.cases import cases
from tests.support.tflite_writer import ModelWriter

MOST_LINES = 0.02
"""Lines read for an instruction; code that is not kept reads one for every two to four."""


def layers() -> bytes:
    """A 3x3 and a 1x1 convolution and a fully connected layer, each with more taps than a short loop has."""
    rng = np.random.default_rng(3)
    m = ModelWriter()
    x = m.tensor("x", (1, 6, 6, 16), "s8", scale=0.05)
    ends = [x, *(m.tensor(f"y{k}", (1, 6, 6, 64), "s8", scale=0.05) for k in range(2))]
    for k, size in enumerate((3, 1)):
        shape = (64, size, size, (16, 64)[k])
        data = rng.integers(-127, 128, shape)
        weights = m.tensor(f"w{k}", shape, "s8", scale=(0.001,) * 64, data=data)
        m.op("CONV_2D", [ends[k], weights], [ends[k + 1]], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    weights = m.tensor("v", (16, 2304), "s8", scale=0.001, data=rng.integers(-127, 128, (16, 2304)))
    y = m.tensor("y", (1, 16), "s8", scale=0.05)
    m.op("FULLY_CONNECTED", [ends[2], weights], [y])
    return m.build([x], [y])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("goal", ["speed", "balanced"])
def test_no_step_reads_its_loops_from_flash_again(goal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Counts] = []
    estimates = emulated._estimates
    monkeypatch.setattr(emulated, "_estimates", lambda b, x, counts: seen.append(counts) or estimates(b, x, counts))
    (tmp_path / "m.tflite").write_bytes(layers())
    artifact = mcugen.compile(tmp_path / "m.tflite", board="nucleo-l4r5zi", optimize=goal)
    ran = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    assert ran.agrees and [step.op for step in ran.steps if step.macs] == ["Conv2D", "Conv2D", "FullyConnected"]
    for step in ran.steps:
        lines = seen[0].fetches[step.index].code_lines if step.macs else 0
        assert lines < MOST_LINES * max(step.instructions, 1), f"{step}: {lines} lines"

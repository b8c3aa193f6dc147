# SPDX-License-Identifier: Apache-2.0
"""Quantized ONNX models with scales at the ends of float32: results are those of the oracle, or refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
import mcugen.oracle.interpreter
from mcugen.errors import InternalError, McugenError
from mcugen.verify import checks
from tests.rounding import extreme

FINE = {
    "qdq_matmul": 1e-11,
    "qdq_conv_relu": 1e-10,
    "qdq_add_u8": 1e-11,
    "qdq_conv_depthwise": 1e-9,
    "qdq_batch_norm": 1e-9,
}
"""Models, with a scale of the result at which its 64 bit quotients leave 32 bits."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FINE)
def test_results_beyond_32_bits_are_clamped_in_c(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    writer = extreme.Extreme(5, at=2 if name == "qdq_add_u8" else 1, scale=FINE[name])
    path.write_bytes(writer.model(extreme.BUILDS[name](writer)).SerializeToString())
    assert checks.verify(mcugen.compile(path), 2, None, None, lambda text: None).agrees


def test_any_scale_is_computed_or_refused_by_name(tmp_path: Path) -> None:
    path, ran, refused = tmp_path / "net.onnx", 0, 0
    for what, content, inputs in extreme.models(1, 24):
        path.write_bytes(content)
        try:
            artifact = mcugen.compile(path)
            with np.errstate(all="ignore"):
                mcugen.oracle.interpreter.run(artifact.graph, inputs, "ort")
            ran += 1
        except McugenError as error:
            assert not isinstance(error, InternalError), what
            refused += 1
    assert ran > 10 and refused > 5

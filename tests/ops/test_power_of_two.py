# SPDX-License-Identifier: Apache-2.0
"""Sums of int16 with power-of-two scales that LiteRT does not shift are known to have no bits of LiteRT."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcugen
from tests.support.tflite_writer import ModelWriter


@pytest.mark.parametrize("kind", ["ADD", "SUB"])
@pytest.mark.parametrize(("result", "runs"), [(8, True), (9, False), (7, False), (8.5, True)])
def test_litert_wants_the_scale_of_the_larger_operand(kind: str, result: float, runs: bool, tmp_path: Path) -> None:
    m = ModelWriter()
    a, b, y = (m.tensor(n, (1, 4), "s16", scale=2.0**-e, zero_point=0) for n, e in (("a", 9), ("b", 8), ("y", result)))
    m.op(kind, [a, b], [y], {"fused_activation_function": "NONE", "pot_scale_int16": True})
    (tmp_path / "net.tflite").write_bytes(m.build([a, b], [y]))
    built = mcugen.compile(tmp_path / "net.tflite", reference="litert")
    reasons = built.imported.refusals["litert"]
    assert [*map(str, reasons)] == [] if runs else f"operator 0 {kind}: no kernel for int16" in reasons[0]
    assert built.view.reference == ("litert" if runs else "tflm")

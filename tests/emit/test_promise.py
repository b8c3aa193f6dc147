# SPDX-License-Identifier: Apache-2.0
"""Promises of outputs: nothing behind a float is called equal in its bits."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcugen
from mcugen.emit.promise import Promise
from mcugen.pipeline import Artifact
from mcugen.verify import check_report, checks
from tests.support.tflite_writer import ModelWriter

SCALE = {"scale": 0.0625, "zero_point": 3}


def tflite(tmp_path: Path, *outputs: str, **options: str) -> Artifact:
    """An int8 model with an output of integers, of floats, and of integers behind a float function, as asked."""
    m = ModelWriter()
    x, pooled = m.tensor("x", (1, 4, 4, 2), "s8", **SCALE), m.tensor("pooled", (1, 2, 2, 2), "s8", **SCALE)
    shape = {"stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2, "padding": "VALID"}
    m.op("MAX_POOL_2D", [x], [pooled], shape)
    real, bent = m.tensor("real", (1, 2, 2, 2), "f32"), m.tensor("bent", (1, 2, 2, 2), "f32")
    stored = m.tensor("stored", (1, 2, 2, 2), "s8", scale=1 / 128, zero_point=0)
    m.op("DEQUANTIZE", [pooled], [real])
    m.op("TANH", [real], [bent])
    m.op("QUANTIZE", [bent], [stored])
    ends = {"pooled": pooled, "bent": bent, "stored": stored}
    (tmp_path / "m.tflite").write_bytes(m.build([x], [ends[name] for name in outputs]))
    return mcugen.compile(tmp_path / "m.tflite", **options)


@pytest.mark.parametrize("reference", ["tflm", "litert"])
def test_integers_behind_floats_are_not_called_equal(reference: str, tmp_path: Path) -> None:
    artifact = tflite(tmp_path, "stored", reference=reference)
    header = artifact.files["m.h"].decode()
    assert artifact.view.promises == [Promise.FROM_NEAR]
    assert "bits" not in artifact.report.promise and "integers from floats within 1e-5 of" in artifact.report.promise
    assert "Computes the bits" not in header and "Computes integers from floats" in header


def test_each_output_gets_its_own_word(tmp_path: Path) -> None:
    artifact = tflite(tmp_path, "pooled", "bent", "stored", export=("rust",))
    assert artifact.view.promises == [Promise.BITS, Promise.NEAR, Promise.FROM_NEAR]
    words = " ".join(artifact.files["m.h"].decode().replace("\n * ", " ").split())
    for text in (words, artifact.report.promise):
        assert "for 'pooled': the bits of TensorFlow Lite Micro; for 'bent': results within 1e-5 of" in text
        assert "for 'stored': integers from floats within 1e-5 of" in text
    assert max(map(len, artifact.files["m.h"].decode().splitlines())) <= 120
    for path in ("rust/lib.rs", "report.html"):
        assert "integers from floats within 1e-5 of" in artifact.files[path].decode()
    said = check_report.verify_text(checks.verify(artifact, 1, None, None, lambda text: None)).splitlines()[0]
    assert "OK" in said and "for 'pooled': the bits of TFLM" in said


def test_floats_in_tables_are_exact() -> None:
    shapes = Path(__file__).resolve().parents[2] / "examples/camera/shapes.tflite"
    words = "rgb565(36x32),crop=32,gray,scale=1/255"
    found = {no: mcugen.compile(shapes, preprocess=words, no_simplify=no).report.promise for no in (False, True)}
    assert found[False] == "Computes the bits of TensorFlow Lite Micro." and "within 1e-5" in found[True]


def test_integers_alone_are_equal(tmp_path: Path) -> None:
    artifact = tflite(tmp_path, "pooled")
    assert artifact.report.promise == "Computes the bits of TensorFlow Lite Micro."
    said = check_report.verify_text(checks.verify(artifact, 1, None, None, lambda text: None))
    assert said.startswith("m: OK (bits of TFLM)\n")

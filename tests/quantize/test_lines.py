"""Running sums and resizings along an axis become products with constant matrices, in either format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen.ops.fully_connected import FullyConnected
from mcugen.quantize import float_model, quantize_model, walk
from mcugen.quantize.cross_validation import outputs_of
from tests.formats.onnx_models import Writer, write


def _summed(w: Writer, x: str, **attributes: int) -> str:
    return w.node("CumSum", [x, w.constant(np.array(2, np.int64))], **attributes)


def _resized(w: Writer, x: str, mode: str, places: str) -> str:
    scales = w.constant(np.array([1, 1, 2, 1.5], np.float32))
    attributes = {"mode": mode, "coordinate_transformation_mode": places, "nearest_mode": "floor"}
    return w.node("Resize", [x, "", scales], **attributes)


_CASES = {
    "sum": (lambda w, x: _summed(w, x), 1),
    "exclusive sum from the end": (lambda w, x: _summed(w, x, exclusive=1, reverse=1), 1),
    "linear": (lambda w, x: _resized(w, x, "linear", "half_pixel"), 2),
    "linear, corners": (lambda w, x: _resized(w, x, "linear", "align_corners"), 2),
    "cubic": (lambda w, x: _resized(w, x, "cubic", "half_pixel"), 2),
}


@pytest.mark.parametrize("file_format", ["tflite", "onnx"])
@pytest.mark.parametrize("name", _CASES)
def test_lines_are_multiplied_with_a_matrix(name: str, file_format: str, tmp_path: Path) -> None:
    make, count = _CASES[name]
    w = Writer()
    model = write(w.model(make(w, w.input((1, 3, 8, 6)))), tmp_path)
    x = np.random.default_rng(1).standard_normal((16, 3, 8, 6)).astype(np.float32)
    np.savez(tmp_path / "calib.npz", input0=x)
    choices = quantize_model.QuantizeOptions(method="min-max", file_format=file_format)
    found = quantize_model.quantize(model, tmp_path / "calib.npz", choices)
    assert sum(isinstance(node.op, FullyConnected) for node in found.graph.nodes) == count
    floats = found.floats.outputs()[0]
    wanted = walk.outputs(float_model.load(model), "ort", [found.floats.given()[0]])[0]
    np.testing.assert_allclose(floats, wanted, rtol=1e-5, atol=1e-5)
    error = outputs_of(found.floats, found.graph)[0] - floats
    assert 10 * np.log10((floats**2).sum() / (error**2).sum()) > 34
    assert len(found.written(file_format)) > 500

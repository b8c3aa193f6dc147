"""Weights of float16: half the file, the values of the rounded network, and float32 where it is asked for or needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import numpy_helper

from mcugen.cli import cli
from mcugen.errors import UsageError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from mcugen.quantize import half, quantize_model
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.float_values import FloatRun
from mcugen.system.tabular import text_of
from tests.quantize.test_quantize import network, samples


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return network(tmp_path / "net.onnx"), samples(tmp_path / "calib.npz", 6)


@pytest.mark.parametrize("suffix", ["tflite", "onnx"])
def test_written_file_computes_with_the_rounded_weights(files: tuple[Path, Path], tmp_path: Path, suffix: str) -> None:
    found = half.quantize(*files, quantize_model.QuantizeOptions(), test=files[1])
    assert 60 < found.sqnr < 100
    assert found.score is not None
    assert found.score.sqnr == found.sqnr
    path = tmp_path / f"half.{suffix}"
    path.write_bytes(found.written(suffix))
    graph = read.load(path, registry.load(()))
    given = np.load(files[1])["x"]
    wanted = outputs_of(FloatRun(found.graph, "tflm", (given[:, None],)), found.graph)[0]
    got = [interpreter.run(graph, [x[None]], "tflm")[graph.outputs[0]] for x in given]
    np.testing.assert_allclose(np.stack(got), wanted, atol=1e-5)


def test_weights_take_half_and_are_numbers_of_float16(files: tuple[Path, Path]) -> None:
    found = half.quantize(*files, quantize_model.QuantizeOptions())
    model = onnx.load_from_string(found.written("onnx"))
    constants = {c.name: numpy_helper.to_array(c) for c in model.graph.initializer}
    weights = [c for c in constants.values() if c.dtype == np.float16]
    assert sorted(w.size for w in weights) == [60, 72, 96, 216]
    assert found.before - found.after == sum(w.nbytes for w in weights)
    assert all(c.ndim < 2 for c in constants.values() if c.dtype == np.float32)
    assert len(found.written("tflite")) < 4000


def test_single_layers_keep_float32(files: tuple[Path, Path]) -> None:
    found = half.quantize(*files, quantize_model.QuantizeOptions(layers=("r1=w32", "y=w32", "y=w16")))
    assert found.wide == ("r1",)
    assert "float32: 1 of 4 layers: r1" in text_of(half.as_parts(found, "f", 1))
    wide, all_narrow = found, half.quantize(*files, quantize_model.QuantizeOptions())
    assert wide.after == all_narrow.after + 72 * 2


def test_weights_beyond_float16_stay_as_they_are(files: tuple[Path, Path]) -> None:
    model = onnx.load(files[0])
    for c in model.graph.initializer:
        if c.name == "w2":
            c.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(c) * np.float32(1e6), "w2"))
    onnx.save(model, files[0])
    found = half.quantize(*files, quantize_model.QuantizeOptions())
    assert found.wide == ("r2",)
    assert any("r2 stays in float32" in note and "65504" in note for note in found.notes)


def test_bits_of_integers_are_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="'r1=w4' does not end in =w16 or =w32"):
        half.quantize(*files, quantize_model.QuantizeOptions(layers=("r1=w4",)))


@pytest.mark.parametrize("flags", [["--activations", "16"], ["--report", "p.html"], ["--io", "int8"], ["--front"]])
def test_options_of_integers_are_refused(files: tuple[Path, Path], tmp_path: Path, flags: list[str]) -> None:
    made = tmp_path / "out.tflite"
    given = [str(files[0]), "--data", str(files[1]), "--weights", "float16", "-o", str(made)]
    result = CliRunner().invoke(cli, ["quantize", *given, *flags])
    assert isinstance(result.exception, UsageError)
    assert flags[0] in str(result.exception)
    assert not made.exists()
    assert CliRunner().invoke(cli, ["quantize", *given, "--io", "float", "--json"]).exit_code == 0
    assert made.stat().st_size < 4000

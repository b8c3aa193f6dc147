"""A float NNEF model is quantized like its .onnx counterpart: folder or archive, to either format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from mcugen.errors import UsageError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from mcugen.quantize import quantize_model
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.stored_integers import stored_inputs, to_real
from tests.formats import nnef_models
from tests.quantize.test_quantize import SHAPE, network, samples

BODY = """c0 = conv(x, w0, padding = [(1, 1), (1, 1)]);
    r0 = relu(c0);
    c1 = conv(r0, w1, padding = [(1, 1), (1, 1)], groups = 0);
    r1 = relu(c1);
    c2 = conv(r1, w2);
    r2 = relu(c2);
    g = mean_reduce(r2, axes = [2, 3]);
    f = reshape(g, shape = [1, 12]);
    y = linear(f, w3);"""
ASKED = quantize_model.QuantizeOptions(jobs=1, limit=12)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The .onnx file, the NNEF folder, and samples."""
    folder = tmp_path_factory.mktemp("nnef")
    file = network(folder / "net.onnx")
    weights = {c.name: numpy_helper.to_array(c) for c in onnx.load(file).graph.initializer}
    files = nnef_models.model(BODY, weights, shape=SHAPE)
    (folder / "net.nnef.tar").write_bytes(nnef_models.tar(files))
    return file, nnef_models.write(files, folder / "net"), samples(folder / "calib.npz", 12)


@pytest.mark.whole
def test_same_integers_as_from_onnx(twins: tuple[Path, Path, Path], tmp_path: Path) -> None:
    file, folder, data = twins
    found, twin = (quantize_model.quantize(path, data, ASKED) for path in (folder, file))
    assert found.judged.trials == twin.judged.trials
    wanted = outputs_of(found.floats, found.graph)[0]
    np.testing.assert_array_equal(wanted, outputs_of(twin.floats, twin.graph)[0])
    path = tmp_path / "made.tflite"
    path.write_bytes(found.written("tflite"))
    graph = read.load(path, registry.load(()))
    given = stored_inputs(found.graph, found.floats.given())[0]
    name = graph.outputs[0]
    got = [to_real(interpreter.run(graph, [x], "tflm")[name], graph.type(name)) for x in given]
    np.testing.assert_array_equal(np.stack(got).reshape(wanted.shape), wanted)


@pytest.mark.parametrize("suffix", ["tflite", "onnx"])
def test_archive_gives_what_its_folder_gives(twins: tuple[Path, Path, Path], suffix: str) -> None:
    _, folder, data = twins
    plain = quantize_model.QuantizeOptions(jobs=1, method="min-max")
    assert len(quantize_model.quantize(folder, data, plain).written(suffix)) > 500
    archived = quantize_model.quantize(folder.with_name("net.nnef.tar"), data, plain)
    one, other = quantize_model.quantize(folder, data, plain).graph, archived.graph
    assert [n.op for n in one.nodes] == [n.op for n in other.nodes]
    assert {t.type for t in one.tensors.values()} == {t.type for t in other.tensors.values()}


def test_integers_of_nnef_are_refused(twins: tuple[Path, Path, Path], tmp_path: Path) -> None:
    folder = nnef_models.write(nnef_models.small(), tmp_path / "small")
    with pytest.raises(UsageError, match="small is quantized already: 'x' is s8"):
        quantize_model.quantize(folder, twins[2], ASKED)

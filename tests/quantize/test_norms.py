"""Normalizations become one integer operator, however they are written, and come back from an .onnx as that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mcugen import passes
from mcugen.errors import McugenError, UnsupportedError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.ops.normalization import Normalization
from mcugen.oracle import interpreter
from mcugen.quantize import float_model, quantize_model, walk
from mcugen.quantize.cross_validation import outputs_of
from tests.formats.onnx_models import Writer, write

Make = Callable[[Writer, str], str]
_ROWS, _IMAGE = (1, 6, 24), (1, 8, 5, 4)
_EPSILON = np.float32(1e-5)


def _lines(w: Writer, *shape: int) -> list[str]:
    return [w.constant(w.rng.normal(mean, 0.4, shape).astype(np.float32)) for mean in (1, 0)]


def _operator(name: str, count: int, **attributes: object) -> Make:
    return lambda w, x: w.node(name, [x, *_lines(w, count)[: 1 if name == "RMSNormalization" else 2]], **attributes)


def _groups(groups: int) -> Make:
    return _operator("GroupNormalization", 8, num_groups=groups)


def _alone(name: str, **attributes: object) -> Make:
    return lambda w, x: w.node(name, [x], **attributes)


def _mean(w: Writer, x: str, axes: tuple[int, ...] = (-1,)) -> str:
    return w.node("ReduceMean", [x, w.constant(np.array(axes, np.int64))], keepdims=1)


def _written_out(w: Writer, x: str) -> str:
    """The layer norm that PyTorch exports before opset 17."""
    d = w.node("Sub", [x, _mean(w, x)])
    variance = _mean(w, w.node("Pow", [d, w.constant(np.float32(2))]))
    normal = w.node("Div", [d, w.node("Sqrt", [w.node("Add", [variance, w.constant(_EPSILON)])])])
    gamma, beta = _lines(w, 24)
    return w.node("Add", [w.node("Mul", [normal, gamma]), beta])


def _of_root_mean_square(w: Writer, x: str) -> str:
    """The export of x * rsqrt(mean(x^2) + epsilon) * gamma by PyTorch."""
    square = _mean(w, w.node("Mul", [x, x]))
    root = w.node("Sqrt", [w.node("Add", [square, w.constant(_EPSILON)])])
    inverse = w.node("Reciprocal", [root])
    return w.node("Mul", [_lines(w, 24)[0], w.node("Mul", [x, inverse])])


def _by_length(w: Writer, x: str) -> str:
    """The export of functional.normalize by PyTorch: x / max(|x|, 1e-12)."""
    size = w.node("ReduceL2", [x, w.constant(np.array([-1], np.int64))], keepdims=1)
    return w.node("Div", [x, w.node("Clip", [size, w.constant(np.float32(1e-12))])])


def _skipped(w: Writer, x: str) -> str:
    """The layer norm of 2 x of ONNX Runtime's optimized transformers."""
    y = w.node("SkipLayerNormalization", [x, x, *_lines(w, 24)], epsilon=1e-5)
    w.nodes[-1].domain = "com.microsoft"
    return y


_NORMS: dict[str, tuple[Make, tuple[int, ...], bool]] = {
    "LayerNormalization": (_operator("LayerNormalization", 24), _ROWS, True),
    "layer norm written out": (_written_out, _ROWS, True),
    "RMSNormalization": (_operator("RMSNormalization", 24), _ROWS, False),
    "RMS norm written out": (_of_root_mean_square, _ROWS, False),
    "x / |x| written out": (_by_length, _ROWS, False),
    "LpNormalization": (_alone("LpNormalization", axis=-1, p=2), _ROWS, False),
    "SkipLayerNormalization": (_skipped, _ROWS, True),
    "GroupNormalization": (_groups(4), _IMAGE, True),
    "InstanceNormalization": (_operator("InstanceNormalization", 8), _IMAGE, True),
    "MeanVarianceNormalization": (_alone("MeanVarianceNormalization", axes=[2, 3]), _IMAGE, True),
}


def _quantized(folder: Path, make: Make, shape: tuple[int, ...]) -> quantize_model.Quantized:
    w = Writer(23)
    y = make(w, w.input(shape))
    values = np.random.default_rng(1).normal(0.2, 1, (12, *shape[1:])).astype(np.float32)
    np.savez(folder / "calib.npz", input0=values)
    choices = quantize_model.QuantizeOptions(method="min-max", file_format="onnx")
    return quantize_model.quantize(write(w.model(y), folder), folder / "calib.npz", choices)


def _norms(graph: Graph) -> list[Normalization]:
    return [node.op for node in graph.nodes if isinstance(node.op, Normalization)]


@pytest.mark.parametrize("name", _NORMS)
def test_a_norm_comes_back_from_the_file_as_the_same_integers(name: str, tmp_path: Path) -> None:
    make, shape, centred = _NORMS[name]
    found = _quantized(tmp_path, make, shape)
    assert [op.centred for op in _norms(found.graph)] == [centred]
    float_values = walk.outputs(float_model.load(tmp_path / "net.onnx"), "ort", [found.floats.given()[0]])[0]
    np.testing.assert_allclose(found.floats.outputs()[0], float_values, rtol=1e-4, atol=1e-4)
    (tmp_path / "net.int8.onnx").write_bytes(found.written("onnx"))
    graph = read.load(tmp_path / "net.int8.onnx", registry.load(()))
    assert len(_norms(graph)) == 1
    rng = np.random.default_rng(2)
    for x in (
        rng.integers(-128, 128, shape),
        rng.normal(0, 2, shape),
        np.full(shape, 7),
        np.arange(np.prod(shape)) == 3,
    ):
        stored = np.clip(x, -128, 127).astype(np.int8).reshape(shape)
        wanted = interpreter.run(found.graph, [stored], "tflm")[found.graph.outputs[0]]
        np.testing.assert_array_equal(interpreter.run(graph, [stored], "ort")[graph.outputs[0]], wanted)


def test_a_norm_is_near_the_float_one(tmp_path: Path) -> None:
    found = _quantized(tmp_path, _NORMS["LayerNormalization"][0], _ROWS)
    t, values = found.graph.type(found.graph.outputs[0]), found.floats.outputs()[0]
    q = found.graph.type(found.graph.inputs[0])
    for x, y in zip(found.floats.given()[0], values, strict=True):
        stored = np.clip(np.rint(x / q.scale) + q.zero_point, -128, 127).astype(np.int8)
        given = interpreter.run(found.graph, [stored], "tflm")[found.graph.outputs[0]]
        assert np.abs((given.astype(int) - t.zero_point) * t.scale - y).max() < 2 * t.scale


def test_groups_that_do_not_divide_are_refused(tmp_path: Path) -> None:
    with pytest.raises(McugenError, match="GroupNormalization"):
        _quantized(tmp_path, _groups(3), _IMAGE)


def test_rows_that_are_too_long_are_refused_for_their_length(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="groups of 40000 elements are too long"):
        _quantized(tmp_path, _alone("LpNormalization", axis=-1, p=2), (1, 1, 40000))


def _projected(w: Writer, x: str, spread: float) -> str:
    """A layer norm with gammas from 2^-spread to 2^spread, three layers that read it, and one behind a mean."""
    factor = (2.0 ** w.rng.uniform(-spread, spread, 24)).astype(np.float32)
    norm = w.node("LayerNormalization", [x, w.constant(factor), w.weights(24)])
    weights = [w.constant((w.rng.normal(0, 0.5, (24, 8)) / factor[:, None]).astype(np.float32)) for _ in range(4)]
    a, b, c = (w.node("MatMul", [norm, each]) for each in weights[:3])
    mean = w.node("MatMul", [_mean(w, norm, (1,)), weights[3]])
    return w.node("Add", [w.node("Add", [w.node("Mul", [a, b]), c]), mean])


def test_uneven_gammas_go_into_the_layers_that_read_them(tmp_path: Path) -> None:
    noise = []
    for spread in (0.0, 4.0):
        found = _quantized(tmp_path, lambda w, x, spread=spread: _projected(w, x, spread), _ROWS)
        assert [len(n.inputs) for n in found.graph.nodes if isinstance(n.op, Normalization)] == [1]
        file = float_model.load(tmp_path / "net.onnx")
        x, wanted = found.floats.given()[0], found.floats.outputs()[0]
        floats = walk.outputs(file, "ort", [x])[0]
        np.testing.assert_allclose(wanted, floats, rtol=1e-4, atol=1e-4)
        noise.append(
            10 * np.log10((wanted**2).sum() / ((outputs_of(found.floats, found.graph)[0] - wanted) ** 2).sum())
        )
    assert noise[1] > noise[0] - 1.5 and noise[0] > 25


def test_groups_of_an_image_are_normalized_as_the_image_is_stored(tmp_path: Path) -> None:
    """Channels last, though the file has them first: only the model's input and output are transposed."""

    def make(w: Writer, x: str) -> str:
        y = _operator("GroupNormalization", 8, num_groups=4)(w, w.node("Conv", [x, w.weights(8, 3, 1, 1)]))
        return w.node("Conv", [w.node("Relu", [y]), w.weights(4, 8, 1, 1)])

    (tmp_path / "net.int8.onnx").write_bytes(_quantized(tmp_path, make, (1, 3, 5, 4)).written("onnx"))
    graph = passes.run(read.load(tmp_path / "net.int8.onnx", registry.load(())), "ort")
    kinds = [type(node.op).__name__ for node in graph.nodes]
    assert _norms(graph)[0].positions == 20 and _norms(graph)[0].channels == 2
    assert kinds.count("Transpose") == 2

"""A small float network becomes one of integers: what is written is what was judged, and the same every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mcugen
from mcugen.errors import UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.ops.resize_bilinear import ResizeBilinear
from mcugen.oracle import interpreter
from mcugen.quantize import float_model, quantize_model
from mcugen.quantize.cross_validation import outputs_of
from mcugen.quantize.recipe import Widths
from mcugen.quantize.stored_integers import stored_inputs, to_real
from tests.formats.onnx_models import Writer, write

SHAPE = (1, 3, 12, 12)


def network(path: Path, spread: float = 0.0, last: str = "") -> Path:
    """A convolution, a depthwise one, a dense one, a global mean and a layer of 5 outputs, its channels uneven."""
    rng = np.random.default_rng(3)
    sizes = {"w0": (8, 3, 3, 3), "w1": (8, 1, 3, 3), "w2": (12, 8, 1, 1), "w3": (5, 12)}
    weights = {n: rng.standard_normal(s).astype(np.float32) * np.float32(0.4) for n, s in sizes.items()}
    factors = (2.0 ** rng.uniform(-spread, spread, 8)).astype(np.float32)
    weights["w0"] *= factors[:, None, None, None]
    weights["w1"] /= factors[:, None, None, None]
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c0"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c0"], ["r0"]),
        helper.make_node("Conv", ["r0", "w1"], ["c1"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=8),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], kernel_shape=[1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("GlobalAveragePool", ["r2"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "w3"], ["y0" if last else "y"], transB=1),
    ]
    if last:
        nodes.append(helper.make_node(last, ["y0"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(w, n) for n, w in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def samples(path: Path, count: int) -> Path:
    np.savez(path, x=np.random.default_rng(count).standard_normal((count, *SHAPE[1:])).astype(np.float32))
    return path


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> quantize_model.Quantized:
    folder = tmp_path_factory.mktemp("net")
    choices = quantize_model.QuantizeOptions(jobs=1)
    return quantize_model.quantize(network(folder / "net.onnx", 4.0), samples(folder / "calib.npz", 24), choices)


@pytest.mark.whole
def test_balancing_brings_uneven_channels_back(quantized: quantize_model.Quantized) -> None:
    trials = {trial.step: trial for trial in quantized.judged.trials}
    assert trials["channels balanced"].kept
    assert trials["channels balanced"].gain > 5
    assert trials["min-max, nearest"].score + 5 < max(trial.score for trial in quantized.judged.trials)


def test_written_file_computes_what_was_judged(quantized: quantize_model.Quantized, tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(quantized.written("tflite"))
    graph = read.load(path, registry.load(()))
    wanted = outputs_of(quantized.floats, quantized.graph)[0]
    given = stored_inputs(quantized.graph, quantized.floats.given())[0]
    name = graph.outputs[0]
    found = [to_real(interpreter.run(graph, [x], "tflm")[name], graph.type(name)) for x in given]
    np.testing.assert_array_equal(np.stack(found).reshape(wanted.shape), wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jobs", [1, 2])
def test_same_bytes_on_any_number_of_processes(quantized: quantize_model.Quantized, tmp_path: Path, jobs: int) -> None:
    model, data = network(tmp_path / "net.onnx", 4.0), samples(tmp_path / "calib.npz", 24)
    found = quantize_model.quantize(model, data, quantize_model.QuantizeOptions(jobs=jobs))
    assert found.written("tflite") == quantized.written("tflite")
    assert found.written("onnx") == quantized.written("onnx")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("widths", [Widths(weights=4), Widths(activations=16)], ids=["weights of 4", "data of 16"])
def test_other_widths(tmp_path: Path, widths: Widths) -> None:
    data, model = samples(tmp_path / "calib.npz", 16), network(tmp_path / "net.onnx")
    found = quantize_model.quantize(model, data, quantize_model.QuantizeOptions(widths=widths, jobs=1), test=data)
    assert found.score is not None
    assert found.score.sqnr > (45 if widths.activations == 16 else 15)
    path = tmp_path / "net.tflite"
    path.write_bytes(found.written("tflite"))
    kinds = {t.type.dtype for t in read.load(path, registry.load(())).tensors.values() if t.is_constant}
    assert ("s4" in kinds) == (widths.weights == 4)


def test_float_interface(tmp_path: Path) -> None:
    data, model = samples(tmp_path / "calib.npz", 16), network(tmp_path / "net.onnx")
    found = quantize_model.quantize(model, data, quantize_model.QuantizeOptions(interface="float", method="min-max"))
    assert all(found.graph.type(name).dtype == "f32" for name in (*found.graph.inputs, *found.graph.outputs))


def test_quantized_model_is_refused_by_name(quantized: quantize_model.Quantized, tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(quantized.written("tflite"))
    with pytest.raises(UsageError, match=r"net\.tflite is quantized already"):
        quantize_model.quantize(path, samples(tmp_path / "calib.npz", 4), quantize_model.QuantizeOptions())


def test_operator_without_integer_form_is_refused_by_name(tmp_path: Path) -> None:
    model = network(tmp_path / "net.onnx", last="Erf")
    with pytest.raises(UnsupportedError, match=r"Erf \(.*computed on floats alone"):
        quantize_model.quantize(model, samples(tmp_path / "calib.npz", 4), quantize_model.QuantizeOptions())


@pytest.mark.parametrize(
    ("first", "says", "hint"),
    [
        ("Conv", "it is computed on floats alone", "compute them in the calling code"),
        ("Erf", "it is computed on floats alone", "the file as it is"),
    ],
)
def test_a_refusal_says_once_what_to_do(tmp_path: Path, first: str, says: str, hint: str) -> None:
    """A layer is named once, and a network in which nothing multiplies needs no integers."""
    np.savez(tmp_path / "calib.npz", x=np.random.default_rng(1).standard_normal((4, 1, 4, 4)).astype(np.float32))
    w = Writer()
    x = w.input((1, 1, 4, 4))
    if first == "Conv":
        x = w.node("Conv", [x, w.weights(1, 1, 1, 1)])
        y = w.node("ReduceProd", [x], keepdims=1)
    else:
        y = w.node(first, [x])
    with pytest.raises(UnsupportedError) as caught:
        quantize_model.quantize(write(w.model(y), tmp_path), tmp_path / "calib.npz", quantize_model.QuantizeOptions())
    assert str(caught.value).count(says) == 1 and hint in caught.value.hint


@pytest.mark.parametrize("places", ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
def test_bilinear_means_become_those_of_integers(tmp_path: Path, places: str) -> None:
    """They are joined from two axes, of which either grows and the other shrinks, and mean the same in floats."""
    w = Writer()
    size = w.constant(np.array([1, 1, 7, 3], np.int64))
    stated = {"mode": "linear", "coordinate_transformation_mode": places}
    doubled = w.node("Conv", [w.input((1, 1, 4, 6)), w.constant(np.full((1, 1, 1, 1), 2, np.float32))])
    path = write(w.model(w.node("Resize", [doubled, "", "", size], **stated)), tmp_path)
    graph = float_model.prepared(float_model.load(path), "", "")
    (op,) = (node.op for node in graph.nodes if isinstance(node.op, ResizeBilinear))
    assert (op.align_corners, op.half_pixel_centers) == (places == "align_corners", "half_pixel" in places)
    x = np.random.default_rng(1).standard_normal((8, 1, 4, 6)).astype(np.float32)
    (want,) = mcugen.compile(path).run(x[:1])
    np.testing.assert_allclose(2 * op.reference(x[0, ..., None])[..., 0], want, atol=1e-5)
    np.savez(tmp_path / "calib.npz", x=x)
    found = quantize_model.quantize(path, tmp_path / "calib.npz", quantize_model.QuantizeOptions(method="min-max"))
    (tmp_path / "net.tflite").write_bytes(found.written("tflite"))
    assert op in [node.op for node in mcugen.compile(tmp_path / "net.tflite").imported.nodes]


def test_build_quantizes_on_the_way(tmp_path: Path) -> None:
    model, data = network(tmp_path / "net.onnx"), samples(tmp_path / "calib.npz", 16)
    built = mcugen.compile(model, board="cortex-m4", quantize=str(data))
    path = tmp_path / "net.tflite"
    path.write_bytes(quantize_model.quantize(model, data, quantize_model.QuantizeOptions()).written("tflite"))
    alone = mcugen.compile(path, board="cortex-m4").emitted
    given = f" --quantize {data}".encode()
    assert {
        name: text.replace(given, b"").replace(b".onnx", b".tflite") for name, text in built.emitted.items()
    } == alone
    assert any("quantized with 16 samples" in note for note in built.report.notes)


def test_build_says_what_is_wrong(tmp_path: Path) -> None:
    model, data = network(tmp_path / "net.onnx"), tmp_path / "calib.npz"
    np.savez(data, x=np.random.default_rng(2).integers(0, 256, (12, *SHAPE[1:])).astype(np.float32))
    notes = mcugen.compile(model, board="cortex-m4", quantize=str(data)).report.notes
    findings = [k for k, note in enumerate(notes) if note.startswith("! ")]
    assert notes[findings[0]].startswith("! x: samples reach 255")
    behind = notes[findings[-1] + 1]  # what follows is of the plan
    assert behind.startswith("`mcugen quantize` has these options")


def test_cache_is_written_then_sets_ranges_by_hand(tmp_path: Path) -> None:
    model, data, cache = network(tmp_path / "net.onnx"), samples(tmp_path / "calib.npz", 16), tmp_path / "ranges.txt"
    choices = quantize_model.QuantizeOptions(method="min-max", cache=cache)
    first = quantize_model.quantize(model, data, choices)
    lines = [f"{line} override 0.0 2.0" * line.startswith('"r1"') or line for line in cache.read_text().splitlines()]
    assert quantize_model.quantize(model, data, choices).written("tflite") == first.written("tflite")
    cache.write_text("\n".join(lines) + "\n")
    second = quantize_model.quantize(model, data, choices)
    scales = [t.type.scale for t in second.graph.tensors.values() if t.label == "r1"]
    assert scales == [pytest.approx(2 / 255)]
    with pytest.raises(UsageError, match="other samples"):
        quantize_model.quantize(model, samples(tmp_path / "calib.npz", 17), choices)

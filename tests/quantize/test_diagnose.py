"""Flaws that are planted in a small network or its samples are named by the diagnosis; a healthy one has none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mcugen.quantize import float_model, quantize_model
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.recipe import Widths

Weights = dict[str, np.ndarray]
SIZE, CLASSES, COUNT = 12, 5, 25
LAYERS = ("stem", "spread", "mix", "scores")


@cache
def fitted() -> Weights:
    """Random layers and a last one that tells the kinds of images."""
    rng = np.random.default_rng(3)
    sizes = {"stem": (8, 3, 3, 3), "spread": (8, 1, 3, 3), "mix": (12, 8, 1, 1), "scores": (CLASSES, 12)}
    made = {n: rng.standard_normal(s) * (2 / np.prod(s[1:])) ** 0.5 for n, s in sizes.items()}
    biases = {f"{n}.b": 0.2 * rng.standard_normal(s[0]) for n, s in sizes.items()}
    w = {n: a.astype(np.float32) for n, a in {**made, **biases}.items()}
    with tempfile.TemporaryDirectory() as folder:
        graph = float_model.prepared(float_model.load(network(Path(folder) / "net.onnx", w)), "", "")
    floats = FloatRun(graph, float_model.REFERENCE, (images(200)[:, None],))
    walk = floats.walk()
    for index in range(len(graph.nodes) - 1):
        walk.step(index)
    seen = walk.value(str(graph.nodes[-1].inputs[0])).reshape(200, -1)
    wanted = 4 * np.eye(CLASSES)[np.arange(200) % CLASSES] - 1
    found = np.linalg.lstsq(np.hstack([seen, np.ones((200, 1))]), wanted, rcond=1e-2)[0]
    return {**w, "scores": found[:-1].T.astype(np.float32), "scores.b": found[-1].astype(np.float32)}


def weights() -> Weights:
    return {n: a.copy() for n, a in fitted().items()}


def network(path: Path, w: Weights, clip: bool = False, twice: bool = False) -> Path:
    """Convolution, depthwise, dense, mean, scores. clip: ReLU6 for ReLU; twice: the stem's result is multiplied in."""
    nodes, name = [], "image"
    for layer, group in (("stem", 1), ("spread", 8), ("mix", 1)):
        pads = [1] * 4 if w[layer].shape[-1] == 3 else [0] * 4
        nodes.append(helper.make_node("Conv", [name, layer, f"{layer}.b"], [f"{layer}.sum"], pads=pads, group=group))
        if clip:
            nodes.append(helper.make_node("Clip", [f"{layer}.sum", "zero", "six"], [f"{layer}.out"]))
        else:
            nodes.append(helper.make_node("Relu", [f"{layer}.sum"], [f"{layer}.out"]))
        name = f"{layer}.out"
        if layer == "spread" and twice:
            nodes.append(helper.make_node("Mul", [name, "stem.out"], ["product"]))
            name = "product"
    nodes.append(helper.make_node("GlobalAveragePool", [name], ["mean"]))
    nodes.append(helper.make_node("Flatten", ["mean"], ["flat"]))
    nodes.append(helper.make_node("Gemm", ["flat", "scores", "scores.b"], ["answer"], transB=1))
    limits = {"zero": np.float32(0), "six": np.float32(6)}
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("answer", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in {**w, **limits}.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def images(count: int = COUNT) -> np.ndarray:
    """Images 0..1, of each kind in turn: colours and gradients, with noise."""
    rng = np.random.default_rng(5)
    far, sloped = rng.uniform(-1, 1, (2, CLASSES, 3, 1, 1))
    plain = (far + np.linspace(-1, 1, SIZE) * sloped)[np.arange(count) % CLASSES]
    noisy = plain + 0.15 * rng.standard_normal((count, 3, SIZE, SIZE))
    return np.asarray(np.clip(0.5 + 0.25 * noisy, 0, 1), np.float32)


Quantize = Callable[..., quantize_model.Quantized]


@pytest.fixture
def quantized(tmp_path: Path) -> Quantize:
    def quantize(
        w: Weights, x: np.ndarray | None = None, clip: bool = False, **choices: Any
    ) -> quantize_model.Quantized:
        np.savez(tmp_path / "calib.npz", image=images() if x is None else x)
        model = network(tmp_path / "net.onnx", w, clip, bool(choices.pop("twice", False)))
        test = choices.pop("test", None)
        if test is not None:
            np.savez(tmp_path / "test.npz", image=test)
        given = quantize_model.QuantizeOptions(jobs=1, **choices)
        return quantize_model.quantize(
            model, tmp_path / "calib.npz", given, test=None if test is None else tmp_path / "test.npz"
        )

    return quantize


def said(found: quantize_model.Quantized) -> list[str]:
    return [str(finding) for finding in found.diagnosis.findings]


def kinds(found: quantize_model.Quantized) -> set[tuple[str, str]]:
    return {(finding.kind, finding.place.partition(".")[0]) for finding in found.diagnosis.findings}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("clip", "widths"),
    [(False, Widths()), (True, Widths()), (False, Widths(weights=4)), (True, Widths(activations=16))],
    ids=["relu", "relu6", "weights of 4", "data of 16"],
)
def test_healthy_network_has_no_finding(quantized: Quantize, clip: bool, widths: Widths) -> None:
    assert said(quantized(weights(), clip=clip, widths=widths)) == []


@pytest.mark.sampled(8)
@pytest.mark.parametrize("method", ["full", "min-max"])
@pytest.mark.parametrize("layer", LAYERS)
def test_layer_whose_weights_are_scaled(quantized: Quantize, layer: str, method: str) -> None:
    w = weights()
    w[layer] *= 1000
    place = "answer" if layer == "scores" else layer
    found = kinds(quantized(w, clip=method == "min-max", method=method))
    assert [place for kind, place in found if kind == "scaled"] == [place]


def enlarge_channel(w: Weights, layer: str) -> None:
    """One channel 1,000 times the others: that which is positive most, so that no ReLU takes it away."""
    channel = int(w[layer].sum(axis=(1, 2, 3)).argmax())
    w[layer][channel] *= 1000


@pytest.mark.sampled(8)
@pytest.mark.parametrize("method", ["full", "min-max"])
@pytest.mark.parametrize("layer", LAYERS[:3])
def test_channel_far_above_the_others(quantized: Quantize, layer: str, method: str) -> None:
    w = weights()
    enlarge_channel(w, layer)
    found = quantized(w, method=method)
    about = [f for f in found.diagnosis.findings if f.place.startswith(layer)]
    assert [f.kind in ("uneven", "balanced") for f in about] == [True], said(found)
    assert "1 of" in about[0].text
    assert method == "full" or about[0].remedy == "`--method full`"


@pytest.mark.whole
def test_channels_that_cannot_be_balanced_say_why(quantized: Quantize) -> None:
    w = weights()
    enlarge_channel(w, "stem")
    about = [f for f in quantized(w, twice=True).diagnosis.findings if f.place.startswith("stem")]
    assert "they cannot be balanced because product, which reads it, is a Mul" in about[0].text
    assert about[0].remedy == "`--activations 16`"
    wide = quantized(w, twice=True, widths=Widths(activations=16)).diagnosis.findings
    assert all("--activations" not in f.remedy for f in wide)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layer", LAYERS)
def test_dead_layer(quantized: Quantize, layer: str) -> None:
    w = weights()
    w[layer] *= 0
    w[f"{layer}.b"] = np.abs(w[f"{layer}.b"]) * np.float32(layer != "mix")
    found = quantized(w)
    dead = [f.place.partition(".")[0] for f in found.diagnosis.findings if f.kind == "dead"]
    assert dead == ["answer" if layer == "scores" else layer], said(found)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("noise", [0.0, 0.2], ids=["whole numbers", "any numbers"])
def test_bytes_where_the_network_was_trained_on_less(quantized: Quantize, noise: float) -> None:
    x = np.clip(np.round(255 * images()) + noise, 0, 255)
    first = quantized(weights(), x).diagnosis.findings[0]
    assert (first.kind, first.place) == ("input", "image")
    assert "were they scaled for training? `--preprocess scale=1/255`" in str(first)


@pytest.mark.whole
def test_bytes_where_the_network_divides_them(quantized: Quantize) -> None:
    w = weights()
    w["stem"] /= 255
    assert said(quantized(w, np.round(255 * images()))) == []


def test_too_small_inputs(quantized: Quantize) -> None:
    w = weights()
    w["stem"] /= 255
    assert ("input", "image") in kinds(quantized(w))


@pytest.mark.whole
def test_test_of_another_kind_than_the_calibration(quantized: Quantize) -> None:
    findings = quantized(weights(), test=255 * images(30)).diagnosis.findings
    assert findings[0].place == "image"
    assert "--test reach 255" in findings[0].text


@pytest.mark.whole
def test_samples_of_one_class(quantized: Quantize) -> None:
    found = quantized(weights(), images(CLASSES * COUNT)[1::CLASSES])
    assert ("answers", "answer") in kinds(found)
    assert "all classes" in found.diagnosis.findings[0].remedy


def test_layers_are_told_in_the_models_own_names(quantized: Quantize) -> None:
    layers = quantized(weights()).diagnosis.layers
    assert layers[0].name == "image"
    assert [layer.name.partition(".")[0] for layer in layers if layer.gain is not None][:3] == list(LAYERS[:3])
    assert all(layer.own > 20 and layer.total > 20 and layer.steps <= layer.all_steps == 256 for layer in layers)


def test_a_table_that_indices_look_up_is_no_layer_that_is_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    nodes = [
        helper.make_node("Gather", ["table", "x"], ["found"], axis=0),
        helper.make_node("Flatten", ["found"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w"], ["scores"]),
    ]
    shapes = {"table": (9, 4), "w": (12, 5)}
    weights = [numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), n) for n, s in shapes.items()]
    x = helper.make_tensor_value_info("x", TensorProto.INT64, [1, 3])
    y = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 5])
    opset = helper.make_opsetid("", 13)
    model = helper.make_model(helper.make_graph(nodes, "net", [x], [y], weights), opset_imports=[opset])
    onnx.save(model, tmp_path / "n.onnx")
    np.savez(tmp_path / "c.npz", rng.integers(0, 9, (20, 3)))
    found = quantize_model.quantize(
        tmp_path / "n.onnx", tmp_path / "c.npz", quantize_model.QuantizeOptions(method="min-max", jobs=1)
    )
    assert [layer.name for layer in found.diagnosis.layers] == ["scores"]


@pytest.mark.parametrize(("low", "high", "hurts"), [(0.0, 0.05, True), (0.0, 400.0, True), (0.0, 1.02, False)])
def test_a_range_set_by_hand_is_told_where_it_hurts(
    quantized: Quantize, tmp_path: Path, low: float, high: float, hurts: bool
) -> None:
    file = tmp_path / "cache.txt"
    quantized(weights(), method="min-max", cache=file)
    lines = file.read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if "image" in line and not line.startswith("#"))
    lines[at] += f" override {low} {high}"
    file.write_text("\n".join(lines) + "\n")
    found = quantized(weights(), method="min-max", cache=file)
    told = [str(finding) for finding in found.diagnosis.findings if finding.kind == "override"]
    assert bool(told) == hurts, said(found)
    assert all(f"image: its range {low:g} to {high:g}, set by hand, leaves" in text for text in told)

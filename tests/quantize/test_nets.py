# SPDX-License-Identifier: Apache-2.0
"""The networks that tests of quantization use: they are accurate, come back from files, and collapse where meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import UnsupportedError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter
from mcugen.quantize import quantize_model
from tests.quantize import net_tasks, nets

ACCURACY = {"gratings": 0.75, "moves": 0.85, "attention": 0.6, "lstm": 0.75, "gru": 0.7}


def imported(net: nets.Net, format_name: str, folder: Path) -> Graph:
    path = folder / f"{net.name}.{format_name}"
    path.write_bytes(net.written(format_name))
    return read.load(path, registry.load())


def results(
    graph: Graph, samples: np.ndarray, change: Callable[[Mapping[str, np.ndarray]], object] | None = None
) -> np.ndarray:
    """The first output for each sample; change sees all tensors of a run."""
    found = []
    for sample in samples:
        values = interpreter.run(graph, [sample.reshape(graph.type(graph.inputs[0]).shape)], "tflm")
        if change is not None:
            change(values)
        found.append(values[graph.outputs[0]][0])
    return np.array(found)


def accuracy(logits: np.ndarray, net: nets.Net) -> float:
    return float((logits.argmax(axis=1) == net.labels[: len(logits)]).mean())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ACCURACY)
def test_networks_are_accurate(name: str, tmp_path: Path) -> None:
    net = nets.made(name)
    graph = net.graph or imported(net, "onnx", tmp_path)
    assert accuracy(results(graph, net.test[:200]), net) > ACCURACY[name]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["gratings", "gratings_uneven", "moves", "attention", "ssd_heads"])
@pytest.mark.parametrize("format_name", ["tflite", "onnx"])
def test_networks_come_back_from_their_files(name: str, format_name: str, tmp_path: Path) -> None:
    net = nets.made(name)
    assert net.graph is not None
    wanted, found = (results(g, net.test[:5]) for g in (net.graph, imported(net, format_name, tmp_path)))
    assert np.abs(found - wanted).max() < 1e-4 * np.abs(wanted).max()


@pytest.mark.whole
def test_the_detector_finds(tmp_path: Path) -> None:
    net = nets.made("ssd")
    graph = imported(net, "tflite", tmp_path)
    found = 0
    assert net.boxes is not None
    for sample, box, kind in zip(net.test[:100], net.boxes, net.labels, strict=False):
        values = interpreter.run(graph, [sample[None]], "tflm")
        places, kinds, _, count = (values[name] for name in graph.outputs)
        found += bool(count[0] and kinds[0, 0] == kind and overlap(places[0, 0], box) > 0.5)
    assert found > 70


def overlap(place: np.ndarray, box: np.ndarray) -> float:
    """Intersection over union of a box given by top, left, bottom, right and one given by centre, height and width."""
    ends = np.concatenate([box[:2] - box[2:] / 2, box[:2] + box[2:] / 2])
    shared = np.prod(np.maximum(np.minimum(place[2:], ends[2:]) - np.maximum(place[:2], ends[:2]), 0))
    return float(shared / (np.prod(place[2:] - place[:2]) + np.prod(box[2:]) - shared))


@pytest.mark.parametrize("name", ["gratings", "moves"])
def test_uneven_twins_compute_the_same(name: str) -> None:
    even, twin = nets.made(name), nets.made(f"{name}_uneven")
    assert even.graph is not None and twin.graph is not None
    wanted, found = (results(net.graph, even.test[:20]) for net in (even, twin) if net.graph is not None)
    assert np.abs(found - wanted).max() < 1e-4 * np.abs(wanted).max()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gratings", "moves"])
def test_uneven_twins_collapse_with_a_scale_for_each_tensor(name: str) -> None:
    even, twin = (rounded_accuracy(nets.made(f"{name}{end}")) for end in ("", "_uneven"))
    assert even > ACCURACY[name] - 0.05
    assert twin < even - 0.2


def rounded_accuracy(net: nets.Net) -> float:
    """The accuracy with every result rounded to 256 steps from its least to its greatest value in the calibration."""
    graph = net.graph
    assert graph is not None
    ranges: dict[str, tuple[float, float]] = {node.outputs[0]: (0.0, 0.0) for node in graph.nodes}

    def note(values: Mapping[str, np.ndarray]) -> None:
        for key, (low, high) in ranges.items():
            ranges[key] = min(low, float(values[key].min())), max(high, float(values[key].max()))

    results(graph, net.calib[:50], note)
    found = []
    for sample in net.test[:150]:
        values = {key: t.data for key, t in graph.tensors.items() if t.data is not None}
        values[graph.inputs[0]] = sample[None]
        for node in graph.nodes:
            exact = node.op.reference(*(values[key] for key in node.inputs))
            low, high = ranges[node.outputs[0]]
            step = (high - low) / 255
            values[node.outputs[0]] = np.float32(np.rint(np.clip(exact, low, high) / step) * step)
        found.append(values[graph.outputs[0]][0])
    return accuracy(np.array(found), net)


def test_tasks_are_the_same_each_time() -> None:
    for task in (net_tasks.gratings, net_tasks.moves, net_tasks.scenes):
        first, again = task(5, 3), task(5, 3)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
        assert not np.array_equal(first[0], task(5, 4)[0])


def test_mobilenet_has_its_layers() -> None:
    graph = nets.mobilenet_v2(32, 1000).graph
    assert graph is not None
    kinds = [type(node.op).__name__ for node in graph.nodes]
    counts = {kind: kinds.count(kind) for kind in ("Conv2D", "DepthwiseConv2D", "Add")}
    assert counts == {"Conv2D": 35, "DepthwiseConv2D": 17, "Add": 10}
    size = sum(t.data.size for t in graph.tensors.values() if t.data is not None)
    assert size == 3_487_816


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ssd", r"DetectionPostprocess \(.*\): it computes boxes in floats: end the network at the boxes and scores"),
    ],
)
def test_what_has_no_integers_is_refused_with_its_reason(tmp_path: Path, name: str, reason: str) -> None:
    net = nets.made(name)
    suffix = "tflite" if name == "ssd" else "onnx"
    (tmp_path / f"net.{suffix}").write_bytes(net.written(suffix))
    np.savez(tmp_path / "calib.npz", net.calib[:4])
    with pytest.raises(UnsupportedError, match=reason):
        quantize_model.quantize(
            tmp_path / f"net.{suffix}", tmp_path / "calib.npz", quantize_model.QuantizeOptions(jobs=1, method="min-max")
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "suffix"), [("attention", "onnx"), ("ssd_heads", "tflite"), ("moves_uneven", "onnx")])
def test_what_has_integers_keeps_no_floats(tmp_path: Path, name: str, suffix: str) -> None:
    net = nets.made(name)
    (tmp_path / f"net.{suffix}").write_bytes(net.written(suffix))
    data, test = tmp_path / "calib.npz", tmp_path / "test.npz"
    np.savez(data, net.calib[:16])
    np.savez(test, net.test[:50])
    found = quantize_model.quantize(tmp_path / f"net.{suffix}", data, quantize_model.QuantizeOptions(jobs=1), test=test)
    assert not [t.label for t in found.graph.tensors.values() if t.type.is_float]
    assert found.score is not None
    assert found.score.sqnr > 20

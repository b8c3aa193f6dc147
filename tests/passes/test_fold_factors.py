# SPDX-License-Identifier: Apache-2.0
"""Batch normalization and other factors by channel go into weights, which are computed in float64 and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.pipeline import Artifact
from mcugen.verify import checks
from tests.formats.onnx_models import Writer, expected, write

Layer = Callable[[Writer, str], str]


def normalized(w: Writer, x: str, channels: int) -> str:
    scale, bias, mean = (w.rng.normal(0, 1, channels).astype(np.float32) for _ in range(3))
    var = w.rng.uniform(0.1, 2, channels).astype(np.float32)
    return str(w.node("BatchNormalization", [x, *map(w.constant, (scale, bias, mean, var))]))


def conv(w: Writer, x: str) -> str:
    return str(w.node("Conv", [x, w.weights(6, 4, 3, 3), w.weights(6)], pads=[1, 1, 1, 1]))


def unpadded(w: Writer, x: str) -> str:
    return str(w.node("Conv", [x, w.weights(6, 4, 3, 3)]))


def depthwise(w: Writer, x: str) -> str:
    return str(w.node("Conv", [x, w.weights(8, 1, 3, 3)], group=4))


def transposed(w: Writer, x: str) -> str:
    return str(w.node("ConvTranspose", [x, w.weights(4, 5, 2, 2)], strides=[2, 2]))


def grouped(w: Writer, x: str) -> str:
    return str(w.node("Conv", [x, w.weights(6, 2, 3, 3)], group=2))


def last(w: Writer) -> str:
    """An image that is given with its channels last."""
    return str(w.node("Transpose", [w.input([1, 6, 7, 4])], perm=[0, 3, 1, 2]))


CHANNELS = {conv: 6, unpadded: 6, depthwise: 8, transposed: 5, grouped: 6}


def built(w: Writer, y: str, folder: Path) -> Artifact:
    """The model, after a check of the oracle against onnx and of the C against the oracle."""
    model = w.model(y)
    artifact = mcugen.compile(write(model, folder))
    x = np.random.default_rng(2).normal(0, 1, artifact.imported.type(artifact.imported.inputs[0]).shape)
    values = {"input0": x.astype(np.float32)}
    wanted = expected(model, values)[0]
    got = mcugen.oracle.interpreter.run(artifact.imported, list(values.values()), "ort")[artifact.imported.outputs[0]]
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
    assert checks.verify(artifact, 2, None, None, lambda text: None).agrees
    return artifact


def kinds(artifact: Artifact) -> list[str]:
    moves = ("Transpose", "Reshape", "Copy", "StridedSlice")
    found = [type(node.op).__name__ for node in artifact.graph.nodes]
    return [name for name in found if name not in moves]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("layer", CHANNELS)
def test_factors_after_weights_are_in_them(layer: Layer, tmp_path: Path) -> None:
    w = Writer(opset=15, seed=3)
    y = normalized(w, layer(w, w.input([1, 4, 6, 7])), CHANNELS[layer])
    artifact = built(w, w.node("Relu", [y]), tmp_path)
    assert len(kinds(artifact)) == 1
    assert not all(item.exact for item in artifact.report.removed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("layer", "left"), [(unpadded, 1), (depthwise, 1), (conv, 2), (transposed, 2), (grouped, 2)])
def test_factors_before_weights_are_in_them_where_no_tap_is_left_out(layer: Layer, left: int, tmp_path: Path) -> None:
    w = Writer(opset=15, seed=5)
    y = layer(w, normalized(w, last(w), 4))
    assert len(kinds(built(w, y, tmp_path))) == left


@pytest.mark.sampled(2)
@pytest.mark.parametrize("layer", [conv, transposed])
def test_factors_alone_are_in_weights_whatever_taps_are_left_out(layer: Layer, tmp_path: Path) -> None:
    w = Writer(opset=15, seed=6)
    y = layer(w, w.node("Mul", [last(w), w.constant(np.float32([0.25, 2, 3, -1]).reshape(4, 1, 1))]))
    assert len(kinds(built(w, y, tmp_path))) == 1


def test_dense_layers_take_factors_from_both_sides(tmp_path: Path) -> None:
    w = Writer(opset=15, seed=7)
    x = normalized(w, w.input([1, 24]), 24)
    y = w.node("Add", [w.node("MatMul", [x, w.weights(24, 5)]), w.weights(5)])
    z = w.node("Div", [w.node("Sub", [y, w.weights(5)]), w.constant(np.float32([3.0]))])
    assert kinds(built(w, z, tmp_path)) == ["FullyConnected"]


@pytest.mark.whole
def test_what_is_read_elsewhere_or_differs_within_a_channel_stays(tmp_path: Path) -> None:
    w = Writer(opset=15, seed=8)
    a = unpadded(w, w.input([1, 4, 6, 7]))
    b = normalized(w, a, 6)
    artifact = built(w, w.node("Mul", [a, b]), tmp_path)
    assert kinds(artifact) == ["Conv2D", "ElementChain"]
    w = Writer(opset=15, seed=9)
    y = w.node("Mul", [unpadded(w, w.input([1, 4, 6, 7])), w.weights(6, 4, 5)])
    assert len(kinds(built(w, y, tmp_path))) == 2


def test_weights_are_rounded_once(tmp_path: Path) -> None:
    w = Writer(opset=15, seed=10)
    x, taps, third = w.input([1, 1, 1, 1]), np.float32(1) / 3, np.float32(0.1)
    y = w.node("Conv", [x, w.constant(np.full((1, 1, 1, 1), taps))])
    for _ in range(3):
        y = w.node("Mul", [y, w.constant(np.float32([third]))])
    artifact = built(w, y, tmp_path)
    (node,) = (n for n in artifact.graph.nodes if type(n.op).__name__ == "Conv2D")
    data = artifact.graph.tensors[str(node.inputs[1])].data
    assert data is not None and data.item() == np.float32(np.float64(taps) * np.float64(third) ** 3)


def test_no_fold_makes_an_infinite_weight(tmp_path: Path) -> None:
    w = Writer(opset=15, seed=11)
    y = w.node("Conv", [w.input([1, 1, 1, 1]), w.constant(np.full((1, 1, 1, 1), 1e30, np.float32))])
    z = w.node("Mul", [y, w.constant(np.float32([1e30]))])
    artifact = mcugen.compile(write(w.model(z), tmp_path))
    assert len(kinds(artifact)) == 2


def test_without_simplification_factors_stay(tmp_path: Path) -> None:
    w = Writer(opset=15, seed=12)
    y = normalized(w, unpadded(w, w.input([1, 4, 6, 7])), 6)
    assert len(kinds(mcugen.compile(write(w.model(y), tmp_path), no_simplify=True))) > 1

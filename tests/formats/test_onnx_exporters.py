# SPDX-License-Identifier: Apache-2.0
"""Networks as exporters of PyTorch, Keras and scikit-learn write them, with a batch size that is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import mcugen
from mcugen import passes
from mcugen.formats import read, registry
from mcugen.ops.transpose import Transpose
from mcugen.oracle import interpreter
from mcugen.verify import checks
from tests.formats.onnx_models import Writer, expected, write

Network = Callable[[Writer], tuple[str, ...]]


def ints(w: Writer, *values: int) -> str:
    return w.constant(np.array(values, np.int64))


def size(w: Writer, x: str, axis: int) -> str:
    """One axis of a shape, as a list of one number."""
    one = w.node("Gather", [w.node("Shape", [x]), w.constant(np.array(axis, np.int64))], axis=0)
    return str(w.node("Unsqueeze", [one, ints(w, 0)]))


def gru(w: Writer) -> tuple[str, ...]:
    """PyTorch's GRU, batch first, with an initial state of the batch's size."""
    x = w.node("Transpose", [w.input(["batch", 6, 5])], perm=[1, 0, 2])
    shape = w.node("Concat", [ints(w, 1), size(w, x, 1), ints(w, 4)], axis=0)
    first = w.node("Expand", [w.constant(np.zeros((1, 1, 1), np.float32)), shape])
    given = [x, w.weights(1, 12, 5), w.weights(1, 12, 4), w.weights(1, 24), "", first]
    y, _ = w.node("GRU", given, results=2, hidden_size=4, linear_before_reset=1)
    rows = w.node("Transpose", [w.node("Squeeze", [y, ints(w, 1)])], perm=[1, 0, 2])
    last = w.node("Gather", [rows, w.constant(np.array(-1, np.int64))], axis=1)
    return (w.node("Gemm", [last, w.weights(3, 4), w.weights(3)], transB=1),)


def lstm(w: Writer) -> tuple[str, ...]:
    """Keras' LSTM as tf2onnx writes it: only the last state is read."""
    x = w.node("Transpose", [w.input(["unk__10", 5, 6])], perm=[1, 0, 2])
    given = [x, w.weights(1, 16, 6), w.weights(1, 16, 4), w.weights(1, 32)]
    _, h, _ = w.node("LSTM", given, results=3, hidden_size=4)
    y = w.node("MatMul", [w.node("Squeeze", [h, ints(w, 0)]), w.weights(4, 3)])
    return (w.node("Softmax", [w.node("Add", [y, w.weights(3)])], axis=-1),)


def normalized(w: Writer, x: str, width: int) -> str:
    """LayerNormalization before opset 17: a dozen operators."""
    apart = w.node("Sub", [x, w.node("ReduceMean", [x], axes=[-1])])
    square = w.node("Pow", [apart, w.constant(np.float32(2))])
    spread = w.node("Add", [w.node("ReduceMean", [square], axes=[-1]), w.constant(np.float32(1e-5))])
    scaled = w.node("Mul", [w.node("Div", [apart, w.node("Sqrt", [spread])]), w.weights(width)])
    return str(w.node("Add", [scaled, w.weights(width)]))


def heads(w: Writer, x: str, perm: list[int]) -> str:
    """Two heads of a projection, with sizes that are computed from the shape."""
    y = w.node("Add", [w.node("MatMul", [x, w.weights(8, 8)]), w.weights(8)])
    shape = w.node("Concat", [size(w, x, 0), size(w, x, 1), ints(w, 2, 4)], axis=0)
    return str(w.node("Transpose", [w.node("Reshape", [y, shape])], perm=perm))


def transformer(w: Writer) -> tuple[str, ...]:
    """A layer of an encoder: attention, and two dense layers with GELU between them."""
    x = w.node("Add", [w.input(["batch", 5, 8]), w.weights(1, 5, 8)])
    n = normalized(w, x, 8)
    q, k, v = (heads(w, n, perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = w.node("Div", [w.node("MatMul", [q, k]), w.constant(np.float32(2))])
    mixed = w.node("MatMul", [w.node("Softmax", [scores], axis=-1), v])
    flat = w.node("Reshape", [w.node("Transpose", [mixed], perm=[0, 2, 1, 3]), ints(w, 0, 0, -1)])
    x = w.node("Add", [x, w.node("MatMul", [flat, w.weights(8, 8)])])
    wide = w.node("MatMul", [normalized(w, x, 8), w.weights(8, 12)])
    erf = w.node("Erf", [w.node("Div", [wide, w.constant(np.float32(1.4142135))])])
    gelu = w.node(
        "Mul", [w.node("Mul", [wide, w.node("Add", [erf, w.constant(np.float32(1))])]), w.constant(np.float32(0.5))]
    )
    x = w.node("Add", [x, w.node("MatMul", [gelu, w.weights(12, 8)])])
    return (w.node("Gather", [x, w.constant(np.array(0, np.int64))], axis=1),)


def recurrent_images(w: Writer) -> tuple[str, ...]:
    """A convolution, then a GRU in both directions over its columns."""
    c = w.node("Relu", [w.node("Conv", [w.input(["n", 1, 6, 8]), w.weights(3, 1, 3, 3)], pads=[1, 1, 1, 1])])
    p = w.node("MaxPool", [c], kernel_shape=[1, 2], strides=[1, 2])
    rows = w.node("Reshape", [w.node("Transpose", [p], perm=[0, 2, 1, 3]), ints(w, 0, 6, -1)])
    x = w.node("Transpose", [rows], perm=[1, 0, 2])
    given = [x, w.weights(2, 12, 12), w.weights(2, 12, 4), w.weights(2, 24)]
    y, _ = w.node("GRU", given, results=2, hidden_size=4, direction="bidirectional", linear_before_reset=1)
    joined = w.node("Reshape", [w.node("Transpose", [y], perm=[2, 0, 1, 3]), ints(w, 0, 0, -1)])
    return (w.node("LogSoftmax", [w.node("MatMul", [joined, w.weights(8, 4)])], axis=2),)


def causal(w: Writer) -> tuple[str, ...]:
    """Dilated convolutions over time: padded at both ends and cut, and the last step alone."""
    x = w.input(["b", 3, 12])
    c = w.node("Conv", [x, w.weights(4, 3, 3)], pads=[4, 4], dilations=[2])
    c = w.node("Relu", [w.node("Slice", [c, ints(w, 0), ints(w, -4), ints(w, 2)])])
    y = w.node("Relu", [w.node("Add", [c, w.node("Conv", [x, w.weights(4, 3, 1)])])])
    last = w.node("Gather", [y, w.constant(np.array(-1, np.int64))], axis=2)
    return (w.node("Gemm", [last, w.weights(4, 2), w.weights(2)]),)


def shuffled(w: Writer) -> tuple[str, ...]:
    """A unit of ShuffleNet v2, with the shuffle's sizes computed from the shape."""
    y = w.node("Relu", [w.node("Conv", [w.input(["n", 1, 6, 6]), w.weights(8, 1, 3, 3)], pads=[1, 1, 1, 1])])
    a, b = w.node("Split", [y, ints(w, 4, 4)], results=2, axis=1)
    b = w.node("Conv", [w.node("Conv", [b, w.weights(4, 4, 1, 1)]), w.weights(4, 1, 3, 3)], group=4, pads=[1, 1, 1, 1])
    c = w.node("Concat", [a, b], axis=1)
    batch, high, wide = (size(w, c, k) for k in (0, 2, 3))
    parts = w.node("Reshape", [c, w.node("Concat", [batch, ints(w, 2, 4), high, wide], axis=0)])
    turned = w.node("Transpose", [parts], perm=[0, 2, 1, 3, 4])
    y = w.node("Reshape", [turned, w.node("Concat", [batch, ints(w, -1), high, wide], axis=0)])
    y = w.node("ReduceMean", [w.node("Conv", [y, w.weights(6, 8, 1, 1)])], axes=[2, 3], keepdims=0)
    return (w.node("Gemm", [y, w.weights(4, 6), w.weights(4)], transB=1),)


def group_normalized(w: Writer) -> tuple[str, ...]:
    """PyTorch's GroupNorm: channels are split into groups, whose bounds lie inside a stored axis."""
    x = w.node("Conv", [w.input(["n", 1, 8, 8]), w.weights(6, 1, 3, 3)])
    ones, zeros = (w.constant(np.full(2, v, np.float32)) for v in (1, 0))
    groups = w.node("InstanceNormalization", [w.node("Reshape", [x, ints(w, 0, 2, -1)]), ones, zeros])
    y = w.node("Reshape", [groups, w.node("Shape", [x])])
    y = w.node("Add", [w.node("Mul", [y, w.weights(6, 1, 1)]), w.weights(6, 1, 1)])
    return (w.node("Flatten", [w.node("GlobalMaxPool", [y])]),)


def segmented(w: Writer) -> tuple[str, ...]:
    """A decoder that is resized and joined, and the class of each pixel."""
    x = w.node("Relu", [w.node("Conv", [w.input(["n", 1, 8, 8]), w.weights(4, 1, 3, 3)], pads=[1, 1, 1, 1])])
    low = w.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    mode = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    high = w.node("Resize", [low, "", w.constant(np.float32([1, 1, 2, 2]))], **mode)
    y = w.node("Conv", [w.node("Concat", [x, high], axis=1), w.weights(3, 8, 1, 1)])
    return (w.node("ArgMax", [w.node("Softmax", [y], axis=1)], axis=1, keepdims=0),)


def clusters(w: Writer) -> tuple[str, ...]:
    """scikit-learn's k-means: distances from products, and the nearest center."""
    x = w.input(["n", 4])
    squares = w.node("ReduceSumSquare", [x], axes=[1], keepdims=1)
    zero = w.node("Mul", [squares, w.constant(np.zeros(1, np.float32))])
    products = w.node("Gemm", [x, w.weights(3, 4), zero], alpha=-2.0, transB=1)
    far = w.node("Add", [w.weights(1, 3), w.node("Add", [squares, products])])
    return (w.node("ArgMin", [far], axis=1, keepdims=0), w.node("Sqrt", [w.node("Abs", [far])]))


NETWORKS: Mapping[Network, int] = {
    gru: 0, lstm: 0, transformer: 4, recurrent_images: 1, causal: 1, shuffled: 0, clusters: 0,
    group_normalized: 2, segmented: 0,
}  # fmt: skip
"""Each with the transposes that are left: of attention heads, of channels into features, of groups, and of an input."""


def exported(network: Network) -> onnx.ModelProto:
    w = Writer(opset=13, seed=6)
    return w.model(*network(w))


@pytest.mark.parametrize("network", NETWORKS)
def test_results_are_those_of_onnx(network: Network, tmp_path: Path) -> None:
    model = exported(network)
    graph = read.load(write(model, tmp_path), registry.load())
    assert graph.type(graph.inputs[0]).shape[0] == 1 and "taken as 1" in graph.notes[0]
    x = np.random.default_rng(4).normal(size=graph.type(graph.inputs[0]).shape).astype(np.float32)
    values = interpreter.run(graph, [x], "ort")
    for name, wanted in zip(graph.outputs, expected(model, {"input0": x}), strict=True):
        np.testing.assert_allclose(values[name], wanted, rtol=0, atol=1e-5 * max(np.abs(wanted).max(), 1e-3))
    done = passes.run(graph, "ort")
    assert sum(isinstance(node.op, Transpose) for node in done.nodes) == NETWORKS[network]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("network", [gru, transformer])
def test_the_c_is_verified(network: Network, tmp_path: Path) -> None:
    artifact = mcugen.compile(write(exported(network), tmp_path))
    assert checks.verify(artifact, 1, None, None, lambda text: None).agrees


def test_outputs_may_be_written_without_a_shape(tmp_path: Path) -> None:
    model = exported(lstm)
    output = helper.make_tensor_value_info(model.graph.output[0].name, TensorProto.FLOAT, None)
    del model.graph.output[:]
    model.graph.output.append(output)
    graph = read.load(write(model, tmp_path), registry.load())
    assert graph.type(graph.outputs[0]).shape == (1, 3)


def activated(kind: str, numbers: tuple[float, ...], *, fused: bool) -> onnx.ModelProto:
    """A convolution, a sum and a matrix product with activations, as they were and as ONNX Runtime fuses them."""
    w, names = Writer(opset=17, seed=9), ("alpha", "beta")
    x, later = w.input([1, 3, 6, 5]), {"domain": "com.microsoft"} if fused else {}
    conv = {"pads": [1, 1, 1, 1], "strides": [1, 1], "dilations": [1, 1], "group": 1, "kernel_shape": [3, 3]}
    operands = [x, w.weights(3, 3, 3, 3), w.weights(3)]
    plain = dict(zip(names, numbers, strict=False))
    if fused:
        stated = {"activation": kind, **({"activation_params": list(numbers)} if numbers else {})}
        y = w.node("FusedConv", [*operands, x], **conv, **stated, **later)
    else:
        y = w.node(kind, [w.node("Add", [w.node("Conv", operands, **conv), x])], **plain)
    flat, matrix = w.node("Reshape", [y, ints(w, 1, 90)]), [w.weights(90, 4), w.weights(4)]
    if fused:
        given = {f"activation_{name}": value for name, value in plain.items()}
        out = w.node("FusedGemm", [flat, *matrix], activation=kind, alpha=0.5, **given, **later)
    else:
        out = w.node(kind, [w.node("Gemm", [flat, *matrix], alpha=0.5)], **plain)
    ends = [helper.make_tensor_value_info(out, TensorProto.FLOAT, (1, 4))]
    graph = helper.make_graph(w.nodes, "g", w.inputs, ends, w.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


@pytest.mark.parametrize(("kind", "numbers"), [("Relu", ()), ("LeakyRelu", (0.2,)), ("HardSigmoid", (0.3, 0.4))])
def test_fused_activations_of_onnx_runtime_are_those_after_it(
    kind: str, numbers: tuple[float, ...], tmp_path: Path
) -> None:
    x, found = np.random.default_rng(4).normal(size=(1, 3, 6, 5)).astype(np.float32), []
    for fused in (False, True):
        graph = read.load(write(activated(kind, numbers, fused=fused), tmp_path), registry.load())
        found.append(interpreter.run(graph, [x], "ort")[graph.outputs[0]])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6)
    assert np.ptp(found[0]) > 0


@pytest.mark.parametrize("aligned", [0, 1])
def test_the_places_of_one_image_keep_its_axis(aligned: int, tmp_path: Path) -> None:
    w = Writer(opset=20)
    theta = w.input([1, 2, 3])
    grid = w.node("AffineGrid", [theta, ints(w, 1, 2, 5, 4)], align_corners=aligned)
    model = w.model(w.node("Identity", [w.node("GridSample", [w.weights(1, 2, 6, 7), grid])]))
    x = np.random.default_rng(4).normal(size=(1, 2, 3)).astype(np.float32)
    graph = read.load(write(model, tmp_path), registry.load())
    (wanted,) = expected(model, {"input0": x})
    np.testing.assert_allclose(interpreter.run(graph, [x], "ort")[graph.outputs[0]], wanted, rtol=0, atol=1e-5)

# SPDX-License-Identifier: Apache-2.0
"""Operators whose meaning changed from one version of ONNX to another keep that of the file's version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from mcugen.errors import UnsupportedError
from mcugen.formats import read, registry
from mcugen.oracle import interpreter
from tests.formats.onnx_models import Writer, expected, write

IMAGE = np.random.default_rng(3).normal(size=(1, 2, 5, 4)).astype(np.float32)
SCALES = (1.0, 1.0, 0.6, 2.25)


def result(w: Writer, data: np.ndarray, y: str, folder: Path) -> np.ndarray:
    graph = read.load(write(w.model(y), folder), registry.load())
    return np.asarray(interpreter.run(graph, [data], "ort")[graph.outputs[0]])


def resized(along: Callable[[np.ndarray, int, float], np.ndarray]) -> np.ndarray:
    """The image, resized along both axes."""
    return along(along(IMAGE, 2, SCALES[2]), 3, SCALES[3])


def nearest(x: np.ndarray, axis: int, scale: float) -> np.ndarray:
    """The element before, or after where the axis shrinks. Source: onnxruntime, upsamplebase.h."""
    at = np.arange(int(x.shape[axis] * scale)) / scale
    return x.take((np.ceil(at) if scale < 1 else np.floor(at)).astype(int).clip(0, x.shape[axis] - 1), axis)


def linear(x: np.ndarray, axis: int, scale: float) -> np.ndarray:
    """Between the elements around i / scale. Source: ONNX, the reference of Upsample-9."""
    at = np.arange(int(x.shape[axis] * scale)) / scale
    first = np.floor(at).astype(int).clip(0, x.shape[axis] - 1)
    share = (at - first).reshape([-1 if k == axis else 1 for k in range(4)])
    after = (first + 1).clip(0, x.shape[axis] - 1)
    return np.asarray(x.take(first, axis) * (1 - share) + x.take(after, axis) * share)


@pytest.mark.parametrize(("kind", "opset"), [("Upsample", 7), ("Upsample", 9), ("Resize", 10)])
@pytest.mark.parametrize(("mode", "along"), [("nearest", nearest), ("linear", linear)])
def test_images_are_resized_from_their_first_element(
    kind: str, opset: int, mode: str, along: Callable[..., np.ndarray], tmp_path: Path
) -> None:
    w = Writer(opset=opset)
    given = {"scales": SCALES} if opset == 7 else {}
    operands = [w.input(IMAGE.shape), *([] if given else [w.constant(np.float32(SCALES))])]
    got = result(w, IMAGE, w.node(kind, operands, mode=mode, **given), tmp_path)
    assert np.allclose(got, resized(along), atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("Softmax", lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
        ("LogSoftmax", lambda x: x - np.log(np.exp(x).sum(1, keepdims=True))),
        ("Hardmax", lambda x: np.eye(x.shape[1])[x.argmax(1)]),
    ],
)
def test_axes_from_one_on_are_taken_as_one(
    kind: str, function: Callable[[np.ndarray], np.ndarray], tmp_path: Path
) -> None:
    """Before opset 13; also behind an operator whose result the converter of the onnx package has no shape of."""
    w = Writer(opset=9)
    scales = w.constant(np.ones(4, np.float32))
    y = w.node(kind, [w.node("Upsample", [w.input(IMAGE.shape), scales], mode="nearest")], axis=2)
    assert np.allclose(result(w, IMAGE, y, tmp_path), function(IMAGE.reshape(2, -1)).reshape(IMAGE.shape), atol=1e-6)


def test_a_bias_is_added_to_the_padding_of_transposed_convolutions_too(tmp_path: Path) -> None:
    w = Writer()
    given = [w.input(IMAGE.shape), w.weights(2, 3, 2, 2), w.weights(3)]
    y = w.node("ConvTranspose", given, strides=[2, 2], output_padding=[1, 1])
    (wanted,) = expected(w.model(y), {"input0": IMAGE})
    assert np.allclose(result(w, IMAGE, y, tmp_path), wanted, atol=1e-5)


def test_indices_of_what_is_not_zero_are_a_constant(tmp_path: Path) -> None:
    """A constant mask in PyTorch's form."""
    w = Writer()
    rows = w.node("Squeeze", [w.node("NonZero", [w.constant(np.float32([0, 1, 0, 1, 1]))]), w.constant(np.int64([0]))])
    got = result(w, IMAGE, w.node("Gather", [w.input(IMAGE.shape), rows], axis=2), tmp_path)
    assert np.array_equal(got, IMAGE[:, :, [1, 3, 4]])


def test_a_unit_matrix_like_what_another_domain_computes(tmp_path: Path) -> None:
    """The converter of the onnx package ends the process on such a file of an old version."""
    nodes = [
        helper.make_node("Normalizer", ["x"], ["u"], domain="ai.onnx.ml", norm="L2"),
        helper.make_node("EyeLike", ["u"], ["y"], dtype=TensorProto.INT32, k=1),
    ]
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    results = [helper.make_tensor_value_info("y", TensorProto.INT32, [2, 3])]
    sets = [helper.make_opsetid("", 9), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(helper.make_graph(nodes, "g", ends, results), opset_imports=sets, ir_version=5)
    graph = read.load(write(model, tmp_path), registry.load())
    values = interpreter.run(graph, [np.ones((2, 3), np.float32)], "ort")
    assert values[graph.outputs[0]].tolist() == [[0, 1, 0], [0, 0, 1]]


def test_texts_matched_in_what_another_domain_computes(tmp_path: Path) -> None:
    """The converter of the onnx package ends the process on such a file, too."""
    nodes = [
        helper.make_node("Normalizer", ["x"], ["u"], domain="ai.onnx.ml", norm="L2"),
        helper.make_node("RegexFullMatch", ["u"], ["y"], pattern="o.*"),
    ]
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    results = [helper.make_tensor_value_info("y", TensorProto.BOOL, [2, 3])]
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(helper.make_graph(nodes, "g", ends, results), opset_imports=sets, ir_version=9)
    with pytest.raises(UnsupportedError, match="RegexFullMatch"):
        read.load(write(model, tmp_path), registry.load())

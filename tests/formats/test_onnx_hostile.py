# SPDX-License-Identifier: Apache-2.0
"""Hostile .onnx files: each gives a clear error, without a traceback, a wait or a huge allocation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mcugen
from mcugen.errors import CorruptModelError, McugenError, UnsupportedError
from mcugen.verify import host
from tests.formats import damage, onnx_damage
from tests.formats.onnx_models import Writer, write
from tests.formats.quantized_models import made

HUGE = 2**40


def refused(model: onnx.ModelProto, folder: Path) -> McugenError:
    """The error for a model, which is no defect of mcugen."""
    path = folder / "net.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(McugenError) as caught:
        mcugen.compile(path)
    assert caught.value.exit_code != 70, caught.value.explain()
    return caught.value


def with_external(place: str, offset: str = "", length: str = "16") -> onnx.ModelProto:
    """A model whose constant lies in another file."""
    w = Writer()
    model = w.model(w.node("Add", [w.input([1, 4]), w.weights(4)]))
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", place), ("offset", offset), ("length", length)):
        if value:
            tensor.external_data.add(key=key, value=value)
    return model


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder with all kinds of files beside the model, and 64 bytes outside of it."""
    (tmp_path / "outside.bin").write_bytes(bytes(64))
    folder = tmp_path / "model"
    (folder / "deep").mkdir(parents=True)
    (folder / "w.bin").write_bytes(bytes(64))
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "hard.bin").hardlink_to(tmp_path / "outside.bin")
    os.mkfifo(folder / "pipe.bin")
    return folder


EXTERNAL = {
    "parent": ("../outside.bin",),
    "parent by a detour": ("deep/../../outside.bin",),
    "absolute": ("/etc/hostname",),
    "drive": ("C:\\w.bin",),
    "link": ("link.bin",),
    "linked folder": ("linked/outside.bin",),
    "hard link": ("hard.bin",),
    "pipe": ("pipe.bin",),
    "folder": ("deep",),
    "the folder itself": (".",),
    "no name": ("",),
    "missing": ("missing.bin",),
    "offset below 0": ("w.bin", "-16"),
    "offset past the end": ("w.bin", str(HUGE)),
    "length below 0": ("w.bin", "", "-16"),
    "length past the end": ("w.bin", "", str(HUGE)),
    "offset that is no number": ("w.bin", "x"),
}


@pytest.mark.parametrize("case", EXTERNAL)
def test_external_data(case: str, crowded: Path) -> None:
    assert isinstance(refused(with_external(*EXTERNAL[case]), crowded), CorruptModelError)


def test_external_data_beside_the_model_is_read(crowded: Path) -> None:
    path = crowded / "net.onnx"
    path.write_bytes(with_external("w.bin", "16").SerializeToString())
    assert mcugen.compile(path).graph.nodes


def with_functions(*names: str) -> onnx.ModelProto:
    """A model of local functions, of which each calls the next, and the last the first."""
    opset = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    functions = [
        helper.make_function("own", name, ["a"], ["b"], [helper.make_node(after, ["a"], ["b"], domain="own")], opset)
        for name, after in zip(names, [*names[1:], names[0]], strict=True)
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in ("x", "y")]
    graph = helper.make_graph([helper.make_node(names[0], ["x"], ["y"], domain="own")], "g", ends[:1], ends[1:])
    return helper.make_model(graph, functions=functions, opset_imports=opset, ir_version=9)


@pytest.mark.parametrize("names", [("F",), ("F", "G"), ("F", "G", "H")])
def test_functions_that_call_themselves(names: tuple[str, ...], tmp_path: Path) -> None:
    assert isinstance(refused(with_functions(*names), tmp_path), CorruptModelError)


def of_nodes(*nodes: onnx.NodeProto, shape: tuple[int, ...] = (1, 4)) -> onnx.ModelProto:
    """A model from input x to output y."""
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", "y")]
    graph = helper.make_graph(list(nodes), "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def test_nodes_in_a_circle(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    refused(of_nodes(*nodes, helper.make_node("Relu", ["b"], ["y"])), tmp_path)


@pytest.mark.parametrize("shape", [(0, 4), (-1, -4), (HUGE, 4), (2**31, 2**31, 4), (1,) * 70])
def test_shapes(shape: tuple[int, ...], tmp_path: Path) -> None:
    refused(of_nodes(helper.make_node("Relu", ["x"], ["y"]), shape=shape), tmp_path)


IMAGE = (1, 4, 6, 6)
ATTRIBUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "strides of 0": ("MaxPool", {"kernel_shape": [2, 2], "strides": [0, 1]}),
    "a huge kernel": ("AveragePool", {"kernel_shape": [HUGE, 1]}),
    "huge padding": ("MaxPool", {"kernel_shape": [2, 2], "pads": [2**62, 0, 0, 2**62]}),
    "padding below 0": ("AveragePool", {"kernel_shape": [2, 2], "pads": [-9, 0, 0, 0]}),
    "dilations of 0": ("MaxPool", {"kernel_shape": [2, 2], "dilations": [0, 1]}),
    "blocks of 0": ("DepthToSpace", {"blocksize": 0}),
    "blocks below 0": ("SpaceToDepth", {"blocksize": -2}),
    "an axis that is not": ("Softmax", {"axis": 9}),
    "no permutation": ("Transpose", {"perm": [0, 0, 1, 2]}),
    "channels without end": ("LRN", {"size": 2**40}),
}


@pytest.mark.parametrize("case", ATTRIBUTES)
def test_attributes(case: str, tmp_path: Path) -> None:
    kind, attributes = ATTRIBUTES[case]
    refused(of_nodes(helper.make_node(kind, ["x"], ["y"], **attributes), shape=IMAGE), tmp_path)


@pytest.mark.parametrize("kind", [99, TensorProto.COMPLEX64])
def test_element_types_without_c(kind: int, tmp_path: Path) -> None:
    model = of_nodes(helper.make_node("Relu", ["x"], ["y"]))
    model.graph.output[0].type.tensor_type.elem_type = kind
    assert isinstance(refused(model, tmp_path), UnsupportedError | CorruptModelError)


def test_classes_without_end(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ArgMax", ["x"], ["at"], axis=-1),
        helper.make_node("OneHot", ["at", "depth", "values"], ["y"]),
    ]
    model = of_nodes(*nodes)
    constants = {"depth": np.array(1 << 23), "values": np.array([0, 1], np.float32)}
    model.graph.initializer.extend(numpy_helper.from_array(data, name) for name, data in constants.items())
    refused(model, tmp_path)


@pytest.mark.parametrize("name", ["strides", "dilations", "pads"])
@pytest.mark.parametrize("kind", ["AveragePool", "LpPool"])
def test_windows_over_volumes_with_attributes_for_fewer_axes(kind: str, name: str, tmp_path: Path) -> None:
    node = helper.make_node(kind, ["x"], ["y"], kernel_shape=[2, 2, 2], **{name: [1, 1]})
    refused(of_nodes(node, shape=(1, 2, 4, 4, 4)), tmp_path)


@pytest.mark.parametrize("name", ["strides", "dilations"])
def test_convolutions_of_volumes_with_attributes_for_fewer_axes(name: str, tmp_path: Path) -> None:
    w = Writer()
    node = helper.make_node("Conv", ["x", w.weights(2, 2, 2, 2, 2)], ["y"], **{name: [1, 1]})
    model = of_nodes(node, shape=(1, 2, 4, 4, 4))
    model.graph.initializer.extend(w.constants)
    refused(model, tmp_path)


@pytest.mark.parametrize("group", [0, -1, 3, 2**40])
def test_groups(group: int, tmp_path: Path) -> None:
    w = Writer()
    x, taps = w.input(IMAGE), w.weights(4, 4, 3, 3)
    model = w.model(w.node("Conv", [x, taps], group=1))
    model.graph.node[0].attribute[0].i = group
    refused(model, tmp_path)


@pytest.mark.parametrize("starts", [[], [0, 3], [2, 0], [0, -1], [0, HUGE]])
def test_sequences_of_tokens_that_are_not_there(starts: list[int], tmp_path: Path) -> None:
    w = Writer(22)
    given = {"ngram_indexes": [0, 1], "pool_int64s": [1, 2, 3], "mode": "TF", "max_skip_count": 0}
    tokens = w.node("Cast", [w.input([6])], to=TensorProto.INT64)
    y = w.node("TfIdfVectorizer", [tokens], min_gram_length=1, max_gram_length=2, ngram_counts=starts or [0], **given)
    model = w.model(y)
    if not starts:
        del next(a for a in model.graph.node[1].attribute if a.name == "ngram_counts").ints[:]
    refused(model, tmp_path)


OPERANDS = {
    "a huge shape": ("Expand", [np.array([HUGE, 4])]),
    "a shape below 0": ("Reshape", [np.array([-2, -3])]),
    "too many repeats": ("Tile", [np.array([2**31, 2**31])]),
    "an index outside": ("Gather", [np.array([7])]),
    "a huge split": ("Split", [np.array([2**62, 2**62 + 4])]),
    "huge padding": ("Pad", [np.array([0, HUGE, 0, HUGE])]),
    "a step of 0": ("Slice", [np.array(v) for v in ([0], [2], [1], [0])]),
    "more than there are": ("TopK", [np.array([5])]),
    "a huge size": ("Resize", [np.array([], np.float32), np.array([], np.float32), np.array([1, HUGE])]),
    "scales that are no numbers": ("Resize", [np.array([], np.float32), np.array([1, np.nan], np.float32)]),
    "scales below 0": ("Resize", [np.array([], np.float32), np.array([1, -2], np.float32)]),
    "an axis that is not": ("CumSum", [np.array(5)]),
}


@pytest.mark.parametrize("case", OPERANDS)
def test_operands(case: str, tmp_path: Path) -> None:
    kind, constants = OPERANDS[case]
    names = [f"c{k}" for k in range(len(constants))]
    results = ["y"] if kind not in ("Split", "TopK") else ["y", "z"]
    model = of_nodes(helper.make_node(kind, ["x", *names], results))
    model.graph.initializer.extend(map(numpy_helper.from_array, constants, names))
    refused(model, tmp_path)


@pytest.mark.parametrize("bounds", [(0, HUGE, 1), (0, 10, 0), (0.0, np.inf, 1.0), (np.nan, 1.0, 1.0)])
def test_ranges(bounds: tuple[float, ...], tmp_path: Path) -> None:
    w = Writer()
    start, end, step = (
        w.constant(np.array(v, np.float32 if isinstance(bounds[0], float) else np.int64)) for v in bounds
    )
    made = helper.make_node("Range", [start, end, step], ["r"])
    model = of_nodes(made, helper.make_node("Relu", ["x"], ["y"]))
    model.graph.initializer.extend(w.constants)
    refused(model, tmp_path)


def endless(depth: int) -> onnx.GraphProto:
    """A loop without end, in `depth` others."""
    turn = helper.make_tensor_value_info(f"turn{depth}", TensorProto.INT64, [])
    going = helper.make_tensor_value_info(f"going{depth}", TensorProto.BOOL, [])
    again = helper.make_tensor_value_info(f"again{depth}", TensorProto.BOOL, [])
    nodes = [helper.make_node("Identity", [f"going{depth}"], [f"again{depth}"])]
    if depth:
        nodes += [helper.make_node("Loop", ["", "yes"], [], body=endless(depth - 1))]
    return helper.make_graph(nodes, f"body{depth}", [turn, going], [again])


@pytest.mark.parametrize("depth", [0, 3])
def test_loops_without_end(depth: int, tmp_path: Path) -> None:
    loop = helper.make_node("Loop", ["", "yes"], [], body=endless(depth))
    model = of_nodes(loop, helper.make_node("Relu", ["x"], ["y"]))
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "yes"))
    assert isinstance(refused(model, tmp_path), UnsupportedError | CorruptModelError)


def test_a_loop_of_a_value_without_end(tmp_path: Path) -> None:
    """No number of trips, and a condition that stays true, is refused, not cut off."""
    model = onnx.ModelProto.FromString(onnx_damage.tensors())
    next(node for node in model.graph.node if node.op_type == "Loop").input[0] = ""
    assert "does not end within" in str(refused(model, tmp_path))


NAMES = (
    "*/ int bad; /*",
    'say "hello"\n#include <stdio.h>',
    "int",
    "Größe \u202e",
    "a\\",
    "??/",
    "x" * 10_000,
    "../up",
)


def test_names_are_data(tmp_path: Path) -> None:
    """Names of inputs, outputs, values and nodes never become code, and never meet."""
    nodes, inputs = [], []
    for k, name in enumerate(NAMES):
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]))
        nodes.append(helper.make_node("Tanh", [name], [f"{name}!"], name=name))
        nodes.append(helper.make_node("Softmax", [f"{name}!"], [f"{name}?"], name=f"{name} {k}"))
    outputs = [helper.make_tensor_value_info(f"{name}?", TensorProto.FLOAT, [1, 4]) for name in NAMES]
    graph = helper.make_graph(nodes, "*/ #error", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    artifact = mcugen.compile(write(model, tmp_path), name="odd")
    assert host.build_program(artifact, tmp_path).is_file()


def test_damaged_files() -> None:
    verdicts = damage.judge(onnx_damage.damaged(40), name="damaged.onnx")
    assert not damage.failures(verdicts), damage.failures(verdicts)[0].text
    assert {v.kind for v in verdicts} == {damage.BUILT, damage.REFUSED}


def test_scales_biases_and_factors_beyond_any_multiplier() -> None:
    """1e30 for each float of a convolution and of a product of stored integers, and of the product's factor."""
    models = [made(name)[0].SerializeToString() for name in ("qlinear_conv", "qlinear_gemm", "qdq_conv_batch_norm_u8")]
    pairs = [pair for data in models for pair in onnx_damage.edited(data) if pair[0].endswith(" edit 2")]
    verdicts = damage.judge([data for _, data in pairs], name="damaged.onnx")
    assert len(verdicts) > 20
    assert not damage.failures(verdicts), damage.failures(verdicts)[0].text


def test_edited_fields() -> None:
    pairs = list(onnx_damage.all_edited())
    verdicts = damage.judge([data for _, data in pairs[::181]], name="damaged.onnx")
    assert not damage.failures(verdicts), damage.failures(verdicts)[0].text


def test_constants_of_all_types_are_edited() -> None:
    arrays = {"truth": np.array([True]), "count": np.array([3]), "text": np.array([b"a"], object)}
    model = of_nodes(helper.make_node("Relu", ["x"], ["y"]))
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in arrays.items())
    edited = {data for _, data in onnx_damage.edited(model.SerializeToString())}
    held = [onnx.load_from_string(data).graph.initializer for data in edited]
    assert any(numpy_helper.to_array(tensors[0]).tolist() == [False] for tensors in held)

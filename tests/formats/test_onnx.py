# SPDX-License-Identifier: Apache-2.0
"""ONNX models compute what the onnx package's evaluator computes, and what cannot be read is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import mcugen
from mcugen import passes
from mcugen.errors import CorruptModelError, McugenError, ShapeError, UnsupportedError, UsageError
from mcugen.formats import read, registry
from mcugen.ops.transpose import Transpose
from mcugen.oracle import interpreter
from mcugen.verify import checks, golden
from tests.formats.onnx_models import Writer, expected, write

TOLERANCE = 1e-5


def classifier(w: Writer) -> tuple[str, ...]:
    """A small image classifier with everything that channels-first files have."""
    x = w.input([1, 3, 9, 8])
    c = w.node("Conv", [x, w.weights(6, 3, 3, 3), w.weights(6)], pads=[1, 1, 1, 1], strides=[2, 2])
    c = w.node(
        "Relu", [w.node("BatchNormalization", [c, *(w.constant(np.full(6, v, np.float32)) for v in (2, 1, 3, 4))])]
    )
    d = w.node("Conv", [c, w.weights(6, 1, 3, 3)], pads=[0, 1, 2, 1], group=6)
    e = w.node("Concat", [w.node("Add", [c, d]), d], axis=1)
    p = w.node("MaxPool", [e], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    q = w.node("AveragePool", [p], kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1)
    flat = w.node("Flatten", [w.node("Sigmoid", [q])])
    y = w.node("Gemm", [flat, w.weights(12 * 6, 5), w.weights(5)], alpha=0.5, beta=2.0)
    return (w.node("Softmax", [y]),)


def shuffled(w: Writer) -> tuple[str, ...]:
    """A channel shuffle between two convolutions."""
    x = w.node("Conv", [w.input([1, 1, 6, 6]), w.weights(8, 1, 3, 3)])
    split = w.node("Reshape", [x, w.constant(np.array([0, 2, 4, 4, 4]))])
    turned = w.node("Transpose", [split], perm=[0, 2, 1, 3, 4])
    joined = w.node("Reshape", [turned, w.constant(np.array([1, 8, 4, 4]))])
    y = w.node("Conv", [w.node("Relu", [joined]), w.weights(4, 8, 1, 1)])
    return (w.node("GlobalAveragePool", [y]),)


def signal(w: Writer) -> tuple[str, ...]:
    """Convolutions of one spatial axis, and shapes computed from shapes."""
    x = w.node("Conv", [w.input([1, 2, 16]), w.weights(4, 2, 5)], dilations=[2], auto_pad="SAME_LOWER")
    y = w.node("Gather", [w.node("Shape", [x]), w.constant(np.array([0]))], axis=0)
    shape = w.node("Concat", [y, w.constant(np.array([-1]))], axis=0)
    flat = w.node("Reshape", [w.node("AveragePool", [x], kernel_shape=[2], strides=[2]), shape])
    parts = w.node("Split", [w.node("MatMul", [flat, w.weights(32, 6)])], results=2, axis=1, num_outputs=2)
    return (w.node("Sub", parts), w.node("Slice", [parts[0], *(w.constant(np.array([v])) for v in (2, -9, 1, -1))]))


def reduced(w: Writer) -> tuple[str, ...]:
    """Reductions, and functions that ONNX defines by simpler ones."""
    x = w.input([2, 3, 4])
    axes = w.constant(np.array([-1, 1]))
    found = [w.node(kind, [x, axes], keepdims=1) for kind in ("ReduceSum", "ReduceL2", "ReduceLogSumExp", "ReduceMax")]
    total = w.node("Sum", [*found, w.node("ReduceMean", [x])])
    return (w.node("Softsign", [total]), w.node("LogSoftmax", [x], axis=1), w.node("ArgMax", [x], axis=1, keepdims=0))


def moved(w: Writer) -> tuple[str, ...]:
    """Elements moved, repeated and padded."""
    x = w.input([1, 8, 3, 2])
    y = w.node("DepthToSpace", [x], blocksize=2, mode="CRD")
    z = w.node("SpaceToDepth", [w.node("DepthToSpace", [x], blocksize=2)], blocksize=2)
    ends = w.constant(np.array([0, 1, 1, 0, 0, 0, 2, 3]))
    padded = w.node("Pad", [y, ends, w.constant(np.array(1.5, np.float32))])
    wide = w.node("Expand", [w.node("ReduceSum", [x], keepdims=0), w.constant(np.array([2, 3]))])
    return (padded, z, w.node("Tile", [wide, w.constant(np.array([1, 2]))]))


def enlarged(w: Writer) -> tuple[str, ...]:
    """Transposed convolutions: cut, and filled up."""
    x = w.input([1, 4, 3, 5])
    a = w.node("ConvTranspose", [x, w.weights(4, 2, 3, 2), w.weights(2)], strides=[2, 3], pads=[1, 0, 0, 1])
    b = w.node("ConvTranspose", [x, w.weights(4, 3, 2, 2)], strides=[2, 1], output_padding=[1, 0])
    c = w.node("ConvTranspose", [x, w.weights(4, 1, 3, 3)], strides=[2, 2], auto_pad="SAME_UPPER")
    return a, b, c


NETS: tuple[Callable[[Writer], tuple[str, ...]], ...] = (classifier, shuffled, signal, reduced, moved, enlarged)


def agrees(model: onnx.ModelProto, path: Path) -> None:
    """The oracle's outputs are those of the onnx package."""
    graph = read.load(path, registry.load())
    rng = np.random.default_rng(3)
    inputs = [rng.normal(size=graph.type(name).shape).astype(np.float32) for name in graph.inputs]
    named = {value.name: array for value, array in zip(model.graph.input, inputs, strict=True)}
    got = interpreter.run(graph, inputs, "ort")
    for name, wanted in zip(graph.outputs, expected(model, named), strict=True):
        assert got[name].shape == wanted.shape
        assert np.abs(got[name] - wanted).max() <= TOLERANCE * max(np.abs(wanted).max(), 1e-30)


@pytest.mark.parametrize("net", NETS)
def test_results_are_those_of_the_onnx_package(net: Callable[[Writer], tuple[str, ...]], tmp_path: Path) -> None:
    w = Writer()
    model = w.model(*net(w))
    agrees(model, write(model, tmp_path))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("net", NETS)
def test_c_is_within_the_tolerance(net: Callable[[Writer], tuple[str, ...]], tmp_path: Path) -> None:
    w = Writer()
    artifact = mcugen.compile(write(w.model(*net(w)), tmp_path), name="net")
    assert checks.verify(artifact, 2, None, None, lambda text: None).agrees


@pytest.mark.parametrize(("net", "left"), [(classifier, 1), (shuffled, 0)])
def test_no_transpose_is_left_inside(net: Callable[[Writer], tuple[str, ...]], left: int, tmp_path: Path) -> None:
    """The one that is left moves the input, which the file states channels first."""
    w = Writer()
    graph = read.load(write(w.model(*net(w)), tmp_path), registry.load())
    moved = [node for node in passes.run(graph, "ort").nodes if isinstance(node.op, Transpose)]
    assert len(moved) == left


def test_old_operators_are_converted(tmp_path: Path) -> None:
    """Opset 9 states the bounds of slices and clips as attributes."""
    w = Writer(opset=9)
    x = w.node("Slice", [w.input([2, 6])], starts=[1], ends=[5], axes=[1])
    model = w.model(w.node("Softmax", [w.node("Clip", [x], min=-0.5, max=0.5)], axis=1))
    agrees(model, write(model, tmp_path))


def test_a_batch_that_is_open_is_one_with_a_note(tmp_path: Path) -> None:
    w = Writer()
    path = write(w.model(w.node("Relu", [w.input(["n", 4])])), tmp_path)
    artifact = mcugen.compile(path, name="net")
    assert artifact.imported.type(artifact.imported.inputs[0]).shape == (1, 4)
    assert any("'n' is taken as 1" in note for note in artifact.report.notes)


def test_other_open_dimensions_are_asked_for(tmp_path: Path) -> None:
    w = Writer()
    path = write(w.model(w.node("Relu", [w.input([1, "width"])])), tmp_path)
    with pytest.raises(ShapeError, match="width") as caught:
        mcugen.compile(path, name="net")
    assert "--input-shape input0:1,96; in Python input_shape=[1, 96]" in str(caught.value.hint)
    forms = (("input0:1,7",), ["input0:1,7"], "input0:1,7", {"input0": (1, 7)}, (1, 7), [1, 7], "1,7", np.array([1, 7]))
    for form in forms:
        artifact = mcugen.compile(path, name="net", input_shape=form)
        assert artifact.imported.type(artifact.imported.inputs[0]).shape == (1, 7)
    for wrong in ({"input0": 7.5}, (1, None), {"input0": "wide"}, 0):
        with pytest.raises(UsageError, match="is not the shape of an input"):
            mcugen.compile(path, name="net", input_shape=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no input 'other'"):
        mcugen.compile(path, name="net", input_shape=("other:1,7",))


def test_a_shape_without_a_name_is_that_of_the_only_input(tmp_path: Path) -> None:
    w = Writer()
    path = write(w.model(w.node("Add", [w.input([1, "width"]), w.input([1, "width"])])), tmp_path)
    with pytest.raises(UsageError, match="a shape has no name") as caught:
        mcugen.compile(path, input_shape=(1, 7))
    assert "['input0', 'input1']" in caught.value.hint
    mcugen.compile(path, input_shape={"input0": (1, 7), "input1": [1, 7]})


def test_every_unsupported_operator_is_named(tmp_path: Path) -> None:
    w = Writer()
    x = w.node("Det", [w.input([3, 2, 2])])
    path = write(w.model(w.node("Unique", [w.node("Relu", [x])])), tmp_path)
    with pytest.raises(UnsupportedError, match=r"(?s)node 0 Det 'Det 0': no such operator.*node 2 Unique"):
        mcugen.compile(path)


@pytest.mark.parametrize("kind", ["If", "Loop"])
def test_a_subgraph_that_reads_an_unsupported_result_hides_no_operator(kind: str, tmp_path: Path) -> None:
    w = Writer()
    x = w.node("Det", [w.input([3, 2, 2])])
    y = helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)
    carried = [helper.make_tensor_value_info(f"{name}_in", kind, []) for name, kind in (("k", 7), ("more", 9))]
    more = helper.make_tensor_value_info("more", TensorProto.BOOL, [])
    relu = helper.make_node("Relu", [x], ["inner"])
    body = helper.make_graph([relu, helper.make_node("Identity", ["more_in"], ["more"])], "body", carried, [more, y])
    branch = helper.make_graph([relu], "branch", [], [y])
    if kind == "If":
        w.node("If", [w.constant(np.array(True))], then_branch=branch, else_branch=branch)
    else:
        w.node("Loop", [w.constant(np.array(2)), ""], body=body)
    graph = helper.make_graph(w.nodes, "g", w.inputs, [helper.make_tensor_value_info("v1_0", 1, [])], w.constants)
    path = write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), tmp_path)
    with pytest.raises(UnsupportedError, match="node 0 Det 'Det 0': no such operator"):
        mcugen.compile(path)


@pytest.mark.parametrize("opset", [9, 20])
@pytest.mark.parametrize(("of_nodes", "of_versions"), [("ai.onnx", "ai.onnx"), ("ai.onnx", ""), ("", "ai.onnx")])
def test_the_default_domain_has_two_names(opset: int, of_nodes: str, of_versions: str, tmp_path: Path) -> None:
    """Also in subgraphs, and in functions of the file, which old operators are converted in, too."""
    w = Writer(opset)
    x = w.input([2, 3])
    y = helper.make_tensor_value_info("inner", TensorProto.FLOAT, [2, 3])
    branch = helper.make_graph([helper.make_node("Relu", [x], ["inner"], domain=of_nodes)], "branch", [], [y])
    z = w.node("If", [w.constant(np.array(True))], then_branch=branch, else_branch=branch)
    w.node("Half", [z], domain="own")
    versions = [helper.make_opsetid(of_versions, opset), helper.make_opsetid("own", 1)]
    half = helper.make_node("Cast", ["a"], ["b"], to=TensorProto.INT32, domain=of_nodes)
    function = helper.make_function("own", "Half", ["a"], ["b"], [half], versions[:1])
    graph = helper.make_graph(w.nodes, "g", w.inputs, [helper.make_tensor_value_info("v1_0", 6, [2, 3])], w.constants)
    graph.node[0].domain = of_nodes
    model = helper.make_model(graph, opset_imports=versions, functions=[function], ir_version=9)
    loaded = read.load(write(model, tmp_path), registry.load())
    data = np.float32([[-1, 0, 1.5], [2, -3, 4]])
    assert interpreter.run(loaded, [data], "ort")[loaded.outputs[0]].tolist() == [[0, 0, 1], [2, 0, 4]]


def test_only_onnx_runtime_runs_onnx(tmp_path: Path) -> None:
    w = Writer()
    path = write(w.model(w.node("Relu", [w.input([1, 4])])), tmp_path)
    with pytest.raises(UsageError, match=r"tflm does not run \.onnx models"):
        mcugen.compile(path, reference="tflm")


@pytest.mark.parametrize("place", ["../w.bin", "/etc/hostname", "a/../../w.bin", "", "missing.bin"])
def test_external_data_stays_in_its_folder(place: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(64))
    (tmp_path / "in").mkdir()
    w = Writer()
    model = w.model(w.node("Add", [w.input([1, 4]), w.weights(4)]))
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", place), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    with pytest.raises(CorruptModelError):
        mcugen.compile(write(model, tmp_path / "in"))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    w = Writer()
    data = w.model(*classifier(w)).SerializeToString()
    rng = np.random.default_rng(1)
    path = tmp_path / "net.onnx"
    refused = 0
    for _ in range(60):
        damaged = bytearray(data[: rng.integers(1, len(data))] if rng.random() < 0.5 else data)
        for at in rng.integers(0, len(damaged), 3):
            damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            passes.run(read.load(path, registry.load()), "ort")
        except McugenError as error:
            assert error.exit_code != 70, error
            refused += 1
    assert refused > 30


def test_a_model_of_float16_is_one_of_float32_and_says_so(tmp_path: Path) -> None:
    """Each operator in float32, as ONNX Runtime computes it on CPUs without float16 arithmetic."""
    writer = Writer()
    model = writer.model(*classifier(writer))
    for constant in model.graph.initializer:
        narrow = onnx.numpy_helper.to_array(constant).astype(np.float16)
        constant.CopyFrom(onnx.numpy_helper.from_array(narrow, constant.name))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    found = read.load(write(model, tmp_path), registry.load())
    x = np.random.default_rng(0).normal(0, 1, (1, 3, 9, 8)).astype(np.float16)
    (y,) = expected(model, {model.graph.input[0].name: x})
    np.savez(tmp_path / "recorded.npz", in0_0=x, out0_0=y)
    assert golden.check(tmp_path / "recorded.npz", found, "ort").agrees
    values = interpreter.run(found, [x.astype(np.float32)], "ort")
    assert values[found.outputs[0]].dtype == np.float32 and y.dtype == np.float16
    assert np.abs(values[found.outputs[0]] - y).max() < 2e-3
    assert sum("float16 in the file" in note for note in found.notes) == 2


@pytest.mark.parametrize("shape", [(4, 1), (1, 4), (4,), (1, 1), (4, 4)], ids=str)
def test_what_gemm_adds_is_spread_as_its_shape_says(shape: tuple[int, ...], tmp_path: Path) -> None:
    """A column has a value for each row of the result, though it has as many as the result has columns."""
    w = Writer()
    model = w.model(w.node("Gemm", [w.input([4, 3]), w.weights(3, 4), w.weights(*shape)]))
    agrees(model, write(model, tmp_path))

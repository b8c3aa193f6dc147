# SPDX-License-Identifier: Apache-2.0
"""The shapes that a file declares are those that its operators make; others are refused, whatever the operator.

A note says so of a model's output, where ONNX's own rules make the shape, too.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mcugen.errors import ShapeError
from mcugen.formats import read, registry
from mcugen.formats.onnx.operators import resize
from mcugen.ir.graph import Graph
from tests.formats.onnx_models import Writer, write
from tests.support.tflite_writer import ModelWriter

KINDS = ("Relu", "Softsign", "Flatten", "GlobalMaxPool", "LayerNormalization", "Hardmax")
"""An operator of mcugen's own, functions of ONNX, and such that become several or only move elements."""


def declared(shape: list[int | str | None] | None, kind: str = "Relu", *, inside: bool = True) -> onnx.ModelProto:
    """A layer over [1, 3, 4, 5], and a sum; `shape` is what the file declares of the layer, or of the sum's result."""
    w = Writer()
    operands = [w.input([1, 3, 4, 5]), *([w.weights(5)] if kind == "LayerNormalization" else [])]
    y = w.node(kind, operands)
    model = w.model(w.node("Add", [y, y]))
    value = helper.make_tensor_value_info(y if inside else model.graph.output[0].name, TensorProto.FLOAT, shape)
    if inside:
        model.graph.value_info.append(value)
    else:
        model.graph.output[0].CopyFrom(value)
    return model


def load(model: onnx.ModelProto, folder: Path, **shapes: tuple[int, ...]) -> Graph:
    return read.load(write(model, folder), registry.load(), shapes=shapes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [True, False])
def test_another_shape_than_declared_is_refused(kind: str, inside: bool, tmp_path: Path) -> None:
    """A note says so of a model's output, as a warning of ONNX Runtime does, where ONNX's own rules make the shape."""
    made = list(load(declared(None, kind, inside=inside), tmp_path).outputs)
    shape = load(declared(None, kind), tmp_path).type(made[0]).shape
    assert not load(declared([*shape], kind, inside=inside), tmp_path).notes
    assert not load(declared(["batch", *shape[1:-1], None], kind, inside=inside), tmp_path).notes
    for other in ([*shape[:-1], shape[-1] + 1], [*shape, 1]):
        if inside:
            with pytest.raises(ShapeError) as caught:
                load(declared([*other], kind, inside=inside), tmp_path)
            said = str(caught.value)
        else:
            graph = load(declared([*other], kind, inside=inside), tmp_path)
            assert graph.type(graph.outputs[0]).shape == shape
            (said,) = graph.notes
        assert str([*shape]) in said
        assert str(other) in said
        assert f"'v{0 if inside else 1}_0'" in said


@pytest.mark.parametrize("after", [True, False])
def test_an_output_that_onnx_does_not_make_is_refused(
    after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the import of a Resize is seen by the shape of the output, whether another operator follows."""
    w = Writer()
    y = w.node("Resize", [w.input([1, 1, 4, 4]), "", w.constant(np.float32([1, 1, 2, 2]))])
    model = w.model(w.node("Relu", [y]) if after else y)
    del model.graph.value_info[:]
    assert load(model, tmp_path)
    exact = resize._targets
    monkeypatch.setattr(resize, "_targets", lambda *given: ([1, 1, 8, 7], exact(*given)[1]))
    with pytest.raises(ShapeError, match=r"\[1, 1, 8, 7\], but the file declares it \[1, 1, 8, 8\]"):
        load(model, tmp_path)


def test_an_output_of_an_estimator_may_be_declared_wrongly(tmp_path: Path) -> None:
    """The scores of two classes, of which skl2onnx keeps one and declares both."""
    numbers = {"coefficients": [0.5, -1.0, -0.5, 1.0], "intercepts": [0.25, -0.25], "classlabels_ints": [0, 1]}
    ml, value = "ai.onnx.ml", helper.make_tensor_value_info
    nodes = [
        helper.make_node("LinearClassifier", ["x"], ["label", "scores"], domain=ml, **numbers),
        helper.make_node("ArrayFeatureExtractor", ["scores", "index"], ["y"], domain=ml),
    ]
    ends = [value("label", TensorProto.INT64, [None]), value("y", TensorProto.FLOAT, [None, 2])]
    index = helper.make_tensor("index", TensorProto.INT64, [], [1])
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1, 2])], ends, [index])
    sets = [helper.make_opsetid("", 18), helper.make_opsetid(ml, 1)]
    loaded = load(helper.make_model(graph, opset_imports=sets, ir_version=8), tmp_path)
    assert loaded.type(loaded.outputs[1]).shape == (1, 1)
    assert any("'y' [1, 1], but the file declares it [?, 2]" in note for note in loaded.notes)


def test_shapes_of_old_operators_are_compared_too(tmp_path: Path) -> None:
    """They are converted, and the file declares shapes of results before that."""
    w = Writer(opset=9)
    y = w.node("Slice", [w.input([2, 6])], starts=[1], ends=[5], axes=[1])
    model = w.model(w.node("Relu", [y]))
    model.graph.value_info.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, [2, 5]))
    with pytest.raises(ShapeError, match=r"\[2, 4\], but the file declares it \[2, 5\]"):
        load(model, tmp_path)


def test_shapes_within_a_branch_are_compared(tmp_path: Path) -> None:
    w = Writer()
    x, choice = w.input([2, 3]), w.constant(np.array(True))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3 + k]) for k, name in enumerate(("a", "b"))]
    then, other = (helper.make_graph([helper.make_node("Relu", [x], [v.name])], v.name, [], [v]) for v in ends)
    for branches, fits in (((then, other), True), ((other, then), False)):
        w.nodes.clear()
        w.node("If", [choice], then_branch=branches[0], else_branch=branches[1])
        graph = helper.make_graph(w.nodes, "g", w.inputs, [onnx.ValueInfoProto(name="v0_0")], w.constants)
        graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        if fits:
            assert load(model, tmp_path)
            continue
        with pytest.raises(ShapeError, match=r"'b' \[2, 3\], but the file declares it \[2, 4\]"):
            load(model, tmp_path)


def test_an_input_of_another_shape_than_the_file_fixes_makes_other_shapes(tmp_path: Path) -> None:
    graph = load(declared([1, 3, 4, 5]), tmp_path, input0=(2, 3, 4, 5))
    assert graph.type(graph.outputs[0]).shape == (2, 3, 4, 5)


@pytest.mark.parametrize("kind", ["RELU", "SQUARED_DIFFERENCE", "SHAPE", "GELU"])
def test_another_shape_than_a_tflite_file_declares_is_refused(kind: str, tmp_path: Path) -> None:
    """Wrong shapes of operators' results, of constants, and of an operator that becomes several; open sizes fit."""
    dtype = "s32" if kind == "SHAPE" else "f32"
    right = (2,) if kind == "SHAPE" else (3, 4)

    def net(shape: tuple[int, ...], signature: tuple[int, ...] = ()) -> Graph:
        m = ModelWriter()
        x = m.tensor("x", (3, 4), "f32")
        y = m.tensor("result", shape, dtype, shape_signature=signature)
        m.op(kind, [x, x] if kind == "SQUARED_DIFFERENCE" else [x], [y])
        (tmp_path / "net.tflite").write_bytes(m.build([x], [y]))
        return read.load(tmp_path / "net.tflite", registry.load())

    assert net(right)
    assert net((1, *right[1:]), (-1, *right[1:]))
    for shape, signature in (((5, *right[1:]), ()), ((1, *right[1:], 7), (-1, *right[1:], 7))):
        with pytest.raises(ShapeError, match="'result'"):
            net(shape, signature)

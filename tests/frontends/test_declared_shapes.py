# SPDX-License-Identifier: Apache-2.0
"""The shapes that a file declares are those that its operators make; others are refused, whatever the operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mcugen import frontends, registry
from mcugen.errors import ShapeError
from mcugen.graph import Graph
from tests.frontends.onnx_models import Writer, write
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
    return frontends.load(write(model, folder), registry.load(), shapes=shapes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [True, False])
def test_another_shape_than_declared_is_refused(kind: str, inside: bool, tmp_path: Path) -> None:
    made = list(load(declared(None, kind, inside=inside), tmp_path).outputs)
    shape = load(declared(None, kind), tmp_path).type(made[0]).shape
    assert load(declared([*shape], kind, inside=inside), tmp_path)
    assert load(declared(["batch", *shape[1:-1], None], kind, inside=inside), tmp_path)
    for other in ([*shape[:-1], shape[-1] + 1], [*shape, 1]):
        with pytest.raises(ShapeError) as caught:
            load(declared([*other], kind, inside=inside), tmp_path)
        assert str([*shape]) in str(caught.value)
        assert str(other) in str(caught.value)
        assert f"'v{0 if inside else 1}_0'" in str(caught.value)


def test_shapes_of_old_operators_are_compared_too(tmp_path: Path) -> None:
    """They are converted, and the file declares shapes of results before that."""
    w = Writer(opset=9)
    y = w.node("Slice", [w.input([2, 6])], starts=[1], ends=[5], axes=[1])
    model = w.model(w.node("Relu", [y]))
    model.graph.value_info.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, [2, 5]))
    with pytest.raises(ShapeError, match=r"\[2, 4\], the file declares it \[2, 5\]"):
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
        with pytest.raises(ShapeError, match=r"'b' \[2, 3\], the file declares it \[2, 4\]"):
            load(model, tmp_path)


def test_an_input_of_another_shape_than_the_file_fixes_makes_other_shapes(tmp_path: Path) -> None:
    graph = load(declared([1, 3, 4, 5]), tmp_path, input0=(2, 3, 4, 5))
    assert graph.type(graph.outputs[0]).shape == (2, 3, 4, 5)


@pytest.mark.parametrize("kind", ["RELU", "SQUARED_DIFFERENCE", "SHAPE", "GELU"])
def test_another_shape_than_a_tflite_file_declares_is_refused(kind: str, tmp_path: Path) -> None:
    """Of operators of mcugen's own, of constants, and of one that becomes several; open sizes fit."""
    dtype = "s32" if kind == "SHAPE" else "f32"
    right = (2,) if kind == "SHAPE" else (3, 4)

    def net(shape: tuple[int, ...], signature: tuple[int, ...] = ()) -> Graph:
        m = ModelWriter()
        x = m.tensor("x", (3, 4), "f32")
        y = m.tensor("result", shape, dtype, shape_signature=signature)
        m.op(kind, [x, x] if kind == "SQUARED_DIFFERENCE" else [x], [y])
        (tmp_path / "net.tflite").write_bytes(m.build([x], [y]))
        return frontends.load(tmp_path / "net.tflite", registry.load())

    assert net(right)
    assert net((1, *right[1:]), (-1, *right[1:]))
    for shape, signature in (((5, *right[1:]), ()), ((1, *right[1:], 7), (-1, *right[1:], 7))):
        with pytest.raises(ShapeError, match="'result'"):
            net(shape, signature)

# SPDX-License-Identifier: Apache-2.0
"""The exact judge of quantized ONNX models against worked examples, and models of fixed seeds against the judge."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mcugen
from mcugen.oracle import interpreter
from mcugen.verify import host
from mcugen.verify.cases import Case as Inputs
from tests.random import exact_judge, judging, mutants, quantized
from tests.random.drawing import kind
from tests.random.kinds import quantized as quantized_kind


def _between(
    op: str, scales: tuple[float, ...], zero: int = 0, *, operands: int = 1, **attributes: object
) -> onnx.ModelProto:
    """An operator of int8 tensors [1, 4] between DequantizeLinear and QuantizeLinear."""
    numbers = [numpy_helper.from_array(np.float32(s), f"s{k}") for k, s in enumerate(scales)]
    zeros = [numpy_helper.from_array(np.int8(0), "z"), numpy_helper.from_array(np.int8(zero), "zy")]
    nodes = [helper.make_node("DequantizeLinear", [f"x{k}", f"s{k}", "z"], [f"r{k}"]) for k in range(operands)]
    nodes += [helper.make_node(op, [f"r{k}" for k in range(operands)], ["r"], **attributes)]
    nodes += [helper.make_node("QuantizeLinear", ["r", f"s{operands}", "zy"], ["y"])]
    ends = [
        helper.make_tensor_value_info(n, onnx.TensorProto.INT8, [1, 4])
        for n in (*(f"x{k}" for k in range(operands)), "y")
    ]
    graph = helper.make_graph(nodes, "g", ends[:-1], ends[-1:], [*numbers, *zeros])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _stored(model: onnx.ModelProto, *inputs: list[int]) -> list[list[int]]:
    """[low, high] of the judge's stored integers."""
    arrays = [np.array([values], np.int8) for values in inputs]
    value = exact_judge.values(model, arrays, near=False).values["y"]
    return [[int(low), int(high)] for low, high in zip(value.low.flat, value.high.flat, strict=True)]


def test_halves_go_to_the_even_step_before_the_zero_point_is_added() -> None:
    sums = _between("Add", (0.25, 0.25, 0.5), 3, operands=2)
    assert _stored(sums, [1, 3, 5, -1], [0, 0, 0, 0]) == [[3, 3], [5, 5], [5, 5], [3, 3]]


def test_results_saturate() -> None:
    assert _stored(_between("Relu", (1.0, 0.0078125)), [1, -1, 100, 0]) == [[127, 127], [0, 0], [127, 127], [0, 0]]


def test_functions_of_floats_leave_both_steps_open_at_a_half() -> None:
    leaky = _between("LeakyRelu", (1.0, 1.0), alpha=0.5)
    assert _stored(leaky, [-1, -2, -4, 3]) == [[-1, 0], [-1, -1], [-2, -2], [3, 3]]


def test_a_quotient_by_zero_is_the_largest_or_the_least() -> None:
    quotients = _between("Div", (1.0, 1.0, 1.0), operands=2)
    assert _stored(quotients, [5, -5, 7, -1], [0, 0, 2, 2]) == [[127, 127], [-128, -128], [4, 4], [0, 0]]


def test_a_wrong_step_is_noticed() -> None:
    model = _between("Sigmoid", (0.1, 1 / 256), -128)
    x = np.array([[-30, 0, 4, 30]], np.int8)
    machine = exact_judge.values(model, [x], near=False)
    right = np.array([[int(v) for v in machine.values["y"].low.flat]], np.int8)
    assert exact_judge.difference(model, machine, [right]) == ""
    assert "y[0, 2] is" in exact_judge.difference(model, machine, [right + np.array([[0, 0, 2, 0]], np.int8)])


@pytest.mark.parametrize(("scale", "classes", "step"), [(0.00604828, 1, 165), (0.00029, 1, 255), (1 / 75.3, 6, 13)])
def test_a_softmax_of_equal_elements_is_that_of_onnx_runtime(
    scale: float, classes: int, step: int, tmp_path: Path
) -> None:
    """One element, whose exponential is near the end of float32, and six: the result is slightly above 12.5 steps."""
    scales = [numpy_helper.from_array(np.float32(s), n) for n, s in (("sx", 0.0018), ("sy", scale))]
    zero = numpy_helper.from_array(np.uint8(0), "z")
    node = helper.make_node(
        "QLinearSoftmax", ["x", "sx", "z", "sy", "z"], ["y"], domain="com.microsoft", axis=-1, opset=13
    )
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.UINT8, [1, classes]) for name in "xy"]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [*scales, zero])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    path = tmp_path / "net.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    x = np.full((1, classes), 39, np.uint8)
    artifact = mcugen.compile(path)
    values = interpreter.run(artifact.imported, [x], "ort")
    assert values[artifact.imported.outputs[0]].tolist() == [[step] * classes]
    checked = host.verify(artifact, [Inputs("equal", [x])])
    assert checked.agrees


def test_a_sum_of_three_on_a_coarse_scale_far_from_zero(tmp_path: Path) -> None:
    """The zero point, moved to where the bits of sums are, is more than 64 bits hold."""
    model = _between("Sum", (0.001, 0.002, 0.003, 1.0), 127, operands=3)
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())
    x = [np.array([values], np.int8) for values in ([-128, 127, 0, 1], [-128, 0, 0, 2], [-127, 5, 0, 3])]
    artifact = mcugen.compile(path)
    (found,) = interpreter.run(artifact.imported, x, "ort")[artifact.imported.outputs[0]].tolist()
    assert [[value, value] for value in found] == _stored(model, *(a[0].tolist() for a in x)) != [[127, 127]] * 4
    assert host.verify(artifact, [Inputs("ends", x)]).agrees


def test_models_of_fixed_seeds_are_right_in_c() -> None:
    verdicts = judging.judged_together(kind("quantized"), range(300, 305))
    wrong = [v for v in verdicts if v.outcome in judging.FAILURES]
    assert not wrong, wrong
    assert sum(v.outcome == judging.EQUAL for v in verdicts) >= 4


def test_a_seed_is_the_same_model_at_any_time() -> None:
    assert quantized_kind.draw(5).data == quantized_kind.draw(5).data != quantized_kind.draw(6).data
    assert mutants.draw(9) == mutants.draw(9)


@pytest.mark.parametrize("seed", range(20, 24))
def test_the_judge_keeps_apart_what_is_exact_and_what_floats_can_come_to(seed: int) -> None:
    drawn = quantized.draw(seed)
    for inputs in drawn.sets[:1]:
        exact, near = (exact_judge.values(drawn.model, inputs, near=near) for near in (False, True))
        for value in drawn.model.graph.output:
            a, b = exact.values[value.name], near.values[value.name]
            assert ((b.low <= a.low) & (a.high <= b.high)).all()
            assert all(isinstance(v, int | Fraction) for v in a.low.flat)


_CONV = helper.make_node("Conv", ["r", "t"], ["c"])
MOVED: dict[str, tuple[list[onnx.NodeProto], str]] = {
    "a padding": ([_CONV, helper.make_node("Pad", ["c", "pads"], ["m"])], "Add"),
    "a maximum": ([_CONV, helper.make_node("MaxPool", ["c"], ["m"], kernel_shape=[2, 2])], "Mul"),
    "a turn": ([_CONV, helper.make_node("Transpose", ["c"], ["m"], perm=[0, 1, 3, 2])], "Mul"),
    "rows that no tap reaches": (
        [helper.make_node("ConvTranspose", ["r", "t"], ["m"], strides=[3, 2], output_padding=[2, 1])],
        "Add",
    ),
}


@pytest.mark.parametrize("case", MOVED)
def test_factors_and_addends_pass_moves_that_leave_them_as_they_are(case: str, tmp_path: Path) -> None:
    """Padding with zeros and maxima do not change places with a number added or a factor below 0."""
    nodes, last = MOVED[case]
    constants = {
        "s": np.float32(0.1), "z": np.int8(0), "w": np.full((1, 1, 1, 1), 3, np.int8), "sy": np.float32(0.2),
        "pads": np.array([0, 0, 0, 0, 0, 0, 1, 1]), "a": np.float32([[[-1.5]]]),
    }  # fmt: skip
    sizes = (("x", [1, 1, 4, 5]), ("y", [None] * 4))
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.INT8, size) for name, size in sizes]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["t"]),
        *nodes,
        helper.make_node(last, ["m", "a"], ["q"]),
        helper.make_node("QuantizeLinear", ["q", "sy", "z"], ["y"]),
    ]
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    x = np.arange(-100, 100, 10, dtype=np.int8).reshape(1, 1, 4, 5)
    net = mcugen.compile(tmp_path / "net.onnx").imported
    got = interpreter.run(net, [x], "ort")[net.outputs[0]]
    assert not exact_judge.difference(model, exact_judge.values(model, [x], near=True), [got])


def test_no_scale_is_made_for_quotients_by_zero() -> None:
    tensors = [numpy_helper.to_array(t) for t in quantized.draw(882134).model.graph.initializer]
    assert max(float(a.max()) for a in tensors if a.dtype.kind == "f") < 1e6

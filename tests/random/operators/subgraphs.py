# SPDX-License-Identifier: Apache-2.0
"""Operators with subgraphs, and functions of the model."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.random.operators import draws
from tests.random.sketch import Sketch, Value

_STEPS = ("Tanh", "Sigmoid", "Neg", "Abs", "Relu")


def _branch(s: Sketch, x: Value) -> onnx.GraphProto:
    """A branch that reads a value around it."""
    middle, end, number = s.name("i"), s.name("i"), s.name("w")
    constant = numpy_helper.from_array(s.floats(x.shape[-1:]), number)
    nodes = [
        helper.make_node(s.pick(_STEPS), [x.name], [middle]),
        helper.make_node(s.pick(("Add", "Mul")), [middle, number], [end]),
    ]
    return helper.make_graph(nodes, "branch", [], [_end(end, x)], [constant])


def _end(name: str, x: Value) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)


@draws("If")
def conditional(s: Sketch) -> None:
    x = s.take()
    kind = s.pick(("constant", "input", "computed"))
    if kind == "constant":
        condition = s.const(np.bool_(s.chance(0.5)))
    elif kind == "input":
        condition = s.input((1,), lambda t: s.rng.random(t) < 0.5)
    else:
        s.need(s.opset >= 13)
        y = s.take(exact=True)
        most = s.node("ReduceMax", [y], True, keepdims=0)
        condition = s.node("Less", [most, s.const(np.float32(1.25))], True)
    branches = {"then_branch": _branch(s, x), "else_branch": _branch(s, x)}
    s.results("If", [condition], 1, captured=[x], **branches)


@draws("Loop", since=11)
def loop(s: Sketch) -> None:
    x = s.take((1, 2, 3))
    turn, going, state, again, middle, after, seen = (s.name("i") for _ in range(7))
    number, scans = s.name("w"), s.chance(0.5)
    nodes = [
        helper.make_node("Identity", [going], [again]),
        helper.make_node("Add", [state, number], [middle]),
        helper.make_node(s.pick(("Tanh", "Abs", "Identity")), [middle], [after]),
    ]
    ends = [helper.make_tensor_value_info(again, TensorProto.BOOL, []), _end(after, x)]
    if scans:
        nodes.append(helper.make_node("Identity", [middle], [seen]))
        ends.append(_end(seen, x))
    starts = [
        helper.make_tensor_value_info(turn, TensorProto.INT64, []),
        helper.make_tensor_value_info(going, TensorProto.BOOL, []),
        _end(state, x),
    ]
    constant = numpy_helper.from_array(s.floats(x.shape[-1:]), number)
    body = helper.make_graph(nodes, "body", starts, ends, [constant])
    s.results("Loop", [s.const(np.int64(s.number(1, 5))), s.const(np.bool_(True)), x], 1 + scans, body=body)


@draws("Scan", since=9)
def scan(s: Sketch) -> None:
    x = s.take((2, 3))
    state, row, after, seen = (s.name("i") for _ in range(4))
    shape = x.shape[1:]
    kept = s.const(s.floats(shape)) if s.chance(0.5) else s.input(shape)
    nodes = [helper.make_node("Add", [state, row], [after]), helper.make_node(s.pick(_STEPS), [after], [seen])]
    starts, ends = ([helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in pair] for pair in
                    ((state, row), (after, seen)))  # fmt: skip
    body = helper.make_graph(nodes, "body", starts, ends)
    more = {"scan_input_directions": [1]} if s.chance(0.3) else {}
    more |= {"scan_output_directions": [1]} if s.chance(0.3) else {}
    s.results("Scan", [kept, x], 2, body=body, num_scan_inputs=1, **more)


@draws("functions of the model", since=13)
def function(s: Sketch) -> None:
    """A function with an attribute that its operators refer to."""
    x = s.take()
    name = s.name("Own")
    inner = helper.make_node("LeakyRelu", ["a"], ["b"])
    inner.attribute.append(helper.make_attribute("alpha", 0.0))
    inner.attribute[0].ref_attr_name = "slope"
    inner.attribute[0].ClearField("f")
    nodes = [inner, helper.make_node(s.pick(_STEPS), ["b"], ["c"]), helper.make_node("Add", ["a", "c"], ["y"])]
    sets = [helper.make_opsetid("", s.opset)]
    s.functions.append(helper.make_function("own", name, ["a"], ["y"], nodes, sets, ["slope"]))
    s.results(name, [x], 1, domain="own", slope=float(np.float32(s.rng.uniform(0, 1))))


@draws("OptionalHasElement", "OptionalGetElement", since=18)
def optional(s: Sketch, name: str) -> None:
    s.node(name, [s.take()], True)

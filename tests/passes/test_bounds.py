# SPDX-License-Identifier: Apache-2.0
"""Bounds of results hold for every operator, whatever bounds its operands have, and no sum leaves its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import passes
from mcugen.errors import InternalError
from mcugen.formats import registry
from mcugen.ir import ranges
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.op import Op, evaluate
from mcugen.ir.ranges import MAX_CHANNELS, Range, channels_of, filled
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum
from mcugen.ops.relu import Relu
from mcugen.ops.reverse import Reverse
from mcugen.passes.measure_ranges import measure_ranges
from tests.passes.net import Net, read
from tests.states.graphs import Sketch
from tests.support.calls import example_calls

OPS = registry.load().ops
DRAWS = 2
DRAWS_WHOLE = 3


def narrowed(rng: np.random.Generator, t: TensorType, data: np.ndarray | None) -> Range | None:
    """The bounds of a constant, or random bounds within the type: narrow ones, single values and whole ones."""
    given = ranges.whole(t)
    if data is not None or given is None:
        return None if data is None else ranges.measured(data)
    ends = np.sort(rng.integers(given.low, given.high, (2, given.low.size), endpoint=True), axis=0)
    kind = rng.integers(0, 3, given.low.size)
    high = np.where(kind == 0, ends[0], ends[1])
    return Range(np.where(kind == 2, given.low, ends[0]), np.where(kind == 2, given.high, high))


def drawn(rng: np.random.Generator, t: TensorType, x: Range | None, at_ends: bool) -> np.ndarray:
    if x is None:
        return rng.standard_normal(t.shape).astype(t.np_dtype) if t.is_float else np.ones(t.shape, t.np_dtype)
    values = rng.integers(x.low, x.high, (t.size // max(channels_of(t), 1), x.low.size), endpoint=True)
    values = np.where(rng.random(values.shape) < 0.5, x.low, x.high) if at_ends else values
    return values.astype(t.np_dtype).reshape(t.shape)


def within(value: np.ndarray, x: Range) -> bool:
    rows = value.reshape(-1, value.shape[-1] if value.shape else 1).astype(np.int64)
    return bool((rows >= x.low).all() and (rows <= x.high).all())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_bounds_hold(op: type[Op], pytestconfig: pytest.Config) -> None:
    whole = pytestconfig.getoption("--whole")
    calls = example_calls(op)
    for number, call in enumerate(calls[:: 2 if whole else 3] + calls[1::6]):
        rng = np.random.default_rng(number)
        for draw in range(DRAWS_WHOLE if whole else DRAWS):
            pairs = list(zip(call.inputs, call.constants, strict=True))
            known = tuple(None if t is None else narrowed(rng, t, data) for t, data in pairs)
            told = replace(call, input_range=known)
            bounds = call.op.bounds(told)
            if all(ranges.whole(t) for t in call.inputs if t is not None):
                assert [b is None for b in bounds] == [ranges.whole(t) is None for t in call.outputs]
            arrays = [
                None if t is None else drawn(rng, t, known[k], draw > 0) if data is None else data
                for k, (t, data) in enumerate(pairs)
            ]
            for value, found in zip(evaluate(call, arrays), bounds, strict=True):
                assert found is None or within(value, found), (call.op, draw)


def dense(k: int, zero: int, bias: list[int], scale: float = 1e-3, op: Op | None = None) -> tuple[Call, np.ndarray]:
    """A fully connected layer of 5 inputs and three outputs, and its weights."""
    rng = np.random.default_rng(k)
    w = rng.integers(-127, 128, (3, 5)).astype(np.int8)
    x, y = (TensorType((1, n), "s8", QuantParams((0.05,), (z,))) for n, z in ((5, zero), (3, 4)))
    types = (
        x,
        TensorType((3, 5), "s8", QuantParams((scale,), (0,))),
        TensorType((3,), "s32", QuantParams((1.0,), (0,))),
    )
    return Call(op or FullyConnected(), types, (y,), (None, w, np.array(bias, np.int32)), "tflm"), w


@pytest.mark.parametrize("zero", [-128, 0, 127])
def test_sums_reach_their_bounds(zero: int) -> None:
    """The two extremes of each sum are those of the best and the worst choice of inputs."""
    call, w = dense(1, zero, [100, -7, 2**20])
    x = Range(np.array([-128, -3, 0, 5, 127]), np.array([127, -3, 9, 6, 127]))
    found = call.op.accumulators(replace(call, input_range=(x, None, None)))
    assert found is not None
    for o, b in enumerate((100, -7, 2**20)):
        products = [
            sorted((int(v) * (int(a) - zero), int(v) * (int(c) - zero)))
            for v, a, c in zip(w[o], x.low, x.high, strict=True)
        ]
        assert found.low[o] == b + sum(p[0] for p in products)
        assert found.high[o] == b + sum(p[1] for p in products)


@pytest.mark.parametrize("reference", ["tflm", "litert"])
def test_a_sum_that_may_wrap_says_nothing_of_its_result(reference: str) -> None:
    call, _ = dense(2, 0, [2**31 - 1, -(2**31), 5])
    bounds = call.op.bounds(replace(call, reference=reference))[0]
    assert bounds is not None
    assert (bounds.low[:2].tolist(), bounds.high[:2].tolist()) == ([-128, -128], [127, 127])
    assert (bounds.low[2], bounds.high[2]) != (-128, 127)


def test_a_left_shift_that_may_wrap_says_nothing_either() -> None:
    call, _ = dense(3, 0, [2**22, 0, 0], scale=2.0**16)
    bounds = call.op.bounds(call)[0]
    assert bounds is not None
    assert (bounds.low[0], bounds.high[0]) == (-128, 127)


def conv(padding: str) -> Call:
    """One channel of value 10..20 under three taps of weight 1, zero point 0."""
    op = Conv2D(padding=padding, activation="NONE")
    x, y = (TensorType((1, 1, n, 1), "s8", QuantParams((1.0,), (0,))) for n in (5, 5 if padding == "SAME" else 3))
    w = TensorType((1, 1, 3, 1), "s8", QuantParams((1.0,), (0,)))
    known = filled(1, 10, 20)
    return Call(op, (x, w), (y,), (None, np.ones((1, 1, 3, 1), np.int8)), "tflm", (known, None))


def test_padding_adds_the_zero_point_to_what_a_tap_may_see() -> None:
    inside, padded = conv("VALID"), conv("SAME")
    assert [(a.low[0], a.high[0]) for a in inside.op.bounds(inside) if a] == [(30, 60)]
    assert [(a.low[0], a.high[0]) for a in padded.op.bounds(padded) if a] == [(0, 60)]


def test_operands_without_known_bounds_have_those_of_their_type() -> None:
    call = replace(conv("VALID"), input_range=())
    found = call.range_of(0)
    assert found is not None and found.hull == (-128, 127)
    assert replace(call, inputs=(TensorType((1,), "f32"),)).range_of(0) is None


def test_bounds_flow_through_a_graph() -> None:
    t = TensorType((1, 4), "s8", QuantParams((0.1,), (3,)))
    tensors = {name: Tensor(name, t) for name in "xy"}
    graph = Graph("g", tensors, (), ("x",), ("y",))
    graph = graph.updated(tensors=tensors.values(), nodes=[Node("n", Relu(), ("x",), ("y",))])
    found = measure_ranges(graph, "tflm").tensors
    assert found["x"].range is not None and found["x"].range.hull == (-128, 127)
    assert found["y"].range is not None and found["y"].range.hull == (3, 127)


def test_nothing_is_known_of_millions_of_channels(tmp_path: Path) -> None:
    """Otherwise a file of a few hundred bytes would make the build allocate gigabytes."""
    net = Net()
    size = MAX_CHANNELS + 16
    wide = net.m.tensor("w", (4, 2), "s32", data=np.array([[0, 0], [0, 0], [0, 0], [0, size - 2]]))
    y = net.op("PAD", [net.x, wide], (1, 4, 4, size))
    z = net.op("RELU", [y], (1, 4, 4, size))
    after = passes.run(read(net.build(z), tmp_path), "tflm")
    assert [after.tensors[f"t{k}"].range is None for k in (net.x, y, z)] == [False, True, True]
    assert after.removed == ()
    assert ranges.measured(np.zeros((1, size), np.int8)) is None
    pixels = TensorType((1, 2000, 1100, 2), "s8", QuantParams((1.0,), (0,)))
    call = Call(Reverse((1,)), (pixels,), (pixels,), (None,), "tflm", (filled(2, 3, 4),))
    assert [found and found.hull for found in call.op.bounds(call)] == [(-128, 127)]


def test_bounds_of_another_number_of_channels_are_refused() -> None:
    t = TensorType((1, 4), "s8", QuantParams((0.1,), (3,)))
    with pytest.raises(InternalError, match="have other channels than"):
        verify(Graph("g", {"x": Tensor("x", t, range=filled(3, 0, 1))}, (), ("x",), ("x",)), "test")


@pytest.mark.parametrize(("op", "low", "high"), [(Maximum, 0, 127), (Minimum, -128, 0)])
def test_bounds_of_a_state_that_grows_at_one_end(op: type[Op], low: int, high: int) -> None:
    """The largest or smallest input so far: the bounds begin as those of its initial value, 0."""
    s = Sketch()
    t = s.type((1, 3))
    x, best = s.input("x", t.shape), s.state("best", t)
    s.keep(best, s.node(op(), (best, x), "y", t))
    found = measure_ranges(s.graph("y"), "tflm").tensors["best"].range
    assert found is not None
    assert (found.low.tolist(), found.high.tolist()) == ([low] * 3, [high] * 3)

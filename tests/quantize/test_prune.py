"""Channels removed from a float network: those that matter least go first, together with all that depend on them."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen.errors import McugenError, UnsupportedError, UsageError
from mcugen.formats import write
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops.add import Add
from mcugen.ops.arithmetic import Arithmetic
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.compare import Compare
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.gather import Gather
from mcugen.ops.hard_swish import HardSwish
from mcugen.ops.max_pool_2d import MaxPool2D
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.select import Select
from mcugen.ops.softmax import Softmax
from mcugen.quantize import coupled, distill, prune, quantization_report, quantize_model, removal
from mcugen.quantize.backwards import GradientNetwork
from mcugen.quantize.recipe import Widths
from mcugen.report import quantization_page
from mcugen.verify import host
from mcugen.verify.cases import cases
from tests.quantize.net_builder import Builder

SIZE, CHANNELS = 6, 6
REFERENCE = "tflm"


@cache
def samples(count: int = 48) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((count, SIZE, SIZE, 3)).astype(np.float32)


def built(last: bool = False) -> Graph:
    """A residual block, a depthwise layer, two joined branches, pools, a gate and a layer after flattening."""
    made = Builder("net", samples(), 7)
    first = made.conv(made.input, CHANNELS, (3, 3), "first", activation="RELU")
    inner = made.conv(first, 8, (1, 1), "inner", activation="RELU6")
    back = made.conv(inner, CHANNELS, (3, 3), "back")
    total = made.node(Add("RELU"), (first, back), "total")
    apart = made.depthwise(total, (3, 3), "apart", activation="RELU")
    even = made.node(AveragePool2D(kernel=(3, 3), stride=(1, 1), padding="SAME"), (apart,), "even")
    left = made.conv(even, 4, (1, 1), "left")
    right = made.node(HardSwish(), (made.conv(total, 4, (3, 3), "right", stride=(1, 1)),), "swish")
    both = made.node(Concatenation(3), (left, right), "both")
    small = made.node(MaxPool2D(kernel=(2, 2), stride=(2, 2)), (both,), "small")
    gate = made.node(Mean((1, 2), keep_dims=True), (small,), "gate")
    gated = made.node(Mul(), (small, gate), "gated")
    flat = made.reshape(gated, (72,), "flat")
    rng = np.random.default_rng(8)
    out = made.dense(flat, rng.standard_normal((5, 72)) / 8, np.zeros(5), "scores")
    if last:
        out = made.node(Softmax(), (out,), "answers")
    return Graph(made.name, made.tensors, tuple(made.nodes), (made.input,), (out,))


def chain(groups: int = 1, between: Op | None = None) -> Graph:
    """Three layers, the second in groups; between: an operator after it."""
    made = Builder("chain", samples(), 9)
    first = made.conv(made.input, 8, (3, 3), "first", activation="RELU")
    second = made.conv(first, 8, (3, 3), "second")
    node = made.nodes[-1]
    if groups > 1:
        weights = made.constant(np.ones((8, 3, 3, 8 // groups)), "second/w")
        made.nodes[-1] = replace(node, inputs=(first, weights, *node.inputs[2:]))
    last = second if between is None else made.node(between, (second,), "between")
    out = made.conv(last, 4, (1, 1), "last")
    return Graph(made.name, made.tensors, tuple(made.nodes), (made.input,), (out,))


def network(graph: Graph) -> GradientNetwork:
    return GradientNetwork(graph, REFERENCE)


def named(graph: Graph, label: str) -> str:
    return next(name for name, t in graph.tensors.items() if t.label == label and not t.is_constant)


def test_channels_go_with_all_that_depend_on_them() -> None:
    graph = built()
    found = {frozenset(graph.tensors[n].label for n in s.tensors): s for s in coupled.streams(graph, REFERENCE)}
    labels = {"first", "back", "total", "apart", "even"}, {"inner"}, {"left", "both", "small", "gate", "gated", "flat"}
    assert set(map(frozenset, labels)) < set(found)
    assert [len(found[frozenset(some)].channels) for some in labels] == [CHANNELS, 8, 4]
    channel = found[frozenset(labels[2])].channels[1]
    assert channel[named(graph, "flat")].tolist() == [1 + 8 * k for k in range(9)]


def test_gradients_are_those_of_differences() -> None:
    graph = built(last=True)
    net, x = network(graph), samples()[:4][:, None]
    head = net.heads[0]
    done = net.run({graph.inputs[0]: x})
    above = np.random.default_rng(1).standard_normal(done.values[head].shape).astype(np.float32)
    found, _ = net.gradients(done, {head: above}, {})
    assert len(found) == 2 * len(net.layers)
    for name, gradient in found.items():
        along = np.random.default_rng(2).standard_normal(gradient.shape).astype(np.float32)
        step = 1e-3 / np.abs(along).max()
        ends = [net.with_weights({name: net.constant(name) + s * step * along}) for s in (1, -1)]
        more, less = (float((end.run({graph.inputs[0]: x}).values[head] * above).sum(dtype=np.float64)) for end in ends)
        wanted = (more - less) / (2 * step)
        size = float(np.abs(gradient * along).sum())
        assert abs(float((gradient * along).sum()) - wanted) < 0.02 * size, graph.tensors[name].label


def dead(graph: Graph, label: str, channel: int) -> Graph:
    """The graph with a channel of a layer that is always 0."""
    node = next(n for n in graph.nodes if graph.tensors[n.outputs[0]].label == label)
    tensors = dict(graph.tensors)
    for name in map(str, node.inputs[1:]):
        data = tensors[name].data
        assert data is not None
        stays = (np.arange(len(data)) != channel).astype(np.float32)
        tensors[name] = replace(tensors[name], data=data * stays.reshape(-1, *(1,) * (data.ndim - 1)))
    return replace(graph, tensors=tensors)


def test_outputs_that_further_layers_read_are_held_to_what_they_were() -> None:
    graph = chain(between=HardSwish())
    two = replace(graph, outputs=(named(graph, "second"), *graph.outputs))
    assert network(graph).heads == graph.outputs
    assert network(two).heads == two.outputs


def test_the_gradient_of_a_choice_passes_by_what_chooses() -> None:
    made = Builder("leaky", samples()[:8], 9)
    second = made.conv(made.conv(made.input, 4, (3, 3), "first"), 4, (3, 3), "second")
    slope, zero = made.constant(np.full(1, 0.25), "slope"), made.constant(np.zeros(1), "zero")
    below = made.node(Compare("LESS"), (second, zero), "below")
    made.seen[below] = made.seen[below] > 0
    chosen = made.node(Select(), (below, made.node(Mul(), (second, slope), "less"), second), "leaky")
    net = network(made.graph(made.conv(chosen, 4, (1, 1), "last")))
    prune.require_gradients(net)
    x = samples()[:2][:, None]
    done = net.run({made.input: x})
    head = np.ones_like(done.values[net.heads[0]])
    _, found = net.gradients(done, {net.heads[0]: head}, {})
    leaky, last = found[net.layers[1].name], net.constant(str(net.layers[2].inputs[1])).reshape(4, 4).sum(axis=0)
    wanted = np.where(done.values[second] < 0, 0.25, 1) * last
    far = np.abs(done.values[second]) > 0.01
    assert np.allclose(leaky[far], wanted[far], rtol=1e-3, atol=1e-4)


def test_indices_are_computed_as_integers() -> None:
    index, table = TensorType((1, 2), "s32"), np.arange(6, dtype=np.float32).reshape(3, 2)
    types = {"x": index, "i": index, "y": TensorType((1, 2, 2), "f32")}
    tensors = {name: Tensor(name, t) for name, t in types.items()}
    tensors["table"] = Tensor("table", TensorType(table.shape, "f32"), table)
    nodes = Node("a", Arithmetic("wrap"), ("x", "x"), ("i",)), Node("b", Gather(), ("table", "i"), ("y",))
    given = np.array([[[2, 0]], [[1, 1]]], np.int32)
    net = network(Graph("net", tensors, nodes, ("x",), ("y",)))
    net.__dict__["heads"] = ("y",)
    found = net.run({"x": given}).values
    assert found["i"].dtype == np.int32
    assert np.array_equal(found["y"], table[found["i"]])


def test_a_dead_channel_goes_first_and_costs_nothing() -> None:
    graph = dead(built(), "inner", 3)
    net = network(graph)
    streams = coupled.streams(graph, REFERENCE)
    given = {graph.inputs[0]: samples()[:, None]}
    known = removal.facts(net, given, given)
    curves = removal.curves(net, known, streams, lambda text: None)
    (curve,) = [c for c in curves if named(graph, "inner") in c.stream.tensors]
    assert curve.order[0][named(graph, "inner")].tolist() == [3]
    assert curve.losses[1] < 0.1 * curve.losses[2]


@pytest.mark.whole
def test_a_budget_is_met_and_training_makes_up_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distill, "_MOST", 15)
    graph, given = built(), (samples(96)[:, None],)
    found = prune.pruned(graph, REFERENCE, given, "80%", lambda text: None)
    assert prune.macs_of(found.graph, REFERENCE) == found.after <= 0.8 * found.before
    assert found.after > 0.7 * found.before
    removed, fitted, trained = found.stages
    assert removed.sqnr + 3 < fitted.sqnr < trained.sqnr
    assert trained.kept
    assert found.graph.type(found.graph.outputs[0]) == graph.type(graph.outputs[0])
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    again = prune.pruned(graph, REFERENCE, given, "80%", lambda text: None)
    assert write.write(again.graph, "onnx") == write.write(found.graph, "onnx")


@pytest.mark.whole
def test_the_command_writes_a_smaller_model_whose_c_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distill, "_MOST", 5)
    model, calib, test = (tmp_path / name for name in ("net.onnx", "calib.npz", "test.npz"))
    model.write_bytes(write.write(built(), "onnx"))
    np.savez(calib, samples())
    np.savez(test, x=samples(), y=np.arange(48) % 5)
    found = quantize_model.quantize(
        model, calib, quantize_model.QuantizeOptions(macs="70%", method="min-max", jobs=1), test=test
    )
    assert found.pruned is not None
    assert all(stage.worth is not None for stage in found.pruned.stages)
    assert any(
        " of 8" in line for line in quantization_report.as_parts(found, "net.tflite", 1) if isinstance(line, str)
    )
    assert quantization_report.as_dict(found, "net.tflite", 1)["pruned"]["macs"] == found.pruned.after
    page = quantization_page.page(found, "net.tflite", 1).decode()
    assert f"{found.pruned.after:,} multiply-accumulates of {found.pruned.before:,}" in page
    assert page.count("layers fitted anew") == 1
    file = tmp_path / "net.tflite"
    file.write_bytes(found.written("tflite"))
    artifact = mcugen.compile(file, board="host")
    assert host.verify(artifact, cases(artifact.imported, random=2)).exact


@pytest.mark.parametrize(
    ("groups", "between", "says"),
    [
        (2, None, r"(?m)no channel can be removed; none goes through Conv2D \(second\)$"),
        (1, Softmax(), r"no gradient .* Softmax \(between\)"),
    ],
)
def test_what_cannot_be_removed_is_refused_with_the_reason(groups: int, between: Op | None, says: str) -> None:
    graph = chain(groups, between)
    with pytest.raises(UnsupportedError, match=says):
        prune.pruned(graph, REFERENCE, (samples()[:, None],), "50%", lambda text: None)


def test_several_samples_in_a_run_are_told_as_the_reason() -> None:
    graph = chain()
    data = [t for t in graph.tensors.values() if not t.is_constant]
    twice = graph.updated(tensors=[replace(t, type=t.type.with_shape((2, *t.type.shape[1:]))) for t in data])
    with pytest.raises(UnsupportedError, match=r"first axis of Conv2D \(first\), .* is not that of one sample"):
        prune.require_gradients(network(twice))


@pytest.mark.parametrize("asked", ["", "x", "0%", "-3M", "70 %% "])
def test_a_budget_that_is_none_is_an_error(asked: str) -> None:
    with pytest.raises(UsageError, match=r"no budget|leaves no multiply-accumulates"):
        prune.budget_of(asked, 100)


def test_too_few_samples_are_an_error() -> None:
    with pytest.raises(UsageError, match="7 samples are too few"):
        prune.pruned(built(), REFERENCE, (samples()[:7, None],), "50%", lambda text: None)


def test_an_impossible_budget_says_how_far_it_goes() -> None:
    with pytest.raises(UnsupportedError, match=r"(?m)removed down to \d+ % of the multiply-accumulates$"):
        prune.pruned(chain(), REFERENCE, (samples()[:16, None],), "1%", lambda text: None)


@pytest.mark.parametrize(
    ("scale", "choices", "says"),
    [
        (1e17, {}, r"reach .*e\+17.*too large to train"),
        (1, {"layers": ("none=w4",)}, "no layer 'none'"),
        (1, {"scheduler": "nowhere"}, "no Dask scheduler|needs Dask"),
        (1, {"widths": Widths(8, 16)}, "no kernel for activations of 16 bits"),
    ],
)
def test_what_is_refused_anyway_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: float, choices: dict[str, Any], says: str
) -> None:
    monkeypatch.setattr(removal, "facts", None)
    (tmp_path / "net.onnx").write_bytes(write.write(chain(between=HardSwish()), "onnx"))
    np.savez(tmp_path / "calib.npz", samples()[:8] * np.float32(scale))
    with pytest.raises(McugenError, match=says):
        quantize_model.quantize(
            tmp_path / "net.onnx", tmp_path / "calib.npz", quantize_model.QuantizeOptions(macs="70%", **choices)
        )


def test_nothing_goes_where_the_budget_is_met_already() -> None:
    graph = built()
    assert prune.pruned(graph, REFERENCE, (samples()[:, None],), "100%", lambda text: None).graph is graph

# SPDX-License-Identifier: Apache-2.0
"""Written .tflite files: what is imported again is the same graph, and every example computes the same bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import ModelError, UnsupportedError, UsageError
from mcugen.formats import registry, write
from mcugen.ir.graph import Graph, Node, State, Tensor
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.float_functions import Erf
from mcugen.ops.overlap_add import OverlapAdd
from mcugen.ops.signal_stacker import SignalStacker
from mcugen.ops.spectral_subtraction import SpectralSubtraction
from mcugen.ops.strided_slice import StridedSlice
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import draw
from tests.formats import small_models
from tests.formats.writing.equality import differences, imported
from tests.runtimes import graphs, operators, packs, recording
from tests.runtimes.sketch import Drawn
from tests.support.cases import graph_of
from tests.support.draw import input_sets

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.tflite"))
WRITTEN = [op for op in registry.own() if any(entry.format == "tflite" for entry in op.writes)]
SETS = 3


def as_stored(t: TensorType | None) -> TensorType | None:
    """The type with scales that a file can hold."""
    if t is None or t.quant is None:
        return t
    scales = tuple(float(np.float32(scale)) for scale in t.quant.scale)
    return replace(t, quant=replace(t.quant, scale=scales, axis=t.quant.axis if len(scales) > 1 else 0))


def stored_graph(example: Example) -> Graph:
    inputs, outputs = (tuple(as_stored(t) for t in types) for types in (example.inputs, example.outputs))
    return graph_of(replace(example, inputs=inputs, outputs=tuple(t for t in outputs if t is not None)))


def written_examples(op: type[Op]) -> Iterator[tuple[int, Graph, bytes]]:
    """The examples that a file can say."""
    for k, example in enumerate(op.examples()):
        graph = stored_graph(example)
        try:
            yield k, graph, write.write(graph, "tflite")
        except UnsupportedError:
            continue


def outputs(graph: Graph, arrays: list[np.ndarray], which: str) -> list[np.ndarray]:
    values = interpreter.run(graph, arrays, which)
    return [values[name] for name in graph.outputs]


def same(want: np.ndarray, got: np.ndarray, atol: float = 1e-30) -> bool:
    """Equal in all bits; for floats to the precision in which files hold attributes."""
    if want.dtype.kind != "f":
        return np.array_equal(want, got)
    return np.allclose(want, got, rtol=1e-6, atol=atol, equal_nan=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", WRITTEN, ids=lambda op: op.__name__)
def test_each_example_computes_the_same(op: type[Op]) -> None:
    count = 0
    for k, graph, model in written_examples(op):
        count += 1
        back = imported(model)
        types = [graph.type(name) for name in graph.inputs]
        assert [back.type(name) for name in back.inputs] == types
        assert [back.type(name) for name in back.outputs] == [graph.type(name) for name in graph.outputs]
        for which in ("tflm", "litert"):
            if graph.nodes[0].op.refused_by(graph.call(graph.nodes[0], which), which):
                continue
            for name, arrays in input_sets(types, k, SETS):
                want, got = (outputs(g, arrays, which) for g in (graph, back))
                atol = 1e-5 if len(back.nodes) > 1 else 1e-30  # each of several operators rounds to float32
                assert all(same(a, b, atol) for a, b in zip(want, got, strict=True)), f"example {k}, {which}, {name}"
    if not count:
        _check_recorded(op)


def _check_recorded(op: type[Op]) -> None:
    """Operators that are written only with others, or with their state, come back from a written recording."""
    assert op in recorded_graphs(), "neither an example nor a recorded model can be written"
    graph = recorded_graphs()[op]
    back = imported(write.write(graph, "tflite"))
    if differences(graph, back):
        arrays = draw(graph, 0)
        assert all(map(same, outputs(graph, arrays, "litert"), outputs(back, arrays, "litert")))


@cache
def recorded_graphs() -> Mapping[type[Op], Graph]:
    """For each operator, a recorded model with it that can be written, as a graph."""
    found: dict[type[Op], Graph] = {}
    for name in (*recording.names(), *recording.SEQUENCES):
        cases = packs.load(packs.FOLDER / f"{name}.npz")[0]
        firsts = {case.label.split()[1]: case for case in reversed(cases)}  # one of each element type, or kind of model
        for case in cases if name in recording.SEQUENCES else firsts.values():
            graph = imported(case.model)
            new = {type(node.op) for node in graph.nodes} - set(found)
            if new and _is_written(graph):
                found |= dict.fromkeys(new, graph)
    return found


def _is_written(graph: Graph) -> bool:
    try:
        return bool(write.write(graph, "tflite"))
    except UnsupportedError:
        return False


def _adds_axes(graph: Graph) -> bool:
    """Whether a slice has more axes than its operand: TensorFlow Lite Micro makes none, so a reshape follows."""
    calls = [graph.call(node, "tflm") for node in graph.nodes if isinstance(node.op, StridedSlice)]
    return any(len(call.output.shape) > len(call.input(0).shape) for call in calls)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_recorded_models_come_back(path: Path) -> None:
    graph = imported(path.read_bytes())
    model = write.write(graph, "tflite")
    back = imported(model)
    found = differences(graph, back)
    if _adds_axes(graph):
        assert len(back.nodes) > len(graph.nodes)
        arrays = draw(graph, 0)
        assert all(map(same, outputs(graph, arrays, "litert"), outputs(back, arrays, "litert")))
    else:
        assert found == []
    assert write.write(imported(path.read_bytes()), "tflite") == model


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in operators.KINDS))
def test_random_models_of_one_operator_come_back(name: str) -> None:
    """Operators come back unchanged. Those that become several may be refused, or come back as an equivalent."""
    for k, dtype in ((k, dtype) for k, (kind, dtype) in enumerate(operators.KINDS) if kind == name):
        drawn = operators.draw(name, dtype, k)
        try:
            graph = imported(drawn.model)
        except ModelError:
            continue  # refused by name
        can_be_written = all(any(entry.format == "tflite" for entry in node.op.writes) for node in graph.nodes)
        if len(graph.nodes) == 1 and can_be_written and _is_itself(graph, name):
            assert differences(graph, imported(write.write(graph, "tflite"))) == [], drawn.label
        else:
            _check_parts(graph, drawn, can_be_written)


def _is_itself(graph: Graph, name: str) -> bool:
    """Whether the only operator of a graph is the one that files call so."""
    return any((entry.format, entry.name) == ("tflite", name) for entry in graph.nodes[0].op.imports)


def _check_parts(graph: Graph, drawn: Drawn, can_be_written: bool) -> None:
    try:
        back = imported(write.write(graph, "tflite"))
    except UnsupportedError as error:
        assert not can_be_written or any(type(node.op).__name__ in error.message for node in graph.nodes)
        return
    assert can_be_written
    for arrays in drawn.sets if differences(graph, back) else ():
        assert all(map(same, outputs(graph, arrays, "litert"), outputs(back, arrays, "litert"))), drawn.label


@pytest.mark.parametrize("seed", range(40))
def test_random_networks_come_back(seed: int) -> None:
    try:
        graph = imported(graphs.draw(seed).model)
    except ModelError:
        return  # refused by name
    assert differences(graph, imported(write.write(graph, "tflite"))) == []


@pytest.mark.parametrize("seed", range(6))
def test_resized_float_images_compute_the_same(seed: int) -> None:
    drawn = operators.draw("RESIZE_BILINEAR", "f32", seed)
    graph = imported(drawn.model)
    back = imported(write.write(graph, "tflite"))
    for arrays in drawn.sets:
        assert all(map(np.array_equal, outputs(graph, arrays, "litert"), outputs(back, arrays, "litert")))


MEMORIES = [(OverlapAdd, {1: 1}), (SpectralSubtraction, {1: 1}), (SignalStacker, {1: 2, 2: 3})]
"""Operators, and for each operand that is a state the result that is its next value."""


@pytest.mark.parametrize(("op", "states"), MEMORIES)
def test_memories_of_the_signal_library_come_back(op: type[Op], states: dict[int, int]) -> None:
    graph = stored_graph(op.examples()[0])
    types = {k: graph.type(f"x{k}") for k in states}
    kept = tuple(State(f"x{k}", f"y{n}", np.zeros(types[k].shape, types[k].np_dtype)) for k, n in states.items())
    hidden = set() if op is SpectralSubtraction else {state.after for state in kept}
    inputs = tuple(name for name in graph.inputs if name not in {state.before for state in kept})
    ends = tuple(name for name in graph.outputs if name not in hidden)
    graph = replace(graph, inputs=inputs, outputs=ends, states=kept)
    back = imported(write.write(graph, "tflite"))
    assert [n.op for n in back.nodes] == [n.op for n in graph.nodes]
    assert [back.type(state.before) for state in back.states] == list(types.values())


def test_a_network_of_images_comes_back() -> None:
    graph = imported(small_models.image_net())
    back = imported(write.write(graph, "tflite"))
    assert differences(graph, back) == []
    assert [name for name, _ in back.signatures] == ["serving_default"]


def test_padding_of_other_sizes_is_an_operator_before() -> None:
    quant = QuantParams((0.5,), (-9,))
    x, w = TensorType((1, 6, 7, 3), "s8", quant), TensorType((4, 3, 3, 3), "s8", QuantParams((0.25,), (0,)))
    op = Conv2D(stride=(2, 2), padding=((1, 1), (1, 1)))
    y = TensorType(op.infer(x, w)[0].shape, "s8", QuantParams((32.0,), (4,)))
    data = np.arange(108, dtype=np.int8).reshape(w.shape)
    tensors = {"x": Tensor("x", x, None, "x"), "w": Tensor("w", w, data, "w"), "y": Tensor("y", y, None, "y")}
    graph = Graph("net", tensors, (Node("n", op, ("x", "w"), ("y",)),), ("x",), ("y",))
    back = imported(write.write(graph, "tflite"))
    assert [type(n.op).__name__ for n in back.nodes] == ["Pad", "Conv2D"]
    sums = back.tensors[str(back.nodes[1].inputs[2])]
    assert sums.type.quant == QuantParams((0.125,) * 1, (0,))  # runtimes without a kernel for no bias get zeros
    assert sums.data is not None
    assert not sums.data.any()
    image = np.arange(126, dtype=np.int8).reshape(x.shape)
    assert np.array_equal(outputs(graph, [image], "tflm")[0], outputs(back, [image], "tflm")[0])


def test_all_that_cannot_be_written_is_named_at_once() -> None:
    tensors = {name: Tensor(name, TensorType((4,), "f32"), None, f"the {name}") for name in "xyz"}
    nodes = (Node("a", Erf(), ("x",), ("y",), "layer 1"), Node("b", Erf(), ("y",), ("z",), "layer 2"))
    with pytest.raises(UnsupportedError) as raised:
        write.write(Graph("net", tensors, nodes, ("x",), ("z",)), "tflite")
    assert "layer 1 Erf 'the y'" in raised.value.message
    assert "layer 2 Erf 'the z'" in raised.value.message


def test_labels_are_unique_and_the_last_of_several_keeps_its_own() -> None:
    graph = imported(small_models.three_dense())
    same = {name: replace(t, label="layer") for name, t in graph.tensors.items()}
    back = imported(write.write(replace(graph, tensors=same), "tflite"))
    labels = [back.tensors[name].label for name in (*back.inputs, *back.outputs)]
    assert len(set(labels)) == len(labels)
    assert back.tensors[back.inputs[0]].label == "layer"


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(UsageError, match="does not write"):
        write.load("caffe")

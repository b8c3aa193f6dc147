"""Models with int8 weights on float data: each operator is compared on the operands that the C had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.ir.op import Example
from mcugen.ops.hybrid_lstm import HybridLstm
from mcugen.ops.hybrid_rnn import HybridRnn
from mcugen.oracle import actual_states, interpreter, near_ties
from mcugen.verify import flips, host
from mcugen.verify.cases import Case, cases
from mcugen.verify.comparison import Verdict
from tests.random import drawing
from tests.support import draw
from tests.support.cases import graph_of
from tests.support.tflite_writer import ModelWriter


def small_model() -> bytes:
    """A convolution per channel, a pool, a fully connected layer and a softmax."""
    rng = np.random.default_rng(5)
    m = ModelWriter()
    x = m.tensor("x", (1, 6, 6, 2), "f32")
    w = m.tensor("w", (4, 3, 3, 2), "s8", scale=[0.01, 0.02, 0.03, 0.04], data=rng.integers(-127, 128, (4, 3, 3, 2)))
    b = m.tensor("b", (4,), "f32", data=rng.standard_normal(4))
    h = m.tensor("h", (1, 6, 6, 4), "f32")
    p = m.tensor("p", (1, 3, 3, 4), "f32")
    w2 = m.tensor("w2", (5, 36), "s8", scale=0.02, data=rng.integers(-127, 128, (5, 36)))
    y, z = m.tensor("y", (1, 5), "f32"), m.tensor("z", (1, 5), "f32")
    m.op("CONV_2D", [x, w, b], [h], {"padding": "SAME", "stride_h": 1, "stride_w": 1})
    pool = {"padding": "VALID", "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}
    m.op("AVERAGE_POOL_2D", [h], [p], pool)
    m.op("FULLY_CONNECTED", [p, w2, -1], [y], {"asymmetric_quantize_inputs": True})
    m.op("SOFTMAX", [y], [z], {"beta": 1.0})
    return m.build([x], [y, z])


def test_the_c_has_the_bits_of_litert_operator_by_operator(tmp_path: Path) -> None:
    path = tmp_path / "hybrid.tflite"
    path.write_bytes(small_model())
    artifact = mcugen.compile(path)
    assert artifact.view.reference == "litert" and "float data with int8 weights" in artifact.report.notes[0]
    verdict = host.verify(artifact, cases(artifact.imported, 6))
    assert verdict.agrees and verdict.exact_values > 1000, verdict


def test_a_flip_of_one_step_explains_what_is_too_far(tmp_path: Path) -> None:
    """An input next to a tie, whose recorded outputs are those of the other integer."""
    path = tmp_path / "hybrid.tflite"
    path.write_bytes(small_model())
    graph = mcugen.compile(path).imported
    node = graph.nodes[0]
    for k in range(1000):
        x = np.random.default_rng(k).standard_normal((1, 6, 6, 2)).astype(np.float32)
        plain = interpreter.run(graph, [x], "litert")
        for flip in near_ties.of_call(node.op, graph.call(node, "litert"), x):
            changed = plain[node.outputs[0]].copy()
            changed[flip.index] = flip.value
            other = interpreter.run(graph, [x], "litert", seen={node.outputs[0]: changed})
            wanted = {name: other[name] for name in graph.outputs}
            if np.abs(plain[graph.outputs[0]] - wanted[graph.outputs[0]]).max() > 0.01:
                found = flips.explained(graph, [x], "litert", wanted)
                assert len(found.flips) == 1 and "from a tie" in found.flips[0]
                assert all(np.array_equal(found.values[n], wanted[n]) for n in wanted)
                return
    raise AssertionError("no flip changes the outputs")


def recurrent_runs(tmp_path: Path) -> Verdict:
    """The verdict on several runs of an LSTM whose state is next to a tie before the second one."""
    drawn = drawing.kind("tflite").draw(48002572)
    path = tmp_path / "recurrent.tflite"
    path.write_bytes(drawn.data)
    artifact = mcugen.compile(path, **drawn.choices)
    first, *then = ([np.array(a, order="C") for a in arrays] for arrays in drawn.sets)
    return host.verify(artifact, [Case("runs", first, tuple(then))])


def test_each_step_of_a_recurrent_layer_is_compared_on_the_state_that_the_c_had(tmp_path: Path) -> None:
    assert recurrent_runs(tmp_path).agrees


def test_a_recurrent_layer_too_far_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its operands are integers and floats, so that no sum of real magnitudes excuses it."""
    step = HybridLstm._step
    monkeypatch.setattr(HybridLstm, "_step", lambda *given: tuple(a * 1.0001 for a in step(*given)))
    difference = recurrent_runs(tmp_path).first_difference
    assert difference is not None and difference.tensor == "xt9"


def on_states(example: Example, offset: float) -> tuple[list[np.ndarray], tuple[np.ndarray, ...]]:
    """The outputs of a layer, and those on its own states plus an offset."""
    graph = graph_of(example)
    node, call = graph.nodes[0], graph.call(graph.nodes[0], "litert")
    _, drawn = next(draw.input_sets([graph.type(name) for name in graph.inputs], 3))
    values = interpreter.run(graph, drawn, "litert")
    outputs = [values[name] for name in node.outputs]
    inputs = [None if name is None else values[name] for name in node.inputs]
    again = actual_states.of_call(node.op, call, outputs[0] + np.float32(offset), *inputs)
    assert again is not None
    return outputs, again


@pytest.mark.parametrize("example", [*HybridLstm.examples(), *HybridRnn.examples()], ids=lambda e: f"{e.op}")
def test_a_layer_on_its_own_states_is_the_layer(example: Example) -> None:
    outputs, again = on_states(example, 0)
    assert all(np.array_equal(a, b) for a, b in zip(again, outputs, strict=True))


@pytest.mark.parametrize("example", [HybridLstm.examples()[0], HybridRnn.examples()[1]], ids=lambda e: f"{e.op}")
def test_a_step_starts_from_the_given_state(example: Example) -> None:
    (y, *_), (again, *_) = on_states(example, 0.25)
    assert np.array_equal(again[0], y[0]) and not np.array_equal(again[1], y[1])

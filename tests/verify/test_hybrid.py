"""Models with int8 weights on float data: each operator is compared on the operands that the C had."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mcugen
from mcugen.oracle import interpreter, near_ties
from mcugen.verify import flips, host
from mcugen.verify.cases import Case, cases
from tests.random import drawing
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


def test_a_recurrent_layer_too_far_is_a_difference(tmp_path: Path) -> None:
    """Its operands are integers and floats, so that no sum of real magnitudes excuses it."""
    drawn = drawing.kind("tflite").draw(48002572)
    path = tmp_path / "recurrent.tflite"
    path.write_bytes(drawn.data)
    artifact = mcugen.compile(path, **drawn.choices)
    first, *then = ([np.array(a, order="C") for a in arrays] for arrays in drawn.sets)
    verdict = host.verify(artifact, [Case("runs", first, tuple(then))])
    assert verdict.first_difference is not None and verdict.first_difference.tensor == "xt9"

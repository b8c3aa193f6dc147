"""Channels scaled over sums of several layers, and what stands in the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mcugen.ir.graph import Graph
from mcugen.quantize import float_model
from mcugen.quantize.activation_ranges import LEAST_ERROR, MIN_MAX, ON_GRID, chosen, observed
from mcugen.quantize.balance import balanced
from mcugen.quantize.channel_streams import obstacle, streams
from mcugen.quantize.float_values import FloatRun

_SPREAD = 2.0 ** np.linspace(-4, 4, 6)


def residual(folder: Path, last: str = "Relu") -> Graph:
    """Two layers whose results are added, of uneven channels, and two that read the sum."""
    rng = np.random.default_rng(5)
    weights = {name: rng.standard_normal((6, 3 if name == "a" else 6, 1, 1)) for name in "abcd"}
    weights["a"] *= _SPREAD[:, None, None, None]
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["ya"]),
        helper.make_node("Conv", ["ya", "b"], ["yb"]),
        helper.make_node("Add", ["ya", "yb"], ["sum"]),
        helper.make_node(last, ["sum"], ["used"]),
        helper.make_node("Conv", ["used", "c"], ["yc"]),
        helper.make_node("Conv", ["used", "d"], ["yd"]),
    ]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 6, 4, 4]) for n in ("yc", "yd")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])
    arrays = [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()]
    graph = helper.make_graph(nodes, "net", [x], values, arrays)
    path = folder / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return float_model.prepared(float_model.load(path), "", "")


def test_a_sum_and_its_operands_are_scaled_together(tmp_path: Path) -> None:
    graph = residual(tmp_path)
    (found,) = streams(graph, float_model.REFERENCE)
    assert [len(part) for part in (found.makers, found.readers)] == [2, 3]  # The second layer reads the first one.
    x = np.random.default_rng(6).standard_normal((8, *graph.type(graph.inputs[0]).shape)).astype(np.float32)
    plain = FloatRun(graph, float_model.REFERENCE, (x,))
    even = FloatRun(balanced(graph, float_model.REFERENCE, plain.observed(), 0.0), float_model.REFERENCE, (x,))
    for wanted, got in zip(plain.outputs(), even.outputs(), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-4 * np.abs(wanted).max())
    first, second = (f.observed()[found.results[0]].channels for f in (plain, even))
    assert first.max() / first.min() > 3 * second.max() / second.min()


def test_what_stands_in_the_way_has_a_name(tmp_path: Path) -> None:
    graph = residual(tmp_path, "HardSwish")
    assert streams(graph, float_model.REFERENCE) == []
    found = [obstacle(graph, float_model.REFERENCE, node) for node in graph.nodes if node.op.met_axis is not None]
    assert ["HardSwish" in text for text in found] == [True, True, False, False]
    assert all(found)


def test_inputs_made_of_bytes_are_not_halfway_between_integers() -> None:
    x = np.arange(256, dtype=np.float32).reshape(1, -1) / np.float32(127.5) - np.float32(1)
    params = [chosen(observed(x), method, 8) for method in ("min-max", ON_GRID)]
    off = [np.abs(x / q.scale[0] - np.round(x / q.scale[0])) for q in params]
    assert off[0].min() > 0.45
    assert off[1].mean() < 0.3
    assert 1 < params[1].scale[0] / params[0].scale[0] < 1.02


def test_wide_integers_keep_room_for_values_beyond_those_seen() -> None:
    seen = observed(np.linspace(-1.0, 3.0, 1000, dtype=np.float32).reshape(10, 100))
    for method in (MIN_MAX, LEAST_ERROR, "99"):
        found = chosen(seen, method, 16)
        assert found.scale[0] * 32767 > 1.2 * seen.high
        assert found.zero_point == (0,)

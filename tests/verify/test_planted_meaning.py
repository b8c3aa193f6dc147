# SPDX-License-Identifier: Apache-2.0
"""Faults planted one at a time in what the importer makes of an operator: `mcugen verify` finds each by itself.

The oracle and the C agree on all of them, as both compute the graph as it was imported.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mcugen
from mcugen.formats import read, registry
from mcugen.formats._builder import Expander
from mcugen.formats.onnx.operators import resize
from mcugen.formats.operators import _images
from mcugen.ops import _forest
from mcugen.passes.qdq import rewriting
from mcugen.verify import check_report, checks
from mcugen.verify.cases import cases
from mcugen.verify.witnesses import Ask, evaluator, testimony

Patch = pytest.MonkeyPatch


def model(
    node: onnx.NodeProto, shape: tuple[int, ...], *constants: np.ndarray, before: Any = (), after: Any = ()
) -> bytes:
    """One operator on input x, whose constants are c0, c1, ..., with nodes around it; the last one gives y."""
    values = [numpy_helper.from_array(np.asarray(c), f"c{k}") for k, c in enumerate(constants)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([*before, node, *after], "g", [x], [y], values)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    return data


def resized() -> bytes:
    node = helper.make_node("Resize", ["x", "", "c0"], ["y"], mode="linear")
    return model(node, (1, 2, 3, 4), np.array([1, 1, 2, 2], np.float32))


def normalized() -> bytes:
    node = helper.make_node("BatchNormalization", ["x", "c0", "c1", "c2", "c3"], ["y"])
    return model(node, (1, 2, 3, 4), *(np.array([a, b], np.float32) for a, b in ((1, 2), (3, 4), (0, 1), (1, 4))))


def convolved() -> bytes:
    node = helper.make_node("Conv", ["x", "c0"], ["y"], auto_pad="SAME_LOWER")
    return model(node, (1, 1, 4, 4), np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))


def tabled() -> bytes:
    """Half of each stored byte, in the same scale: every second one lies half way between two results."""
    scale, zero = np.array(0.125, np.float32), np.array(3, np.int8)
    make = helper.make_node
    first = [make("QuantizeLinear", ["x", "c1", "c2"], ["q"]), make("DequantizeLinear", ["q", "c1", "c2"], ["d"])]
    last = [make("QuantizeLinear", ["h", "c1", "c2"], ["p"]), make("DequantizeLinear", ["p", "c1", "c2"], ["y"])]
    half = make("Mul", ["d", "c0"], ["h"])
    return model(half, (1, 3), np.array(0.5, np.float32), scale, zero, before=first, after=last)


def compared() -> bytes:
    """A tree of three thresholds, behind another operator."""
    modes = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"]
    attributes: dict[str, Any] = {
        "nodes_treeids": [0] * 7,
        "nodes_nodeids": [*range(7)],
        "nodes_featureids": [0, 1, 0, 0, 1, 0, 0],
        "nodes_modes": modes,
        "nodes_values": [0.3, 0.7, 0, 0, -1234.5, 0, 0],
        "nodes_truenodeids": [1, 2, 0, 0, 5, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 6, 0, 0],
        "target_treeids": [0] * 4,
        "target_nodeids": [2, 3, 5, 6],
        "target_ids": [0] * 4,
        "target_weights": [1.0, 2.0, 3.0, 4.0],
        "n_targets": 1,
    }
    before = [helper.make_node("Mul", ["x", "c0"], ["m"])]
    trees = helper.make_node("TreeEnsembleRegressor", ["m"], ["y"], domain="ai.onnx.ml", **attributes)
    return model(trees, (1, 2), np.array(2.0, np.float32), before=before)


def a_quarter_off(patch: Patch) -> None:
    exact = resize._coordinates
    patch.setattr(resize, "_coordinates", lambda *given: exact(*given) + 0.25)


def the_other_sign(patch: Patch) -> None:
    exact = Expander.data

    def data(self: Expander, name: str) -> np.ndarray | None:
        found = exact(self, name)
        return -found if found is not None and self.builder.tensors[name].label == "c1" else found

    patch.setattr(Expander, "data", data)


def lower_as_upper(patch: Patch) -> None:
    exact = _images._same
    patch.setattr(_images, "_same", lambda g, d, size, lower, cut: exact(g, d, size, False, cut))


def halves_up(patch: Patch) -> None:
    numbers = SimpleNamespace(**{**vars(np), "rint": lambda a: np.floor(np.asarray(a) + 0.5)})
    patch.setattr(rewriting, "np", numbers)


def a_step_up(patch: Patch) -> None:
    exact = _forest.numbers

    def numbers(a: Any, name: str, **more: Any) -> np.ndarray:
        values = exact(a, name, **more)
        return np.nextafter(values, np.float32(np.inf)) if name == "nodes_values" else values

    patch.setattr(_forest, "numbers", numbers)


PLANTS: dict[str, tuple[Callable[[], bytes], Callable[[Patch], None]]] = {
    "a resize shifted by a quarter": (resized, a_quarter_off),
    "the bias of a normalization with the other sign": (normalized, the_other_sign),
    "SAME_LOWER read as SAME_UPPER": (convolved, lower_as_upper),
    "a table between integers rounded up at halves": (tabled, halves_up),
    "thresholds of trees one step up": (compared, a_step_up),
}


def heard(data: bytes, folder: Path) -> testimony.Testimony:
    path = folder / "planted.onnx"
    path.write_bytes(data)
    graph = read.load(path, registry.load())
    return evaluator.check(data, folder, graph, "ort", list(cases(graph, 2)))


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found(name: str, monkeypatch: Patch, tmp_path: Path) -> None:
    written, plant = PLANTS[name]
    sound = heard(written(), tmp_path)
    assert sound.agrees and not sound.left_out and sound.verdict.tensors == sound.of
    plant(monkeypatch)
    assert not heard(written(), tmp_path).agrees


def test_verify_says_who_found_it(monkeypatch: Patch, tmp_path: Path) -> None:
    path = tmp_path / "planted.onnx"
    path.write_bytes(resized())
    a_quarter_off(monkeypatch)
    result = checks.verify(mcugen.compile(path), 1, None, None, lambda text: None, Ask(path))
    assert result.c.agrees and not result.agrees
    assert "reference evaluator: first difference in" in check_report.verify_text(result)
    assert check_report.verify_dict(result)["first_difference"] is not None

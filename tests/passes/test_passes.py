# SPDX-License-Identifier: Apache-2.0
"""Passes keep the meaning of a graph: the oracle gives the same interface bytes before and after."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from mcugen import passes
from mcugen.errors import InternalError, QuantizationError, ShapeError, UnsupportedError
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.copy import Copy
from mcugen.ops.quantize import Quantize
from mcugen.oracle import interpreter
from mcugen.oracle.stimuli import draw
from mcugen.passes.copy_outputs import copy_outputs
from mcugen.passes.flip_unsigned import _flipped_tensor, flip_unsigned
from tests.runtimes import operators
from tests.runtimes.sketch import Drawn
from tests.support.tflite_writer import ModelWriter

MODELS = Path(__file__).resolve().parents[1] / "models"
UNSIGNED = sorted(path.stem for path in MODELS.glob("u8_*.tflite"))
UNSIGNED_OPERATORS = {name for name, dtype in operators.KINDS if dtype == "u8"} - {"BATCH_MATMUL", "SCATTER_ND"}
"""Operators that mcugen builds of uint8."""


def imported(path: Path) -> Graph:
    return read.load(path, registry.load())


def written(tmp_path: Path, data: bytes) -> Graph:
    (tmp_path / "m.tflite").write_bytes(data)
    return imported(tmp_path / "m.tflite")


def outputs(graph: Graph, seed: int, which: str) -> list[np.ndarray]:
    values = interpreter.run(graph, draw(graph, seed), which)
    return [values[name] for name in graph.outputs]


def test_passes_that_are_made_for_a_core_keep_their_names() -> None:
    """An internal error names the pass."""
    entries = passes.order(frozenset(), halves=True)
    every = [step for entry in entries for step in (entry if isinstance(entry, tuple) else (entry,))]
    assert [step.__name__ for step in every if not hasattr(passes, step.__name__)] == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("which", ["tflm", "litert"])
@pytest.mark.parametrize("model", [*UNSIGNED, "s8_shape_chain", "f32_float16_constants", "s8_concatenation"])
def test_passes_keep_the_output(model: str, which: str) -> None:
    before = imported(MODELS / f"{model}.tflite")
    after = passes.run(before, which)
    for seed in range(3):
        for a, b in zip(outputs(before, seed, which), outputs(after, seed, which), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", sorted(UNSIGNED_OPERATORS))
def test_passes_keep_what_an_operator_computes_of_bytes(name: str, tmp_path: Path) -> None:
    drawn, before = next(_accepted(name, tmp_path))
    after = passes.run(before, "litert")
    for inputs in drawn.sets:
        a, b = (interpreter.run(graph, inputs, "litert") for graph in (before, after))
        for one, other in zip(before.outputs, after.outputs, strict=True):
            np.testing.assert_array_equal(a[one], b[other], strict=True)


def _accepted(name: str, folder: Path) -> Iterator[tuple[Drawn, Graph]]:
    """Random models of one operator on uint8 that are not refused."""
    for seed in range(8):
        drawn = operators.draw(name, "u8", seed)
        with suppress(UnsupportedError, ShapeError, QuantizationError):
            yield drawn, written(folder, drawn.model)


@pytest.mark.parametrize("model", UNSIGNED)
def test_no_unsigned_tensor_is_computed_on(model: str) -> None:
    graph = flip_unsigned(imported(MODELS / f"{model}.tflite"), "tflm")
    for node in graph.nodes:
        if not node.op.takes_unsigned:
            names = [name for name in (*node.inputs, *node.outputs) if name is not None]
            assert not [n for n in names if graph.type(n).dtype == "u8" and graph.type(n).quant is not None]


def test_flipped_tensors_say_where_they_are_from() -> None:
    before = imported(MODELS / "u8_conv_2d.tflite")
    after = flip_unsigned(before, "tflm")
    new = [t for t in after.tensors.values() if t.name not in before.tensors]
    assert new and all(t.origin is not None and t.origin.tensor in before.tensors for t in new)
    weights = [t for t in new if t.type.dtype == "s16"]
    assert weights
    for tensor in weights:
        assert tensor.origin is not None and tensor.data is not None
        old = before.tensors[tensor.origin.tensor]
        assert old.data is not None and old.type.quant is not None
        np.testing.assert_array_equal(tensor.data, old.data.astype(int) - old.type.quant.zero_point[0])


def test_models_without_unsigned_tensors_stay_as_they_are() -> None:
    graph = imported(MODELS / "s8_conv_2d.tflite")
    assert flip_unsigned(graph, "tflm") is graph
    assert copy_outputs(graph, "tflm") is graph


def test_outputs_that_are_inputs_or_constants_become_copies(tmp_path: Path) -> None:
    m = ModelWriter()
    x, y = (m.tensor(name, (1, 4), "s8", scale=0.1) for name in "xy")
    c = m.tensor("c", (1, 4), "s8", scale=0.1, data=np.arange(4).reshape(1, 4))
    m.op("ADD", [x, c], [y])
    before = written(tmp_path, m.build([x], [x, c, y, c]))
    after = copy_outputs(before, "tflm")
    assert [type(node.op) for node in after.nodes].count(Copy) == 2
    assert not set(after.outputs) & {*before.inputs, "t2"}
    for a, b in zip(outputs(before, 5, "tflm"), outputs(after, 5, "tflm"), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_pass_that_breaks_the_graph_is_named() -> None:
    graph = imported(MODELS / "s8_add.tflite")
    bad = Node("bad", Quantize("s8"), ("nowhere",), ("t99",), "")
    with pytest.raises(InternalError, match=r"pass breaking: bad reads 'nowhere'"):
        verify(graph.updated(nodes=(bad,)), "pass breaking")


def test_weights_lose_the_zero_point_of_their_channel() -> None:
    quant = QuantParams((0.1, 0.2), (1, 100), 0)
    data = np.array([[1, 2, 255], [100, 0, 200]], np.uint8)
    found = _flipped_tensor(Tensor("w", TensorType((2, 3), "u8", quant), data), "w_wide", True)
    assert found.data is not None and found.data.tolist() == [[0, 1, 254], [0, -100, 100]]
    assert found.type.quant is not None and found.type.quant.zero_point == (0, 0)

"""Sparse constants of .tflite files, in blocks and without, and what damages them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcugen.errors import CorruptModelError
from mcugen.formats import registry
from mcugen.formats.tflite import read
from mcugen.oracle import interpreter
from tests.support.tflite_writer import ModelWriter, Sparse

WEIGHTS = np.array([[0, 0, 1, 2], [0, 0, 3, 4], [5, 0, 0, 0], [0, 6, 0, 0]], np.float32)
BY_ROW: Sparse = ((0, 1), (), (4, ((0, 2, 4, 5, 6), (2, 3, 2, 3, 0, 1))))
BY_COLUMN: Sparse = ((1, 0), (), (4, ((0, 1, 2, 4, 6), (2, 3, 0, 1, 0, 1))))
IN_BLOCKS: Sparse = ((0, 1, 2, 3), (0, 1), (2, ((0, 1, 2), (1, 0)), 2, 2))
STORED = {
    "rows": (BY_ROW, [1, 2, 3, 4, 5, 6]),
    "columns": (BY_COLUMN, [5, 6, 1, 3, 2, 4]),
    "blocks": (IN_BLOCKS, [1, 2, 3, 4, 5, 0, 0, 6]),
}


def model(sparsity: Sparse, values: list[int], *, densify: bool = False) -> bytes:
    """A fully connected layer of sparse weights."""
    m = ModelWriter()
    x = m.tensor("x", (1, 4), "f32")
    w = m.tensor("w", (4, 4), "f32", data=np.array(values, np.float32), sparsity=sparsity)
    y = m.tensor("y", (1, 4), "f32")
    if densify:
        dense = m.tensor("d", (4, 4), "f32")
        m.op("DENSIFY", [w], [dense])
        w = dense
    m.op("FULLY_CONNECTED", [x, w, -1], [y])
    return m.build([x], [y])


@pytest.mark.parametrize("densify", [False, True])
@pytest.mark.parametrize("kind", STORED)
def test_sparse_weights_are_expanded(kind: str, densify: bool) -> None:
    data = model(*STORED[kind], densify=densify)
    graph = read.load(data, registry.load(), path=Path("m.tflite"), sha256="", shapes={})
    x = np.array([[1, -2, 3, 5]], np.float32)
    assert np.array_equal(interpreter.run(graph, [x], "litert")[graph.outputs[0]], x @ WEIGHTS.T)
    assert graph.refusals["tflm"] and not graph.refusals["litert"]


@pytest.mark.parametrize(
    ("sparsity", "why"),
    [
        (((0, 1), (), (4, ((0, 2, 4, 5, 6), (2, 3, 2, 4, 0, 1)))), "outside an axis"),
        (((0, 1), (), (4, ((0, 2, 4, 5, 6), (2, 3, 2, -1, 0, 1)))), "outside an axis"),
        (((0, 1), (), (4, ((0, 4, 2, 5, 6), (2, 3, 2, 3, 0, 1)))), "do not ascend"),
        (((0, 1), (), (4, ((0, 2, 4, 5, 7), (2, 3, 2, 3, 0, 1)))), "point past the indices"),
        (((0, 1), (), (4, ((0, 2), (2, 3)))), "too few"),
        (((0, 0), (), (4, ((0, 2, 4, 5, 6), (2, 3, 2, 3, 0, 1)))), "does not fit rank"),
        (((0, 1), (), (3, ((0, 2, 4, 5, 6), (2, 3, 2, 3, 0, 1)))), "does not fit an axis"),
        (((0, 1, 2), (0,), (2, 4, 3)), "do not divide"),
        (((0, 1), (), (4, ((0, 2, 4, 5, 5), (2, 3, 2, 3, 0)))), "bytes of data"),
    ],
)
def test_damaged_storage_is_refused(sparsity: Sparse, why: str) -> None:
    with pytest.raises(CorruptModelError, match=why):
        read.load(model(sparsity, [1, 2, 3, 4, 5, 6]), registry.load(), path=Path("m"), sha256="", shapes={})

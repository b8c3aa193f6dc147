# SPDX-License-Identifier: Apache-2.0
"""Products of computed matrices in every transposition, and vectors, on all their tiles; and `mcugen gemm`."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards.target import load
from mcugen.errors import UsageError
from mcugen.ir.graph import Graph, Node, Tensor, verify
from mcugen.ir.types import TensorType
from mcugen.opencl_bench import matrix_products
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.solve import device_kernels as chosen
from mcugen.solve.schedule import Choice
from tests.opencl import launched

SIZES = ((20, 24, 36), (1, 24, 36), (20, 1, 36))
"""Rows, columns and taps: tiles reach beyond the matrices, and one of them is a vector."""


def cases(op: BatchMatmul, size: tuple[int, int, int], batches: int) -> list[launched.Launched]:
    rows, cols, depth = size
    a, b = (depth, rows) if op.transpose_a else (rows, depth), (cols, depth) if op.transpose_b else (depth, cols)
    types = [TensorType((batches, *a), "f32"), TensorType(b, "f32"), TensorType((batches, rows, cols), "f32")]
    tensors = {name: Tensor(name, t, None, name) for name, t in zip("aby", types, strict=True)}
    node = Node("y", op, ("a", "b"), ("y",), "node 0")
    graph = verify(Graph("g", tensors, (node,), ("a", "b"), ("y",), format="tflite"), "test")
    call = graph.call(node, "tflm")
    rng = np.random.default_rng(rows + cols)
    given = tuple(rng.standard_normal(t.shape, np.float32) for t in types[:2])
    assert launched.DEVICE is not None
    fitting = [k for k in kernels.on_device(BatchMatmul) if not k.refusals(call, launched.FEATURES)]
    every_launch = [made for k in fitting for made in chosen.launches(call, k, launched.DEVICE)]
    assert any("pair" in made.symbol for made in every_launch)
    expected = op.reference(*given)
    return [
        launched.Launched(
            f"{op} {size} {k.symbol} {dict(k.grid.tile)}", Choice(node, call, k, ""), given, expected, 8.0
        )
        for k in every_launch
    ]


def test_every_transposition_equals_numpy(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """All launches with --whole; else, as compilers take a second for each, the smallest tile of two transpositions."""
    if pytestconfig.getoption("--whole"):
        ops = [BatchMatmul(*turned) for turned in itertools.product((False, True), repeat=2)]
        found = [case for op in ops for size in SIZES for case in cases(op, size, 2)]
        assert {c.choice.kernel.symbol for c in found} >= {"mg_pair_f32__tiled", "mg_pair_vector_f32__tiled"}
    else:
        ops = [BatchMatmul(transpose_b=True), BatchMatmul(transpose_a=True)]
        found = [[c for c in cases(op, SIZES[0], 2) if "pair" in c.choice.kernel.symbol][-1] for op in ops]
        assert all(dict(c.choice.kernel.grid.tile)["EDGE"] for c in found)
    assert not launched.check(found, tmp_path)


@pytest.mark.whole
def test_products_by_themselves_are_timed_and_checked() -> None:
    told: list[str] = []
    facts = matrix_products.bench([(16, 8)], load("opencl-generic"), told.append)
    assert told
    assert [row["product"] for row in facts["products"]] == ["dense", "xA", "xA'"]
    assert all(row["right"] and row["seconds"] > 0 for row in facts["products"])
    assert all(row["flops_per_s"] * row["seconds"] == pytest.approx(2 * 16 * 8) for row in facts["products"])
    assert "3 products agree with NumPy" in str(matrix_products.as_parts(facts)[0])


@pytest.mark.whole
def test_what_the_table_has_not_is_measured(tmp_path: Path) -> None:
    folder = tmp_path / "board"
    shutil.copytree(load("opencl-generic").folder, folder)
    facts = matrix_products.bench([(16, 8), (8, 4, 12)], load(str(folder)), lambda text: None, folder / chosen.TABLE)
    assert (folder / chosen.TABLE).exists()
    assert all("not measured" not in row["chosen"] for row in facts["products"])
    assert [row["product"] for row in facts["products"][3:]] == ["NN", "NT", "TN", "TT"]
    assert all(row["right"] for row in facts["products"])


def test_what_is_no_size_is_refused() -> None:
    assert matrix_products.sizes_of(["2x3", "4X5x6"]) == [(2, 3), (4, 5, 6)]
    for text in ("", "3", "0x4", "1x2x3x4", "axb"):
        with pytest.raises(UsageError, match="no size"):
            matrix_products.sizes_of([text])

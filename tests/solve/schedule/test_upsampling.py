# SPDX-License-Identifier: Apache-2.0
"""Images that are made taller take part in row by row execution: their producers keep a few rows, not all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen.ir.kernel import RowWindow
from mcugen.pipeline import Artifact
from tests.support.tflite_writer import ModelWriter

SIDE = 16


def conv(m: ModelWriter, x: int, y: int) -> None:
    w = m.tensor(f"w{y}", (4, 3, 3, 4), "s8", scale=[0.01] * 4, data=np.ones((4, 3, 3, 4)))
    m.op("CONV_2D", [x, w, -1], [y], {"padding": "SAME", "stride_h": 1, "stride_w": 1})


def upsample(m: ModelWriter, kind: str, x: int, y: int) -> None:
    if kind == "RESIZE_NEAREST_NEIGHBOR":
        m.op(kind, [x, m.tensor("size", (2,), "s32", data=[2 * SIDE, 2 * SIDE])], [y])
        return
    shape = m.tensor("shape", (4,), "s32", data=[1, 2 * SIDE, 2 * SIDE, 4])
    w = m.tensor("wt", (4, 3, 3, 4), "s8", scale=[0.01] * 4, data=np.ones((4, 3, 3, 4)))
    m.op(kind, [shape, w, x], [y], {"padding": "SAME", "stride_h": 2, "stride_w": 2})


def decoder(folder: Path, kind: str) -> Artifact:
    """A convolution, an image made twice as tall and wide, and a pooling that leaves little of it, with least RAM."""
    m = ModelWriter()
    sides = (SIDE, SIDE, 2 * SIDE, SIDE // 2)
    x, a, b, y = (m.tensor(n, (1, s, s, 4), "s8", scale=0.1) for n, s in zip("xaby", sides, strict=True))
    conv(m, x, a)
    upsample(m, kind, a, b)
    window = {"filter_height": 4, "filter_width": 4, "stride_h": 4, "stride_w": 4}
    m.op("MAX_POOL_2D", [b], [y], {"padding": "VALID", **window})
    (folder / "m.tflite").write_bytes(m.build([x], [y]))
    return mcugen.compile(folder / "m.tflite", optimize="ram")


@pytest.mark.parametrize("kind", ["RESIZE_NEAREST_NEIGHBOR", "TRANSPOSE_CONV"])
def test_of_a_larger_image_only_the_rows_being_read_are_kept(kind: str, tmp_path: Path) -> None:
    made = decoder(tmp_path, kind)
    larger = made.schedule.steps[1].choice.node.outputs[0]
    assert (made.schedule.buffer_of(larger).kept, made.schedule.buffer_of(larger).rows) == (4, 2 * SIDE)
    assert made.plan.nbytes < made.graph.type(larger).nbytes / 2


def test_rows_of_an_even_stride_need_no_table() -> None:
    assert RowWindow.of_firsts(2, (-1, 1, 3), 6) == RowWindow(2, 2, 1, 1, 6, 3)
    assert RowWindow.of_firsts(1, (4,), 6) == RowWindow(1, 1, 1, -4, 6, 1)
    uneven = RowWindow.of_firsts(2, (-1, 0, 0, 1), 3)
    assert [uneven.first(y) for y in range(4)] == [-1, 0, 0, 1]
    assert [uneven.last(y) for y in range(4)] == [0, 1, 1, 2]
    assert uneven.leaves_image


def test_the_window_of_a_row_repeated_is_a_table() -> None:
    assert RowWindow.of_firsts(1, (0, 0, 0), 1).firsts == (0, 0, 0)
    assert not RowWindow.of_firsts(1, (0, 0, 0), 1).leaves_image

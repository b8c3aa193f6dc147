# SPDX-License-Identifier: Apache-2.0
"""When depthwise convolutions may read rows as they are, which columns they compute in pairs, and how weights lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.kernel import Window
from mcugen.kernels.dsp import depthwise_direct
from mcugen.kernels.dsp.planar_sizes import shape_of
from mcugen.ops._filter_examples import example
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.options import Options
from mcugen.solve.candidates import candidates_of
from tests.support import draw
from tests.support.cases import graph_of
from tests.support.copies import code_of_copy

KERNEL = depthwise_direct.DIRECT


def call_of(
    size: tuple[int, int] = (4, 9), c: int = 8, kernel: tuple[int, int] = (3, 3), multiplier: int = 1,
    stride: tuple[int, int] = (1, 1), dilation: tuple[int, int] = (1, 1), activation: str = "NONE",
    padding: Any = "SAME", **types: Any,
) -> Call:  # fmt: skip
    op = DepthwiseConv2D(stride, dilation, padding, activation)
    made = example(op, 3, (1, *size, c), (1, *kernel, c * multiplier), 3, **{"gain": 0.03, **types})
    data = [
        draw.constant(t, made.constants[k], made.seed, k) if t is not None and k in made.constants else None
        for k, t in enumerate(made.inputs)
    ]
    return Call(op, made.inputs, made.outputs, tuple(data), "tflm")


def pairs_of(*at: Any, **sizes: Any) -> tuple[int, int, int, int]:
    found = depthwise_direct.pairs_of(call_of(*at, **sizes))
    return found.count, found.first, found.left, found.right


def test_it_takes_the_usual_layers_without_memory_of_its_own() -> None:
    for call in (call_of(), call_of((9, 1), 8, (9, 1)), call_of(c=4), call_of(c=4095, per_channel=False)):
        assert not KERNEL.refusals(call, frozenset({"dsp"}))
    assert KERNEL.refusals(call_of(), frozenset()) == ["the core has no dsp"]
    assert KERNEL.scratch is None and isinstance(KERNEL.form, Window)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"c": 3}, "4 to 4095 channels"),
        ({"c": 4096, "size": (1, 2), "kernel": (1, 1)}, "4 to 4095 channels"),
        ({"multiplier": 2}, "depth multiplier"),
        ({"dilation": (1, 2)}, "the dilation is 1"),
        ({"size": (182, 181), "c": 4, "kernel": (182, 181), "padding": "VALID", "gain": 1e-5}, "32757 taps"),
        ({"bias_max": 2**31 - 1}, "2^30"),
        ({"gain": 4.0}, "right shift of at most 22"),
        ({"kind": "s16"}, "int8"),
    ],
)
def test_it_refuses_what_it_cannot_do_exactly(changed: dict[str, Any], message: str) -> None:
    reasons = KERNEL.refusals(call_of(**changed), frozenset({"dsp"}))
    assert any(message in reason for reason in reasons), reasons


def test_pairs_take_in_the_sides_where_that_is_less_work() -> None:
    assert pairs_of((4, 24)) == (11, 1, 0, 0)
    assert pairs_of((4, 6)) == (3, 0, 1, 1)
    assert pairs_of((4, 5)) == (2, 0, 1, 0)
    assert pairs_of((4, 2)) == (1, 0, 1, 1)
    assert pairs_of((4, 24), stride=(2, 2)) == (6, 0, 0, 1)
    assert pairs_of((4, 9), kernel=(5, 5)) == (2, 2, 0, 0)  # two columns beyond an image
    assert pairs_of((4, 9), kernel=(7, 7)) == (0, 0, 0, 0)  # too much code
    assert pairs_of((4, 9), c=2000) == (0, 0, 0, 0)  # out of reach
    assert pairs_of((9, 1), kernel=(3, 1)) == (0, 0, 0, 0)


def test_layers_that_differ_in_height_share_a_copy() -> None:
    assert KERNEL.identity(call_of((4, 24))) == KERNEL.identity(call_of((9, 48), stride=(2, 1)))
    assert KERNEL.identity(call_of((4, 24))) != KERNEL.identity(call_of((4, 24), c=16))
    signals = [call_of((20, 1), c, (h, 1), gain=0.01) for c, h in ((8, 3), (41, 9), (300, 15))]
    assert len({KERNEL.identity(call) for call in signals}) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"size": (5, 24)},
        {"size": (5, 6), "c": 19},
        {"size": (5, 24), "c": 300, "stride": (2, 2)},
        {"size": (40, 1), "kernel": (15, 1), "c": 40},
        {"size": (9, 9), "kernel": (5, 5), "out_zero": -128},
    ],
)
def test_the_stated_code_of_a_copy_is_near_its_size(changed: dict[str, Any], tmp_path: Path) -> None:
    call = call_of(**changed)
    assert KERNEL.cost.code is not None
    assert KERNEL.cost.code(call) == pytest.approx(code_of_copy(KERNEL, call, tmp_path), rel=0.05)


def test_groups_have_both_sums_and_pairs_of_weights() -> None:
    call = call_of(c=5, zero=7)
    assert KERNEL.params is not None
    params = KERNEL.params(call)
    s, w = shape_of(call), 2 * call.constant(1)[0].astype(np.int64).reshape(9, 5)
    stream = np.asarray(params["stream"]).reshape(2, -1)
    assert stream.shape[1] == params["group"] and (s.height, s.width) == (3, 3)
    for group, channels in zip(stream, ([0, 1, 2, 3], [1, 2, 3, 4]), strict=True):
        assert (group[4:8] - group[:4]).tolist() == (7 * w.sum(axis=0)[channels]).tolist()
        assert group[4:8].tolist() == (2 * call.constant(2)[channels]).tolist()
        taps = group[8:26].view(np.int16).reshape(9, 4)
        assert np.array_equal(taps[:, [0, 2, 1, 3]], w[:, channels])


def test_it_is_what_little_memory_takes() -> None:
    made = example(DepthwiseConv2D((1, 1), (1, 1), "SAME"), 1, (1, 25, 5, 64), (1, 3, 3, 64), 3)
    listed = candidates_of(graph_of(made), target.load("cortex-m4"), Options())[0]
    least = [each for each in listed if each.working_bytes == 0]
    best = min(least, key=lambda each: each.rows_cost)
    assert best.choice.kernel.symbol == KERNEL.symbol
    assert best.rows_cost < 0.45 * min(each.rows_cost for each in least if each is not best)

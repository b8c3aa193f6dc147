# SPDX-License-Identifier: Apache-2.0
"""Convolutions of woven rows on Helium: rests of rows and outputs, weights made of two, and shifts that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.op import Example
from mcugen.kernels.helium import packing, woven
from mcugen.ops._filter_examples import example
from mcugen.ops.conv2d import Conv2D
from tests.support import emulated
from tests.support.cases import cases_of, graph_of

CORE = target.load("cortex-m55")
KERNEL, FLAT = (
    next(k for k in kernels.of(Conv2D) if k.symbol == f"mg_conv2d_s8__mve_woven{suffix}") for suffix in ("", "_flat")
)


def filtered(image: Sequence[int], window: Sequence[int], outputs: int, **types: Any) -> Example:
    made = {name: types.pop(name) for name in ("stride", "activation", "padding", "rounding") if name in types}
    types = {"gain": 1e-3, "zero": -128, "out_zero": -128, **types}
    return example(Shapes(**made), 5, (1, *image), (outputs, *window, image[2]), 0, **types)


def call_of(found: Example) -> Call:
    graph = graph_of(found)
    return replace(graph.call(graph.nodes[0], "tflm"), features=CORE.features)


class Shapes(Conv2D):
    """Every rest of outputs by four, of pixels by four and of bytes by vectors, each number of steps. Source: none."""

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            filtered((3, 16, 3), (3, 3), 8, stride=(2, 2)),
            filtered((2, 17, 3), (3, 3), 5, kind="s8w9", out_zero=7, activation="RELU6"),
            filtered((3, 10, 5), (2, 2), 6, padding="VALID", bias_max=100_000),
            filtered((4, 27, 1), (10, 4), 7, stride=(1, 2), zero=83),
            filtered((2, 11, 7), (1, 5), 9, rounding="single", out_zero=5, gain=2e-3),
            filtered(
                (3, 40, 4), (3, 3), 4, stride=(1, 3), kind="s8w16", rounding="even", activation="RELU6", gain=0.01
            ),
            filtered((2, 9, 16), (1, 3), 10, out_zero=3, zero=127),
            filtered((2, 21, 5), (1, 1), 15, kind="s8w9"),
        ]


class Short(Shapes):
    """Bands that do not fill the image, of one row and of all, with padding on all sides and on none. Source: none."""

    kernels = (FLAT,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        shapes = [
            filtered((23, 10, 1), (10, 4), 7, stride=(2, 2), zero=83),
            filtered((26, 14, 3), (3, 3), 6, padding="VALID", kind="s8w9"),
            filtered((7, 36, 2), (1, 5), 8, activation="RELU6"),
            filtered((5, 3, 5), (3, 2), 5, padding=((2, 2), (1, 1)), out_zero=5),
        ]
        return [replace(found, op=cls(**vars(found.op))) for found in shapes]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", [Shapes, Short])
def test_rests_of_rows_and_outputs_on_an_emulated_core(op: type[Shapes], tmp_path: Path) -> None:
    kernel = op.kernels[0]
    assert all(not kernel.refusals(call_of(found), CORE.features) for found in op.examples())
    cases, refused = cases_of(op, CORE.features, 1, variants=False)
    assert not refused and len(cases) >= len(op.examples())
    assert all(kernel.symbol in case.label for case in cases)
    assert not emulated.check_core(CORE.name, [op], tmp_path)


def test_the_shapes_need_all_ways_to_requantize_but_the_rarest() -> None:
    assert {packing.finish_of(call_of(found)) for found in Shapes.examples()} == {0, 1, 2, 4, 5}


def test_bands_take_few_groups_of_four() -> None:
    """25 rows of 5 are five bands of 25 outputs, in 7 groups of four, or two of 65, in 17, which take less."""
    call = call_of(filtered((49, 10, 1), (10, 4), 64, stride=(2, 2)))
    sizes = FLAT.text.variant(call) if FLAT.text.variant else {}
    assert (sizes["band"], sizes["width"], sizes["height"]) == (13, 65, 25)


@pytest.mark.parametrize(("found", "reason"), [
    (filtered((9, 37, 3), (3, 3), 8), "at most 36 output columns"),
    (filtered((2, 3, 3), (3, 3), 8), "at least 8 pixels"),
    (filtered((5, 9, 3), (3, 3), 85), "84 output channels"),
])  # fmt: skip
def test_bands_refuse(found: Example, reason: str) -> None:
    assert any(reason in why for why in FLAT.refusals(call_of(found), CORE.features))


def test_shifts_leave_what_differs_and_16_bits() -> None:
    call = call_of(filtered((3, 16, 3), (3, 3), 8))
    shifts = -packing.finishing(call, woven.matrix(call), np.arange(8)[:, None])[:, 2, 0]
    assert len(set(shifts)) > 1 and woven.down_of(call) == shifts.min() - 1


@pytest.mark.parametrize(("found", "reason"), [
    (filtered((3, 16, 3), (4, 5), 8), "and 48 taps"),
    (filtered((3, 16, 17), (1, 2), 8), "at most 16 input channels"),
    (filtered((1, 40, 3), (1, 6), 8, stride=(1, 43), padding="VALID"), "and 48 taps"),
    (filtered((3, 7, 3), (3, 3), 8), "8 to 508 pixels"),
    (filtered((3, 16, 5), (1, 1), 8), "larger than 1x1, has a stride or weights beyond int8"),
    (filtered((1, 509, 3), (3, 3), 8), "8 to 508 pixels"),
    (filtered((1, 8, 3), (3, 3), 85), "at most 84 channels"),
    (filtered((3, 16, 3), (3, 3), 8, gain=0.3, bias_max=10**7), "sums fit 16 bits"),
])  # fmt: skip
def test_it_refuses(found: Example, reason: str) -> None:
    assert any(reason in why for why in KERNEL.refusals(call_of(found), CORE.features))


def test_weights_beyond_two_int8_are_refused() -> None:
    found = filtered((3, 16, 3), (3, 3), 8, kind="s8w9")
    call = call_of(found)
    assert not KERNEL.refusals(call, CORE.features)
    w = call.constant(1).astype(np.int16)
    w.reshape(-1)[0] = 255
    refused = KERNEL.refusals(replace(call, constants=(None, w, *call.constants[2:])), CORE.features)
    assert any("within -256 to 254" in why for why in refused)

# SPDX-License-Identifier: Apache-2.0
"""Convolutions on Helium in the memory of two patches: windows beyond all sides of the image, odd rows, steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.op import Example
from mcugen.ops._filter_examples import example
from mcugen.ops.conv2d import Conv2D
from tests.support import conformance, emulated
from tests.support.cases import graph_of

CORE = target.load("cortex-m55")
KERNEL = next(k for k in kernels.of(Conv2D) if k.symbol == "mg_conv2d_s8__mve_pairs")


def filtered(image: Sequence[int], window: Sequence[int], outputs: int, **types: Any) -> Example:
    names = ("stride", "dilation", "activation", "padding", "rounding")
    made = {name: types.pop(name) for name in names if name in types}
    types = {"gain": 1e-3, "zero": -128, "out_zero": -128, **types}
    return example(Shapes(**made), 5, (1, *image), (outputs, *window, image[2]), 0, **types)


def call_of(found: Example) -> Call:
    graph = graph_of(found)
    return replace(graph.call(graph.nodes[0], "tflm"), features=CORE.features)


class Shapes(Conv2D):
    """Single pixels, odd and even rows; windows wider than the image; pixels apart. Source: none."""

    kernels = (KERNEL,)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            filtered((4, 5, 16), (3, 3), 8),
            filtered((5, 6, 3), (3, 3), 5, stride=(2, 2), zero=3, out_zero=-7),
            filtered((3, 1, 9), (2, 4), 7, zero=127, activation="RELU6"),
            filtered((5, 9, 5), (3, 3), 4, dilation=(1, 3), zero=-1, out_zero=9),
            filtered((9, 4, 1), (10, 4), 6, stride=(2, 1), zero=83, rounding="single", out_zero=5),
            filtered((2, 7, 40), (1, 2), 4, dilation=(1, 2), rounding="even", activation="RELU6", gain=0.01),
            filtered((2, 2, 17), (2, 2), 4, padding="VALID"),
            filtered((4, 23, 3), (3, 3), 5, zero=3, out_zero=-7),
            filtered((3, 20, 9), (3, 2), 6, stride=(2, 3), zero=-9),
            filtered((2, 14, 4), (2, 3), 6, padding=((1, 1), (2, 1)), zero=7, out_zero=1),
            filtered((2, 6, 3), (2, 3), 5, dilation=(4, 1), zero=7),
        ]


@pytest.mark.whole
def test_shapes_on_the_host_and_on_an_emulated_core(tmp_path: Path) -> None:
    assert all(not KERNEL.refusals(call_of(found), CORE.features) for found in Shapes.examples())
    result = conformance.check(Shapes, tmp_path / "host")
    assert not result.problems and result.cases >= len(Shapes.examples())
    assert not emulated.check_core(CORE.name, [Shapes], tmp_path / "core")


def test_it_takes_two_patches() -> None:
    assert KERNEL.scratch is not None
    assert KERNEL.scratch(call_of(filtered((4, 5, 16), (3, 3), 8))) == 2 * 144
    assert KERNEL.scratch(call_of(filtered((4, 90, 3), (3, 3), 8))) == 2 * 32


def test_it_refuses_patches_beyond_its_fields() -> None:
    why = KERNEL.refusals(call_of(filtered((32, 32, 65), (32, 32), 4)), CORE.features)
    assert "no patch is longer than 65535 bytes" in why
    assert "there are at least 4 output channels" in KERNEL.refusals(
        call_of(filtered((4, 5, 3), (3, 3), 3)), CORE.features
    )

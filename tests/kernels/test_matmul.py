# SPDX-License-Identifier: Apache-2.0
"""Kernels of products of two computed matrices: their panels of columns, and their time for a head of attention."""

from __future__ import annotations

import math

import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.kernels.dsp import matmul_streams as dsp
from mcugen.ops import batch_matmul
from mcugen.ops.batch_matmul import BatchMatmul
from mcugen.solve import costs

HEAD = ((3, 49, 16, 49), (3, 49, 49, 16))
"""Batches, rows, depth, columns of the scores of an encoder block with heads of 16, and of what they weigh."""
CYCLES = {"cortex-m4": 2.6, "cortex-m7": 1.6, "cortex-m55": 1.2, "cortex-m3": 8.5, "cortex-m0plus": 14.0}
"""Core -> most cycles per multiply-accumulate."""


def call_of(sizes: tuple[int, int, int, int], core: str, rounding: str = "") -> Call:
    """A product of int8 matrices: batches, rows, depth, columns."""
    batches, rows, depth, cols = sizes
    op = BatchMatmul(rounding=rounding)
    example = batch_matmul.example(op, "s8", (batches, rows, depth), (batches, depth, cols), 1, 3)
    return Call(op, example.inputs, example.outputs, (None, None), "tflm", features=target.load(core).features)


@pytest.mark.parametrize("rounding", ["", "even"])
@pytest.mark.parametrize("core", CYCLES)
def test_a_head_of_16_is_multiplied_in_few_cycles(core: str, rounding: str) -> None:
    for sizes in HEAD:
        call = call_of(sizes, core, rounding)
        able = [k for k in kernels.of(call.op) if not k.refusal(call, call.features)]
        found = [costs.estimate(kernel, call, core) for kernel in able]
        assert all(estimate.is_fitted for estimate in found)
        assert min(e.cycles_high for e in found) / math.prod(sizes) <= CYCLES[core], (sizes, found)


@pytest.mark.parametrize("depth", [4, 13, 16, 49, 200, 1000])
@pytest.mark.parametrize("cols", [1, 2, 3, 16, 49, 301])
def test_panels_are_even_and_within_their_room(depth: int, cols: int) -> None:
    call = call_of((1, 5, depth, cols), "cortex-m4")
    panel = dsp.panel(call)
    rest = cols % panel or panel
    assert panel == cols or panel % 2 == 0
    assert panel - rest <= 2 * math.ceil(cols / panel)
    pairs = (dsp.scratch(call) - 12 * dsp.words(call).total) // (32 + 8 * dsp.words(call).total)
    assert 2 * pairs >= panel
    assert panel <= dsp.LEAST or pairs * (32 + 8 * dsp.words(call).total) <= dsp.STREAM + 32 + 8 * dsp.words(call).total

# SPDX-License-Identifier: Apache-2.0
"""Words of two channels on rows as they are: sums stay apart at their worst, runs are whole, little memory is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.ops._filter_examples import example
from mcugen.ops._weighted import matrix
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.options import Options
from mcugen.solve.candidates import candidates_of
from mcugen.solve.row_batches import in_fewest
from mcugen.solve.schedule.steps import Choice, batch_of
from tests.support import draw
from tests.support.cases import graph_of

CONV = "mg_conv2d_s8__swar_direct"
POINTWISE = "mg_conv2d_s8__swar_direct_pointwise"
VECTOR = "mg_fully_connected_s8__swar_direct"
DEPTHWISE = "mg_depthwise_conv2d_s8__swar_direct"


def kernel(op: type[Op], symbol: str) -> Kernel:
    return next(k for k in kernels.of(op) if k.symbol == symbol)


def call_of(op: Op, data: tuple[int, ...], weights: tuple[int, ...], axis: int = 0, **types: Any) -> Call:
    made = example(op, 3, data, weights, axis, **{"gain": 0.03, **types})
    constants = [
        draw.constant(t, made.constants[k], made.seed, k) if t is not None and k in made.constants else None
        for k, t in enumerate(made.inputs)
    ]
    return Call(op, made.inputs, made.outputs, tuple(constants), "tflm")


def convolution(size: tuple[int, int], dilation: tuple[int, int] = (1, 1), width: int = 8) -> Call:
    return call_of(Conv2D((1, 1), dilation, "SAME"), (1, 20, width, 3), (5, *size, 3))


def halves(word: int) -> tuple[int, int]:
    """The signed lower half, and what the upper half is once the lower is taken away."""
    lower = (word + 2**15) % 2**16 - 2**15
    return lower, ((word - lower) // 2**16 + 2**15) % 2**16 - 2**15


def runs(stream: list[int], count: int) -> Iterator[list[tuple[int, list[int]]]]:
    """The groups of each run of the first pair, as (start, words)."""
    at, groups = 3, stream[2]
    for _ in range(count):
        found = []
        for _ in range(groups):
            n = (61 - stream[at] % 64) // 2
            found.append((stream[at], stream[at + 1 : at + 1 + n]))
            at += 1 + n
        yield found
        groups, at = stream[at] // 64, at + 1
    assert stream[at - 1] % 64 == 2


@pytest.mark.parametrize("size", [(1, 1), (3, 3), (5, 2)])
def test_both_sums_of_a_group_stay_in_their_halves(size: tuple[int, int]) -> None:
    call, found = convolution(size), kernel(Conv2D, CONV)
    assert found.params is not None
    params, taps = found.params(call), []
    stream = [int(v) for v in np.asarray(params["stream"])]
    for run in runs(stream, size[0]):
        for start, words in run:
            s0, s1 = start % 2**16, (start // 2**16 + 2**15) % 2**16 - 2**15
            pairs = np.array([halves(word) for word in words])
            for least, most in ((-128, 127), (127, -128)):
                reached = np.where(pairs > 0, least * pairs, most * pairs).sum(axis=0)
                assert 0 <= s0 + reached[0] < 2**16
                assert -(2**15) <= s1 + reached[1] < 2**15
            taps += pairs.tolist()
        assert len(taps) % params["run_length"] == 0
    np.testing.assert_array_equal(np.array(taps).T, matrix(call)[:2])


def test_a_window_of_many_runs_is_refused() -> None:
    found = kernel(Conv2D, CONV)
    for call in (convolution((16, 3)), convolution((4, 4), (1, 2))):
        assert not found.refusals(call, frozenset())
    for call in (convolution((17, 3)), convolution((4, 5), (1, 2))):
        assert found.refusals(call, frozenset()) == ["the window has at most 16 runs of contiguous taps"]


def test_a_depthwise_window_of_many_taps_is_refused() -> None:
    found, op = kernel(DepthwiseConv2D, DEPTHWISE), DepthwiseConv2D((1, 1), (1, 1), "SAME")
    assert not found.refusals(call_of(op, (1, 30, 2, 4), (1, 27, 1, 4), 3), frozenset())
    why = found.refusals(call_of(op, (1, 30, 2, 4), (1, 28, 1, 4), 3), frozenset())
    assert why == ["the window has at most 27 taps"]


def test_a_multiplier_that_does_not_scale_down_is_refused() -> None:
    for op, symbol, data, weights in (
        (Conv2D(), CONV, (1, 4, 4, 8), (4, 1, 1, 8)),
        (Conv2D(), POINTWISE, (1, 4, 4, 8), (4, 1, 1, 8)),
        (FullyConnected(), VECTOR, (1, 8), (4, 8)),
    ):
        found = kernel(type(op), symbol)
        assert not found.refusals(call_of(op, data, weights), frozenset())
        assert found.refusals(call_of(op, data, weights, gain=40.0), frozenset())


def test_they_take_no_more_memory_than_portable_kernels() -> None:
    for op, symbol, call in (
        (Conv2D, CONV, convolution((3, 3))),
        (DepthwiseConv2D, DEPTHWISE, call_of(DepthwiseConv2D((1, 1), (1, 1), "SAME"), (1, 9, 9, 4), (1, 3, 3, 4), 3)),
    ):
        lean, portable = (kernel(op, name) for name in (symbol, symbol.split("__")[0]))
        taken, usual = (k.scratch(call) if k.scratch else 0 for k in (lean, portable))
        assert taken <= -(-usual // 16) * 16
    assert kernel(Conv2D, POINTWISE).scratch is None and kernel(FullyConnected, VECTOR).scratch is None


def test_pixels_alone_need_no_second_row() -> None:
    made = example(Conv2D(), 3, (1, 30, 1, 40), (64, 1, 1, 40), 0, gain=0.003)
    graph = graph_of(made)
    listed = candidates_of(graph, target.load("cortex-m0plus"), Options())
    batches = {c.choice.kernel.symbol: batch_of(c.choice) for c in listed[0]}
    assert (batches[VECTOR], batches[POINTWISE]) == (1, 2)
    fewest = in_fewest(listed)
    assert fewest is not None and {batch_of(c.choice) for c in fewest[0]} == {1}
    assert in_fewest(fewest) is None
    call = graph.call(graph.nodes[0], "tflm")
    assert batch_of(Choice(graph.nodes[0], call, kernel(Conv2D, VECTOR), "", 3)) == 3


def test_they_are_what_little_memory_takes() -> None:
    """Without memory, at most 1.4 times the cost of the fastest."""
    for op, data, weights, axis in (
        (Conv2D((1, 1), (1, 1), "SAME"), (1, 16, 16, 16), (16, 3, 3, 16), 0),
        (Conv2D(), (1, 25, 6, 64), (64, 1, 1, 64), 0),
        (DepthwiseConv2D((1, 1), (1, 1), "SAME"), (1, 25, 6, 64), (1, 3, 3, 64), 3),
    ):
        made = example(op, 3, data, weights, axis, gain=0.003)
        for core in ("cortex-m0plus", "cortex-m3", "rv32imc"):
            listed = candidates_of(graph_of(made), target.load(core), Options())[0]
            taps = int(np.prod(weights)) // weights[axis]
            least = min((c for c in listed if c.working_bytes <= 2 * taps), key=lambda c: c.rows_cost)
            assert "swar_direct" in least.choice.kernel.symbol
            assert least.rows_cost < 1.4 * listed[0].cost, (core, op)

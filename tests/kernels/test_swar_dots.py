# SPDX-License-Identifier: Apache-2.0
"""Four outputs at a time with weights as bytes: kernels for the goal `flash` on cores without SIMD."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen import solve
from mcugen.boards import target
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import QuantParams, TensorType
from mcugen.kernels.swar import four_dots
from mcugen.ops.fully_connected import FullyConnected
from mcugen.options import Options


def graph(scale: float = 0.001, outputs: int = 6, largest: int = 127, taps: int = 200) -> Graph:
    """A fully connected layer."""
    rng = np.random.default_rng(outputs)
    types = {
        "x": TensorType((2, taps), "s8", QuantParams((0.5,), (3,))),
        "w": TensorType((outputs, taps), "s8", QuantParams((scale,), (0,))),
        "b": TensorType((outputs,), "s32"),
        "y": TensorType((2, outputs), "s8", QuantParams((1.0,), (-5,))),
    }
    data = {
        "w": rng.integers(-largest, largest + 1, (outputs, taps)).astype(np.int8),
        "b": np.arange(outputs, dtype=np.int32),
    }
    tensors = {name: Tensor(name, t, data.get(name), name) for name, t in types.items()}
    return Graph("g", tensors, (Node("n", FullyConnected(), ("x", "w", "b"), ("y",), "n"),), ("x",), ("y",))


def call(scale: float = 0.001, outputs: int = 6, largest: int = 127, taps: int = 200) -> Call:
    made = graph(scale, outputs, largest, taps)
    return made.call(made.nodes[0], "tflm")


@pytest.mark.parametrize("made", [call(outputs=3), call(scale=2.5)])
def test_fewer_than_four_outputs_and_multipliers_above_one_are_refused(made: Call) -> None:
    assert four_dots.VECTOR.refusals(made, frozenset()) == [four_dots.scales_down_twice.__doc__]
    assert not four_dots.VECTOR.refusals(call(), frozenset())


@pytest.mark.parametrize("made", [call(largest=7), call(taps=40)])
def test_weights_of_four_bits_and_small_layers_are_refused(made: Call) -> None:
    assert four_dots.VECTOR.refusals(made, frozenset()) == [four_dots.needs_bytes.__doc__]


def test_equal_multipliers_are_stored_once() -> None:
    assert four_dots.VECTOR.params is not None
    fields = four_dots.VECTOR.params(call())
    assert np.asarray(fields["mult"]).size == 1 and fields["scale_stride"] == 0


@pytest.mark.parametrize(("goal", "expected"), [("flash", True), ("balanced", False)])
def test_only_the_goal_flash_takes_them(goal: str, expected: bool) -> None:
    made = solve.solve(
        graph(), target.load("cortex-m0plus"), Options(board="cortex-m0plus", optimize=goal, reference="tflm")
    )
    assert (made.choices[0].kernel.symbol == four_dots.VECTOR.symbol) == expected

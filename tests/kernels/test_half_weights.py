# SPDX-License-Identifier: Apache-2.0
"""Float layers whose weights are stored as float16: which they are, and that no weight changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcugen import kernels
from mcugen.boards import target
from mcugen.ir.op import Op
from mcugen.ops import _float_blocks
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.depthwise_conv2d import DepthwiseConv2D
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.transpose_conv import TransposeConv
from tests.kernels.test_dsp import drawn
from tests.support import emulated, program
from tests.support.cases import cases_of

SHAPES: dict[type[Op], tuple[tuple[int, ...], tuple[int, ...]]] = {
    Conv2D: ((5, 1, 1, 6), (1, 3, 4, 6)),
    FullyConnected: ((5, 6), (2, 6)),
}


@pytest.mark.parametrize("op", SHAPES)
def test_weights_of_float16_stay_so(op: type[Op]) -> None:
    call = drawn(op(), *SHAPES[op], "tflm", kind="f16")
    taken = [k for k in kernels.of(op()) if "__halves" in k.symbol and not k.refusals(call, frozenset())]
    assert taken
    for kernel in taken:
        symbol = kernel.symbol.replace("halves_", "").removesuffix("__halves")
        plain = next(k for k in kernels.of(op()) if k.symbol == symbol)
        assert kernel.params is not None and plain.params is not None
        halves, floats = kernel.params(call)["weights"], plain.params(call)["weights"]
        assert isinstance(halves, np.ndarray) and isinstance(floats, np.ndarray) and halves.dtype == np.uint16
        np.testing.assert_array_equal(halves.view(np.float16).astype(np.float32), floats)


@pytest.mark.parametrize("value", [1 + 2.0**-11, 65536.0, 2.0**-25, np.inf, np.nan])
def test_other_weights_do_not(value: float) -> None:
    call = drawn(FullyConnected(), *SHAPES[FullyConnected], "tflm", kind="f16")
    weights = call.constant(1).copy()
    weights[2, 3] = value
    changed = replace(call, constants=(None, weights, *call.constants[2:]))
    found = [k for k in kernels.of(call.op) if "halves" in k.symbol]
    assert len(found) == 3
    for kernel in found:
        assert not kernel.refusals(call, kernel.needs)
        assert kernel.refusals(changed, kernel.needs)[-1] == "all weights are exact in float16"


@pytest.mark.parametrize("channels, block", [(5, 4), (8, 8), (3, 8)])
def test_blocks_hold_biases_and_two_weights_to_a_word(channels: int, block: int) -> None:
    rng = np.random.default_rng(channels)
    w = rng.normal(0, 1, (channels, 7)).astype(np.float16).astype(np.float32)
    bias = rng.normal(0, 1, channels).astype(np.float32)
    floats = _float_blocks.packed(w, bias, block).reshape(-1, 8, block)
    words = _float_blocks.halved(floats.reshape(-1), 7, block).reshape(len(floats), -1)
    assert words.dtype == np.uint32 and words.shape[1] == block + 7 * block // 2
    np.testing.assert_array_equal(words[:, :block].copy().view(np.float32), floats[:, 0])
    halves = np.stack([words[:, block:] & 0xFFFF, words[:, block:] >> 16], axis=2).astype(np.uint16)
    np.testing.assert_array_equal(halves.reshape(len(floats), 7, block).view(np.float16), floats[:, 1:])


@pytest.mark.parametrize("core", ["cortex-m55", pytest.param("cortex-m4", marks=pytest.mark.whole)])
def test_results_have_the_bits_of_floats(core: str, tmp_path: Path) -> None:
    """Layers on the emulated core, on each kernel that reads weights of float16 and on the one that reads floats."""
    board, cases = target.load(core), []
    for op in (Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv):
        chosen = [e for e in op.examples() if e.outputs[0].dtype == "f32" and e.constants.get(1) is not None]
        only = type(op.__name__, (op,), {"examples": classmethod(lambda cls, chosen=chosen: chosen)})
        cases += cases_of(only, board.features, prefix=op.__name__.lower(), variants=False)[0]
    assert emulated.run_groups(board, [program.Group("halves", tuple(cases))], tmp_path) == []
    results, at, output = {}, 0, (tmp_path / "output.bin").read_bytes()
    for case in cases:
        size = len(case.inputs) * (4 + sum(end.nbytes for end in case.view.outputs))
        results[case.label] = output[at : at + size]
        at += size
    halves = [label for label in results if "halves" in label]
    assert len(halves) > 8
    for label in halves:
        plain = label.replace("__halves_", "__").replace("__halves", "").replace("_halves", "")
        assert results[label] == results[plain], label

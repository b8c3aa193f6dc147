# SPDX-License-Identifier: Apache-2.0
"""Estimates of layers as networks for speech, digits and words have them, none of which the fit has seen.

Kernels are fitted to few layers: where these are all small, or all of one step, another number stands for products,
and a layer of a real network is estimated at a tenth of what it takes, or at five times that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mcugen.boards import target
from mcugen.ir.op import Example
from mcugen.ops import gather, hybrid_conv2d, hybrid_depthwise_conv2d, hybrid_lstm, hybrid_rnn, svdf
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.gather import Gather
from mcugen.ops.gru import Gru
from mcugen.ops.hybrid_lstm import HybridLstm
from mcugen.ops.hybrid_rnn import HybridRnn
from mcugen.ops.lstm import Lstm
from mcugen.ops.real_fourier import RealFourier
from mcugen.ops.rnn import Rnn
from mcugen.solve import costs, fitted
from tests.costs import firmware, layers, moved, recurrent, signals

NEAR = 0.10
SMALL = 300
"""Instructions below which a layer is more setting up than work."""
KERNELS = ("hybrid", "lstm", "gru", "rnn", "svdf", "gather", "split", "fourier", "filter_bank", "f32__eights")
"""Parts of the names of kernels that are fitted to layers of these networks."""
CORES = [
    pytest.param(core, marks=[] if core == "cortex-m4" else [pytest.mark.whole])
    for core in ("cortex-m4", "cortex-m0plus", "cortex-m3", "cortex-m7", "cortex-m33", "cortex-m55", "rv32imc")
]


@pytest.mark.whole
@pytest.mark.parametrize("core", CORES)
def test_layers_that_were_not_fitted_are_near_what_is_counted(core: str, tmp_path: Path) -> None:
    compare(core, [*hybrid(), *with_a_memory(), *others()], tmp_path)


def hybrid() -> list[Example]:
    """Examples of operators on float data with int8 weights."""
    return [
        hybrid_conv2d.example(1, (1, 24, 20), 8, 20, (3, 3), twice=True),
        hybrid_depthwise_conv2d.example(1, (1, 20, 16), 32, (3, 3)),
        hybrid_conv2d.example(2, (1, 1, 1), 200, 96, (1, 1), padding="VALID"),
        hybrid_conv2d.example(3, (1, 20, 8), 32, 48, (1, 1), twice=True),
        hybrid_depthwise_conv2d.example(2, (1, 40, 10), 12, (5, 5), stride=(2, 2)),
        recurrent.in_bytes(hybrid_lstm.example(HybridLstm(), (1, 1, 150, 80), 1)),
        recurrent.in_bytes(hybrid_lstm.example(HybridLstm(), (12, 1, 20, 30), 2)),
        recurrent.in_bytes(hybrid_rnn.example(HybridRnn(), (8, 1, 24, 40), 3)),
    ]


def with_a_memory() -> list[Example]:
    return [
        recurrent.floats(Lstm, (12, 1, 20, 30), 1),
        recurrent.quantized((12, 1, 20, 30), "s8", 2),
        recurrent.floats(Lstm, (1, 1, 100, 50), 3),
        recurrent.floats(Gru, (15, 1, 40, 25), 4),
        recurrent.floats(Rnn, (30, 1, 12, 40), 5),
        recurrent.quantized((1, 1, 200, 80), "s8", 6),
        recurrent.quantized((8, 1, 24, 32), "s16", 7),
        recurrent.projected((10, 1, 30, 40, 20), 8),
        recurrent.full((10, 1, 30, 40, 20), 9),
        svdf.example(10, "s8", 1, 80, 1, 14, 0, 0.05, True),
        svdf.example(11, "s8", 1, 60, 2, 9, 3, 0.05, True),
        svdf.example(12, "f32", 1, 64, 2, 10, 0, 0.0, True),
    ]


def others() -> list[Example]:
    dense = [(end, *size) for size in ((560, 10), (300, 30), (48, 6)) for end in ("NONE", "RELU")]
    return [
        *(layers.made(FullyConnected(end), "f32", 4, (k,), (n, k), 0) for end, k, n in dense),
        gather.example(0, Gather(0), (300, 24), (100,), "s32", ("f32", None)),
        moved.cut(2, (20, 20), 12, moved.KINDS[0]),
        moved.cut(3, (16, 16), 16, moved.KINDS[1]),
        signals.transform(RealFourier(320), 300, "s16", 5),
        signals.bank(30, 161, 6),
        signals.roots(30, 161, 6),
    ]


def compare(core: str, examples: list[Example], folder: Path) -> None:
    """Fails for a layer whose estimated instructions or cycles are further from those that are counted."""
    known = fitted.rows(core)

    def wanted(symbol: str) -> bool:
        return symbol in known and any(part in symbol for part in KERNELS)

    found = firmware.each_kernel(examples, target.load(core).features, wanted)
    assert {type(layer.call.op) for layer in found} >= {type(e.op) for e in examples} - {FullyConnected}  # needs an FPU
    wrong = []
    for counted in firmware.measure(core, found, folder):
        guess = costs.estimate(counted.layer.kernel, counted.layer.call, core)
        pairs = (
            (guess.instructions, counted.instructions, NEAR),
            (guess.cycles_low, counted.cycles_low, 1.5 * NEAR),
            (guess.cycles_high, counted.cycles_high, 1.5 * NEAR),
        )
        if counted.instructions > SMALL and any(abs(a / b - 1) > bound for a, b, bound in pairs):
            which = ", ".join(str(t) for t in counted.layer.call.inputs if t)
            wrong.append(f"{counted.layer.kernel.symbol}: {guess}, counted {counted.instructions} on {which}")
    assert not wrong, "\n".join([f"after a change of a kernel run ci/fit --kernels on {core}:", *wrong])

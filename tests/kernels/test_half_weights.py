# SPDX-License-Identifier: Apache-2.0
"""Float layers whose weights are stored as float16: which they are, and that no weight changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcugen import kernels
from mcugen.op import Op
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.fully_connected import FullyConnected
from tests.kernels.test_dsp import drawn

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
    kernel = next(k for k in kernels.of(call.op) if k.symbol == "mg_fully_connected_f32__halves")
    why = kernel.refusals(replace(call, constants=(None, weights, *call.constants[2:])), frozenset())
    assert why == ["all weights are finite numbers of float16"]

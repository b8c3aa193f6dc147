# SPDX-License-Identifier: Apache-2.0
"""Clamps as operators of their own: bounds that leave 32 bits are refused, as those of fused activations are."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.errors import QuantizationError
from mcugen.ir.call import Call
from mcugen.ir.op import evaluate
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.relu import Relu, stored_bounds


def call_of(scale: float) -> Call:
    x, y = (TensorType((1, 8), "s8", QuantParams((s,), (-128,))) for s in (0.05, scale))
    return Call(Relu(-1.0, 1.0), (x,), (y,), (None,), "litert")


def test_bounds_beyond_32_bits_are_refused_by_the_compiler_and_the_oracle() -> None:
    call = call_of(1e-10)
    with pytest.raises(QuantizationError, match=r"the clamp to -1 is -1e.10 steps of scale 1e-10"):
        stored_bounds(call, call.output)
    with pytest.raises(QuantizationError, match=r"the clamp to -1 is -1\d* steps of scale 1e-10"):
        evaluate(call, (np.zeros((1, 8), np.int8),))


def test_bounds_of_32_bits_are_those_of_the_type() -> None:
    call = call_of(1e-9)
    assert stored_bounds(call, call.output) == (-128, 127)

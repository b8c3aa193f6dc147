# SPDX-License-Identifier: Apache-2.0
"""RSQRT of integers: scales for which the runtimes would shift by more bits than a word has are refused."""

from __future__ import annotations

import pytest

from mcugen.errors import QuantizationError
from mcugen.formats.tflite.operators.byte_functions import _inverse_root
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.curve import Curve

TOO_FAR = ((8192.0, 4188.325), (1e-4, 1e6), (1e-9, 1e-6), (1e-20, 1e-10))
"""(scale of the operand, scale of the result): two shifts to the right, two to the left."""


def _type(scale: float, dtype: str = "s8") -> TensorType:
    return TensorType((1, 8), dtype, QuantParams((scale,), (-128 if dtype == "s8" else 0,)))


def _words(x: float, y: float) -> str:
    """Why TensorFlow Lite Micro does not compute it for int16."""
    call = Call(Curve("rsqrt"), (_type(x, "s16"),), (_type(y, "s16"),), (None,), "tflm")
    return call.op.refused_by(call, "tflm")


@pytest.mark.parametrize(("x", "y"), TOO_FAR)
def test_a_shift_beyond_a_word_is_refused(x: float, y: float) -> None:
    with pytest.raises(QuantizationError, match="the runtimes would shift by more than 31 bits"):
        _inverse_root(_type(x), _type(y))
    assert "shifts by more than 31 bits for the result's scale" in _words(x, y)


def test_the_longest_shift_is_computed() -> None:
    """1 / sqrt(8192 * v) is less than half a step: all results but those of 0 and less are zero."""
    assert set(_inverse_root(_type(8192.0), _type(32.0))[1:]) == {-128}
    assert not _words(8192.0, 32.0)

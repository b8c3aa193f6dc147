# SPDX-License-Identifier: Apache-2.0
"""RSQRT of int8 data: scales for which the runtimes would shift by more bits than a word has are refused."""

from __future__ import annotations

import pytest

from mcugen.errors import QuantizationError
from mcugen.formats.tflite.operators.byte_functions import _inverse_root
from mcugen.ir.types import QuantParams, TensorType


def _type(scale: float) -> TensorType:
    return TensorType((1, 8), "s8", QuantParams((scale,), (-128,)))


def test_a_shift_beyond_a_word_is_refused() -> None:
    with pytest.raises(QuantizationError, match=r"shift by 38 bits, at most 31 are defined: the scale 4.19e\+03"):
        _inverse_root(_type(8192.0), _type(4188.325))


def test_the_longest_shift_is_computed() -> None:
    """1 / sqrt(8192 * v) is less than half a step: all results but those of 0 and less are zero."""
    assert set(_inverse_root(_type(8192.0), _type(32.0))[1:]) == {-128}

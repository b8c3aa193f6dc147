"""The operand of a softmax without masks: what counts as a mask."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.passes._softmax_operand import SoftmaxOperand

ALONE = SoftmaxOperand("x", np.float32(1))


@pytest.mark.parametrize(("addend", "is_mask"), [(-np.inf, True), (-1e9, False)])
def test_a_row_without_keys_is_masked_by_infinity_alone(addend: float, is_mask: bool) -> None:
    """Equal finite addends leave equal scores, so the results are equal shares, not zeros."""
    keys = np.array([[True, False, True], [False, False, False]])
    found = ALONE.hiding("y", keys, np.full(4, addend, np.float32))
    assert (found is not None) == is_mask


def test_a_finite_addend_beside_infinite_ones_may_leave_a_key() -> None:
    first = ALONE.hiding("y", np.array([[False, True, False]]), np.full(2, -np.inf, np.float32))
    assert first is not None
    assert first.hiding("x", np.array([[True, False, True]]), np.full(1, -1e5, np.float32)) is None
    assert first.hiding("x", np.array([[True, True, False]]), np.full(1, -1e5, np.float32)) is not None

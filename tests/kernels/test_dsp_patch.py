# SPDX-License-Identifier: Apache-2.0
"""Dense kernels with little memory for cores with SMLAD: what they take of it, their code, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernels.test_dsp import DIRECT, FEATURES, PATCHES, conv, kernel_of, vectors
from tests.support.copies import code_of_copy


@pytest.mark.parametrize("symbol", PATCHES)
@pytest.mark.parametrize("channels", [3, 16])
def test_the_stated_code_of_a_patch_is_near_its_size(symbol: str, channels: int, tmp_path: Path) -> None:
    call = conv(c=channels)
    kernel = kernel_of(call, symbol)
    assert kernel.cost.code is not None
    assert kernel.cost.code(call) == pytest.approx(code_of_copy(kernel, call, tmp_path), rel=0.03)


def test_a_patch_takes_the_memory_of_one_pixel_and_direct_kernels_none() -> None:
    """Taps in whole steps of eight, int16: less than the two pixels' bytes of the portable kernel beside them."""
    for channels, taps in ((8, 72), (3, 32)):
        call = conv(c=channels)
        assert [scratch(call) for symbol in PATCHES if (scratch := kernel_of(call, symbol).scratch)] == [2 * taps] * 3
    assert all(kernel_of(vectors(), symbol).scratch is None for symbol in DIRECT)


@pytest.mark.parametrize("symbol", DIRECT)
def test_direct_kernels_refuse_vectors_of_less_than_a_word(symbol: str) -> None:
    least, less = vectors(4), vectors(3)
    assert not kernel_of(least, symbol).refusals(least, FEATURES)
    assert kernel_of(less, symbol).refusals(less, FEATURES) == ["vectors have at least 4 elements"]

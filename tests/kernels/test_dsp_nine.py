# SPDX-License-Identifier: Apache-2.0
"""Weights of nine bits in eight on cores with SMLAD: what kernels with them refuse, and why their sums are exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcugen.kernels.dsp import nine
from tests.kernels.test_dsp import FEATURES, conv, kernel_of, vectors, with_weights

NINE = tuple(
    f"mg_conv2d_s8__dsp9{way}{suffix}"
    for way in ("", "_single")
    for suffix in ("_gathered", "_shared_gathered", "_pointwise", "_shared_pointwise")
)
VECTORS = tuple(f"mg_fully_connected_s8__dsp9{way}" for way in ("", "_single", "_shared"))


@pytest.mark.parametrize("symbol", [*NINE, *VECTORS])
def test_weights_of_nine_bits_take_eight(symbol: str) -> None:
    """Only uint8 weights less a zero point qualify: no wider ones, no channel with a larger span, and no large sums."""
    dense = "connected" in symbol
    kernel_size = (1, 1) if "pointwise" in symbol else (3, 3)
    changed = {"kind": "s8w9", "gain": 0.002}
    call = vectors(**changed) if dense else conv(kernel_size, **changed)
    kernel = kernel_of(call, symbol)
    assert not kernel.refusals(call, FEATURES) and kernel.params is not None
    stream = kernel.params(call)["stream"]
    assert isinstance(stream, np.ndarray)
    taps = call.constant(1).size // 6
    assert stream.nbytes <= (8 if dense else 6) * (32 * -(-taps // 32) + 36)
    narrow = vectors() if dense else conv(kernel_size)
    assert any("weights are int16" in why for why in kernel.refusals(narrow, FEATURES))
    full = narrow.constant(1).copy()
    full.reshape(6, -1)[:2, 0] = -1, -128
    takes_it = symbol == "mg_fully_connected_s8__dsp9_shared"
    assert takes_it != any("weights are int16" in why for why in kernel.refusals(with_weights(narrow, full), FEATURES))
    spans = call.constant(1).astype(np.int16)
    spans.reshape(6, -1)[3, :2] = -1, 255
    found = kernel.refusals(replace(call, constants=(None, spans, *call.constants[2:])), FEATURES)
    assert any("span at most 255" in why for why in found)
    wide_sums = {"kind": "s8w9", "gain": 1e-4, "bias_max": 2**26}
    large = vectors(**wide_sums) if dense else conv(kernel_size, **wide_sums)
    assert any("2^23" in why for why in kernel.refusals(large, FEATURES))


def test_vectors_of_three_elements_have_no_whole_group() -> None:
    short, four = (vectors(n, kind="s8w9", gain=0.002) for n in (3, 4))
    kernel = kernel_of(four, "mg_fully_connected_s8__dsp9")
    assert not kernel.refusals(four, FEATURES)
    assert kernel.refusals(short, FEATURES) == ["vectors have at least 4 elements"]


@pytest.mark.parametrize("groups", [1, 5, 127, 128, 254, 255])
@pytest.mark.parametrize("runs", [1, 2, 3])
@pytest.mark.parametrize("zero", [0, 1, 100, 127, 128, 255])
def test_stored_weights_and_sums_make_the_weights(groups: int, runs: int, zero: int) -> None:
    """Also where all data are -128: no half of a sum leaves 16 bits, and each is of the groups that one word holds."""
    sums, rng = nine.Sums(groups, runs), np.random.default_rng(groups + runs)
    w = rng.integers(0, 256, (1, 2, sums.taps)) - zero
    w[0, :, :2] = [-zero, 255 - zero]
    stored = sums.stored(np.pad(w, ((0, 0), (0, 0), (0, 2 * sums.words + 3))))
    even, odd = stored[0]
    assert even.min() >= 0 and even.max() <= 255 and odd.min() >= -128 and odd.max() <= 127
    for x in (np.full(sums.taps, -128), rng.integers(-128, 128, sums.taps)):
        parts = split(x, groups, runs)
        assert len(parts) == sums.words and np.abs(parts).max() < 2**15
        rest = stored.shape[2] - 2 - sums.taps
        data = np.concatenate([parts[0], x, np.ravel(parts[1:]), np.full(rest - 2 * (sums.words - 1), 77)])
        np.testing.assert_array_equal(stored[0] @ data, w[0] @ x)


def split(x: np.ndarray, groups: int, runs: int) -> np.ndarray:
    """Minus the sums of even and odd elements as the kernels take them: run by run, 127 groups at most."""
    parts, left = [np.zeros(2, np.int64)], nine.SUMMED_GROUPS
    for run in x.reshape(runs, groups, 2, 2):
        for first in range(0, groups, nine.SUMMED_GROUPS):
            chunk = run[first : first + nine.SUMMED_GROUPS]
            if left < len(chunk):
                parts.append(np.zeros(2, np.int64))
                left = nine.SUMMED_GROUPS
            left -= len(chunk)
            parts[-1] -= chunk.sum(axis=(0, 1))
    return np.array(parts)

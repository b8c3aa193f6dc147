# SPDX-License-Identifier: Apache-2.0
"""Words of two outputs, four to a tap: all sums of a group stay apart at their worst, and every tap is there once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.fully_connected import FullyConnected

KERNEL = next(k for k in kernels.of(FullyConnected) if k.symbol == "mg_fully_connected_s8__swar")


def call(w: np.ndarray, bias: np.ndarray, scale: float = 0.01, reference: str = "tflm") -> Call:
    """A layer with those weights [outputs, taps]."""
    o, k = w.shape
    types = (
        TensorType((1, k), "s8", QuantParams((0.5,), (3,))),
        TensorType((o, k), "s8", QuantParams((scale,), (0,))),
        TensorType((o,), "s32"),
    )
    y = TensorType((1, o), "s8", QuantParams((1.0,), (0,)))
    return Call(FullyConnected(), types, (y,), (None, w.astype(np.int8), bias.astype(np.int32)), reference)


def blocks(stream: np.ndarray, count: int) -> Iterator[tuple[list[tuple[np.ndarray, np.ndarray]], list[int]]]:
    """For each block the (starts, words [taps, pairs]) of its groups, and the indices of its outputs."""
    at = 0
    for _ in range(count):
        groups, at = [], at + 9
        for _ in range(stream[at - 9]):
            n, entry = stream[at + 4] % 2**16, stream[at + 4] >> 16
            assert entry == 4 + 20 * (32 - n)
            groups.append((stream[at : at + 4], stream[at + 5 : at + 5 + 4 * n].reshape(n, 4)))
            at += 5 + 4 * n
        outputs, kind = stream[at], stream[at + 1]
        assert not stream[at + 2 : at + 5].any()
        size = 7 if kind & 4 else 6
        at += 5 + size * outputs
        yield groups, [int(v) for v in stream[at - size * outputs : at].reshape(outputs, size)[:, -1]]
    assert at == len(stream)


def halves(words: np.ndarray) -> np.ndarray:
    """The signed lower halves, and what the upper ones are once the lower are taken away: [..., 2 * words]."""
    lower = (words + 2**15) % 2**16 - 2**15
    upper = ((words - lower) // 2**16 + 2**15) % 2**16 - 2**15
    return np.stack([lower, upper], axis=-1).reshape(*words.shape[:-1], -1)


@pytest.mark.parametrize("outputs", [1, 8, 21])
def test_all_sums_of_a_group_stay_in_their_halves(outputs: int) -> None:
    rng = np.random.default_rng(outputs)
    w = rng.choice([-128, -127, -1, 0, 1, 64, 127], (outputs, 90)) // rng.choice([1, 2, 40, 200], (outputs, 1))
    assert KERNEL.params is not None
    fields = KERNEL.params(call(w, np.zeros(outputs)))
    found = np.zeros_like(w)
    for groups, indices in blocks(np.asarray(fields["stream"]).astype(np.int64), int(fields["blocks"])):
        assert len(groups) > 1
        taps = [halves(words[::-1]) for _, words in groups]
        for (starts, _), part in zip(groups, taps, strict=True):
            first = np.stack([starts % 2**16, (starts // 2**16 + 2**15) % 2**16 - 2**15], axis=-1).reshape(-1)
            least, most = ((255 * np.where(sign * part > 0, part, 0)).sum(axis=0) + first for sign in (-1, 1))
            assert least[0::2].min() >= 0 and most[0::2].max() < 2**16
            assert least[1::2].min() >= -(2**15) and most[1::2].max() < 2**15
        found[indices] = np.concatenate(taps)[:, : len(indices)].T
    np.testing.assert_array_equal(found, w)


def test_sums_beyond_23_bits_and_results_beyond_32_are_refused() -> None:
    w = np.full((3, 9), 100)
    within, beyond = 2**23 - 255 * 900 - 200_000, 2**23
    assert not KERNEL.refusals(call(w, np.full(3, within), 2e-5), frozenset())
    why = KERNEL.refusals(call(w, np.full(3, beyond), 2e-5), frozenset())
    assert why == ["sums stay below 2^23, and the multipliers scale them down"]
    same = call(w[:1], np.full(1, 2**30), 64.0, "litert")
    assert KERNEL.refusals(same, frozenset()) == [
        "with LiteRT's single rounding, outputs stay within 32 bits before the activation"
    ]

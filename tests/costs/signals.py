# SPDX-License-Identifier: Apache-2.0
"""The signal processing before a speech network: transforms of a few hundred samples, and the bands of a spectrum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops.filter_bank import FilterBank
from mcugen.ops.filter_bank_roots import FilterBankRoots
from mcugen.ops.power_spectrum import PowerSpectrum
from mcugen.ops.real_fourier import RealFourier

# Length of a transform, samples given.
TRANSFORMS = (
    *((512, 480), (256, 256), (1024, 640), (480, 480), (400, 400), (64, 40), (96, 96), (24, 20), (128, 101)),
    *((32, 32), (128, 100), (256, 160), (512, 512), (1024, 1024)),
)
# Channels, bins of the spectrum.
BANKS = ((40, 257), (20, 129), (64, 513), (10, 65), (32, 257), (26, 200))


def layers(op: type[Op]) -> Iterator[Example]:
    """The layers of one operator, none for others than these."""
    if op is RealFourier:
        for dtype in ("s16", "s32", "f32"):
            for seed, (length, given) in enumerate(TRANSFORMS):
                yield transform(RealFourier(length, seed % 3 == 1), given, dtype, seed)
    if op is PowerSpectrum:
        for scales in (False, True):
            yield from (energies(*sizes, scales, seed) for seed, sizes in enumerate(TRANSFORMS))
    if op is FilterBank:
        yield from (bank(channels, bins, seed) for seed, (channels, bins) in enumerate(BANKS))
    if op is FilterBankRoots:
        yield from (roots(channels, bins, seed) for seed, (channels, bins) in enumerate(BANKS))


def transform(op: RealFourier, given: int, dtype: str, seed: int) -> Example:
    x = TensorType((op.length + 2 if op.inverse else given,), dtype)
    return Example(op, (x,), op.infer(x), {}, seed)


def energies(length: int, given: int, scales: bool, seed: int) -> Example:
    """Samples with or without a window, and energies of most bins, or of the lower ones."""
    shift = None if seed % 4 == 3 else 15
    op = PowerSpectrum(length, seed, length // (2 + seed % 3), shift, scales)
    samples = TensorType((given,), "s16")
    given_types = (samples,) if shift is None else (samples, samples)
    return Example(op, given_types, op.infer(*given_types), {} if shift is None else {1: None}, seed)


def bank(channels: int, bins: int, seed: int) -> Example:
    """Bands that grow wider with the frequency, as those of the mel scale."""
    ends = np.round(np.geomspace(4, bins, channels + 2)).astype(np.int64)
    first, width = ends[:-1], np.diff(ends)
    start = np.concatenate(([0], np.cumsum(width)[:-1]))
    rising = np.concatenate([np.arange(1, w + 1) * 1000 // w for w in width])
    tables = [np.asarray(t, np.int16) for t in (rising, 1001 - rising, first, start, width)]
    types = (TensorType((bins,), "u32"), *(TensorType(t.shape, "s16") for t in tables))
    op = FilterBank(channels)
    return Example(op, types, op.infer(*types), dict(enumerate(tables, 1)), seed)


def roots(channels: int, bins: int, seed: int) -> Example:
    """Bands as those of `bank`, with the roots of their sums."""
    sums = bank(channels, bins, seed)
    types = (*sums.inputs, TensorType((), "s32"))
    op = FilterBankRoots(channels)
    return Example(op, types, op.infer(*types), sums.constants, seed)

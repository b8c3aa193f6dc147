# SPDX-License-Identifier: Apache-2.0
"""A front end of TFLM's signal operators, from 480 samples at 16 kHz to 40 bytes, and signals that it is tried on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

import numpy as np
from flatbuffers import flexbuffers

from tests.support.tflite_writer import ModelWriter

SAMPLES, LENGTH, CHANNELS, RATE = 480, 512, 40, 16000
_BINS = LENGTH // 2 + 1
_ONE = 4096


def model() -> bytes:
    """The model: its output is int8, and the noise estimate is a state."""
    m, numbers = ModelWriter(), count()

    def const(values: object, dtype: str) -> int:
        data = np.asarray(values, {"s16": np.int16, "s32": np.int32}[dtype])
        return m.tensor(f"t{next(numbers)}", data.shape, dtype, data=data)

    def made(shape: tuple[int, ...], dtype: str) -> int:
        return m.tensor(f"t{next(numbers)}", shape, dtype)

    def signal(name: str, inputs: list[int], results: list[int], **options: int) -> None:
        data = bytes(flexbuffers.Dumps(dict(sorted(options.items()))))
        m.op("CUSTOM", inputs, results, custom_code=f"Signal{name}", custom_options=data)

    def step(name: str, inputs: list[int], dtype: str = "s32") -> int:
        y = made((CHANNELS,), dtype)
        m.op(name, inputs, [y], {})
        return y

    x, windowed, flat, scaled, bits = (
        made(shape, dtype)
        for shape, dtype in (
            ((1, SAMPLES), "s16"), ((1, SAMPLES), "s16"), ((SAMPLES,), "s16"), ((SAMPLES,), "s16"), ((), "s32"),
        )
    )  # fmt: skip
    signal("Window", [x, const(_window(), "s16")], [windowed], shift=12)
    m.op("RESHAPE", [windowed, const([SAMPLES], "s32")], [flat], {})
    signal("FftAutoScale", [flat], [scaled, bits])
    spectrum, energy = made((2 * _BINS,), "s16"), made((_BINS,), "u32")
    signal("Rfft", [scaled], [spectrum], T=7, fft_length=LENGTH)
    tables, first, end = _bank()
    signal("Energy", [spectrum], [energy], start_index=first, end_index=end)
    sums, roots, y, noise, gained = (made((CHANNELS,), t) for t in ("u64", "u32", "u32", "u32", "u32"))
    signal("FilterBank", [energy, *(const(t, "s16") for t in tables)], [sums], num_channels=CHANNELS)
    signal("FilterBankSquareRoot", [sums, bits], [roots])
    signal(
        "FilterBankSpectralSubtraction", [roots], [y, noise], smoothing=409, one_minus_smoothing=15975,
        alternate_smoothing=983, alternate_one_minus_smoothing=15401, smoothing_bits=10, spectral_subtraction_bits=14,
        min_signal_remaining=819, clamping=0, num_channels=CHANNELS,
    )  # fmt: skip
    signal("PCAN", [y, noise, const(_gains(), "s16")], [gained], snr_shift=6)
    logs = made((CHANNELS,), "s16")
    signal("FilterBankLog", [gained], [logs], input_correction_bits=3, output_scale=64)
    value = step("CAST", [logs])
    for name, number in (("MUL", 256), ("ADD", 333), ("DIV", 666), ("ADD", -128), ("MINIMUM", 127), ("MAXIMUM", -128)):
        value = step(name, [value, const(number, "s32")])
    return m.build([x], [step("CAST", [value], "s8")])


def _window() -> np.ndarray:
    return np.round(_ONE * (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES)))


def _bank(low: float = 125.0, high: float = 7500.0) -> tuple[list[list[int]], int, int]:
    """(weights, unweights, first bins, first weights, widths), the first bin, and the end of the last channel."""

    def mel(frequency: float) -> float:
        return 1127 * math.log1p(frequency / 700)

    ends = np.linspace(mel(low), mel(high), CHANNELS + 2)
    places = [mel(k * RATE / LENGTH) for k in range(_BINS)]
    weights, unweights, first, start, width = [], [], [], [], []
    for c in range(CHANNELS + 1):
        bins = [k for k in range(1, _BINS) if ends[c] < places[k] <= ends[c + 1]]
        part = [(ends[c + 1] - places[k]) / (ends[c + 1] - ends[c]) for k in bins]
        filled = -(-len(bins) // 4) * 4 - len(bins)
        first.append(bins[0])
        start.append(len(weights))
        width.append(len(bins) + filled)
        weights += [*(int(_ONE * w) for w in part), *[0] * filled]
        unweights += [*(int(_ONE * (1 - w)) for w in part), *[0] * filled]
    return [weights, unweights, first, start, width], first[0], first[-1] + width[-1]


def _gains() -> list[int]:
    def gain(x: int) -> int:
        return int(min(2**21 * (x / 2**7 + 80) ** -0.95 + 0.5, 32767))

    found = [0] * 125
    found[:2] = gain(0), gain(1)
    for bits in range(2, 33):
        low = 1 << (bits - 1)
        ends = gain(low), gain(low + low // 2), gain(2 * low - (bits == 32))
        slope = 4 * (ends[1] - ends[0]) - (ends[2] - ends[0])
        found[4 * bits - 6 : 4 * bits - 3] = ends[0], slope, ends[2] - ends[0] - slope
    return found


def signals(frames: int) -> Iterator[tuple[str, np.ndarray]]:
    """Fourteen kinds of signal by name, as int16 [frames, 1, SAMPLES]."""
    for name, x in _signals(frames * SAMPLES):
        yield name, np.clip(np.round(x), -32768, 32767).astype(np.int16).reshape(frames, 1, SAMPLES)


def _signals(n: int) -> Iterator[tuple[str, np.ndarray]]:
    rng, t = np.random.default_rng(7), np.arange(n)
    jumps = (10 ** rng.uniform(0, 4.4, n // SAMPLES)).repeat(SAMPLES)
    yield "noise", rng.integers(-32768, 32768, n)
    yield "faint noise", rng.integers(-100, 101, n)
    yield "silence", np.zeros(n)
    yield "one step", rng.integers(-1, 2, n)
    yield "square to -32767", np.where(t // 37 % 2, 32767, -32767)
    yield "square to -32768", np.where(t // 8 % 2, 32767, -32768)
    yield "sine", 32767 * np.sin(2 * np.pi * 1000.3 * t / RATE)
    yield "sine between bins", 20000 * np.sin(2 * np.pi * 31.25 * 20.5 * t / RATE)
    yield "minimum", np.full(n, -32768)
    yield "maximum", np.full(n, 32767)
    yield "impulses", np.where(t % 301 == 0, 32767, 0)
    yield "signs", np.where(rng.integers(0, 2, n), 32767, -32768)
    yield "voiced", _voiced(t) + rng.normal(0, 30, n)
    yield "jumps of level", rng.normal(0, 1, n) * jumps


def _voiced(t: np.ndarray) -> np.ndarray:
    pitch = np.cumsum(120 + 40 * np.sin(4 * np.pi * t / RATE)) / RATE
    tones = sum(np.sin(2 * np.pi * pitch * k) / k for k in range(1, 20))
    return 4000 * tones * (0.5 + 0.5 * np.sin(6 * np.pi * t / RATE)) ** 2

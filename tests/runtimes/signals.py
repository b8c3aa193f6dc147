# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models of TFLM's signal library; the input sets of one are runs that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from tests.runtimes.sketch import Drawn, Shape, Sketch
from tests.support.tflite_writer import DTYPES

MODELS = 3
"""Models of each operator and type."""

RUNS = 5
_BITS = {"s16": 7, "s32": 2, "f32": 0}


def models() -> Iterator[Drawn]:
    """All of them; their labels begin with `signal`."""
    for name, (types, draw) in _OPERATORS.items():
        for dtype in types:
            for seed in range(MODELS):
                yield _Signal(f"signal {name} {dtype} {seed}", dtype).drawn_by(draw)


class _Signal:
    """A model under construction, with data for each run."""

    def __init__(self, label: str, dtype: str) -> None:
        self.s, self.dtype = Sketch(label, dtype), dtype
        self.sets: list[list[np.ndarray]] = [[] for _ in range(RUNS)]

    def drawn_by(self, draw: Callable[[_Signal], None]) -> Drawn:
        draw(self)
        return Drawn(self.s.label, self.s.writer.build(self.s.inputs, self.s.outputs), self.sets)

    def pick(self, *values: Any) -> Any:
        return self.s.rng.choice(values)

    def x(self, shape: Shape, dtype: str | None = None, most: int | None = None) -> int:
        """An input: large numbers, small ones, and zeros in turn."""
        dtype = dtype or self.dtype
        t = self.s.tensor(shape, dtype)
        self.s.inputs.append(t)
        for k, arrays in enumerate(self.sets):
            arrays.append(self._values(shape, dtype, k, most))
        return t

    def _values(self, shape: Shape, dtype: str, k: int, most: int | None) -> np.ndarray:
        kind = np.dtype(DTYPES[dtype][0])
        if kind.kind == "f":
            return (self.s.data.standard_normal(shape) * 10.0**k).astype(kind)
        high = most or np.iinfo(kind).max
        top = min(high, (high, high // 3, 1000, 9, 0)[k])
        low = 0 if kind.kind == "u" else -top
        return self.s.data.integers(low, top, shape, dtype=kind, endpoint=True)

    def op(self, name: str, inputs: list[int], results: list[tuple[Shape, str]], **options: int) -> None:
        """Append the operator, whose results become outputs of the graph."""
        made = [self.s.tensor(shape, dtype) for shape, dtype in results]
        data = bytes(flexbuffers.Dumps(dict(sorted(options.items()))))
        self.s.writer.op("CUSTOM", inputs, made, custom_code=name, custom_options=data)
        self.s.outputs += made


def _window(m: _Signal) -> None:
    n = m.pick(5, 16, 33)
    w = m.s.const(m.s.data.integers(-32768, 32768, n), "s16")
    m.op("SignalWindow", [m.x((1, n)), w], [((1, n), "s16")], shift=m.pick(12, 3, 15))


def _auto_scale(m: _Signal) -> None:
    n = m.pick(1, 7, 20)
    m.op("SignalFftAutoScale", [m.x((n,))], [((n,), "s16"), ((), "s32")])


def _lengths(m: _Signal) -> int:
    return int({"0": 16, "1": 120, "2": 128}[m.s.label[-1]])


def _rfft(m: _Signal) -> None:
    n = _lengths(m)
    m.op("SignalRfft", [m.x((n - m.pick(0, 5),))], [((n + 2,), m.dtype)], T=_BITS[m.dtype], fft_length=n)


def _irfft(m: _Signal) -> None:
    n = _lengths(m)
    m.op("SignalIrfft", [m.x((n + 2,))], [((n,), m.dtype)], T=_BITS[m.dtype], fft_length=n)


def _energy(m: _Signal) -> None:
    n = m.pick(4, 9)
    m.op("SignalEnergy", [m.x((2 * n,))], [((n,), "u32")], start_index=0, end_index=n)


def _filter_bank(m: _Signal) -> None:
    channels = m.pick(2, 5)
    widths = [m.pick(0, 1, 3, 4) for _ in range(channels + 1)]
    starts = [sum(widths[:k]) for k in range(channels + 1)]
    total = sum(widths) + 1
    tables = [m.s.data.integers(0, 4096, total), m.s.data.integers(0, 4096, total), starts, starts, widths]
    operands = [m.x((total,)), *(m.s.const(t, "s16") for t in tables)]
    m.op("SignalFilterBank", operands, [((channels,), "u64")], num_channels=channels)


def _root(m: _Signal) -> None:
    operands = [m.x((12,)), m.x((), "s32", 15)]
    for arrays in m.sets:
        arrays[1] = np.abs(arrays[1])
    m.op("SignalFilterBankSquareRoot", operands, [((12,), "u32")])


def _subtraction(m: _Signal) -> None:
    n, smoothing, other = m.pick(3, 8), m.pick(409, 7000), m.pick(983, 20)
    m.op(
        "SignalFilterBankSpectralSubtraction", [m.x((n,), None, 1 << m.pick(16, 24))], [((n,), "u32"), ((n,), "u32")],
        smoothing=smoothing, one_minus_smoothing=16384 - smoothing, alternate_smoothing=other,
        alternate_one_minus_smoothing=16384 - other, smoothing_bits=m.pick(3, 10), spectral_subtraction_bits=14,
        min_signal_remaining=m.pick(819, 9000), clamping=m.pick(0, 1), num_channels=n,
    )  # fmt: skip


def _pcan(m: _Signal) -> None:
    gains = m.s.const(m.s.data.integers(-32768, 32768, 125), "s16")
    m.op("SignalPCAN", [m.x((9,)), m.x((9,)), gains], [((9,), "u32")], snr_shift=m.pick(6, 12))


def _log(m: _Signal) -> None:
    n = m.pick(4, 40)
    m.op(
        "SignalFilterBankLog", [m.x((n,))], [((n,), "s16")],
        input_correction_bits=m.pick(0, 3), output_scale=m.pick(64, 1600),
    )  # fmt: skip


def _delay(m: _Signal) -> None:
    n = m.pick(3, 8)
    m.op("SignalDelay", [m.x((2, n))], [((2, n), "s16")], delay_length=m.pick(0, 2, 8, 11))


def _framer(m: _Signal) -> None:
    step, frames = m.pick(2, 4), m.pick(1, 3)
    size = step * m.pick(1, 2, 3) + m.pick(0, 1)
    made = [((1, frames, size), "s16"), ((), "bool")]
    m.op("SignalFramer", [m.x((1, frames * step))], made, frame_size=size, frame_step=step, prefill=1)


def _stacker(m: _Signal) -> None:
    channels, left, right = m.pick(1, 4), m.pick(0, 2), m.pick(0, 1)
    options = {
        "stacker_left_context": left,
        "stacker_right_context": right,
        "stacker_step": m.pick(1, left + right + 1),
    }
    made = [((channels * (left + right + 1),), "s16"), ((), "bool")]
    m.op("SignalStacker", [m.x((channels,))], made, num_channels=channels, **options)


def _overlap_add(m: _Signal) -> None:
    size, frames = m.pick(4, 7), m.pick(1, 3)
    step = m.pick(size, size // 2, 1)
    m.op("SignalOverlapAdd", [m.x((frames, size))], [((frames * step,), m.dtype)], T=_BITS[m.dtype], frame_step=step)


_OPERATORS: dict[str, tuple[tuple[str, ...], Callable[[_Signal], None]]] = {
    "SignalWindow": (("s16",), _window),
    "SignalFftAutoScale": (("s16",), _auto_scale),
    "SignalRfft": (("s16", "s32", "f32"), _rfft),
    "SignalIrfft": (("s16", "s32", "f32"), _irfft),
    "SignalEnergy": (("s16",), _energy),
    "SignalFilterBank": (("u32",), _filter_bank),
    "SignalFilterBankSquareRoot": (("u64",), _root),
    "SignalFilterBankSpectralSubtraction": (("u32",), _subtraction),
    "SignalPCAN": (("u32",), _pcan),
    "SignalFilterBankLog": (("u32",), _log),
    "SignalDelay": (("s16",), _delay),
    "SignalFramer": (("s16",), _framer),
    "SignalStacker": (("s16",), _stacker),
    "SignalOverlapAdd": (("s16", "f32"), _overlap_add),
}

# SPDX-License-Identifier: Apache-2.0
"""Writes front ends of TFLM's signal operators, for the passes."""

from __future__ import annotations

from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from tests.support.tflite_writer import ModelWriter


class Front:
    """A model of signal operators, on samples of shape [1, n]."""

    def __init__(self, length: int, samples: int) -> None:
        self.length, self.samples, self.writer = length, samples, ModelWriter()
        self.x = self.tensor((1, samples), "s16")

    def tensor(self, shape: tuple[int, ...], dtype: str, data: Any = None) -> int:
        return self.writer.tensor("t", shape, dtype, data=data)

    def op(self, name: str, inputs: list[int], *results: tuple[tuple[int, ...], str], **options: int) -> list[int]:
        made = [self.tensor(*result) for result in results]
        data = bytes(flexbuffers.Dumps(dict(sorted(options.items()))))
        self.writer.op("CUSTOM", inputs, made, custom_code=name, custom_options=data)
        return made

    def window(self, x: int, shift: int = 12) -> int:
        w = np.hanning(self.samples) * (1 << shift)
        factors = self.tensor((self.samples,), "s16", w.round().clip(-32768, 32767).astype(np.int16))
        return self.op("SignalWindow", [x, factors], ((1, self.samples), "s16"), shift=shift)[0]

    def flat(self, x: int) -> int:
        (shape,) = (self.tensor((1,), "s32", np.array([self.samples], np.int32)),)
        y = self.tensor((self.samples,), "s16")
        self.writer.op("RESHAPE", [x, shape], [y], {})
        return y

    def scaled(self, x: int) -> list[int]:
        return self.op("SignalFftAutoScale", [x], ((self.samples,), "s16"), ((), "s32"))

    def spectrum(self, x: int) -> int:
        return self.op("SignalRfft", [x], ((self.length + 2,), "s16"), T=7, fft_length=self.length)[0]

    def energies(self, x: int, start: int, end: int) -> int:
        shape = (self.length // 2 + 1,)
        return self.op("SignalEnergy", [x], (shape, "u32"), start_index=start, end_index=end)[0]

    def build(self, *outputs: int) -> bytes:
        return self.writer.build([self.x], list(outputs))

    def moved(self, name: str, inputs: list[int], shape: tuple[int, ...], dtype: str, **options: object) -> int:
        """An operator of TensorFlow Lite itself."""
        y = self.tensor(shape, dtype)
        self.writer.op(name, inputs, [y], options)
        return y

    def rejoined(self, x: int, first: int, last: int, filled: int = 0) -> int:
        """Bins from first to last of u32 energies, between constants, cut and joined as int32."""
        bins = self.length // 2 + 1
        signed = self.moved("CAST", [x], (bins,), "s32")
        ends = [self.tensor((1,), "s32", np.array([v], np.int32)) for v in (first, last - first)]
        cut = self.moved("SLICE", [signed, *ends], (last - first,), "s32")
        sides = [self.tensor((n,), "s32", np.full(n, filled, np.int32)) for n in (first, bins - last)]
        joined = self.moved("CONCATENATION", [sides[0], cut, sides[1]], (bins,), "s32", axis=0)
        return self.moved("CAST", [joined], (bins,), "u32")

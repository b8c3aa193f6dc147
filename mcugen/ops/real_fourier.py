"""SignalRfft and SignalIrfft: the Fourier transform of real numbers, and its inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _fourier, _signal, _tflite
from mcugen.oracle import fourier
from mcugen.system import flexbuffer

_NUMBERS = {"s16": 7, "s32": 2, "f32": 0}
"""Element type -> its number in the schema of .tflite."""
_MOST = 1 << 15
_CACHED = 1 << 18
"""Numbers that the reference transforms at once, so that they stay in a cache."""


def _build(inverse: bool) -> Callable[[Source], Imported]:
    def from_tflite(source: Source) -> Imported:
        options = flexbuffer.options(source.attributes["custom_options"], T=-1, fft_length=0)
        x = source.inputs[0] if source.inputs else None
        if x is None or options["T"] != _NUMBERS.get(x.dtype, -2):
            raise UnsupportedError(f"the option T={options['T']} must be the type of the data {x}")
        return Imported(RealFourier(int(options["fft_length"]), inverse))

    return from_tflite


def params(call: Call) -> Params:
    op, x = call.op, call.input(0)
    assert isinstance(op, RealFourier)
    n, sign = op.length // 2, 1.0 if op.inverse else -1.0
    factors = _fourier.stages(n)
    return {
        "length": n,
        "given": x.shape[-1],
        "count": x.size // x.shape[-1],
        "stages": len(factors),
        "inverse": int(op.inverse),
        "radix": np.array(factors, np.uint8),
        "place": _fourier.places(n, factors).astype(np.uint16),
        "twiddles": _fourier.turns([sign * (2 * math.pi * i / n) for i in range(n)], x.dtype),
        "halves": _fourier.turns([sign * (math.pi * ((i + 1) / n + 0.5)) for i in range(n // 2)], x.dtype),
    }


def work(call: Call) -> dict[str, float]:
    """The cost terms: butterflies of each radix."""
    n, count = call.op.length // 2, call.input(0).size // call.input(0).shape[-1]
    factors = _fourier.stages(n)
    return {name: count * factors.count(radix) * (n // radix) for radix, name in _fourier.GROUPS.items()}


def is_forward(call: Call) -> bool:
    "the transform is not inverse"
    return not call.op.inverse


STAGED = (_signal.data_is("s16"), is_forward)
"""Rules of the kernels whose stages are made for the sizes of a transform."""


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    name = "SignalIrfft" if call.op.inverse else "SignalRfft"
    options = {"T": _NUMBERS[call.input(0).dtype], "fft_length": call.op.length}
    return _tflite.custom(name, lambda _: options).write(call, sink, inputs)


@dataclass(frozen=True)
class RealFourier(Op):
    """The spectrum of `length` real numbers, or with `inverse` the real numbers of a spectrum.

    x: s16, s32 or f32 [..., n], n <= length, padded with zeros   y: as x, [..., length + 2], real and imaginary parts
    With `inverse`, x is [..., length + 2] and y [..., length].
    Integers are scaled down in each stage, rounded as kissfft does, and wrap. Each operation of floats rounds to f32.
    Source: TFLM signal library, rfft.cc, irfft.cc; kiss_fftr.c.
    """

    length: int
    inverse: bool = False

    tflm_types = dtypes("s16 s32 f32")
    litert_types = frozenset()
    exact_floats = True
    imports = (
        Import("tflite", "CUSTOM:SignalRfft", _build(inverse=False)),
        Import("tflite", "CUSTOM:SignalIrfft", _build(inverse=True)),
    )
    writes = (Write("tflite", to_tflite),)
    kernels = (
        Kernel(
            "mg_real_fourier_s16__stages",
            Whole(),
            STAGED,
            _fourier.params,
            text=Text(_fourier.variant, struct="mg_fourier_stages"),
            cost=_fourier.COST,
            short="fourier_stages",
        ),
        *(
            Kernel(
                f"mg_real_fourier_{dtype}",
                Whole(),
                (_signal.data_is(dtype),),
                params,
                cost=Cost(work, tuple(_fourier.GROUPS.values())),
                short=f"fourier_{dtype}",
            )
            for dtype in _fourier.BITS
        ),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype not in _fourier.BITS or not x.shape:
            raise UnsupportedError(f"a Fourier transform of {x}: int16, int32 or float32 data are needed")
        if not 4 <= self.length <= _MOST or self.length % 2:
            raise UnsupportedError(f"fft_length={self.length} is not supported: it must be even, 4 to {_MOST}")
        _fourier.stages(self.length // 2)
        given = x.shape[-1]
        if given != self.length + 2 if self.inverse else not 1 <= given <= self.length:
            wanted = f"{self.length + 2}" if self.inverse else f"1 to {self.length}"
            raise ShapeError(f"the last axis of {list(x.shape)} must be {wanted} for fft_length={self.length}")
        made = self.length if self.inverse else self.length + 2
        return (TensorType((*x.shape[:-1], made), x.dtype),)

    def transform(self, call: Call) -> _fourier.RealTransform:
        """The sizes of the transform of a call."""
        x = call.input(0)
        return _fourier.RealTransform(self.length, x.shape[-1], x.size // x.shape[-1])

    def reference(self, x: np.ndarray) -> np.ndarray:
        rows = x.reshape(-1, x.shape[-1]).astype(np.float32)
        each = max(1, _CACHED // self.length)
        parts = [self._run(rows[k : k + each], 0) for k in range(0, len(rows), each)]
        return np.concatenate(parts).reshape(*x.shape[:-1], -1)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return self._run(x.astype(np.int64), _fourier.BITS[call.input(0).dtype])

    def _run(self, x: np.ndarray, bits: int) -> np.ndarray:
        if self.inverse:
            return fourier.inverse(x, bits)
        return fourier.forward(np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, self.length - x.shape[-1])]), bits)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = ((8, (8,)), (24, (2, 20)), (60, (1, 60)), (128, (101,)), (4, (3,)))
        made = []
        for k, (length, shape) in enumerate(cases):
            for dtype in _fourier.BITS:
                x = TensorType(shape, dtype)
                back = TensorType((*shape[:-1], length + 2), dtype)
                made.append(Example(cls(length), (x,), cls(length).infer(x), {}, k))
                made.append(Example(cls(length, True), (back,), cls(length, True).infer(back), {}, k))
        return made

"""SignalFilterBankSpectralSubtraction: channels minus a noise estimate, which is a running average of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _links, _signal, _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.system import flexbuffer

_END = 1 << 32
_MOST_SHIFT = 16
"""Largest shift of products that are computed from halves."""


def from_tflite(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of SpectralSubtraction. The noise estimate is a state with the initial value 0."""
    options = flexbuffer.options(
        source.attributes["custom_options"],
        smoothing=0,
        one_minus_smoothing=0,
        alternate_smoothing=0,
        alternate_one_minus_smoothing=0,
        smoothing_bits=0,
        spectral_subtraction_bits=0,
        min_signal_remaining=0,
        clamping=0,
        num_channels=0,
    )
    given = {name: int(value) for name, value in options.items()}
    x = e.inputs[0] if e.inputs else None
    if x is None or e.type(x).size != given["num_channels"]:
        raise ShapeError(f"num_channels={given['num_channels']} does not fit the data {x and e.type(x)}")
    e.refuse("litert", "no operator of the signal library")
    op = SpectralSubtraction(
        (given["smoothing"], given["alternate_smoothing"]),
        (given["one_minus_smoothing"], given["alternate_one_minus_smoothing"]),
        given["smoothing_bits"],
        given["spectral_subtraction_bits"],
        given["min_signal_remaining"],
        bool(given["clamping"]),
    )
    state = e.own("noise estimate")
    y, noise = e.nodes(op, x, e.read(state, np.zeros(e.type(x).shape, np.uint32)))
    e.write(state, noise)
    return [y, noise]


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """SignalFilterBankSpectralSubtraction, which keeps the noise estimate as a state and also returns it."""
    op = call.op
    options = {
        "smoothing": op.smoothing[0],
        "one_minus_smoothing": op.rest[0],
        "alternate_smoothing": op.smoothing[1],
        "alternate_one_minus_smoothing": op.rest[1],
        "smoothing_bits": op.up_bits,
        "spectral_subtraction_bits": op.bits,
        "min_signal_remaining": op.remaining,
        "clamping": int(op.clamps),
        "num_channels": call.input(0).size,
    }
    name = "SignalFilterBankSpectralSubtraction"
    y, noise = _tflite.customized(call, sink, name, inputs[:1], options, call.outputs)
    sink.keep(str(inputs[1]), noise)
    return [y, noise]


@dataclass(frozen=True)
class SpectralSubtraction(Op):
    """n' = ((x << up) * smoothing + n * rest) >> bits, and y = max(((x << up) - n') >> up, (x * remaining) >> bits).

    x, y: u32 [channels]   n: u32 [channels], the noise estimate   n': the next estimate, limited to x << up if `clamps`
    smoothing, rest: (factor of even channels, factor of odd channels). In y, n' is limited to x << up.
    Source: TFLM signal library, filter_bank_spectral_subtraction.cc.
    """

    smoothing: tuple[int, int]
    rest: tuple[int, int]
    up_bits: int
    bits: int
    remaining: int
    clamps: bool = False

    tflm_types = dtypes("u32")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalFilterBankSpectralSubtraction", expand=from_tflite),)
    writes = (_tflite.to_target(to_tflite),)
    kernels = (_links.kernel("mg_spectral_subtraction"),)

    def infer(self, x: TensorType | None, n: TensorType | None) -> tuple[TensorType, ...]:
        x, n = _signal.vector("channels", x, "u32"), _signal.vector("noise estimate", n, "u32")
        if n.size != x.size:
            raise ShapeError(f"a noise estimate of {n.size} channels does not fit {x.size} channels")
        factors = (*self.smoothing, *self.rest, self.remaining)
        if not all(0 <= v < _END // 2 for v in factors) or not (0 <= self.up_bits < 32 and 0 <= self.bits < 64):
            raise UnsupportedError(
                f"factors {factors} must be 0 to {_END // 2 - 1}, shifts {self.up_bits} and {self.bits} below 32 and 64"
            )
        return TensorType(x.shape, "u32"), TensorType(x.shape, "u32")

    def reference_q(self, call: Call, x: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, ...]:
        pairs = [self._one(int(a), int(b), k % 2) for k, (a, b) in enumerate(zip(x, n, strict=True))]
        y, noise = (np.array(v, np.int64) for v in zip(*pairs, strict=True))
        return y, noise

    def _one(self, x: int, n: int, odd: int) -> tuple[int, int]:
        up = (x << self.up_bits) % _END
        total = (up * self.smoothing[odd] + n * self.rest[odd]) % 2**64
        noise = (total >> self.bits) % _END
        taken = min(noise, up)
        least = ((x * self.remaining) >> self.bits) % _END
        return max((up - taken) >> self.up_bits, least), taken if self.clamps else noise

    @classmethod
    def examples(cls) -> Sequence[Example]:
        ops = (cls((409, 983), (15975, 15401), 10, 14, 819), cls((700, 3), (9, 16000), 3, 12, 2**20, True))
        return [
            Example(op, (x, x), op.infer(x, x), {}, k)
            for k, op in enumerate(ops)
            for x in [TensorType((9 + k,), "u32")]
        ]


@_links.elements.register(SpectralSubtraction)
def _(op: SpectralSubtraction, call: Call) -> tuple[Element, ...]:
    """The C expressions of the channel and of the next noise estimate. Both contain the estimate; compilers compute it
    once.
    """
    (even, noise), (odd, odd_noise) = (_texts(op, k) for k in (0, 1))
    return Element(even, headers=("bits.h",), odd=odd), Element(noise, headers=("bits.h",), odd=odd_noise)


def _texts(op: SpectralSubtraction, odd: int) -> tuple[str, str]:
    """The expressions for a channel with an even or odd index."""
    up, smoothing, rest = f"(a << {op.up_bits}u)", op.smoothing[odd], op.rest[odd]
    if smoothing + rest <= _END >> 16 and op.bits <= _MOST_SHIFT:
        noise = f"mg_scaled_sum({up}, {smoothing}u, b, {rest}u, {op.bits}u)"
    else:
        noise = f"(uint32_t)(((uint64_t){up} * {smoothing}u + (uint64_t)b * {rest}u) >> {op.bits}u)"
    if op.remaining < _END >> 16:
        least = f"mg_scaled_part(a, {op.remaining}u, {op.bits}u)"
    else:
        least = f"(uint32_t)(((uint64_t)a * {op.remaining}u) >> {op.bits}u)"
    left = f"mg_excess({up}, {noise})"
    return f"mg_larger({left} >> {op.up_bits}u, {least})", f"mg_smaller({noise}, {up})" if op.clamps else noise

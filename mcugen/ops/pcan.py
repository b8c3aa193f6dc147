"""SignalPCAN: per-channel gain, derived from a noise estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _links, _signal, _tflite
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number

_TABLE = 125
"""Length of the gain table, enough for noise estimates of 32 bits."""
_MOST = 63
_LINEAR = 8192


def from_tflite(source: Source) -> Imported:
    return Imported(Pcan(int(flexbuffer.options(source.attributes["custom_options"], snr_shift=0)["snr_shift"])))


def parabolas(gains: np.ndarray) -> np.ndarray:
    """The coefficients of a gain parabola for 0 to 32 leading zeros of the noise estimate, s32 [33 * 3].

    channel_gain.h describes their fixed-point formats.
    """
    table = gains.reshape(-1).astype(np.int64)
    found = np.zeros((33, 3), np.int64)
    for bits in range(2, 33):
        found[32 - bits] = table[4 * bits - 6 : 4 * bits - 3]
    found[32:30:-1, 0] = table[:2]
    return (found * (1 << 15, 1 << 5, 1) + (1 << 14, 0, 0)).astype(np.int32).reshape(-1)


def _options(call: Call) -> dict[str, Number]:
    return {"snr_shift": call.op.shift}


@dataclass(frozen=True)
class Pcan(Op):
    """y = shrink((x * gain(n)) >> shift), shrink(s) = s^2 >> 20 for s < 8192, else (s >> 6) - 64.

    x, n, y: u32 [channels]; n: noise estimates
    gains: s16, a parabola (base, slope, bend) for each bit length of n; every fourth entry is unused
    Source: TFLM signal library, pcan_argc_fixed.cc.
    """

    shift: int

    tflm_types = dtypes("u32")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalPCAN", from_tflite),)
    writes = (_tflite.custom("SignalPCAN", _options),)
    kernels = (_links.kernel("mg_pcan"),)

    def infer(self, x: TensorType | None, n: TensorType | None, gains: TensorType | None) -> tuple[TensorType, ...]:
        x, n = _signal.vector("channels", x, "u32"), _signal.vector("noise estimate", n, "u32")
        gains = _signal.vector("gains", gains, "s16")
        if n.size != x.size or gains.size < _TABLE:
            raise ShapeError(f"{x.size} channels need as many noise estimates, not {n.size}, and {_TABLE} gains")
        if not 0 <= self.shift <= _MOST:
            raise UnsupportedError(f"snr_shift={self.shift} must be between 0 and {_MOST}")
        return (TensorType(x.shape, "u32"),)

    def reference_q(self, call: Call, x: np.ndarray, n: np.ndarray, gains: np.ndarray) -> np.ndarray:
        table = gains.reshape(-1).astype(int).tolist()
        return np.array([self._one(int(a), int(b), table) for a, b in zip(x, n, strict=True)], np.int64)

    def _one(self, x: int, n: int, table: Sequence[int]) -> int:
        snr = ((x * (_gain(n, table) % 2**32)) % 2**64 >> self.shift) % 2**32
        return (snr * snr) >> 20 if snr < _LINEAR else (snr >> 6) - 64

    @classmethod
    def examples(cls) -> Sequence[Example]:
        gains = TensorType((_TABLE,), "s16")
        return [
            Example(op, (x, x, gains), op.infer(x, x, gains), {2: None}, k)
            for k, shift in enumerate((6, 13))
            for op, x in [(cls(shift), TensorType((11 + k,), "u32"))]
        ]


def _gain(n: int, table: Sequence[int]) -> int:
    """The gain for a noise estimate n. Products wrap at 32 bits, the result wraps at 16."""
    if n <= 2:
        return table[n]
    bits = n.bit_length()
    base, slope, bend = table[4 * bits - 6 : 4 * bits - 3]
    place = (n << (11 - bits) if bits < 11 else n >> (bits - 11)) & 0x3FF
    found = _wrapped((((bend * place) >> 5) + slope * 32) * place, 32)
    return _wrapped(((found + (1 << 14)) >> 15) + base, 16)


def _wrapped(x: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (x + half) % (2 * half) - half


@_links.elements.register(Pcan)
def _(op: Pcan, call: Call) -> tuple[Element, ...]:
    return (
        Element(
            f"mg_with_gain(a, mg_channel_gain(gains, b), {op.shift}u)",
            {"gains": "const int32_t *"},
            lambda call: {"gains": parabolas(call.constant(2))},
            headers=("channel_gain.h",),
            tables=(2,),
        ),
    )

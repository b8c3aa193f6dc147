"""SignalFilterBankLog: the natural logarithm of each channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op
from mcugen.ir.ranges import Range, filled
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _links, _signal, _tflite
from mcugen.system import flexbuffer
from mcugen.system.flexbuffer import Number

_SEGMENTS = 128
_ONE = 1 << 16
_LN2 = 45426
_END = 1 << 32
_MOST = 32767
_WRAPS = _END // (32 * _LN2 + 1)
"""The least output scale for which a logarithm times the scale may exceed 32 bits."""


def from_tflite(source: Source) -> Imported:
    options = flexbuffer.options(source.attributes["custom_options"], input_correction_bits=0, output_scale=0)
    return Imported(FilterBankLog(int(options["input_correction_bits"]), int(options["output_scale"])))


def bends() -> np.ndarray:
    """The table log2(1 + k / 128) - k / 128 for k = 0 to 128, in units of 1 / 65536."""
    return np.array([round((math.log2(1 + k / _SEGMENTS) - k / _SEGMENTS) * _ONE) for k in range(_SEGMENTS + 1)])


def _options(call: Call) -> dict[str, Number]:
    return {"input_correction_bits": call.op.bits, "output_scale": call.op.scale}


@dataclass(frozen=True)
class FilterBankLog(Op):
    """y = min(ln(x << bits) * scale, 32767); 0 if x << bits is 0 or 1.

    x: u32 [channels]   y: s16 [channels]
    log2 is interpolated linearly in 128 segments, with 16 fractional bits.
    Source: TFLM signal library, filter_bank_log.cc, log.cc.
    """

    bits: int
    scale: int

    tflm_types = dtypes("u32")
    litert_types = frozenset()
    imports = (Import("tflite", "CUSTOM:SignalFilterBankLog", from_tflite),)
    writes = (_tflite.custom("SignalFilterBankLog", _options),)
    kernels = (_links.kernel("mg_filter_bank_log", short="bank_log"),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _signal.vector("channels", x, "u32")
        if not 0 <= self.bits < 32 or not 0 <= self.scale < 2**31:
            raise UnsupportedError(
                f"input_correction_bits={self.bits} must be 0 to 31, output_scale={self.scale} 0 to 2^31 - 1"
            )
        return (TensorType(x.shape, "s16"),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return np.array([self._one((int(v) << self.bits) % 2**32) for v in x], np.int64)

    def _one(self, x: int) -> int:
        if x <= 1:
            return 0
        whole = x.bit_length() - 1
        part = (x - (1 << whole)) * _ONE >> whole
        segment, place = divmod(part, _ONE // _SEGMENTS)
        low, high = (round((math.log2(1 + k / _SEGMENTS) - k / _SEGMENTS) * _ONE) for k in (segment, segment + 1))
        log2 = whole * _ONE + part + low + ((high - low) * place >> 16)
        natural = (_LN2 * log2 + _ONE // 2) >> 16
        return min(((self.scale * natural + _ONE // 2) % _END) >> 16, _MOST)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """From 0 to the logarithm of 2^32, if no product wraps."""
        largest = (self.scale * 32 * _LN2 + _ONE // 2) // _ONE if self.scale < _WRAPS else _MOST
        return (filled(call.output.size, 0, min(largest, _MOST)),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            Example(op, (x,), op.infer(x), {}, k)
            for k, (bits, scale) in enumerate(((3, 64), (0, 40000), (7, 1600)))
            for op, x in [(cls(bits, scale), TensorType((40,), "u32"))]
        ]


@_links.elements.register(FilterBankLog)
def _(op: FilterBankLog, call: Call) -> tuple[Element, ...]:
    log = f"mg_scaled_log({arguments(op)})"
    clamped = f"mg_smaller({log}, {_MOST}u)" if is_clamped(op, call) else log
    fields = {"bends": "const uint16_t *"}
    headers = ("scaled_log.h",)
    return (Element(f"(int32_t){clamped}", fields, lambda call: {"bends": bends().astype(np.uint16)}, headers=headers),)


def arguments(op: FilterBankLog) -> str:
    """The arguments of mg_scaled_log in C: the table `bends`, the operand `a`, the scale and its shift."""
    x = f"a << {op.bits}u" if op.bits else "a"
    zeros = _zeros(op.scale) if op.scale < _WRAPS else 0
    return f"bends, {x}, {op.scale >> zeros}u, {16 - zeros}u"


def is_clamped(op: FilterBankLog, call: Call) -> bool:
    """Whether results must be limited to the range of int16."""
    (found,) = op.bounds(call)
    return found is None or found.hull[1] >= _MOST


def _zeros(scale: int) -> int:
    """The number of zero bits below the lowest bit that is set."""
    return (scale & -scale).bit_length() - 1 if scale else 0

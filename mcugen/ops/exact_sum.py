"""Sums of three or more int8 tensors, as real numbers rounded once. Only imports make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, lcm

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import OPERANDS, TERMS, Element, Walk, loop
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.ir.op import Example
from mcugen.ir.ranges import Range, filled
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _rounding
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import once

_TIE_BITS = 11
"""A sum whose fraction is below 2**11 counts as a tie: errors of rounded factors stay below 2**10."""
_BITS = 50
_MOST_BITS = 54


def _scales(call: Call) -> tuple[list[Fraction], Fraction]:
    return [_rounding.scale_of(t.scale) for t in call.inputs if t is not None], _rounding.scale_of(call.output.scale)


def _shift(call: Call) -> int:
    """Fractional bits of the 64-bit sums, few enough that result and zero point fit above them."""
    scales, y = _scales(call)
    return min(_BITS - frexp(float(max(scales) / y))[1], _MOST_BITS)


def tells_halves(call: Call) -> bool:
    "all sums that are not exact ties differ from ties by more than the rounding errors of the factors"
    scales, y = _scales(call)
    unit = Fraction(1, lcm(y.denominator, *(s.denominator for s in scales)))
    shift = _shift(call)
    return shift > _TIE_BITS and unit * (1 << shift) > y * (1 << (_TIE_BITS + 2))


def are_bytes(call: Call) -> bool:
    "operands and result are int8 of one shape, and no operand is constant"
    computed = all(data is None for data in call.constants)
    return computed and all(t is not None and t.dtype == "s8" and t.shape == call.output.shape for t in call.inputs)


def _element(call: Call) -> Element:
    terms = "".join(f"pair.k[{k}] * {name} + " for k, name in enumerate(OPERANDS[: len(call.inputs)]))
    scales, y = _scales(call)
    total = "mg_pair_total_wide" if 256 * sum(scales) >= y * (2**31 - 256) else "mg_pair_total"
    text = f"{total}(&pair, {terms}pair.k[{len(call.inputs)}])"
    return Element(text, {"pair": "mg_pair"}, _params, headers=("pair.h",))


def _params(call: Call) -> Params:
    (scales, y), shift = _scales(call), _shift(call)
    factors = [round(s / y * (1 << shift)) for s in scales]
    addend = (1 << (shift - 1)) + (1 << (_TIE_BITS - 1)) + (call.output.zero_point << shift)
    addend -= sum(f * call.input(k).zero_point for k, f in enumerate(factors))
    low, high = call.output.limits
    return {
        "pair.k": np.array([*factors, addend], np.int64),
        "pair.zero_point": call.output.zero_point,
        "pair.out_min": low,
        "pair.out_max": high,
        "pair.shift": shift,
        "pair.tie_bits": _TIE_BITS,
    }


@dataclass(frozen=True)
class ExactSum(Pointwise):
    """y = the sum of all operands as real numbers, rounded once, halves to even.

    x: three to eight tensors s8 or u8 of one shape, each with its own scale   y: as x
    Source: none; the definition of QuantizeLinear in ONNX.
    """

    kernels = (
        Kernel(
            "mg_exact_sum_s8",
            Run(lambda call: call.output.size),
            (are_bytes, tells_halves),
            lambda call: _element(call).constants(call),
            in_place=tuple(range(len(OPERANDS))),
            text=Text(generate=lambda call: loop(_element(call), call, Walk.RUN, ["tensor"] * len(call.inputs))),
            cost=Cost(lambda call: _element(call).work(call), TERMS),
        ),
    )

    def infer(self, *x: TensorType | None) -> tuple[TensorType, ...]:
        found = [t for t in x if t is not None]
        if not 3 <= len(found) <= len(OPERANDS) or len(found) != len(x):
            raise UnsupportedError(f"sums of {len(x)} tensors are not supported; 3 to {len(OPERANDS)} are")
        if len({(t.shape, t.dtype) for t in found}) > 1 or found[0].dtype not in ("s8", "u8"):
            raise ShapeError(f"operands {', '.join(map(str, found))} must have one shape, and be int8 or uint8")
        if any(t.quant is None or t.quant.per_channel for t in found):
            raise QuantizationError(f"each of {', '.join(map(str, found))} needs one scale and one zero point")
        return (TensorType(found[0].shape, found[0].dtype),)

    def reference_q(self, call: Call, *x: np.ndarray) -> np.ndarray:
        return once.summed_up(call, x)

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        return (filled(call.output.shape[-1] if call.output.shape else 1, *call.output.limits),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((0.05, 0.04, 0.08), 0.1), ((0.25, 0.5, 0.125, 0.5), 0.5), ((0.3, 0.001, 0.2, 0.07, 0.02), 0.4))
        found = []
        for seed, (scales, y) in enumerate(cases):
            x = [TensorType((1, 3, 5, 7), "s8", QuantParams((s,), (9 * k - 20,))) for k, s in enumerate(scales)]
            out = TensorType((1, 3, 5, 7), "s8", QuantParams((y,), (seed - 3,)))
            found.append(Example(cls(), tuple(x), (out,), {}, seed))
        return found

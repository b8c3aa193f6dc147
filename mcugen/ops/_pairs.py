"""Sums and products of two int8 tensors, rounded once from the exact real number.

Integer formulas for them are proved for all 65,536 pairs of bytes. The roundings are those of `_rounding`. The
rounding "single" computes in float32 with fused multiply-adds, like QLinearAdd of ONNX Runtime on x86.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm

import numpy as np

from mcugen.ir import requantize_proof
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.element import Element
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.requantize_proof import Stairs
from mcugen.ops import _rounding

BYTES = np.arange(-128, 128, dtype=np.int64)
_TIE_BITS = 11
_BITS = 50
_FAR = 2**40
_LARGEST_PRODUCT = 255 * 255


@dataclass(frozen=True)
class Stated:
    """The numbers that determine the result of a + sign * b.

    how: the operator's rounding, such as "even"; "single": computed in float32. scales, zeros: of a, b and the result;
    scales are exact float32 values. bounds: of the activation. flip: 128 if the model's bytes were uint8, else 0;
    float32 arithmetic is done on the uint8 values.
    """

    how: str
    sign: int
    scales: tuple[Fraction, Fraction, Fraction]
    zeros: tuple[int, int, int]
    bounds: tuple[int, int]
    flip: int = 0

    @property
    def ratios(self) -> tuple[float, float]:
        """The scales of a and b (times sign), divided by the scale of the result."""
        a, b, y = self.scales
        return float(a / y), self.sign * float(b / y)

    def result(self) -> np.ndarray:
        """The stored result after the clamp, [256, 256], indexed by a + 128 and b + 128."""
        found = self._single() if self.how == "single" else self._exact()
        return np.asarray(np.clip(found, *self.bounds))

    def _exact(self) -> np.ndarray:
        a, b, y = self.scales
        ratios = (a / y, self.sign * b / y)
        common = lcm(*(r.denominator for r in ratios))
        first, second = (
            ((BYTES - z) * np.array(int(2 * r * common), object)) for z, r in zip(self.zeros, ratios, strict=False)
        )
        total = first[:, None] + second[None, :] + common
        whole = total // (2 * common)
        tie = (total - whole * 2 * common == 0) & (whole % 2 != 0)
        found = np.clip(np.where(tie, whole - 1, whole), -_FAR, _FAR)
        return np.asarray(found.astype(np.int64)) + self.zeros[2]

    def _single(self) -> np.ndarray:
        """The results of float32 arithmetic: float32(fixed part + b's factor * b), then float32(that + a's factor * a).

        Each fused multiply-add is exact in float64 before its rounding. Source: onnxruntime mlas, qladd (AVX2).
        """
        first, second, fixed = self.fused()
        raw = BYTES + self.flip
        with np.errstate(over="ignore"):
            parts = (raw * np.float64(second) + np.float64(fixed)).astype(np.float32).astype(np.float64)
            total = (raw[:, None] * np.float64(first) + parts[None, :]).astype(np.float32)
        return np.asarray(np.rint(np.clip(total, -_FAR, _FAR)).astype(np.int64)) - self.flip

    def fused(self) -> tuple[np.float32, np.float32, np.float32]:
        """(factor of a, factor of b, fixed part), as QLinearAdd derives them."""
        a, b, y = (np.float32(float(s)) for s in self.scales)
        first, second = np.float32(a / y), np.float32(np.float32(self.sign) * np.float32(b / y))
        zeros = [np.float32(z + self.flip) for z in self.zeros]
        taken = np.float32(np.float64(first) * zeros[0] + np.float64(np.float32(second * zeros[1])))
        return first, second, np.float32(zeros[2] - taken)


def stated(call: Call, sign: int) -> Stated:
    """The numbers that determine the result of a call's sum, or difference if sign is -1."""
    types = (call.input(0), call.input(1), call.output)
    a, b, y = (_rounding.scale_of(t.scale) for t in types)
    zeros = (types[0].zero_point, types[1].zero_point, types[2].zero_point)
    bounds = activation_range(call.op.activation, call.output)
    return Stated(_rounding.rounding_of(call), sign, (a, b, y), zeros, bounds, _rounding.flip_of(call))


@dataclass(frozen=True)
class Wide:
    """y = (a * stored a + b * stored b + addend) >> shift in 64 bits, halves to even.

    leaves: whether y exceeds 32 bits for some pair.
    """

    a: int
    b: int
    addend: int
    shift: int
    leaves: bool


@cache
def wide(job: Stated) -> Wide | None:
    """The 64-bit form of a sum; None if it gives another result for some pair."""
    want = job.result()
    ratios = [Fraction(r) for r in job.ratios]
    if job.how != "single":
        a, b, y = job.scales
        ratios = [a / y, job.sign * b / y]
    bits = int(np.frexp(max(abs(float(r)) for r in ratios))[1])
    shift = min(max(_BITS - bits, _TIE_BITS + 1), _BITS)
    steeper = max(bits + shift - _BITS, 0)  # drops low bits of ratios too large for 64 bits; often still exact
    first, second = (round(r * (1 << shift) / (1 << steeper)) for r in ratios)
    zero = job.zeros[2]
    addend = (1 << (shift - 1)) + (1 << (_TIE_BITS - 1)) + (zero << shift)
    addend -= job.zeros[0] * first + job.zeros[1] * second
    total = BYTES[:, None] * first + BYTES[None, :] * second + addend
    y_stored = total >> shift
    is_tie = (total & ((1 << shift) - 1)) >> _TIE_BITS == 0
    y_stored = y_stored - (is_tie & ((y_stored - _parity(job)) & 1 != 0))
    equal = np.array_equal(np.clip(y_stored, *job.bounds), want)
    leaves = bool(np.abs(y_stored).max() >= 2**31 - 1)
    return Wide(first, second, addend, shift, leaves) if equal else None


def _parity(job: Stated) -> int:
    return 0 if job.how == "single" else job.zeros[2]


def is_proved(sign: int) -> Rule:
    """The rule: for every pair of values, a 64-bit sum gives the result that the operator states."""

    def proved(call: Call) -> bool:
        "the operator states how it rounds, and a 64-bit sum gives this result for every pair of values"
        return _rounding.is_stated(call) and wide(stated(call, sign)) is not None

    return proved


def by_runtime(call: Call) -> bool:
    "the operator leaves rounding to the runtime"
    return not _rounding.is_stated(call)


def sum_element(sign: int, call: Call) -> Element:
    """The expression of a sum in 64 bits."""
    form = wide(stated(call, sign))
    of = "mg_pair_of_wide" if form is not None and form.leaves else "mg_pair_of"

    def params(call: Call) -> Params:
        job = stated(call, sign)
        found = wide(job)
        if found is None:
            return {}
        return {
            "pair.k": np.array([found.a, found.b, found.addend], np.int64),
            "pair.zero_point": _parity(job),
            "pair.out_min": job.bounds[0],
            "pair.out_max": job.bounds[1],
            "pair.shift": found.shift,
            "pair.tie_bits": _TIE_BITS,
        }

    return Element(f"{of}(&pair, a, b)", {"pair": "mg_pair"}, params, slow=True, headers=("pair.h",))


def is_fused(call: Call) -> bool:
    "sums are rounded to float32 after each of two fused multiply-adds"
    return _rounding.rounding_of(call) == "single" and not call.output.is_float


def fused_element(sign: int) -> Element:
    """The expression of a sum in float32, for sums without an exact integer form."""

    def params(call: Call) -> Params:
        job = stated(call, sign)
        first, second, fixed = (float(v) for v in job.fused())
        scales = {"pair.a": first, "pair.b": second, "pair.fixed": fixed, "pair.flip": job.flip}
        return {**scales, "pair.out_min": job.bounds[0], "pair.out_max": job.bounds[1]}

    return Element("mg_fused_pair_of(&pair, a, b)", {"pair": "mg_fused_pair"}, params, slow=True, headers=("pair.h",))


def product_steps(call: Call) -> Stairs:
    """The staircase (see `requantize_proof`) of the product (a - zero point) * (b - zero point)."""
    a, b, y = (_rounding.scale_of(t.scale) for t in (call.input(0), call.input(1), call.output))
    low, high = (v - call.output.zero_point for v in activation_range(call.op.activation, call.output))
    inside = call.output.zero_point + _rounding.flip_of(call)
    return _product_steps(_rounding.rounding_of(call), (a, b, y), (low, high), inside)


@cache
def _product_steps(how: str, scales: tuple[Fraction, ...], span: tuple[int, int], inside: int) -> Stairs:
    a, b, y = scales
    ends = np.array([[-_LARGEST_PRODUCT], [_LARGEST_PRODUCT]])
    if how == "single":
        factor = np.float32(np.float32(np.float32(float(a)) * np.float32(float(b))) / np.float32(float(y)))
        return requantize_proof.single(np.array([factor]), span, ends[0], ends[1], inside)
    return requantize_proof.exact((a * b / y,), (Fraction(0),), span, ends[0], ends[1])


def has_line(call: Call) -> bool:
    "the operator states how it rounds; a multiplication, a shift and few exceptions give these results"
    if not _rounding.is_stated(call):
        return False
    return _rounding.line(product_steps(call), abs(call.output.zero_point)) is not None


def product_element() -> Element:
    """The C expression of a product, requantized with proved constants of line.h."""

    def params(call: Call) -> Params:
        found = _rounding.line(product_steps(call), abs(call.output.zero_point))
        if found is None:
            return {}
        how = "stored" if _rounding.rounding_of(call) == "single" else _rounding.rounding_of(call)
        zeros = {"a_zero": call.input(0).zero_point, "b_zero": call.input(1).zero_point}
        return {**_rounding.line_fields(found, call.output, call.op.activation, how), **zeros}

    return Element(
        "mg_line_at(&line, 0u, (a - a_zero) * (b - b_zero))",
        {"line": "mg_line", "a_zero": "int32_t", "b_zero": "int32_t"},
        params,
        slow=True,
        headers=("line.h",),
    )

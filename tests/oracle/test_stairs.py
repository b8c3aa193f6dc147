# SPDX-License-Identifier: Apache-2.0
"""The proof of requantization: what it accepts equals exact rational arithmetic, at every step and between them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mcugen.ir import requantize_proof
from mcugen.ir.requantize_proof import LinearRounding, Stairs

REACH = 1 << 20


def factors(seed: int, count: int) -> list[Fraction]:
    """Products and quotients of float32 scales, as channels of networks have them."""
    rng = np.random.default_rng(seed)

    def scale(low: float, high: float) -> Fraction:
        return Fraction(float(np.float32(rng.uniform(low, high))))

    return [scale(0.005, 0.1) * scale(0.001, 0.02) / scale(0.01, 0.2) for _ in range(count)]


def ends(count: int, reach: int = REACH) -> tuple[np.ndarray, np.ndarray]:
    return np.full(count, -reach), np.full(count, reach)


def sums_of(stairs: Stairs, channel: int, seed: int) -> np.ndarray:
    """Every step that is crossed and its neighbours, and 10,000 random sums."""
    steps = stairs.steps[channel][stairs.active[channel]]
    low, high = int(stairs.low[channel]), int(stairs.high[channel])
    drawn = np.random.default_rng(seed).integers(low, high, 10_000, endpoint=True)
    return np.clip(np.concatenate([steps - 1, steps, steps + 1, drawn, [low, high, 0]]), low, high)


def rounded(sums: np.ndarray, factor: Fraction, offset: Fraction, span: tuple[int, int], even: int = 0) -> np.ndarray:
    exact = [round((int(x) + offset) * factor + even) - even for x in sums]
    return np.clip(np.array(exact), *span)


def line_at(line: LinearRounding, k: int, sums: np.ndarray, even: int = 0) -> np.ndarray:
    """The results of line.h, without the zero point."""
    total = sums.astype(np.int64) * line.mult[k] + line.addend[k]
    y = total >> line.shift[k]
    y = np.clip(y, -(2**30), 2**30) if line.wide[k] else y.astype(np.int32).astype(np.int64)
    if line.even[k]:
        lost = total & ((1 << int(line.shift[k])) - 1)
        y = np.where(lost >> line.tie_bits == 0, y - ((y - even) & 1), y)
    for channel, x, value in line.exceptions:
        y = np.where((sums == x) & (channel == k), value, y)
    return np.asarray(y)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("span", [(-128, 127), (0, 255), (-100, 60)])
def test_one_multiplication_and_shift_equal_the_exact_meaning(span: tuple[int, int]) -> None:
    real = factors(1, 24)
    stairs = requantize_proof.exact(real, [Fraction(0)] * 24, span, *ends(24))
    found = requantize_proof.scaled(stairs)
    assert found.proved.all()
    for k, factor in enumerate(real):
        sums = sums_of(stairs, k, k)
        shift = int(found.right[k]) + 31
        y = (sums * found.mult[k] + (1 << (shift - 1))) >> shift
        assert np.array_equal(np.clip(y, *span), rounded(sums, factor, Fraction(0), span))


@pytest.mark.whole
@pytest.mark.parametrize("even", [0, 1])
def test_exact_halves_go_to_even_results(even: int) -> None:
    real = [Fraction(1, 1 << k) for k in range(1, 15)] + [Fraction(3, 64), Fraction(1, 6), Fraction(1, 1000)]
    stairs = requantize_proof.exact(real, [Fraction(0)] * len(real), (-128, 127), *ends(len(real), 1 << 18), even=even)
    line = requantize_proof.line(stairs, 128)
    assert line is not None and not line.exceptions
    assert not requantize_proof.scaled(stairs).proved.any()
    for k, factor in enumerate(real):
        sums = sums_of(stairs, k, k)
        assert np.array_equal(
            np.clip(line_at(line, k, sums, even), -128, 127), rounded(sums, factor, Fraction(0), (-128, 127), even)
        )


@pytest.mark.whole
def test_a_real_bias_moves_the_steps_by_parts_of_a_sum() -> None:
    real, rng = factors(2, 16), np.random.default_rng(3)
    offsets = [Fraction(float(np.float32(v))) for v in rng.uniform(-0.5, 0.5, 16)]
    stairs = requantize_proof.exact(real, offsets, (-128, 127), *ends(16))
    line = requantize_proof.line(stairs, 0)
    assert line is not None
    for k, (factor, offset) in enumerate(zip(real, offsets, strict=True)):
        sums = sums_of(stairs, k, k)
        assert np.array_equal(np.clip(line_at(line, k, sums), -128, 127), rounded(sums, factor, offset, (-128, 127)))


def test_lines_with_exceptions_equal_float_arithmetic() -> None:
    real = np.array([float(f) for f in factors(4, 80)], np.float32)
    stairs = requantize_proof.single(real, (-128, 127), *ends(80))
    line = requantize_proof.line(stairs, 128)
    assert line is not None and line.exceptions
    for k, factor in enumerate(real):
        sums = sums_of(stairs, k, k)
        expected = np.clip(np.rint(sums.astype(np.float32) * factor), -128, 127)
        assert np.array_equal(np.clip(line_at(line, k, sums), -128, 127), expected)


def test_multipliers_further_from_the_factor_equal_float_arithmetic() -> None:
    real = np.array([float(f) for f in factors(6, 200)], np.float32)
    stairs = requantize_proof.single(real, (-128, 127), *ends(200))
    found = requantize_proof.scaled(stairs)
    nearest = [round(Fraction(float(f)) * 2 ** (31 + int(r))) for f, r in zip(real, found.right, strict=True)]
    far = np.abs(found.mult - nearest) > 16
    assert (found.proved & far).sum() > 10
    assert not found.proved.all()
    for k in np.flatnonzero(found.proved & far)[:10]:
        sums = sums_of(stairs, k, k)
        shift = int(found.right[k]) + 31
        y = (sums * found.mult[k] + (1 << (shift - 1))) >> shift
        assert np.array_equal(np.clip(y, -128, 127), np.clip(np.rint(sums.astype(np.float32) * real[k]), -128, 127))


@pytest.mark.whole
def test_float_arithmetic_is_proved_for_the_meaning_or_refused() -> None:
    real = factors(7, 40)
    stairs = requantize_proof.exact(real, [Fraction(0)] * 40, (-128, 127), *ends(40))
    factor, proved = requantize_proof.floats(stairs, [float(f) for f in real])
    assert factor.dtype == np.float32 and 0 < proved.sum() < 40
    for k in np.flatnonzero(proved):
        sums = sums_of(stairs, k, k)
        y = np.clip(np.rint(sums.astype(np.float32) * factor[k]), -128, 127)
        assert np.array_equal(y, rounded(sums, real[k], Fraction(0), (-128, 127)))


def test_float_arithmetic_has_its_own_steps_whatever_sums_occur() -> None:
    real = np.array([0.002, 0.31, 0.002], np.float32)
    low, high = np.array([-5000, -3, 60]), np.array([400, 900, 61])
    stairs = requantize_proof.single(real, (-100, 60), low, high)
    factor, proved = requantize_proof.floats(stairs, real.tolist())
    assert proved.all() and np.array_equal(factor, real)


def test_a_form_that_is_wrong_for_one_sum_is_refused() -> None:
    stairs = requantize_proof.exact(factors(5, 1), [Fraction(0)], (-128, 127), *ends(1))
    refused = 0
    for step in np.flatnonzero(stairs.active[0])[::20]:
        moved = stairs.steps.copy()
        moved[0, step] += 1
        planted = Stairs(stairs.first, moved, stairs.low, stairs.high, stairs.factor, stairs.offset)
        found = requantize_proof.scaled(planted)
        refused += not found.proved[0]
        if found.proved[0]:  # a line that is steeper, or less steep, has that step too
            shift = int(found.right[0]) + 31
            sums = sums_of(planted, 0, int(step))
            y = (sums * found.mult[0] + (1 << (shift - 1))) >> shift
            assert np.array_equal(np.clip(y, -128, 127), [planted.at(np.array([v]))[0] for v in sums])
    assert refused > 6


@pytest.mark.parametrize("factor", [Fraction(0), Fraction(-1, 3)])
def test_factors_that_scale_nothing_are_refused(factor: Fraction) -> None:
    from mcugen.errors import UnsupportedError

    with pytest.raises(UnsupportedError):
        requantize_proof.exact([factor], [Fraction(0)], (-128, 127), *ends(1))


def test_results_that_leave_32_bits_are_bounded() -> None:
    """A factor of a billion with half a unit added, and factors whose results leave 32 bits only near the ends."""
    real, offsets = [Fraction(10**9), Fraction(5000), Fraction(9, 4)], [Fraction(1, 2**24), Fraction(1, 4), Fraction(0)]
    reach = np.array([1 << 20, 1 << 20, 2**31 - 1])
    stairs = requantize_proof.exact(real, offsets, (-128, 127), -reach, reach)
    line = requantize_proof.line(stairs, 128)
    assert line is not None and line.wide.all()
    for k, factor in enumerate(real):
        sums = sums_of(stairs, k, k)
        assert np.array_equal(
            np.clip(line_at(line, k, sums), -128, 127), rounded(sums, factor, offsets[k], (-128, 127))
        )


def test_factors_beyond_float32_have_floats_and_lines() -> None:
    """One unit is then more than all results, so that less steep ones are the same."""
    stairs = requantize_proof.exact([Fraction(10) ** 42], [Fraction(0)], (-128, 127), *ends(1))
    line = requantize_proof.line(stairs, 128)
    assert line is not None and not line.wide.any()
    assert np.array_equal(np.clip(line_at(line, 0, np.array([-3, 0, 1])), -128, 127), [-128, 0, 127])
    factor, proved = requantize_proof.floats(stairs, [float(Fraction(10) ** 42)])
    assert np.isfinite(factor).all() and proved.all()

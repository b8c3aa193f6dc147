# SPDX-License-Identifier: Apache-2.0
"""The emitter's constants equal the oracle's own, over random and extreme scales."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from mcugen.errors import McugenError
from mcugen.ir import fixed_point
from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _filter, _reduce_sum, _sigmoid, _sum, curve, leaky_relu, mul, prelu, quantize, relu, softmax
from mcugen.ops._bytes import byte_table
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from mcugen.ops.curve import Curve
from mcugen.ops.fully_connected import FullyConnected
from mcugen.ops.hard_swish import HardSwish
from mcugen.ops.leaky_relu import LeakyRelu
from mcugen.ops.logistic import Logistic
from mcugen.ops.mean import Mean
from mcugen.ops.mul import Mul
from mcugen.ops.prelu import Prelu
from mcugen.ops.quantize import Quantize
from mcugen.ops.relu import Relu
from mcugen.ops.softmax import Softmax
from mcugen.ops.tanh import Tanh
from mcugen.oracle import byte_tables, curves, filters, fixed, quantized, quantized_sums, rational, sigmoids

ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
EXTREMES = (
    1e-30, 1e30, 2.0**-149, 2.0**-126, 3 * 2.0**-140, 2.0**-31, 2.0**-8, 1.0, 2.0**7, 1 / 256, 1 / 3, 8.0,
    math.nextafter(1.0, 0.0), 1.9999999, 3.4e38,
)  # fmt: skip
REFERENCES = ("tflm", "litert")


def scales(seed: int, count: int, low: float = -30, high: float = 30) -> np.ndarray:
    """Float32 scales: extremes, powers of two, and random ones between 10**low and 10**high."""
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([10 ** rng.uniform(low, high, count), 2.0 ** rng.integers(-60, 60, count // 4), EXTREMES])
    return rng.permutation(chosen.astype(np.float32)).astype(np.float64)


def near(seed: int, count: int) -> np.ndarray:
    """Scales as models have them, and powers of two."""
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([10 ** rng.uniform(-6, 1, count), 2.0 ** rng.integers(-16, 4, count // 4)])
    return rng.permutation(chosen.astype(np.float32)).astype(np.float64)


def tensor(dtype: str, scale: float | tuple[float, ...], zero: int = 0, shape: tuple[int, ...] = (1, 4)) -> TensorType:
    chosen = scale if isinstance(scale, tuple) else (scale,)
    return TensorType(shape, dtype, QuantParams(chosen, (zero,) * len(chosen)))


def call(op: Op, inputs: tuple[TensorType, ...], y: TensorType, reference: str = "tflm") -> Call:
    return Call(op, inputs, (y,), (None,) * len(inputs), reference)


def outcome(derive: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """The result of a derivation, or its refusal."""
    try:
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            found = derive(*args, **named)
    except McugenError:
        return "refused"
    return [np.asarray(part).tolist() for part in found] if isinstance(found, tuple) else np.asarray(found).tolist()


def test_multipliers_of_all_magnitudes() -> None:
    rng = np.random.default_rng(0)
    reals = np.concatenate([scales(1, 1000, -12, 12), 2.0 ** rng.uniform(-40, 40, 1000), [0.0, 2.0**-32, 2.0**-33]])
    edges = [2.0**e * (1 - 2.0**-k) for e in (-40, -31, 0, 30, 31) for k in (30, 31, 32, 33, 52)]
    for real in (*reals.tolist(), *edges):
        assert fixed_point.quantize_multiplier(real) == rational.multiplier(Fraction(real)), real


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_roundings_are_those_of_ieee_754(name: str) -> None:
    rng = np.random.default_rng(2)
    rounded = rational.binary32 if name == "float32" else rational.binary64
    reals = np.concatenate([scales(3, 500), -scales(4, 100), rng.uniform(0, 2.0**-120, 100)])
    for real in reals.tolist():
        exact = Fraction(real) if name == "float32" else Fraction(real) / 3
        want = float(np.float32(real)) if name == "float32" else real / 3
        assert float(rounded(exact)) == want


def filter_calls(op: Op, seed: int) -> Iterator[Call]:
    """Calls of 5 channels, with one scale of weights for all or one for each."""
    values = np.concatenate([scales(seed, 140), near(seed, 140)])
    for x, y, *w in values[: values.size // 7 * 7].reshape(-1, 7).tolist():
        for (data, kind), channels in product((("s8", "s8"), ("u8", "u8"), ("s16", "s8")), (1, 5)):
            weights = tensor(kind, tuple(w[:channels]), shape=(5, 4))
            yield call(op, (tensor(data, x), weights), tensor(data, y, shape=(1, 5)))


@pytest.mark.parametrize("op", [Conv2D(), FullyConnected()], ids=["products in float", "products exact"])
def test_multipliers_of_filters(op: Op) -> None:
    outcomes = []
    for found in filter_calls(op, 5):
        ours = outcome(_filter.multipliers, found, 5)
        theirs = outcome(filters._multipliers, *filters._scales(found), 5)
        assert ours == theirs, found
        outcomes.append(ours)
    assert sum(o != "refused" and -31 < o[1][0] < 30 for o in outcomes) > 50


@pytest.mark.sampled(3)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["s8", "u8", "s16"])
def test_bounds_of_activations(activation: str, dtype: str) -> None:
    for scale, zero in product(np.concatenate([scales(6, 60), near(7, 60)]).tolist(), (-128, 0, 13, 127)):
        t = tensor(dtype, scale, zero)
        least, most = quantized.ends(t)
        values = np.arange(least, most + 1, 1 if dtype != "s16" else 37)
        ours = outcome(fixed_point.activation_range, activation, t)
        theirs = outcome(quantized.activated, values, activation, t)
        assert theirs == (ours if ours == "refused" else np.clip(values, *ours).tolist()), t


def test_multipliers_of_elementwise_operators() -> None:
    values = np.concatenate([scales(8, 200), near(9, 200)])
    for a, b, y in values[: values.size // 3 * 3].reshape(-1, 3).tolist():
        always = outcome(quantized.product_multiplier, (a,), y, in_double=True)
        for reference, double in (("tflm", True), ("litert", False)):
            x, w, out = tensor("s8", a), tensor("s8", b), tensor("s8", y)

            plain, both = (outcome(quantized.product_multiplier, f, y, in_double=double) for f in ((a,), (a, b)))
            assert outcome(mul.multiplier, call(Mul(), (x, w), out, reference)) == both
            assert outcome(prelu.multipliers, call(Prelu(), (x, w), out, reference)) in ([plain, both], "refused")
            assert outcome(leaky_relu.multipliers, call(LeakyRelu(-b), (x,), out, reference)) in (
                [plain, both],
                "refused",
            )
            assert outcome(relu.multiplier, call(Relu(), (x,), out, reference)) == plain
            assert outcome(quantize.multiplier, call(Quantize("s8"), (x,), out, reference)) == always


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (1, 1024), (9, 9)])
def test_means_on_random_sums(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(10)
    for a, y in np.concatenate([near(11, 60), scales(12, 60, -8, 8)])[:140].reshape(-1, 2).tolist():
        found = call(Mean((0, 1)), (tensor("s8", a, 5, shape),), tensor("s8", y, -7, ()))
        x = rng.integers(-128, 128, shape).astype(np.int8)
        ours = outcome(_reduce_sum.multiplier, found)
        theirs = outcome(found.op.reference_q, found, x)
        if ours != "refused":
            total = fixed_point.wrap32(np.array(int(x.astype(int).sum()) - 5 * x.size))
            ours = int(np.clip(int(fixed_point.multiply_double_rounding(total, *ours)) - 7, -128, 127))
        assert ours == theirs


def of_constants(found: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The emitter's sum of stored values, before it is clamped."""
    return _sum.of_stored(_sum.constants(found, 1), (0, 0, 0), a, b)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("dtype", ["s8", "s16"])
def test_multipliers_of_sums(dtype: str, reference: str) -> None:
    rng = np.random.default_rng(13)
    values = np.concatenate([near(14, 200), scales(15, 80, -6, 6)])
    for a, b, y in values[: values.size // 3 * 3].reshape(-1, 3).tolist():
        types = (tensor(dtype, a), tensor(dtype, b), tensor(dtype, y))
        found = call(Add("NONE", power_of_two=True), types[:2], types[2], reference)
        info = np.iinfo(types[0].np_dtype)
        pair = [rng.integers(info.min, info.max, 50, endpoint=True) for _ in range(2)]
        theirs = outcome(quantized_sums.added, found, 1, *pair)
        ours = outcome(of_constants, found, *pair)
        assert theirs == (ours if ours == "refused" else np.clip(ours, info.min, info.max).tolist())


BYTE_FUNCTIONS = (
    (HardSwish(), "s8"), (LeakyRelu(0.3), "s8"), (LeakyRelu(-1.7), "s8"), (Logistic(), "s8"), (Logistic(), "u8"),
    (Quantize("s8"), "s8"), (Relu(), "s8"), (Relu(0.0, 6.0), "s8"), (Relu(-1.0, 1.0), "s8"), (Relu(0.0, 1.0), "u8"),
    (Tanh(), "s8"), (Tanh(), "u8"),
)  # fmt: skip


def table(found: Call) -> np.ndarray:
    """The emitted table as stored results."""
    entries = byte_table(found)
    return np.asarray(entries.view(found.output.np_dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("op", "dtype"), BYTE_FUNCTIONS, ids=lambda v: v if isinstance(v, str) else repr(v))
def test_tables_of_bytes(op: Op, dtype: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(np.int8 if dtype == "s8" else np.uint8)
    zeros = (-128, 0, 5, 127) if dtype == "s8" else (0, 128, 133, 255)
    for k, (a, y) in enumerate(near(16, 24)[:30].reshape(-1, 2).tolist()):
        types = (tensor(dtype, a, zeros[k % 4]), tensor(dtype, y, zeros[k // 4 % 4]))
        for reference in REFERENCES:
            found = call(op, types[:1], types[1], reference)
            ours = outcome(table, found)
            assert ours == outcome(found.op.reference_q, found, x), found


@pytest.mark.parametrize("function", ["exp", "rsqrt"])
def test_tables_of_curves(function: str) -> None:
    found = call(Curve(function), (tensor("s16", 0.0021),), tensor("s16", 3.7e-3), "litert")
    assert np.array_equal(curve.table(found), curves.table(found))


def test_a_curve_beyond_float32_is_no_runtime_s() -> None:
    found = call(Curve("exp"), (tensor("s16", 0.004),), tensor("s16", 0.001), "litert")
    assert "not finite" in found.op.refused_by(found, "litert")
    assert found.op.refused_by(found, "tflm")
    for reference in REFERENCES:
        steep = call(Curve("rsqrt"), (tensor("s16", 2.0**-15),), tensor("s16", 5e-10), reference)
        assert "more than 31 bits" in steep.op.refused_by(steep, "tflm")
        assert not steep.op.refused_by(steep, "litert")


def all_exponentials(found: Call) -> np.ndarray:
    """The oracle's exponential of each difference from the maximum."""
    exponential = softmax.exponential_of(found)
    return np.array([exponential(-k) for k in range(256)])


@pytest.mark.parametrize("reference", REFERENCES)
def test_constants_of_softmax(reference: str) -> None:
    for ours, theirs in zip(
        softmax.s16_tables(call(Softmax(), (), tensor("s16", 1.0), reference)),
        byte_tables.softmax_tables(reference == "tflm"),
        strict=True,
    ):
        assert np.array_equal(ours, theirs)
    for scale in [*near(17, 24).tolist(), 1e-9]:
        found = call(Softmax(0.75), (tensor("s8", scale),), tensor("s8", 1 / 256, -128), reference)
        assert outcome(softmax.exponentials, found) == outcome(all_exponentials, found)


def test_the_table_of_sigmoid() -> None:
    assert np.array_equal(_sigmoid.table(), byte_tables.sigmoid())


def test_the_scaling_of_sigmoids_on_int16() -> None:
    x = np.arange(-32768, 32768, 7).astype(np.int16)
    for scale in np.concatenate([near(18, 100), 2.0 ** np.arange(-16, -6), [2.0**-12 * 1.0005]]).tolist():
        found = call(Tanh(), (tensor("s16", scale),), tensor("s16", 2.0**-15))
        for lefts in ((0,), (0, 1)):
            ours = outcome(_sigmoid.s16_multiplier, found, lefts)
            if ours != "refused":
                mult, shift = (3 << ours[1], 0) if ours[0] == 0 else ours
                ours = ((x.astype(np.int64) * mult + ((1 << shift) >> 1)) >> shift).tolist()
            assert ours == outcome(sigmoids.of_int16, found, x, lefts)


def integers(seed: int, bits: int) -> np.ndarray:
    """Random and extreme integers of so many bits."""
    rng = np.random.default_rng(seed)
    ends = [0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 2**15, -(2**15)]
    return np.concatenate([rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 5000), rng.integers(-999, 999, 500), ends])


def halves(mult: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Integers of 32 bits whose products lie next to a half."""
    rng = np.random.default_rng(22)
    wanted = rng.integers(-200, 200, mult.size) + 0.5
    near = np.rint(wanted / (mult * 2.0 ** (shift - 31))) + rng.integers(-2, 3, mult.size)
    return np.clip(near, -(2.0**31), 2.0**31 - 1).astype(np.int64)


def test_fixed_point_arithmetic() -> None:
    x, rng = integers(19, 32), np.random.default_rng(20)
    mult, shift = rng.integers(2**30, 2**31, x.size), rng.integers(-31, 8, x.size)
    assert np.array_equal(fixed_point.multiply_double_rounding(x, mult, shift), fixed.scaled_twice(x, mult, shift))
    assert np.array_equal(
        fixed_point.rounding_divide_by_pot(x, -np.minimum(shift, 0)), fixed.divided(x, -np.minimum(shift, 0))
    )
    assert np.array_equal(fixed_point.wrap32(integers(21, 60)), fixed.wrapped(integers(21, 60)))
    down = rng.integers(-31, 1, x.size)
    for rows in (x, halves(mult, down)):
        found = fixed.scaled_down(rows.astype(np.float64)[None], mult, down)[0]
        assert np.array_equal(fixed_point.multiply_double_rounding(rows, mult, down), found)
    small = np.minimum(shift, -1)
    assert np.array_equal(
        fixed_point.multiply_single_rounding(x, mult, small), fixed.scaled_once(x, mult * 2.0 ** (small - 31))
    )

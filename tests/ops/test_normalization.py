"""The integers of a normalization: how near the real value they are, and what they give at the ends."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.ir.call import Call
from mcugen.ir.op import evaluate
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.normalization import Normalization, constants

_EPSILON = float(np.float32(1e-5))


def _call(op: Normalization, rows: np.ndarray, gamma: np.ndarray, beta: np.ndarray, x: float, y: float) -> Call:
    dtype = "s8" if rows.dtype == np.int8 else "s16"
    given = TensorType(rows.shape, dtype, QuantParams((x,), (-9 if dtype == "s8" else 0,)))
    result = TensorType(rows.shape, op.dtype or dtype, QuantParams((y,), (3 if (op.dtype or dtype) == "s8" else 0,)))
    line = TensorType(gamma.shape, "f32")
    return Call(op, (given, line, line), (result,), (None, gamma, beta), "ort")


def _real(call: Call, rows: np.ndarray) -> np.ndarray:
    """The real value rounded once."""
    t, y, op = call.input(0), call.output, call.op
    x = (rows.astype(np.int64) - t.zero_point).astype(np.longdouble) * np.longdouble(np.float32(t.scale))
    d = x - x.mean(axis=1, keepdims=True) if op.centred else x
    real = d / np.sqrt((d * d).mean(axis=1, keepdims=True) + np.longdouble(op.epsilon))
    steps = (real * call.constant(1) + call.constant(2)) / np.longdouble(np.float32(y.scale))
    return np.clip(np.rint(steps).astype(np.int64) + y.zero_point, *y.limits)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize(("dtype", "result"), [("s8", "s8"), ("s16", "s8"), ("s16", "s16")])
def test_integers_differ_from_the_real_value_by_a_step_at_most(centred: bool, dtype: str, result: str) -> None:
    rng, differ, count = np.random.default_rng(5), 0, 0
    kind, most = (np.int8, 127) if dtype == "s8" else (np.int16, 32767)
    for n in (2, 3, 48, 300):
        rows = np.clip(rng.normal(0, 0.3 * most, (60, n)) * 10.0 ** -rng.uniform(0, 2.5, (60, 1)), -most - 1, most)
        rows[:3], rows[1, n // 2 :], rows[2, 0] = 7, most, most
        gamma, beta = (rng.normal(mean, 0.4, n).astype(np.float32) for mean in (1, 0))
        op = Normalization(1, 1, n, _EPSILON, centred, 1, "" if dtype == result else result)
        y = 0.02 if result == "s8" else 1e-4
        call = _call(op, rows.astype(kind), gamma, beta, 0.05 if dtype == "s8" else 2e-4, y)
        apart = np.abs(
            evaluate(call, (rows.astype(kind), gamma, beta))[0].astype(np.int64) - _real(call, rows.astype(kind))
        )
        assert apart.max() <= 1
        differ, count = differ + int(apart.sum()), count + apart.size
        assert op.scaling(call) == op.scaling_q(call)
    assert differ <= count * (1e-3 if result == "s16" else 5e-5)


def test_equal_elements_and_single_ones_give_beta() -> None:
    """Also if epsilon is 0; and a gamma of 0 gives beta everywhere."""
    for n, epsilon in ((1, _EPSILON), (1, 0.0), (8, 0.0)):
        beta = np.linspace(-1, 1, n).astype(np.float32)
        rows = np.repeat(np.array([[-128], [0], [127]], np.int8), n, axis=1)
        call = _call(Normalization(1, 1, n, epsilon), rows, np.ones(n, np.float32), beta, 0.05, 0.02)
        found = evaluate(call, (rows, call.constant(1), beta))[0]
        np.testing.assert_array_equal(found, np.tile(np.rint(beta / np.float32(0.02)) + 3, (3, 1)))
    rows = np.random.default_rng(1).integers(-128, 128, (3, 8)).astype(np.int8)
    call = _call(Normalization(1, 1, 8), rows, np.zeros(8, np.float32), beta, 0.05, 0.02)
    found = evaluate(call, (rows, call.constant(1), beta))[0]
    np.testing.assert_array_equal(found, np.tile(np.rint(beta / np.float32(0.02)) + 3, (3, 1)))


def test_what_has_no_integers_says_why() -> None:
    rows, ones = np.zeros((2, 4096), np.int16), np.ones(4096, np.float32)
    assert "too long for s16" in constants(_call(Normalization(1, 1, 4096), rows, ones, 0 * ones, 1e-3, 0.02)).why
    few = (np.zeros((2, 4), np.int8), np.ones(4, np.float32), np.zeros(4, np.float32))
    assert "too far beyond" in constants(_call(Normalization(1, 1, 4), *few, 1e-3, 1e-9)).why

# SPDX-License-Identifier: Apache-2.0
"""Sums of int8 tensors as one linear form: equal to the runtimes for every pair of values, or not used."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _linear_sum
from mcugen.ops.add import Add
from mcugen.ops.sub import Sub

BYTES = np.arange(-128, 128, dtype=np.int8)
LINEAR = "mg_linear_sum_s8"


def call_of(op: Add | Sub, scales: tuple[float, float, float], zeros: tuple[int, int, int]) -> Call:
    a, b, y = (TensorType((4,), "s8", QuantParams((s,), (z,))) for s, z in zip(scales, zeros, strict=True))
    return Call(op, (a, b), (y,), (None, None), "tflm")


def kernel_of(op: type[Op]) -> Kernel:
    return next(k for k in kernels.of(op) if k.symbol == LINEAR)


def drawn(seed: int, activation: str) -> tuple[tuple[float, float, float], tuple[int, int, int]]:
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.uniform(-6, 0, 2))
    zeros = rng.integers(-128, 128, 3)
    y = float((a + b) * rng.uniform(0.4, 1.2))
    return (float(a), float(b), y), (int(zeros[0]), int(zeros[1]), -128 if activation == "RELU" else int(zeros[2]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("op", [Add("NONE"), Add("RELU"), Sub("NONE"), Sub("RELU6")], ids=repr)
def test_the_form_has_the_bits_of_every_pair(op: Add | Sub, seed: int) -> None:
    call = call_of(op, *drawn(seed, op.activation))
    found = _linear_sum.linear(call, 1 if isinstance(op, Add) else -1)
    assert found is not None
    a, b = np.meshgrid(BYTES, BYTES, indexing="ij")
    low, high = op_bounds(op, call)
    got = np.clip((found.a * a.astype(np.int64) + found.b * b.astype(np.int64) + found.addend) >> 21, low, high)
    assert np.array_equal(got, op.reference_q(call, a, b))


def op_bounds(op: Add | Sub, call: Call) -> tuple[int, int]:
    """The bounds of the kernel's clamp."""
    form = kernel_of(type(op)).params
    assert form is not None
    fields = form(call)
    return int(fields["form.out_min"]), int(fields["form.out_max"])


@pytest.mark.parametrize(
    "scales",
    [
        (0.1, 0.1, 0.2),  # half of the sums are ties, which round away from zero on both sides
        (0.1, 0.1, 0.001),  # factors beyond 32 bits
    ],
)
def test_where_no_form_is_found_the_runtimes_roundings_are_kept(scales: tuple[float, float, float]) -> None:
    call = call_of(Add("NONE"), scales, (0, 0, 0))
    refusals = {k.symbol: k.refusals(call, frozenset()) for k in kernels.of(Add)}
    assert any("linear form" in reason for reason in refusals[LINEAR])
    assert not refusals["mg_add_s8"]


def test_values_that_fit_only_with_the_clamp_keep_it() -> None:
    call = call_of(Add("RELU6"), (0.05, 0.04, 0.08), (3, -7, 11))
    found = _linear_sum.linear(call, 1)
    fields = kernel_of(Add).params
    assert fields is not None
    if found is not None:
        assert fields(call)["form.out_min"] == 11 and fields(call)["form.out_max"] == 11 + 75

# SPDX-License-Identifier: Apache-2.0
"""Examples of the operators that only passes for devices make: those of convolutions, with what is fused into them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from mcugen.ir.op import Example
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops._residual import ResidualConv2D
from mcugen.ops._scaled import ScaledConv2D
from mcugen.ops._summed import SummedConv2D
from mcugen.ops.add import Add
from mcugen.ops.conv2d import Conv2D
from tests.opencl.launched import HasExamples
from tests.test_conformance import OPS


def _convolutions(dtype: str) -> Iterator[Example]:
    """The convolutions of one group with a bias."""
    for example in Conv2D.examples():
        x, w, b = example.inputs
        assert x is not None
        assert w is not None
        if {x.dtype, w.dtype} == {dtype} and x.shape[3] == w.shape[3] and b is not None:
            yield example


def _attributes(op: Any) -> dict[str, Any]:
    return {f.name: getattr(op, f.name) for f in fields(op)}


class Residual:
    @classmethod
    def examples(cls) -> list[Example]:
        found = _convolutions("f32")
        return [
            Example(ResidualConv2D(**_attributes(e.op)), (*e.inputs, *e.outputs), e.outputs, e.constants, e.seed)
            for e in found
        ]


class Scaled:
    @classmethod
    def examples(cls) -> list[Example]:
        return [_scaled(e) for e in _convolutions("f32")]


def _scaled(e: Example) -> Example:
    assert e.inputs[0] is not None
    channels = e.inputs[0].shape[3]
    rng = np.random.default_rng(e.seed)
    factors = {k: rng.standard_normal(channels).astype(np.float32) for k in (3, 4)}
    op = ScaledConv2D(**_attributes(e.op), first="RELU")
    more = (TensorType((channels,), "f32"),) * 2
    return Example(op, (*e.inputs, *more), e.outputs, {**e.constants, **factors}, e.seed)


class Summed:
    """Scales near each other, which one linear form adds, and others far apart; either operand first."""

    @classmethod
    def examples(cls) -> list[Example]:
        return [_summed(k, e) for k, e in enumerate(_convolutions("s8"))]


def _summed(k: int, e: Example) -> Example:
    (made,) = e.outputs
    assert made.quant is not None
    step = made.quant.scale[0]
    added = TensorType(made.shape, "s8", QuantParams((step * (0.7, 1e-4, 3.0)[k % 3],), (k % 11 - 5,)))
    y = TensorType(made.shape, "s8", QuantParams((1.9 * step,), (7 - k % 13,)))
    add = Add(("NONE", "RELU")[k % 2], rounding=e.op.rounding)
    op = SummedConv2D(e.op, add, made.quant, first=k % 4 < 2)
    return Example(op, (*e.inputs, added), (y,), e.constants, e.seed)


MADE: dict[str, HasExamples] = {"ResidualConv2D": Residual, "ScaledConv2D": Scaled, "SummedConv2D": Summed}
ALL: dict[str, HasExamples] = {**OPS, **MADE}
"""Operators with examples, by name."""

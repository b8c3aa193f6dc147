"""Activations that operators fuse: clamps of results."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Param
from mcugen.ir.fixed_point import activation_bounds
from mcugen.ir.op import Op


def float_clamp_fields(call: Call, activation: str) -> dict[str, Param]:
    """out_min and out_max of the C structs of operators on floats.

    A result that overflows is infinite in ONNX Runtime. Kernels of TensorFlow Lite clamp it to the largest float; so
    an infinite bound is written, unless it is data: a float32 of NumPy.
    """
    bounds = activation_bounds(activation)
    low, high = np.array(bounds, np.float32) if call.reference == "ort" else bounds
    return {"out_min": low, "out_max": high}


class Activated(Op):
    """Base of operators with a field `activation`."""


@singledispatch
def unclamped(op: Op) -> Op:
    """The operator without the clamp of its results, by whose magnitude float results are judged."""
    return op


@unclamped.register(Activated)
def _(op: Activated) -> Op:
    this: Any = op
    changed: Op = this if this.activation == "NONE" else replace(this, activation="NONE")
    return changed

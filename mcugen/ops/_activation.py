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
    """The fields out_min and out_max of the C structs of operators on floats.

    Results that overflow are infinite in ONNX Runtime, and the largest float in TensorFlow Lite. The emitter writes an
    infinite bound as infinity if it is a NumPy float32, and as the largest float if it is a Python float.
    """
    bounds = activation_bounds(activation)
    low, high = np.array(bounds, np.float32) if call.reference == "ort" else bounds
    return {"out_min": low, "out_max": high}


class Activated(Op):
    """Base of operators with a field `activation`."""


@singledispatch
def unclamped(op: Op) -> Op:
    """The operator without its fused activation, for callers that need its results before the clamp."""
    return op


@unclamped.register(Activated)
def _(op: Activated) -> Op:
    this: Any = op
    changed: Op = this if this.activation == "NONE" else replace(this, activation="NONE")
    return changed


@singledispatch
def clamp_of(op: Op) -> tuple[float, float] | None:
    """The bounds of an operator's fused activation; None if it has none."""
    activation = getattr(op, "activation", "NONE")
    return None if activation == "NONE" else activation_bounds(activation)

"""Activations that operators fuse: clamps of results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Param
from mcugen.ir.fixed_point import activation_bounds, activation_range
from mcugen.ir.op import Op
from mcugen.ir.ranges import Range

FUSED = ("RELU", "RELU6", "RELU_N1_TO_1")


def float_clamp(call: Call, activation: str) -> dict[str, Param]:
    """out_min and out_max of the C structs of operators on floats.

    A result that overflows is infinite in ONNX Runtime. Kernels of TensorFlow Lite clamp it to the largest float; so
    an infinite bound is written, unless it is data: a float32 of NumPy.
    """
    bounds = activation_bounds(activation)
    low, high = np.array(bounds, np.float32) if call.reference == "ort" else bounds
    return {"out_min": low, "out_max": high}


class Activated(Op):
    """Base of operators with a field `activation`."""

    def unclamped(self) -> Op:
        this: Any = self
        changed: Op = this if this.activation == "NONE" else replace(this, activation="NONE")
        return changed

    def clamped(self, call: Call, low: float, high: float) -> Op | None:
        """Fuses the clamp to [low, high]: the activation is replaced by one that does its clamp and then this one."""
        if call.output.is_float:
            return self._clamped_floats(low, high)
        known: Range | None = call.op.bounds(call)[0]
        y = call.output
        if y.dtype != "s8" or known is None:
            return None
        this: Any = self
        now, first, last = activation_range(this.activation, y), *known.hull
        values = np.arange(first, last + 1)
        for activation in FUSED:
            new = activation_range(activation, y)
            narrows = now[0] <= new[0] and new[1] <= now[1]
            if narrows and np.array_equal(np.clip(values, *new), np.clip(values, low, high)):
                changed: Op = replace(this, activation=activation)
                return changed
        return None

    def _clamped_floats(self, low: float, high: float) -> Op | None:
        this: Any = self
        now = activation_bounds(this.activation)
        if now[0] > high or now[1] < low:
            return None  # the two clamps do not overlap
        both = max(now[0], low), min(now[1], high)
        found = next((name for name in FUSED if activation_bounds(name) == both), None)
        changed: Op | None = None if found is None else replace(this, activation=found)
        return changed

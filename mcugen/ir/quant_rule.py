"""Rules for quantizing operators: where the scale of a result comes from, and which range of an operand matters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Bounds = tuple[float, float]
EVERYTHING: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True)
class Scales:
    """The integer form of a float operator.

    kind     "own": results have scales of their own; "shared": results and operands share one scale; "fixed": results
             have the scale in `fixed`; "recurrent": results and states have types of their own, which depend on
             what the layer computes inside; "refused": there is no integer form
    fixed    bits of the result -> (scale, zero point)
    matters  range of operand 0; beyond it the result changes by at most half a step
    widths   bits that data may have
    why      the reason for "refused"
    form     the operator that computes the stored integers, untyped as in `Call`; None if it is the same as for floats
    narrows  whether results may have fewer bits than operands
    apart    why a .tflite cannot hold the integer form, but an .onnx can; "" if both can
    """

    kind: str
    fixed: Mapping[int, tuple[float, int]] = field(default_factory=lambda: MappingProxyType({}))
    matters: Bounds = EVERYTHING
    widths: tuple[int, ...] = (8, 16)
    why: str = ""
    form: Any = None
    narrows: bool = False
    apart: str = ""


OWN = Scales("own")
OWN_BYTES = Scales("own", widths=(8,))
RECURRENT = Scales("recurrent", widths=(8,), apart="a .tflite has no integer form of it")
SHARED = Scales("shared")
SHARED_BYTES = Scales("shared", widths=(8,))


def fixed(s8: tuple[float, int], s16: tuple[float, int] | None = None, matters: Bounds = EVERYTHING) -> Scales:
    """The rule for results whose (scale, zero point) the TFLite quantization specification fixes."""
    return Scales("fixed", {8: s8} if s16 is None else {8: s8, 16: s16}, matters, (8,) if s16 is None else (8, 16))


def refused(why: str) -> Scales:
    """The rule for an operator without an integer form."""
    return Scales("refused", why=why)

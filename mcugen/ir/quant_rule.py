"""Rules for quantizing operators: the source of a result's scale, and the part of an operand that matters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Bounds = tuple[float, float]
EVERYTHING: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True)
class Scales:
    """The integer form of a float operator.

    kind: "own": results have a scale of their own; "shared": results and operands have one; "fixed": results have the
    one in `fixed`; "refused": there is no integer form, for the reason `why`
    fixed: bits of the result -> (scale, zero point)
    matters: for operand 0, the real numbers beyond which the result does not change (any more than by half a step)
    widths: bits that data may have
    """

    kind: str
    fixed: Mapping[int, tuple[float, int]] = field(default_factory=lambda: MappingProxyType({}))
    matters: Bounds = EVERYTHING
    widths: tuple[int, ...] = (8, 16)
    why: str = ""


OWN = Scales("own")
OWN_BYTES = Scales("own", widths=(8,))
SHARED = Scales("shared")
SHARED_BYTES = Scales("shared", widths=(8,))


def fixed(s8: tuple[float, int], s16: tuple[float, int] | None = None, matters: Bounds = EVERYTHING) -> Scales:
    """Results with the scale and zero point that the TFLite quantization specification gives them."""
    return Scales("fixed", {8: s8} if s16 is None else {8: s8, 16: s16}, matters, (8,) if s16 is None else (8, 16))


def refused(why: str) -> Scales:
    """No integer form."""
    return Scales("refused", why=why)

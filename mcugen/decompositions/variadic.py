"""Sums, maxima and minima of any number of tensors: operators on two, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mcugen.errors import ShapeError
from mcugen.imports import Expansion, Import, Source
from mcugen.op import Op
from mcugen.ops.add import Add
from mcugen.ops.maximum import Maximum
from mcugen.ops.minimum import Minimum


def chain(op: Op, source: Source, e: Expansion) -> Sequence[str]:
    """The operands joined from left to right. Source: ONNX Sum-13, Max-13, Min-13."""
    first, *rest = e.inputs or (None,)
    if first is None or None in rest:
        raise ShapeError("an operand is absent")
    for other in rest:
        first = e.node(op, first, other)
    return [first]


IMPORTS = tuple(
    Import("onnx", name, expand=partial(chain, op))
    for name, op in (("Sum", Add()), ("Max", Maximum()), ("Min", Minimum()))
)

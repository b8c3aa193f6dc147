"""Calls: operators applied to operands of known types, as operators, kernels and passes examine them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from mcugen.errors import InternalError
from mcugen.ir import ranges
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType

Param = int | float | np.ndarray
Params = Mapping[str, Param]


@dataclass(frozen=True, eq=False)
class Call:
    """An operator applied to operands of known types.

    op           the `mcugen.ir.op.Op`, untyped here since that module imports this one
    inputs       operand types, None for an absent operand
    constants    data of constant operands, else None
    reference    the runtime whose roundings count, for example "tflm" or "litert"
    input_range  bounds of each operand's stored integers per channel, or None; see `range_of`
    loop_bytes   bytes of code that the core repeats without waiting for flash; None if not known. A kernel may unroll
                 less because of it, but must compute the same bits.
    features     features of the core. A kernel may use their instructions, but must compute the same bits.
    facts        cached results of functions marked `fact`
    """

    op: Any
    inputs: tuple[TensorType | None, ...]
    outputs: tuple[TensorType, ...]
    constants: tuple[np.ndarray | None, ...]
    reference: str
    input_range: tuple[Range | None, ...] = ()
    loop_bytes: int | None = None
    features: frozenset[str] = frozenset()
    facts: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    def input(self, k: int) -> TensorType:
        """The type of operand k, which must be present."""
        found = self.inputs[k] if k < len(self.inputs) else None
        if found is None:
            raise InternalError(f"operand {k} of {self.op} is missing")
        return found

    def has(self, k: int) -> bool:
        """Whether the optional operand k is given."""
        return k < len(self.inputs) and self.inputs[k] is not None

    def constant(self, k: int) -> np.ndarray:
        """The data of operand k, which must be constant."""
        data = self.constants[k] if k < len(self.constants) else None
        if data is None:
            raise InternalError(f"operand {k} of {self.op} is not constant")
        return data

    def range_of(self, k: int) -> Range | None:
        """Bounds of operand k's stored integers per channel, for every input of the model.

        None for floats, booleans, 64-bit integers, and more than `ranges.MAX_CHANNELS` channels.
        """
        found = self.input_range[k] if k < len(self.input_range) else None
        return found or ranges.whole(self.input(k))

    @property
    def accumulators(self) -> Range | None:
        """Bounds of the sums of each output channel with their bias; None if not known."""
        return _accumulators(self)

    @cached_property
    def output(self) -> TensorType:
        """The type of the only (or first) result."""
        return self.outputs[0]

    def learnt(self, key: Hashable, compute: Callable[[Call], Any]) -> Any:
        """Compute a function of this call and store the result in `facts`."""
        found = self.facts[key] = compute(self)
        return found


Rule = Callable[[Call], bool]
"""A kernel's precondition. Its docstring is both the message on refusal and the line in the manual."""


Found = TypeVar("Found")
More = ParamSpec("More")


def fact(compute: Callable[Concatenate[Call, More], Found]) -> Callable[Concatenate[Call, More], Found]:
    """A decorator for a function that is computed once per call and cached in `Call.facts`.

    Callers must not change its results. Its arguments besides the call must be hashable.
    """

    @wraps(compute)
    def known(call: Call, /, *more: More.args, **named: More.kwargs) -> Found:
        key = (compute, *more, *named.items()) if named else (compute, *more)
        try:
            found: Found = call.facts[key]  # type: ignore[assignment]
        except KeyError:
            found = call.learnt(key, lambda call: compute(call, *more, **named))
        return found

    @wraps(compute)
    def known_of_call(call: Call, /) -> Found:  # most facts have no further arguments, and this is three times as fast
        try:
            found: Found = call.facts[compute]  # type: ignore[assignment]
        except KeyError:
            found = call.learnt(compute, compute)
        return found

    return known if len(signature(compute).parameters) > 1 else known_of_call  # type: ignore[return-value]


@fact
def _accumulators(call: Call) -> Range | None:
    found: Range | None = call.op.accumulators(call)
    return found

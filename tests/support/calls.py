"""Calls to try rules on: those of an operator's examples, and the same changed in ways that some rule must see."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from mcugen import kernels
from mcugen.errors import McugenError
from mcugen.ir.call import Call, Rule
from mcugen.ir.kernel import Kernel
from mcugen.ir.op import Op
from mcugen.ir.types import NUMPY_DTYPES, QuantParams, TensorType
from tests.support.cases import folded, prepared, under_test
from tests.support.draw import limits
from tests.support.references import REFERENCES

_MANY = 1 << 20


@cache
def example_calls(op: type[Op], features: frozenset[str] = frozenset()) -> tuple[Call, ...]:
    """The calls of all examples, under both references, as kernels are asked about them; folded ones never are.

    features: of the core that they are for.
    """
    found: list[Call] = []
    for example in op.examples():
        if folded(example) is not None:
            continue
        _, graph = prepared(example)
        found += [graph.call(node, which) for node in under_test(example, graph) for which in REFERENCES]
    return tuple(dataclasses.replace(call, features=features) for call in found) if features else tuple(found)


def accepted(kernel: Kernel, op: type[Op]) -> list[Call]:
    """The calls that a kernel takes: on a core with all features if it needs any, else on one without.

    Those of a kernel that leaves cores with further features to others are on one with just what it needs.
    """
    for features in (kernels.features() if kernel.needs else frozenset(), kernel.needs):
        given = example_calls(op, features)  # type: ignore[arg-type]
        if found := [call for call in given if not kernel.refusals(call, kernels.features())]:
            return found
    return []


def violates(rule: Rule, call: Call) -> bool:
    """Whether the rule refuses; False for a call on which it raises an error."""
    try:
        return not rule(call)
    except (McugenError, ArithmeticError, LookupError, MemoryError, TypeError, ValueError):
        return False


def hostile(call: Call) -> Iterator[Call]:
    """The call with other element types, computed operands, extreme constants, or huge shapes and attributes."""
    for change in _CHANGES:
        yield change(call)


def _typed(call: Call, dtype: str) -> Call:
    def changed(t: TensorType | None) -> TensorType | None:
        return t and dataclasses.replace(t, dtype=dtype)

    return dataclasses.replace(
        call,
        inputs=tuple(changed(t) for t in call.inputs),
        outputs=tuple(dataclasses.replace(t, dtype=dtype) for t in call.outputs),
    )


def _computed(call: Call) -> Call:
    return dataclasses.replace(call, constants=(None,) * len(call.inputs))


def _extreme(call: Call) -> Call:
    """Every constant at the top of its type."""

    def top(t: TensorType | None, data: np.ndarray | None) -> np.ndarray | None:
        if t is None or data is None or t.is_float:
            return data
        if t.dtype not in NUMPY_DTYPES:
            return np.full_like(data, 0x77)  # two of four bits each
        return np.full(t.shape, limits(t)[1], NUMPY_DTYPES[t.dtype])

    tops = tuple(top(t, data) for t, data in zip(call.inputs, call.constants, strict=True))
    return dataclasses.replace(call, constants=tops)


def _tiny(call: Call) -> Call:
    """Every float constant below the least normal number."""
    constants = tuple(
        None if c is None else c * np.float32(1e-40) if c.dtype == np.float32 else c for c in call.constants
    )
    return dataclasses.replace(call, constants=constants)


def _reshaped(call: Call, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Call:
    """Operands that are no constants, and results, in other shapes."""
    pairs = zip(call.inputs, call.constants, strict=True)
    return dataclasses.replace(
        call,
        inputs=tuple(t if t is None or data is not None else t.with_shape(change(t.shape)) for t, data in pairs),
        outputs=tuple(t.with_shape(change(t.shape)) for t in call.outputs),
    )


def _many_constants(call: Call) -> Call:
    """Constants with a long last axis, as far as their types say."""
    pairs = zip(call.inputs, call.constants, strict=True)
    longer = tuple(t.with_shape((*t.shape[:-1], _MANY)) if t and data is not None else t for t, data in pairs)
    return dataclasses.replace(call, inputs=longer)


def _requantized(call: Call) -> Call:
    """Each operand with a scale and a zero point of its own."""
    other = QuantParams((0.123, 0.321), (1, 2), 0)
    return dataclasses.replace(call, inputs=tuple(t and dataclasses.replace(t, quant=other) for t in call.inputs))


def _far_scales(call: Call, ratio: float) -> Call:
    """The first operand's scale that much smaller than all others."""

    def scaled(t: TensorType | None, scale: float) -> TensorType | None:
        return t and dataclasses.replace(t, quant=QuantParams((scale,), (0,)))

    inputs = tuple(scaled(t, ratio if k == 0 else 1.0) for k, t in enumerate(call.inputs))
    return dataclasses.replace(call, inputs=inputs)


def _larger_attributes(call: Call) -> Call:
    """Every tuple of numbers among the attributes a thousand times as large."""
    fields = dataclasses.fields(call.op)
    values = {f.name: getattr(call.op, f.name) for f in fields}
    sizes = {k: v for k, v in values.items() if isinstance(v, tuple) and all(type(n) is int for n in v)}
    larger = {k: tuple(n * 1000 for n in v) for k, v in sizes.items()}
    return dataclasses.replace(call, op=dataclasses.replace(call.op, **larger))


def _on_any_core(call: Call) -> Call:
    """The call on a core with all features."""
    return dataclasses.replace(call, features=kernels.features())


def _swapped(call: Call) -> Call:
    return dataclasses.replace(call, inputs=call.inputs[::-1], constants=call.constants[::-1])


_CHANGES: tuple[Callable[[Call], Call], ...] = (
    *(partial(_typed, dtype=dtype) for dtype in NUMPY_DTYPES),
    _computed,
    _extreme,
    _tiny,
    _requantized,
    _many_constants,
    partial(_far_scales, ratio=0.75 * 2.0**-30),
    partial(_far_scales, ratio=1e-40),
    _swapped,
    _on_any_core,
    _larger_attributes,
    lambda call: _reshaped(call, lambda shape: tuple(n * _MANY for n in shape)),
    lambda call: _reshaped(call, lambda shape: (*shape[:-1], _MANY)),
    lambda call: _reshaped(call, lambda shape: tuple(n + k for k, n in enumerate(shape))),
    lambda call: _reshaped(call, lambda shape: (2, 3, 2, 3, 2, 3, 2, 3)),
)


class Alone(Call):
    """A call that shares nothing."""


def alone(call: Call) -> Alone:
    return Alone(**{f.name: getattr(call, f.name) for f in dataclasses.fields(Call) if f.init})

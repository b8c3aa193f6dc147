"""Shared recipe of generated loops that apply one or more elementwise operators to each element, as C expressions.

Each operator in the loop is a link. The results of all links are its values, numbered in the order of the links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params, fact
from mcugen.ir.element import OPERANDS, Element, Line, Loop, Operand, Walk, composed, element_of
from mcugen.ir.kernel import Kernel, Text, Whole
from mcugen.ir.op import Op
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType
from mcugen.ops._elementwise import number_of

INTEGERS = frozenset({"s8", "u8", "s16", "s32", "u32"})
_FLOATS = frozenset({"f32"})


@dataclass(frozen=True)
class Link:
    """An operator of a loop. operands: k for operand k of the loop, ~k for value k. values: number of results."""

    op: Op
    operands: tuple[int, ...]
    values: int = 1


@singledispatch
def elements(op: Op, call: Call) -> tuple[Element, ...]:
    """The C expressions of the results; () if the operator has no expressions for the types of the call.

    Default: `op.element` of the result's type, if all operands and results have this type and integers have no scales.
    """
    types = [t for t in (*call.inputs, *call.outputs) if t is not None]
    dtype = call.output.dtype
    if any(t.dtype != dtype for t in types) or dtype not in op.element:
        return ()
    plain = dtype in _FLOATS or (dtype in INTEGERS and all(t.quant is None for t in types))
    return (element_of(op.element[dtype], call),) if plain else ()


Expressions = Callable[[Op, Call], tuple[Element, ...]]
"""A function that gives the expressions of the results of an operator in a call."""


def is_link(call: Call) -> bool:
    """Whether a call can be a link of a loop.

    Each result needs a C expression. Operands and results must be all floats or all integers. Each operand must have
    the result's shape, or be a constant: one number, a vector along the last axis, or a table that an expression reads.
    """
    if any(t is None for t in call.inputs):
        return False
    given = elements(call.op, call)
    types = [call.input(k) for k in range(len(call.inputs))]
    if len(given) != len(call.outputs) or any(t.shape != call.output.shape for t in call.outputs):
        return False
    if not any({t.dtype for t in (*types, *call.outputs)} <= kind for kind in (_FLOATS, INTEGERS)):
        return False
    tables = _tables(given)
    computed = [t for t, data in zip(types, call.constants, strict=True) if data is None]
    constants = [data for k, data in enumerate(call.constants) if data is not None and k not in tables]
    return (
        bool(computed)
        and all(call.constants[k] is not None for k in tables)
        and all(t.shape == call.output.shape for t in computed)
        and all(_is_number(c) or _is_vector(c, call.output) for c in constants)
    )


def _tables(given: Sequence[Element]) -> set[int]:
    return {k for element in given for k in element.tables}


def _is_number(data: np.ndarray) -> bool:
    return data.size == 1


def _is_vector(data: np.ndarray, y: TensorType) -> bool:
    return data.shape[-1:] == y.shape[-1:] and data.size == data.shape[-1]


def links_of(call: Call) -> tuple[Link, ...]:
    """The links of an ElementChain; for any other operator, one link with this operator."""
    found: tuple[Link, ...] = getattr(call.op, "links", ()) or (_alone(call),)
    return found


def _alone(call: Call) -> Link:
    return Link(call.op, tuple(range(len(call.inputs))), len(call.outputs))


@fact
def calls_of(call: Call) -> list[Call]:
    """One call for each link. Loops convert float16 to float32, so the calls have float32 in place of float16."""
    values: list[tuple[TensorType, Range | None]] = []
    found = []
    for link in links_of(call):
        types = [_computed(call.input(k)) if k >= 0 else values[~k][0] for k in link.operands]
        given = [call.range_of(k) if k >= 0 else values[~k][1] for k in link.operands]
        constants = tuple(call.constants[k] if k >= 0 else None for k in link.operands)
        outputs = tuple(TensorType(call.output.shape, t.dtype) for t in link.op.infer(*types))
        inner = replace(
            call, op=link.op, inputs=tuple(types), outputs=outputs, constants=constants, input_range=tuple(given)
        )
        found.append(inner)
        values += zip(outputs, link.op.bounds(inner), strict=True)
    return found


def _computed(t: TensorType) -> TensorType:
    """The type with which a loop computes elements of type t."""
    return replace(t, dtype="f32") if t.dtype == "f16" else t


def results_of(call: Call) -> tuple[int, ...]:
    """The numbers of the values that are results of the call. Default: the last values."""
    count = sum(len(inner.outputs) for inner in calls_of(call))
    found: tuple[int, ...] = getattr(call.op, "results", ()) or tuple(range(count))[-len(call.outputs) :]
    return found


def _elements(call: Call, stated: Expressions = elements) -> Iterator[tuple[Link, Element, Call, dict[str, str]]]:
    """For each value: (link, expression, call of the link, name of a constant in the expression -> in the loop)."""
    k = 0
    for link, inner in zip(links_of(call), calls_of(call), strict=True):
        for j, element in enumerate(stated(link.op, inner)):
            one = replace(inner, outputs=inner.outputs[j : j + 1])
            yield link, element, one, {name: f"{name}_{k}" for name in (*element.fields, *element.limits(one))}
            k += 1


def loop(call: Call, stated: Expressions = elements) -> Loop:
    """The C function of a call, which computes n elements. stated: returns the expressions of a link."""
    kinds = _kinds(call)
    operands = tuple(
        Operand(name, call.input(k).dtype, kinds[k])
        for k, name in enumerate(OPERANDS[: len(call.inputs)])
        if kinds[k] not in ("literal", "table")
    )
    fields: list[tuple[str, str]] = []
    lines: list[Line] = []
    headers: list[str] = []
    values: list[str] = []
    for link, element, inner, names in _elements(call, stated):
        given = [link.operands[j] for j in element.order(inner)]
        texts = [_operand(call, kinds, at) if at >= 0 else values[~at] for at in given]
        renamed = {**dict(zip(OPERANDS, texts, strict=False)), **names}
        more_fields, more_lines = composed(element, inner, renamed, len(lines))
        fields += more_fields
        lines += more_lines
        headers += element.headers
        values.append(lines[-1].name)
    stored = tuple(values[k] for k in results_of(call))
    results = () if stored == (lines[-1].name,) else stored
    return Loop(walk(call), operands, tuple(fields), tuple(lines), tuple(headers), results=results)


def whole_loop(call: Call, stated: Expressions = elements) -> Loop:
    """The C function of a call that `is_flat`, which computes whole tensors."""
    return replace(loop(call, stated), walk=Walk.RUN, size=call.output.size)


def _operand(call: Call, kinds: Sequence[str], k: int) -> str:
    if kinds[k] != "literal":
        return OPERANDS[k]
    value = int(number_of(call.constant(k)))
    return f"{value}u" if call.input(k).dtype == "u32" else literal(value)


def literal(value: int) -> str:
    """The C expression of a 32-bit integer."""
    return f"({value + 1} - 1)" if value == -(2**31) else f"({value})"


def _kinds(call: Call) -> list[str]:
    """For each operand, how the loop reads it: `Operand.kind`, "table", or "literal" for an integer in the C text."""
    tables = {link.operands[k] for link, element, _, _ in _elements(call) for k in element.tables}
    return [_kind(call, k) if k not in tables else "table" for k in range(len(call.inputs))]


def _kind(call: Call, k: int) -> str:
    data = call.constants[k]
    if data is None:
        return "tensor"
    return "vector" if not _is_number(data) else "number" if call.input(k).is_float else "literal"


def walk(call: Call) -> Walk:
    """Whether a loop over n elements must restart constant vectors at each row (VECTOR) or not (RUN)."""
    return Walk.VECTOR if "vector" in _kinds(call) else Walk.RUN


def whole_params(call: Call) -> Params:
    """The struct fields of the loop over whole tensors."""
    found: dict[str, Any] = {}
    for k, kind in enumerate(_kinds(call)):
        if kind == "vector":
            found[OPERANDS[k]] = call.constant(k).reshape(-1)
        elif kind == "number":
            found[OPERANDS[k]] = number_of(call.constant(k))
    for _, element, inner, names in _elements(call):
        found |= {_renamed(field, names): value for field, value in element.constants(inner).items()}
    return found


def params(call: Call) -> Params:
    """The struct fields of the loop over n elements."""
    return {**whole_params(call), **({"run": call.output.shape[-1]} if walk(call) is Walk.VECTOR else {})}


def _renamed(field: str, names: Mapping[str, str]) -> str:
    name, dot, member = field.partition(".")
    return names[name] + dot + member


def is_even(call: Call) -> bool:
    "there is one result, and all elements are computed by the same expression"
    return len(call.outputs) == 1 and not any(element.odd for _, element, _, _ in _elements(call))


def is_flat(call: Call) -> bool:
    "constants are numbers, or have as many elements as the result"
    return walk(call) is Walk.RUN or call.output.size == call.output.shape[-1]


def kernel(symbol: str, short: str = "") -> Kernel:
    """A kernel for operators on vectors: a loop over whole tensors with the operator's C expressions."""
    return Kernel(symbol, Whole(), (expressed,), whole_params, text=Text(generate=whole_loop), short=short)


def expressed(call: Call) -> bool:
    "operands and results are plain integers of one shape, or constants"
    return is_link(call)

"""ElementChain: several elementwise float operators in one loop, applied to each element one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.element import OPERANDS, Element, Line, Loop, Operand, Walk, composed, element_of
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.ir.op import Op
from mcugen.ir.types import TensorType
from mcugen.ops._elementwise import number_of

DTYPE = "f32"


@dataclass(frozen=True)
class Link:
    """An operator of a chain. operands: k for operand k of the chain, ~k for the result of link k."""

    op: Op
    operands: tuple[int, ...]


def is_link(call: Call) -> bool:
    """Whether a call can be a link of a chain.

    It needs float data and a C expression. Each operand must have the result's shape, or be a constant: one number, or
    a vector along the last axis.
    """
    types = [t for t in (*call.inputs, *call.outputs) if t is not None]
    if DTYPE not in call.op.element or len(types) <= len(call.inputs) or any(t.dtype != DTYPE for t in types):
        return False
    computed = [t for t, data in zip(call.inputs, call.constants, strict=True) if t is not None and data is None]
    constants = [data for data in call.constants if data is not None]
    return (
        bool(computed)
        and all(t.shape == call.output.shape for t in computed)
        and all(_is_number(c) or _is_vector(c, call.output) for c in constants)
    )


def _is_number(data: np.ndarray) -> bool:
    return data.size == 1


def _is_vector(data: np.ndarray, y: TensorType) -> bool:
    return data.shape[-1:] == y.shape[-1:] and data.size == data.shape[-1]


def calls_of(call: Call) -> list[Call]:
    """One call for each link of a chain."""
    types: list[TensorType] = []
    found = []
    for link in call.op.links:
        known = [(call.inputs[k], call.constants[k]) if k >= 0 else (types[~k], None) for k in link.operands]
        inputs = tuple(t for t, _ in known)
        types.append(TensorType(call.output.shape, DTYPE))
        constants = tuple(data for _, data in known)
        found.append(
            replace(call, op=link.op, inputs=inputs, outputs=(types[-1],), constants=constants, input_range=())
        )
    return found


def _elements(call: Call) -> Iterator[tuple[int, Element, Call, dict[str, str]]]:
    """For each link: (index, expression, call, name of each of the expression's constants -> its name in the loop)."""
    for k, (link, inner) in enumerate(zip(call.op.links, calls_of(call), strict=True)):
        element = element_of(link.op.element[DTYPE], inner)
        yield k, element, inner, {name: f"{name}_{k}" for name in (*element.fields, *element.limits(inner))}


def _loop(call: Call) -> Loop:
    operands = tuple(Operand(name, DTYPE, _kind(call, k)) for k, name in enumerate(OPERANDS[: len(call.inputs)]))
    fields: list[tuple[str, str]] = []
    lines: list[Line] = []
    headers: list[str] = []
    results: list[str] = []
    for k, element, inner, names in _elements(call):
        given = [call.op.links[k].operands[j] for j in element.order(inner)]
        values = [OPERANDS[at] if at >= 0 else results[~at] for at in given]
        renamed = {**dict(zip(OPERANDS, values, strict=False)), **names}
        more_fields, more_lines = composed(element, inner, renamed, len(lines))
        fields += more_fields
        lines += more_lines
        headers += element.headers
        results.append(lines[-1].name)
    return Loop(_walk(call), operands, tuple(fields), tuple(lines), tuple(headers))


def _kind(call: Call, k: int) -> str:
    data = call.constants[k]
    return "tensor" if data is None else "number" if _is_number(data) else "vector"


def _walk(call: Call) -> Walk:
    return Walk.VECTOR if any(_kind(call, k) == "vector" for k in range(len(call.inputs))) else Walk.RUN


def _params(call: Call) -> Params:
    found: dict[str, Any] = {}
    for k, data in enumerate(call.constants):
        if data is not None:
            found[OPERANDS[k]] = data.reshape(-1) if _kind(call, k) == "vector" else number_of(data)
    for _, element, inner, names in _elements(call):
        found |= {_renamed(field, names): value for field, value in element.constants(inner).items()}
    return found | ({"run": call.output.shape[-1]} if _walk(call) is Walk.VECTOR else {})


def _renamed(field: str, names: Mapping[str, str]) -> str:
    name, dot, member = field.partition(".")
    return names[name] + dot + member


def _count(call: Call) -> int:
    return call.output.size // (call.output.shape[-1] if _walk(call) is Walk.VECTOR else 1)


def _parts(call: Call) -> list[tuple[Kernel, Call]]:
    """The kernels that would run the links one by one."""
    return [(next(k for k in c.op.kernels if not k.refusals(c, frozenset())), c) for c in calls_of(call)]


def _code(call: Call) -> int:
    """Estimated code size in bytes: the function's frame, one instruction per operand, three per line."""
    return 48 + 12 * len(_loop(call).lines) + 4 * len(call.inputs)


def fits(call: Call) -> bool:
    "the chain has at most 8 operands, the number of names in expressions"
    return len(call.inputs) <= len(OPERANDS)


@dataclass(frozen=True)
class ElementChain(Op):
    """The result of the last link. A link is an operator on the chain's operands and on results of earlier links.

    operands, result: f32
    The links run in order. Each result is rounded to float32, so all bits equal those of separate operators.
    Source: none; the pass fuse_elements makes it.
    """

    links: tuple[Link, ...]

    kernels = (
        Kernel(
            "mg_elements_f32",
            Run(_count),
            (fits,),
            _params,
            in_place=tuple(range(len(OPERANDS))),
            text=Text(generate=_loop),
            cost=Cost(parts=_parts, code=_code),
        ),
    )

    def in_words(self, call: Call) -> str:
        """The operators in order, and the shape of the data."""
        return f"{', '.join(type(link.op).__name__ for link in self.links)} of {super().in_words(call)}"

    def infer(self, *inputs: TensorType | None) -> tuple[TensorType, ...]:
        shape = np.broadcast_shapes(*(t.shape for t in inputs if t is not None))
        return (TensorType(tuple(shape), DTYPE),)

    def reference(self, *inputs: np.ndarray) -> np.ndarray:
        results: list[np.ndarray] = []
        with np.errstate(over="ignore"):
            for link in self.links:
                given: Sequence[np.ndarray] = [inputs[k] if k >= 0 else results[~k] for k in link.operands]
                results.append(np.asarray(link.op.reference(*given)).astype(np.float32).astype(np.float64))
        return results[-1]

"""ElementChain: several elementwise operators in one loop, applied to each element one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.element import OPERANDS, Walk
from mcugen.ir.kernel import Cost, Kernel, Run, Text, Whole
from mcugen.ir.op import Op, evaluate
from mcugen.ir.ranges import Range
from mcugen.ir.types import TensorType
from mcugen.ops import _links
from mcugen.ops._links import Link, calls_of


def _count(call: Call) -> int:
    return call.output.size // (call.output.shape[-1] if _links.walk(call) is Walk.VECTOR else 1)


def parts(call: Call) -> list[tuple[Kernel, Call]]:
    """The kernels that would run the links one by one."""
    return [(next(k for k in c.op.kernels if not k.refusals(c, frozenset())), c) for c in calls_of(call)]


def code(call: Call) -> int:
    """Estimated code size in bytes: the function's frame, one instruction per operand, three per line of the loop."""
    return 48 + 12 * len(_links.loop(call).lines) + 4 * len(call.inputs)


def fits(call: Call) -> bool:
    "the chain has at most 8 operands; if elements differ in their expressions, no constant repeats in the result"
    return len(call.inputs) <= len(OPERANDS) and (_links.is_even(call) or _links.is_flat(call))


def is_float(call: Call) -> bool:
    "operands and result are f32"
    return call.output.dtype == "f32"


def is_integer(call: Call) -> bool:
    "operands and results are integers"
    return not call.output.is_float


def of_one_width(call: Call) -> bool:
    "elements of all computed operands have as many bits as elements of the result"
    computed = [t for t, data in zip(call.inputs, call.constants, strict=True) if t is not None and data is None]
    return all(t.bits == call.output.bits for t in computed)


def of_several_widths(call: Call) -> bool:
    "elements of a computed operand and of the result differ in their number of bits"
    return not of_one_width(call)


def is_uneven(call: Call) -> bool:
    "there are several results, or elements with an odd index have another expression"
    return not _links.is_even(call)


_EVERY = tuple(range(len(OPERANDS)))
_RUN = Text(generate=_links.loop)
_COST = Cost(parts=parts, code=code)


@dataclass(frozen=True)
class ElementChain(Op):
    """The result of the last link, or several. A link is an operator on the chain's operands and on earlier values.

    Operands and results are all f32, or all integers without scales.
    results: indices of the links' values that are results; () for the last value
    The links run in order. Each float is rounded to float32, so all bits equal those of separate operators.
    Source: none; the pass fuse_elements makes it.
    """

    links: tuple[Link, ...]
    results: tuple[int, ...] = ()

    kernels = (
        Kernel("mg_elements_f32", Run(_count), (is_float, fits), _links.params, in_place=_EVERY, text=_RUN, cost=_COST),
        Kernel(
            "mg_elements_alike",
            Run(_count),
            (is_integer, fits, _links.is_even, of_one_width),
            _links.params,
            in_place=_EVERY,
            text=_RUN,
            cost=_COST,
        ),
        Kernel(
            "mg_elements_mixed",
            Run(_count),
            (is_integer, fits, _links.is_even, of_several_widths),
            _links.params,
            text=_RUN,
            cost=_COST,
        ),
        Kernel(
            "mg_elements_whole",
            Whole(),
            (is_integer, fits, is_uneven),
            _links.whole_params,
            text=Text(generate=_links.whole_loop),
            cost=_COST,
        ),
    )

    def in_words(self, call: Call) -> str:
        """The operators in order, and the shape of the data."""
        return f"{', '.join(type(link.op).__name__ for link in self.links)} of {super().in_words(call)}"

    def infer(self, *inputs: TensorType | None) -> tuple[TensorType, ...]:
        values: list[TensorType] = []
        for link in self.links:
            found = link.op.infer(*(inputs[k] if k >= 0 else values[~k] for k in link.operands))
            values += [TensorType(t.shape, t.dtype) for t in found]
        return tuple(values[k] for k in self.results or (-1,))

    def reference(self, *inputs: np.ndarray) -> np.ndarray:
        values: list[np.ndarray] = []
        with np.errstate(over="ignore"):
            for link in self.links:
                given = [inputs[k] if k >= 0 else values[~k] for k in link.operands]
                values.append(np.asarray(link.op.reference(*given)).astype(np.float32).astype(np.float64))
        return values[-1]

    def reference_q(self, call: Call, *inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        values: list[np.ndarray] = []
        for link, inner in zip(self.links, calls_of(call), strict=True):
            values += evaluate(inner, [inputs[k] if k >= 0 else values[~k] for k in link.operands])
        return tuple(values[k] for k in _links.results_of(call))

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        values = [found for inner in calls_of(call) for found in inner.op.bounds(inner)]
        return tuple(values[k] for k in _links.results_of(call))

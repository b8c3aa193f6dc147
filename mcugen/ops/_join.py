"""Shared recipe of operators that join or split tensors along an axis.

In memory a joined tensor repeats `outer` times: some contiguous bytes of part 0, some of part 1, and so on. Kernels
take one pointer per part, so each number of parts has its own C function. If `outer` is 1, each part is contiguous and
a pass can store it inside the joined tensor; the operator then needs no code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel import Alias, Cost, Join, Kernel, Run, Text, Whole
from mcugen.ir.types import Shape, TensorType
from mcugen.ops import _strided

MAX_PARTS = 12


def outer_of(shape: Shape, axis: int) -> int:
    """How often the parts alternate in a tensor of this shape joined along `axis`: the product of sizes before it."""
    return int(np.prod(shape[:axis], dtype=np.int64))


def runs(parts: Sequence[Shape], outer: int, element_bytes: int) -> np.ndarray:
    """Number of contiguous bytes of each part in one of the `outer` repetitions, u32 [parts]."""
    return np.array([int(np.prod(s, dtype=np.int64)) // outer * element_bytes for s in parts], np.uint32)


def in_place(call: Call) -> bool:
    "a pass has stored the parts inside the joined tensor"
    return bool(getattr(call.op, "in_place", False))


def nothing_constant(call: Call) -> bool:
    "no part is constant"
    return all(data is None for data in call.constants)


def _starts(parts: Sequence[TensorType | None]) -> list[int]:
    """The byte offset of each part in the joined tensor."""
    sizes = [0 if t is None else t.nbytes for t in parts]
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def joined_starts(call: Call) -> list[int]:
    """The byte offset of each operand in the result."""
    return _starts(call.inputs)


def parts_starts(call: Call) -> list[int]:
    """The byte offset of each result in the operand."""
    return _starts(call.outputs)


JOINED = Kernel("", Join(joined_starts), accepts=(in_place, nothing_constant))
PARTED = Kernel("", Alias(parts_starts), accepts=(in_place, nothing_constant))


def comes_once(outer: Callable[[Call], int]) -> Rule:
    """A rule: `outer` returns 1 for the call, so each part is contiguous in the joined tensor."""

    def rule(call: Call) -> bool:
        "each part is contiguous in the joined tensor"
        return outer(call) == 1

    return rule


def parts_are(count: int, parts: Callable[[Call], int]) -> Rule:
    """A rule: the call has `count` parts."""

    def rule(call: Call) -> bool:
        return parts(call) == count

    rule.__doc__ = f"the number of parts is {count}"
    return rule


def join_kernels(
    contract: str,
    accepts: Sequence[Rule],
    in_rows: Rule,
    params: Callable[[Call], Params],
    count: Callable[[Call], int],
) -> tuple[Kernel, ...]:
    """A kernel without code for parts stored in place, then two for each number of operands: by rows, and whole.

    in_rows: the rule for running row by row. count: returns the number of repetitions `outer` of a call.
    """
    found = [JOINED.ruled(comes_once(count))]
    for k in range(1, MAX_PARTS + 1):
        rules = (_strided.has_c_type, *accepts, parts_are(k, lambda call: len(call.inputs)))
        operands, source = tuple(range(k)), f"{contract.removeprefix('mg_')}.c"
        found += [
            Kernel(
                f"{contract}__{k}",
                Run(count),
                accepts=(*rules, in_rows),
                params=params,
                operands=operands,
                text=Text(source=source),
            ),
            Kernel(
                f"{contract}__whole_{k}",
                Whole(),
                accepts=rules,
                params=params,
                operands=operands,
                text=Text(source=source),
            ),
        ]
    return tuple(found)


def split_kernels(params: Callable[[Call], Params], outer: Callable[[Call], int]) -> tuple[Kernel, ...]:
    """A kernel without code for parts stored in place, then one for each number of results.

    outer: returns the number of repetitions in the operand of a call.
    """

    def work(call: Call) -> dict[str, float]:
        times = outer(call)
        return _strided.moved([y.nbytes // times for y in call.outputs], times)

    moving = (
        Kernel(
            f"mg_split__{k}",
            Whole(),
            accepts=(_strided.has_c_type, parts_are(k, lambda call: len(call.outputs))),
            params=params,
            text=Text(source="split.c"),
            cost=Cost(work, _strided.MOVED),
        )
        for k in range(1, MAX_PARTS + 1)
    )
    return (PARTED, *moving)

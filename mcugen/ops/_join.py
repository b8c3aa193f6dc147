"""Shared recipe of operators that join or split tensors: interleaved runs of bytes.

A joined tensor is `outer` times the runs of its parts, one after the other. C has no argument lists of open length
here, so there is a function for each number of parts. Where `outer` is 1 the parts may lie in the joined tensor: then
nothing moves, and there is no code.
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
    """The number of repetitions of the runs in a tensor joined along `axis`."""
    return int(np.prod(shape[:axis], dtype=np.int64))


def runs(parts: Sequence[Shape], outer: int, element_bytes: int) -> np.ndarray:
    """Bytes of one run of each part."""
    return np.array([int(np.prod(s, dtype=np.int64)) // outer * element_bytes for s in parts], np.uint32)


def in_place(call: Call) -> bool:
    "a pass has placed the parts inside the joined tensor"
    return bool(getattr(call.op, "in_place", False))


def nothing_constant(call: Call) -> bool:
    "no part is constant"
    return all(data is None for data in call.constants)


def _starts(parts: Sequence[TensorType | None]) -> list[int]:
    """Where each part starts in the joined tensor, in bytes."""
    sizes = [0 if t is None else t.nbytes for t in parts]
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def joined_starts(call: Call) -> list[int]:
    """Where each operand starts in the result, in bytes."""
    return _starts(call.inputs)


def parts_starts(call: Call) -> list[int]:
    """Where each result starts in the operand, in bytes."""
    return _starts(call.outputs)


JOINED = Kernel("", Join(joined_starts), accepts=(in_place, nothing_constant))
PARTED = Kernel("", Alias(parts_starts), accepts=(in_place, nothing_constant))


def comes_once(outer: Callable[[Call], int]) -> Rule:
    """A rule: the runs of the parts come once each."""

    def rule(call: Call) -> bool:
        "the parts follow each other in one piece"
        return outer(call) == 1

    return rule


def parts_are(count: int, parts: Callable[[Call], int]) -> Rule:
    """A rule: there are `count` parts."""

    def rule(call: Call) -> bool:
        return parts(call) == count

    rule.__doc__ = f"{count} tensors are joined or taken apart"
    return rule


def join_kernels(
    contract: str,
    accepts: Sequence[Rule],
    in_rows: Rule,
    params: Callable[[Call], Params],
    count: Callable[[Call], int],
) -> tuple[Kernel, ...]:
    """A kernel without code, and for each number of operands one that joins rows, and a whole one."""
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
    """A kernel without code, and one for each number of results."""

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

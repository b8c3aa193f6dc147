"""Shared recipe of operators that join tensors or take them apart: runs of bytes, interleaved.

A joined tensor is `outer` times the runs of its parts, one after the other. C has no argument lists of open length
here, so there is a function for each number of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcugen.op import Call, Form, Kernel, Params, Rule
from mcugen.ops import _strided
from mcugen.types import Shape

MAX_PARTS = 12


def outer_of(shape: Shape, axis: int) -> int:
    """How often the runs of a tensor joined along `axis` repeat."""
    return int(np.prod(shape[:axis], dtype=np.int64))


def runs(parts: Sequence[Shape], outer: int, element_bytes: int) -> np.ndarray:
    """Bytes of one run of each part."""
    return np.array([int(np.prod(s, dtype=np.int64)) // outer * element_bytes for s in parts], np.uint32)


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
    """A pointwise kernel, where rows are joined one by one, and a whole one, for each number of operands."""
    found: list[Kernel] = []
    for k in range(1, MAX_PARTS + 1):
        rules = (_strided.has_c_type, *accepts, parts_are(k, lambda call: len(call.inputs)))
        operands, source = tuple(range(k)), f"{contract.removeprefix('mg_')}.c"
        found += [
            Kernel(
                f"{contract}__{k}",
                Form.POINTWISE,
                accepts=(*rules, in_rows),
                params=params,
                count=count,
                operands=operands,
                source=source,
            ),
            Kernel(
                f"{contract}__whole_{k}", Form.WHOLE, accepts=rules, params=params, operands=operands, source=source
            ),
        ]
    return tuple(found)


def split_kernels(params: Callable[[Call], Params]) -> tuple[Kernel, ...]:
    """A kernel for each number of results."""
    return tuple(
        Kernel(
            f"mg_split__{k}",
            Form.WHOLE,
            accepts=(_strided.has_c_type, parts_are(k, lambda call: len(call.outputs))),
            params=params,
            source="split.c",
        )
        for k in range(1, MAX_PARTS + 1)
    )

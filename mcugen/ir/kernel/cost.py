"""The cost of kernels: the work of a call, from which its cycles are estimated, and the size of its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcugen.ir.call import Call

if TYPE_CHECKING:
    from mcugen.ir.kernel import Kernel


@dataclass(frozen=True)
class Cost:
    """The work of a call and the size of its code, as the kernel states them for estimates.

    work        counts that a call's cycles depend on, in addition to those of `mcugen/solve/costs.py`: name -> number,
                0 if left out
    terms       the names of these counts
    converting  the names of counts that grow with the rows that a ring kernel converts
    parts       kernels with their calls, if the function does the work of several in one loop
    code        code size of this call's copy in bytes; None: the mean measured by ci/fit
    code_is_data  whether the code holds the model's constants, as comparisons with thresholds do: `speed` and `flash`
                treat it as constants, not as code
    """

    work: Callable[[Call], Mapping[str, float]] | None = None
    terms: tuple[str, ...] = ()
    converting: tuple[str, ...] = ()
    parts: Callable[[Call], Sequence[tuple[Kernel, Call]]] | None = None
    code: Callable[[Call], int] | None = None
    code_is_data: bool = False

"""Recurrent layers that round their state to integers before each step, on the states of another computation.

A state next to a tie may be rounded to either integer by two computations that differ in its last bit. From then on
their results differ by far more. Starting each step from the other computation's state removes that difference.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.op import Op


@singledispatch
def of_call(op: Op, call: Call, y: np.ndarray, *inputs: np.ndarray | None) -> tuple[np.ndarray, ...] | None:
    """The outputs of a layer, or None for operators that round no state.

    y: the other computation's first output [T, B, H]. Step t starts from the state y[t - 1].
    Recurrent layers register their function in their own file.
    """
    return None

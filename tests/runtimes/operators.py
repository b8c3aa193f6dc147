# SPDX-License-Identifier: Apache-2.0
"""Random one-operator models: every operator that mcugen imports, in every element type that it claims."""

from __future__ import annotations

from tests.runtimes import calling, choosing, computing, further, moving, recurrent, weighing
from tests.runtimes.sketch import Drawn, Sketch

OPERATORS = computing.OPERATORS | moving.OPERATORS | weighing.OPERATORS | recurrent.OPERATORS | calling.OPERATORS
OPERATORS |= choosing.OPERATORS | further.OPERATORS
KINDS = tuple((name, dtype) for name, (dtypes, _) in sorted(OPERATORS.items()) for dtype in dtypes)
"""Every (operator, element type)."""


def draw(name: str, dtype: str, seed: int) -> Drawn:
    """The model of this seed: always the same."""
    sketch = Sketch(f"{name} {dtype} {seed}", dtype)
    OPERATORS[name][1](sketch)
    return sketch.drawn()

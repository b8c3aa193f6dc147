"""The arrays of `--selftest`: one input and the outputs the oracle computes from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcugen import reference
from mcugen.emit.literals import C_TYPES, array_lines, float32
from mcugen.graph import Graph
from mcugen.reference.inputs import draw
from mcugen.types import NUMPY_DTYPES

TOLERANCE = 1e-4
"""Of the largest magnitude of a float output: another core's order of sums and libm may differ by this much."""


@dataclass(frozen=True)
class SelftestArray:
    symbol: str
    c_type: str
    length: int
    lines: list[str]


def arrays(imported: Graph, which: str) -> tuple[list[SelftestArray], list[str]]:
    """The constants of the self-test, and the tolerance of each output as C text."""
    inputs = draw(imported, 0)
    values = reference.run(imported, inputs, which)
    outputs = [values[name] for name in imported.outputs]
    found = [_array(f"selftest_in{k}", a) for k, a in enumerate(inputs)]
    found += [_array(f"selftest_out{k}", a) for k, a in enumerate(outputs)]
    return found, [float32(TOLERANCE * max(float(np.abs(a).max(initial=0)), 1e-30)) for a in outputs]


def nbytes(imported: Graph) -> int:
    """Bytes of constants that the self-test brings."""
    return sum(imported.type(name).nbytes for name in (*imported.inputs, *imported.outputs))


def _array(symbol: str, data: np.ndarray) -> SelftestArray:
    name = next(name for name, dtype in NUMPY_DTYPES.items() if dtype == data.dtype)
    return SelftestArray(symbol, C_TYPES[name], data.size, array_lines(data))

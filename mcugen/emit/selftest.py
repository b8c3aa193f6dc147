"""Arrays for `--selftest`: one input, and the outputs that the oracle computes from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.emit.literals import C_TYPES, array_text, float32
from mcugen.emit.model_parts import SamplesView
from mcugen.emit.view import ModelView
from mcugen.ir.graph import Graph
from mcugen.ir.types import DTYPE_NAMES
from mcugen.oracle import interpreter, near_ties
from mcugen.oracle.stimuli import draw, overlapping
from mcugen.oracle.streaming import pushes

TOLERANCE = 1e-4
"""Allowed error, relative to a float output's largest magnitude. Order of sums and libm differ between cores."""


@dataclass(frozen=True)
class SelftestArray:
    symbol: str
    c_type: str
    length: int
    data: np.ndarray

    @property
    def text(self) -> Iterator[str]:
        """The elements as pieces of C text."""
        return array_text(self.data)


SEEDS = 8
"""Number of random inputs from which the self-test's input is chosen."""
RUNS = 3
"""Runs in the self-test of a model with states. Each continues from the state that the previous run left."""


def arrays(imported: Graph, view: ModelView) -> tuple[list[SelftestArray], list[str]]:
    """The constants of the self-test, and the tolerance of each output as C text.

    For a model with states, arrays hold all runs, one after the other. If frames are pushed, overlapping input windows
    are stored as one sequence of frames. A stream of samples ends with the first decision.
    """
    if view.samples:
        return _of_samples(imported, view.samples, view.reference)
    first = _least_doubtful(imported, view.reference)
    calls = [draw(imported, seed) for seed in range(first, first + (RUNS if imported.states else 1))]
    streams = view.push.input if view.streams and view.push else None
    calls = calls if streams is None else overlapping(calls, streams)
    values = list(interpreter.runs(imported, calls, view.reference))
    outputs = [np.stack([v[name] for v in values]) for name in imported.outputs]
    inputs = [[call[k] for call in calls] for k in range(len(imported.inputs))]
    found = [_array(f"selftest_in{k}", _frames(a) if k == streams else np.stack(a)) for k, a in enumerate(inputs)]
    found += [_array(f"selftest_out{k}", a) for k, a in enumerate(outputs)]
    return found, [_tolerance(a) for a in outputs]


def _of_samples(imported: Graph, samples: SamplesView, which: str) -> tuple[list[SelftestArray], list[str]]:
    """The samples of a first decision, and its outputs."""
    calls = -(-samples.first // samples.size)
    given = np.concatenate([draw(imported, seed)[0].reshape(-1) for seed in range(calls)])[: samples.first]
    (push,) = pushes(imported, [given], which)
    outputs = [push.values[name] for name in imported.outputs]
    found = [_array("selftest_in0", given), *(_array(f"selftest_out{k}", a) for k, a in enumerate(outputs))]
    return found, [_tolerance(a) for a in outputs]


def _tolerance(outputs: np.ndarray) -> str:
    """The tolerance of an output as C text."""
    return float32(TOLERANCE * max(float(np.abs(outputs).max(initial=0)), 1e-30))


def computes_floats(imported: Graph) -> bool:
    """Whether some operator computes floats from floats, so that fused multiply-add would change results."""
    return any(
        imported.type(y).is_float and any(x is not None and imported.type(x).is_float for x in node.inputs)
        for node in imported.nodes
        for y in node.outputs
    )


def _least_doubtful(imported: Graph, which: str) -> int:
    """Seed of the input whose floats are farthest from rounding ties. Near a tie, a last bit would change an
    integer.
    """
    if not any(node.op.exact_floats for node in imported.nodes):
        return 0

    def distance(seed: int) -> float:
        values = interpreter.run(imported, draw(imported, seed), which)
        return min((flip.distance for _, flip in near_ties.of_run(imported, values, which)), default=1.0)

    return max(range(SEEDS), key=distance)


def _frames(windows: Sequence[np.ndarray]) -> np.ndarray:
    """The frames of overlapping windows, each frame once."""
    return np.concatenate([windows[0], *(window[:, -1:] for window in windows[1:])], axis=1)


def nbytes(imported: Graph, view: ModelView) -> int:
    """Bytes of the self-test's constants."""
    if view.samples:
        return view.request_bytes + sum(end.nbytes for end in view.outputs)
    further = RUNS - 1 if imported.states else 0
    shared = imported.type(imported.inputs[view.push.input]).nbytes - view.push.row_nbytes if view.push else 0
    ends = sum(imported.type(name).nbytes for name in (*imported.inputs, *imported.outputs))
    return (1 + further) * ends - (further * shared if view.streams else 0)


def _array(symbol: str, data: np.ndarray) -> SelftestArray:
    name = DTYPE_NAMES[data.dtype]
    return SelftestArray(symbol, C_TYPES[name], data.size, data)

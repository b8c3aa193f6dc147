"""Compares the oracle of an integer model with a recording of real numbers, from a simulation in float that rounds.

No runtime computes the integers of such formats (NNEF). Each operator of the oracle is compared with its real-valued
meaning on the same operands, rounded to the steps of its result; the two lie within one step. The outputs are compared
with the recording, where the steps of several operators may add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import evaluate
from mcugen.ir.types import TensorType


@dataclass
class Simulated:
    """Counts for operators, and for outputs: values, values that are off, and the largest difference in steps.

    operators: number of operators that round. agrees: no operator is off by more than one step, and no output by more
    than one step per operator.
    """

    operators: int
    values: int = 0
    apart: int = 0
    furthest: int = 0
    outputs: int = 0
    outputs_apart: int = 0
    outputs_furthest: int = 0
    first: str = ""
    faults: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return self.furthest <= 1 and self.outputs_furthest <= max(self.operators, 1) and not self.faults

    def note(self, node: Node, steps: np.ndarray) -> None:
        """Count one result of an operator. steps: distance of each value from the rounded exact value, in steps."""
        self.values += steps.size
        self.apart += int((steps != 0).sum())
        self.furthest = max(self.furthest, int(steps.max(initial=0)))
        if steps.max(initial=0) > 1 and not self.first:
            self.first = f"{node.source}: {int(steps.max())} steps from its meaning"

    def note_output(self, steps: np.ndarray) -> None:
        """Count one output against the recording. steps: distance of each value, in steps."""
        self.outputs += steps.size
        self.outputs_apart += int((steps != 0).sum())
        self.outputs_furthest = max(self.outputs_furthest, int(steps.max(initial=0)))

    def __str__(self) -> str:
        text = (
            f"{self.apart:,} of {self.values:,} values of {self.operators} operators are a step from the rounded real "
            f"value; {self.outputs_apart} of {self.outputs} outputs are up to {self.outputs_furthest} steps from the "
            "recorded simulation"
        )
        return f"{text}; {self.first}" if self.first else text


def is_stored(t: TensorType, recorded: np.ndarray) -> bool:
    """Whether a recording has the real values of an integer tensor."""
    return recorded.dtype.kind == "f" and not t.is_float and t.quant is not None and not t.quant.per_channel


def steps_of(t: TensorType, real: np.ndarray) -> np.ndarray:
    """Real numbers as stored integers: rounded half to even, and clamped to the type."""
    low, high = t.limits
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.nan_to_num(np.rint(np.asarray(real, np.float64) / t.scale)) + t.zero_point
    return np.asarray(np.clip(steps, low, high).astype(t.np_dtype))


def start(graph: Graph) -> Simulated:
    """Counts that are all zero."""
    return Simulated(sum(_rounds(graph, node) for node in graph.nodes))


def check(found: Simulated, graph: Graph, values: Mapping[str, np.ndarray], which: str) -> None:
    """Compare each operator that rounds with its meaning on the oracle's operands."""
    for node in graph.nodes:
        if not _rounds(graph, node):
            continue
        call = graph.call(node, which)
        operands = [None if n is None else _real(graph.type(n), values[n]) for n in node.inputs]
        real = node.op.reference(*operands)
        results = real if isinstance(real, tuple) else (real,)
        again = evaluate(call, [None if n is None else values[n] for n in node.inputs])
        for t, wanted, got in zip(call.outputs, results, again, strict=True):
            rounded = steps_of(t, np.asarray(wanted).reshape(t.shape)).astype(np.int64)
            found.note(node, np.abs(rounded - got.astype(np.int64)))


def _rounds(graph: Graph, node: Node) -> bool:
    """Whether an operator rounds to the steps of its results."""
    types = [graph.type(name) for name in node.outputs]
    return not node.op.only_moves and all(not t.is_float and t.quant and not t.quant.per_channel for t in types)


def _real(t: TensorType, stored: np.ndarray) -> np.ndarray:
    if t.quant is None:
        return stored.astype(np.float64)
    along = [1] * stored.ndim
    if t.quant.per_channel:
        along[t.quant.axis] = -1
    scale, zero = (np.array(v).reshape(along) for v in (t.quant.scale, t.quant.zero_point))
    return np.asarray(scale * (stored.astype(np.float64) - zero))

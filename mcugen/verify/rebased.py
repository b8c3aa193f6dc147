"""Oracle values computed from the C's own operands, operator by operator.

If a network rounds floats to integers at run time, the last bit of a float may move a result by a whole step, in the C
as in any other computation. In such a network each operator is compared on its actual operands, and each step of a
recurrent layer on its actual state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mcugen.ir.graph import Graph, Origin
from mcugen.oracle import actual_states, interpreter
from mcugen.pipeline import Artifact
from mcugen.verify.runs import OracleRun, Start


def is_needed(graph: Graph) -> bool:
    """Whether a graph rounds floats to integers, so that results are repeatable only for equal operands."""
    return any(node.op.exact_floats for node in graph.nodes)


def run(
    graph: Graph,
    inputs: Sequence[np.ndarray],
    reference: str,
    states: Mapping[str, np.ndarray] | None,
    seen: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Every tensor of a graph, as from `interpreter.run`, computed from results of other code. seen: these results.

    Each step of a recurrent layer that rounds its state starts from the state in `seen`.
    """
    values = interpreter.run(graph, inputs, reference, states, seen)
    for node in graph.nodes:
        if (y := seen.get(node.outputs[0])) is not None:
            operands = [None if name is None else seen.get(name, values[name]) for name in node.inputs]
            with np.errstate(all="ignore"):
                outputs = actual_states.of_call(node.op, graph.call(node, reference), y, *operands)
            values |= zip(node.outputs, outputs, strict=True) if outputs is not None else {}
    return values


class Rebased:
    """The oracle for the runs of one case, computed on the C's own operands."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._states: dict[str, np.ndarray] | None = None

    def oracle(self, given: OracleRun, computed: Iterable[tuple[int, str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Every imported tensor of a run. computed: the C's tensors in this run."""
        graph = self._artifact.imported
        seen = self._seen(computed)
        states = self._states if given.start == Start.GO_ON else None
        values = run(graph, given.inputs, self._artifact.view.reference, states, seen)
        self._states = {s.before: seen.get(s.after, values[s.after]) for s in graph.states}
        return values

    def _seen(self, computed: Iterable[tuple[int, str, np.ndarray]]) -> Mapping[str, np.ndarray]:
        """The imported tensors that are in memory as a whole."""
        found: dict[str, np.ndarray] = {}
        for step, name, array in computed:
            origin = self._artifact.graph.tensors[name].origin or Origin(name)
            t = self._artifact.imported.type(origin.tensor)
            value = origin.imported(array, t.shape) if step >= 0 else None
            if value is not None:
                found[origin.tensor] = value.astype(t.np_dtype) if t.is_float else value
        return found

"""Oracle values computed from the operands that the C has made, operator by operator.

Where a network rounds floats to integers at run time, the last bit of a float may move a result by a whole step, in the
C as in any other computation. There each operator is compared on the operands that it had, and each step of a recurrent
layer on the state that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mcugen.ir.graph import Graph, Node, Origin
from mcugen.oracle import actual_states, interpreter
from mcugen.pipeline import Artifact
from mcugen.verify.runs import OracleRun, Start


def is_needed(graph: Graph) -> bool:
    """Whether a graph rounds floats to integers, so that results repeat only for equal operands."""
    return any(node.op.exact_floats for node in graph.nodes)


class Rebased:
    """The oracle of one case's runs, on the C's own operands."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._states: dict[str, np.ndarray] | None = None

    def oracle(self, run: OracleRun, computed: Iterable[tuple[int, str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Every imported tensor of a run, from the C's tensors in it."""
        graph = self._artifact.imported
        seen = self._seen(computed)
        states = self._states if run.start == Start.GO_ON else None
        values = interpreter.run(graph, run.inputs, self._artifact.view.reference, states, seen)
        for node in graph.nodes:
            values |= self._on_actual_states(node, values, seen)
        self._states = {s.before: seen.get(s.after, values[s.after]) for s in graph.states}
        return values

    def _on_actual_states(
        self, node: Node, values: Mapping[str, np.ndarray], seen: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """The outputs of a recurrent layer that rounds its state, each step from the C's state; {} for other nodes."""
        if node.outputs[0] not in seen:
            return {}
        operands = [None if name is None else seen.get(name, values[name]) for name in node.inputs]
        call = self._artifact.imported.call(node, self._artifact.view.reference)
        with np.errstate(all="ignore"):
            outputs = actual_states.of_call(node.op, call, seen[node.outputs[0]], *operands)
        return dict(zip(node.outputs, outputs, strict=True)) if outputs is not None else {}

    def _seen(self, computed: Iterable[tuple[int, str, np.ndarray]]) -> Mapping[str, np.ndarray]:
        """The imported tensors that are whole in memory."""
        found: dict[str, np.ndarray] = {}
        for step, name, array in computed:
            origin = self._artifact.graph.tensors[name].origin or Origin(name)
            t = self._artifact.imported.type(origin.tensor)
            value = origin.imported(array, t.shape) if step >= 0 else None
            if value is not None:
                found[origin.tensor] = value.astype(t.np_dtype) if t.is_float else value
        return found

"""The float network on the samples: its values, stored if they fit in memory, else computed again for each use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mcugen.errors import UnsupportedError, UsageError
from mcugen.ir.graph import Graph
from mcugen.ir.quant_rule import Bounds
from mcugen.ops._activation import clamp_of, unclamped
from mcugen.ops.div import Div
from mcugen.ops.element_function import ElementFunction
from mcugen.quantize import batch_evaluation
from mcugen.quantize.activation_ranges import Observed, observed
from mcugen.quantize.older import Older
from mcugen.quantize.recurrent_weights import Reach, Trace, initial_state, integer_form, is_recurrent, trace_of

KEPT_BYTES = 1 << 30
_POINTS = 257
"""Number of points at which a function of a tensor is tried: the ends of steps of 8 bits."""


@dataclass
class FloatRun:
    """A float graph on samples.

    which: indices of the samples used; None: all. overrides: tensor -> range set by the user. older: the quantized
    model whose generated code must run the new network, too; None if new code will be generated.
    """

    graph: Graph
    reference: str
    inputs: tuple[np.ndarray, ...]
    which: np.ndarray | None = None
    overrides: Mapping[str, Bounds] = field(default_factory=dict)
    older: Older | None = None
    _kept: dict[str, np.ndarray] = field(default_factory=dict)
    _observed: dict[str, Observed] = field(default_factory=dict)
    _reach: dict[str, Reach] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.inputs[0]) if self.which is None else len(self.which)

    def part(self, which: np.ndarray) -> FloatRun:
        """This network on some of the samples. Values that were computed before are not computed again."""
        return FloatRun(self.graph, self.reference, self.inputs, which, self.overrides, self.older, self._kept)

    def first(self, count: int) -> FloatRun:
        """The network on the first samples, whose values may fit in memory even if the values of all samples do not."""
        if count == self.count:
            return self
        if self._keeps:
            return self.part(np.arange(count))
        return FloatRun(
            self.graph, self.reference, tuple(a[:count] for a in self.given()), None, self.overrides, self.older
        )

    def given(self) -> tuple[np.ndarray, ...]:
        """Inputs of the samples in use."""
        return self.inputs if self.which is None else tuple(array[self.which] for array in self.inputs)

    def walk(self) -> FloatWalk:
        """New evaluation of the nodes in order."""
        return FloatWalk(self, self._keeps)

    @property
    def _keeps(self) -> bool:
        """Whether all values of all samples fit in the memory limit."""
        sizes = (self.graph.type(name).nbytes for node in self.graph.nodes for name in node.outputs)
        return sum(sizes) * len(self.inputs[0]) <= KEPT_BYTES

    def observed(self) -> dict[str, Observed]:
        """Statistics of every computed float tensor, inputs included."""
        if not self._observed:
            walk = self.walk()
            found = {name: observed(walk.value(name)) for name in self.graph.inputs}
            reach: dict[str, Reach] = {}
            for index, node in enumerate(self.graph.nodes):
                walk.step(index)
                for name in node.outputs:
                    if self.graph.type(name).is_float:
                        found[name] = observed(walk.value(name))
                trace = walk.trace(index)
                if trace is not None:
                    reach[node.name] = trace.reach
                walk.forget(index)
            self._reach = reach
            self._observed = found  # one assignment: workers of a cluster may have several threads
        return self._observed

    def reaches(self) -> Mapping[str, Reach]:
        """Recurrent layer -> the largest magnitudes inside it."""
        self.observed()
        return self._reach

    def outputs(self) -> tuple[np.ndarray, ...]:
        """The outputs for every sample."""
        walk = self.walk()
        for index in range(len(self.graph.nodes)):
            walk.step(index)
            walk.forget(index)
        return tuple(walk.value(name) for name in self.graph.outputs)


def require_finite(floats: FloatRun) -> None:
    """Raise UsageError if the network computes infinities or NaN from its samples."""
    with np.errstate(over="ignore", invalid="ignore"):
        seen = floats.observed()
    for name, values in seen.items():
        if not np.isfinite((values.low, values.high)).all():
            label = floats.graph.tensors[name].label or name
            reach = max(float(np.abs(a).max()) for a in floats.given())
            raise UsageError(
                f"{label}: the float model computes infinities or NaN from these samples, which reach {reach:.4g}",
                where="--data",
                hint="scale the samples as for training; if they are, the model itself exceeds float32",
            )


def require_bounded(floats: FloatRun) -> None:
    """Raise UnsupportedError if a function or a quotient is infinite within the range seen of its operand."""
    for node in floats.graph.nodes:
        if not isinstance(node.op, Div | ElementFunction):
            continue
        at = 1 if isinstance(node.op, Div) else 0
        name = str(node.inputs[at])
        low, high = (getattr(floats.observed()[name], end) for end in ("low", "high"))
        points = np.append(np.linspace(low, high, _POINTS), [0.0] if low < 0 < high else [])
        with np.errstate(all="ignore"):
            values = node.op.reference(points) if isinstance(node.op, ElementFunction) else 1 / points
        if not np.isfinite(values).all():
            label = floats.graph.tensors[node.outputs[0]].label or node.outputs[0]
            what = "the divisor" if at else "the operand"
            raise UnsupportedError(
                f"{label}: {what} was seen from {low:.4g} to {high:.4g}, where the result is infinite or no number",
                where=node.source,
                hint="add a small constant to it, or clamp it, before the model is trained and exported",
            )


def require_stored_states(floats: FloatRun) -> None:
    """Raise UnsupportedError if an initial state of a recurrent layer exceeds what the layer's integer form stores."""
    for node in filter(is_recurrent, floats.graph.nodes):
        widest = integer_form(node.op, floats.reaches()[node.name]).widest_state
        name = initial_state(node)
        data = floats.graph.tensors[name].data
        seen = floats.observed()[name] if data is None else observed(data)
        reach = max(abs(seen.low), abs(seen.high))
        if reach > widest:
            raise UnsupportedError(
                f"an initial state reaches {reach:.3g}, but states are stored from {-widest:g} to {widest:g}",
                where=f"{type(node.op).__name__} ({node.source})",
                hint="keep the model in floats, or begin from states that the layer can reach",
            )


class FloatWalk:
    """Evaluation of the nodes, in order. Results are available before their fused activation (`sums`) and after it
    (`value`).
    """

    def __init__(self, floats: FloatRun, keeps: bool) -> None:
        self._graph, self._reference = floats.graph, floats.reference
        self._which, self._keeps = floats.which, keeps
        self._sums = floats._kept if keeps else {}
        given = zip(self._graph.inputs, floats.inputs, strict=True)
        self._given = {name: array if self._which is None else array[self._which] for name, array in given}
        self._all = dict(zip(self._graph.inputs, floats.inputs, strict=True)) if keeps else self._given
        self._clamps = {node.outputs[0]: clamp_of(node.op) for node in self._graph.nodes}
        last = {name: k for k, node in enumerate(self._graph.nodes) for name in node.inputs if name is not None}
        self._last = {n: k for n, k in last.items() if n not in self._graph.outputs}

    def step(self, index: int) -> None:
        """Compute a node, unless its result is stored."""
        node = self._graph.nodes[index]
        if node.outputs[0] in self._sums:
            return
        call = self._graph.call(node, self._reference)
        if self._clamps[node.outputs[0]] is not None:
            call = replace(call, op=unclamped(call.op))
        operands = [None if name is None else self._operand(name) for name in node.inputs]
        found = batch_evaluation.results(call, operands)
        self._sums.update(zip(node.outputs, found, strict=True))

    def sums(self, name: str) -> np.ndarray:
        """The values of a node's result before its fused activation."""
        found = self._sums[name]
        return found[self._which] if self._keeps and self._which is not None else found

    def value(self, name: str) -> np.ndarray:
        """The values of a computed tensor."""
        return self._given[name] if name in self._given else self._clamped(name, self.sums(name))

    def trace(self, index: int) -> Trace | None:
        """The inside of a recurrent layer that was computed; None for other nodes."""
        node = self._graph.nodes[index]
        if not is_recurrent(node):
            return None
        data = [self._graph.tensors[str(name)].data for name in node.inputs]
        operands = [self.value(str(n)) if d is None else d for n, d in zip(node.inputs, data, strict=True)]
        return trace_of(node, operands, [d is not None for d in data], self.value(node.outputs[0]))

    def forget(self, index: int) -> None:
        """Drop values that no later node reads, unless values are stored."""
        node = self._graph.nodes[index]
        for name in () if self._keeps else (*node.inputs, *node.outputs):
            if name is not None and name not in self._graph.outputs and self._last.get(name, index) == index:
                self._sums.pop(name, None)

    def _operand(self, name: str) -> np.ndarray:
        data = self._graph.tensors[name].data
        if data is not None:
            return data
        return self._all[name] if name in self._all else self._clamped(name, self._sums[name])

    def _clamped(self, name: str, x: np.ndarray) -> np.ndarray:
        bounds = self._clamps.get(name)
        return x if bounds is None else np.clip(x, *bounds)

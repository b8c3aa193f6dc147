"""Forward and backward passes of a float network on many samples: its values, and the gradients of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ops._activation import clamp_of, unclamped
from mcugen.quantize import batch_evaluation, slopes
from mcugen.quantize.im2col import im2col
from mcugen.quantize.layers import is_constant

Arrays = dict[str, np.ndarray]
"""Values [samples, *shape] of tensors by name."""

Step = tuple[Node, Call, tuple[float, float] | None]
"""A node, its call without a fused clamp, and the bounds of that clamp; None without a clamp."""


def is_layer(graph: Graph, node: Node) -> bool:
    """Whether a node has constant weights with one scale per output."""
    return node.op.scaled_axis is not None and len(node.inputs) > 1 and is_constant(graph, node)


@dataclass(eq=False)
class ForwardPass:
    """Results of a forward pass.

    values: values of tensors, by name; sums: results before their fused activations, by tensor; met: input rows of
    layers, [groups, rows, taps], by node
    """

    values: Arrays
    sums: Arrays = field(default_factory=dict)
    met: Arrays = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class GradientNetwork:
    """A float graph whose nodes are computed for many samples at once.

    reference: runtime of the calls, which does not matter for floats; weights: constants that replace the graph's
    """

    graph: Graph
    reference: str
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def layers(self) -> tuple[Node, ...]:
        """Nodes with weights whose gradients are computed."""
        return tuple(node for node in self.graph.nodes if is_layer(self.graph, node))

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """Results of the last layers: an output is computed from them without a further layer with weights."""
        near = set(self.graph.kept)
        found = []
        for node in reversed(self.graph.nodes):
            if not near.intersection(node.outputs):
                continue
            if is_layer(self.graph, node):
                found.append(node.outputs[0])
            else:
                near.update(name for name in node.inputs if name is not None)
        return tuple(reversed(found))

    @cached_property
    def learned(self) -> frozenset[str]:
        """Float tensors that depend on weights. Integers, such as results of comparisons, have no gradient."""
        found: set[str] = set()
        for node in self.graph.nodes:
            if is_layer(self.graph, node) or any(name in found for name in node.inputs):
                found.update(name for name in node.outputs if self.graph.type(name).is_float)
        return frozenset(found)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Steps of the nodes that `heads` depend on, in order."""
        wanted = set(self.heads)
        steps = []
        for node in reversed(self.graph.nodes):
            if not wanted.intersection(node.outputs):
                continue
            wanted.update(name for name in node.inputs if name is not None)
            call = self.graph.call(node, self.reference)
            steps.append((node, replace(call, op=unclamped(node.op)), clamp_of(node.op)))
        return tuple(reversed(steps))

    @cached_property
    def elements(self) -> int:
        """Number of elements that a forward pass stores per sample."""
        found = sum(t.size for _, call, _ in self.steps for t in call.outputs)
        for node, call, _ in self.steps:
            if is_layer(self.graph, node):
                found += call.op.macs(call) // max(1, _outputs_of_group(call))
        return found

    def with_weights(self, weights: Mapping[str, np.ndarray]) -> GradientNetwork:
        """The network with these constants in place of the graph's."""
        made = replace(self, weights=weights)
        for name in ("layers", "heads", "learned", "steps"):
            made.__dict__[name] = getattr(self, name)
        return made

    def constant(self, name: str) -> np.ndarray:
        """The data of a constant."""
        data = self.weights.get(name, self.graph.tensors[name].data)
        assert data is not None
        return data

    def call(self, node: Node, call: Call) -> Call:
        """The call with the network's weights in place of the graph's."""
        if not self.weights or not is_layer(self.graph, node):
            return call
        constants = (None, *(None if n is None else self.constant(n) for n in node.inputs[1:]))
        return replace(call, constants=constants)

    def run(self, inputs: Mapping[str, np.ndarray]) -> ForwardPass:
        """Forward pass on some samples, as far as `heads` need it."""
        made = ForwardPass(dict(inputs))
        for step in self.steps:
            self.take(made, step)
        return made

    def take(self, run: ForwardPass, step: Step) -> None:
        """Compute one node; all steps before it must have been taken."""
        node, plain, clamp = step
        for name, y in zip(node.outputs, self._results(run, node, self.call(node, plain)), strict=True):
            run.values[name] = y
            if clamp is not None:
                run.sums[name] = y
                run.values[name] = np.clip(y, *clamp)

    def _results(self, run: ForwardPass, node: Node, call: Call) -> tuple[np.ndarray, ...]:
        if is_layer(self.graph, node):
            return (self._layer(run, node, call),)
        operands = [None if n is None else run.values.get(n, self.graph.tensors[n].data) for n in node.inputs]
        found = slopes.forward(call, operands)
        return batch_evaluation.results(call, operands) if found is None else found

    def _layer(self, run: ForwardPass, node: Node, call: Call) -> np.ndarray:
        x = run.values[str(node.inputs[0])]
        met = im2col(call.op, call, _stacked(x), 1)
        assert met is not None
        run.met[node.name] = met
        y = met @ matrix(call).reshape(len(met), -1, met.shape[2]).swapaxes(1, 2)
        rows = y[0] if len(y) == 1 else y.transpose(1, 0, 2).reshape(y.shape[1], -1)
        if call.has(2):
            rows += call.constant(2).reshape(-1)
        return np.asarray(rows.reshape(len(x), *call.output.shape))

    def gradients(self, run: ForwardPass, at: Arrays, above: Arrays) -> tuple[Arrays, Arrays]:
        """Gradients of the loss with respect to weights and biases (by tensor), and to the sums of layers (by node).

        at: gradients with respect to `heads` before their activations; above: to other tensors after their activations
        """
        pulled: Arrays = dict(above)
        of_weights: Arrays = {}
        of_sums: Arrays = {}
        for node, plain, clamp in reversed(self.steps):
            found = [self._clamped(run, name, pulled.pop(name, None), clamp) for name in node.outputs]
            if node.outputs[0] in at:
                g = at[node.outputs[0]]
                found[0] = g if found[0] is None else found[0] + g
            given = [g for g in found if g is not None]
            if not given or node.outputs[0] not in self.learned:
                continue
            if is_layer(self.graph, node):
                of_sums[node.name] = given[0]
            self._back(run, node, self.call(node, plain), found, pulled, of_weights)
        return of_weights, of_sums

    def _clamped(
        self, run: ForwardPass, name: str, g: np.ndarray | None, clamp: tuple[float, float] | None
    ) -> np.ndarray | None:
        if g is None or clamp is None:
            return g
        sums = run.sums[name]
        return np.asarray(g * ((sums > clamp[0]) & (sums < clamp[1])))

    def _back(
        self,
        run: ForwardPass,
        node: Node,
        call: Call,
        found: list[np.ndarray | None],
        pulled: Arrays,
        of_weights: Arrays,
    ) -> None:
        """Propagate gradients from a node's results to its weights and operands."""
        if is_layer(self.graph, node) and found[0] is not None:
            for name, g in self._of_weights(run, node, call, found[0]).items():
                of_weights[name] = of_weights[name] + g if name in of_weights else g
        wanted = [k for k, name in enumerate(node.inputs) if name in self.learned]
        if not wanted:
            return
        operands = [None if n is None else run.values.get(n, self.graph.tensors[n].data) for n in node.inputs]
        results = [run.sums.get(name, run.values[name]) for name in node.outputs]
        for k, g in slopes.backward(call, operands, results, found, wanted).items():
            name = str(node.inputs[k])
            pulled[name] = pulled[name] + g if name in pulled else g

    def _of_weights(self, run: ForwardPass, node: Node, call: Call, g: np.ndarray) -> Arrays:
        met = run.met[node.name]
        flat = g.reshape(-1, len(met), call.input(1).shape[int(call.op.scaled_axis)] // len(met))
        by_tap = flat.transpose(1, 2, 0) @ met
        found = {str(node.inputs[1]): unmatrix(call, by_tap)}
        if call.has(2):
            found[str(node.inputs[2])] = flat.sum(axis=0).reshape(call.input(2).shape)
        return found


def matrix(call: Call) -> np.ndarray:
    """The weights of a layer as [outputs, taps]."""
    w, axis = call.constant(1), int(call.op.scaled_axis)
    return np.ascontiguousarray(np.moveaxis(w, axis, 0).reshape(w.shape[axis], -1))


def _outputs_of_group(call: Call) -> int:
    """Number of outputs that share each input row of a layer, in one group; 1 for a depthwise layer."""
    x, w = call.input(0), call.input(1)
    meets_all = call.op.met_axis is not None and call.op.met_axis != call.op.scaled_axis
    return w.shape[int(call.op.scaled_axis)] if meets_all and x.shape[-1] % w.shape[int(call.op.met_axis)] == 0 else 1


def unmatrix(call: Call, by_tap: np.ndarray) -> np.ndarray:
    """Weights in the operator's layout, from a matrix [outputs, taps]."""
    axis, shape = int(call.op.scaled_axis), call.input(1).shape
    moved = (shape[axis], *(n for k, n in enumerate(shape) if k != axis))
    return np.ascontiguousarray(np.moveaxis(by_tap.reshape(moved), 0, axis))


def _stacked(x: np.ndarray) -> np.ndarray:
    """All samples concatenated along their first axis."""
    return x.reshape(-1, *x.shape[2:])

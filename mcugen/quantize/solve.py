"""Solver of a quantization: turns the float network into an integer one, node by node, fitted to integer inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.quant_rule import Scales
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.quantize import Quantize
from mcugen.quantize import batch_evaluation, layers, recurrent_weights
from mcugen.quantize.activation_ranges import MIN_MAX, chosen, observed, says_nothing
from mcugen.quantize.blocks_of_layers import block_of
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.recipe import NEAREST, Recipe, Widths
from mcugen.quantize.scales import BITS, DTYPES, StoredType, activations
from mcugen.quantize.stored_integers import to_steps

REQUANTIZE_PREFIX = "bridge@"
"""Prefix of the names of Quantize nodes between two widths or scales."""
_WIDE_END = "@wide"
"""End of the names of results of 16 bits that are requantized to 8."""


@dataclass
class Solver:
    """The integer network as far as it is solved, and its values for the samples."""

    floats: FloatRun
    recipe: Recipe
    widths: Widths
    stored: Mapping[str, StoredType]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    constants: dict[object, str] = field(default_factory=dict)

    @cached_property
    def steps(self) -> frozenset[str]:
        """Layers that share weights with other layers. Shared weights are not fitted to the inputs of one layer."""
        return frozenset(node.name for nodes in layers.with_same_weights(self.graph) for node in nodes)

    @property
    def graph(self) -> Graph:
        return self.floats.graph

    def run(self) -> Graph:
        """The integer network: the nodes of the float network, and Quantize nodes where widths or scales differ."""
        walk = self.floats.walk()
        for name in self.graph.inputs:
            self._give(name, walk.value(name))
        last = {name: k for k, node in enumerate(self.graph.nodes) for name in node.inputs}
        for index, node in enumerate(self.graph.nodes):
            if self.recipe.solves:
                walk.step(index)
            if recurrent_weights.is_recurrent(node):
                self._take_recurrent(node, walk.trace(index) if self.recipe.solves else None)
            else:
                self._take(node, walk.sums)
            walk.forget(index)
            for name in [n for n in self.values if last.get(n.partition("@")[0], index) <= index]:
                del self.values[name]
        graph = replace(self.graph, tensors={**self.graph.tensors, **self.tensors}, nodes=tuple(self.nodes))
        return graph.updated()

    def _give(self, name: str, real: np.ndarray) -> None:
        """Add an input of the network, as integers."""
        t = self.graph.type(name)
        if not t.is_float:
            self.values[name] = real
            return
        stored = self._type(name)
        self.tensors[name] = replace(self.graph.tensors[name], type=stored)
        self.values[name] = to_steps(real, stored)

    def _type(self, name: str) -> TensorType:
        """Type of a computed tensor in the integer network."""
        t = self.graph.type(name)
        return t if not t.is_float else TensorType(t.shape, self.stored[name].dtype, self.stored[name].quant)

    def _take(self, node: Node, sums: layers.Sums) -> None:
        rule = node.op.quantized(self.graph.call(node, self.floats.reference))
        narrow = [self._type(name) for name in node.outputs]
        outputs = self._wide_results(node, rule, narrow) or narrow
        shared = outputs[0].quant if rule.kind == "shared" else None
        width = outputs[0].dtype if node.outputs[0] in self.stored else DTYPES[self.widths.of_data(node.name)]
        inputs = [self._operand(node, k, width, shared, narrows=rule.narrows) for k in range(len(node.inputs))]
        if node.op.scaled_axis is not None and layers.is_constant(self.graph, node):
            inputs = self._weights(node, inputs, outputs[0], sums)
        names = node.outputs if outputs is narrow else tuple(f"{name}{_WIDE_END}" for name in node.outputs)
        for name, made, t in zip(node.outputs, names, outputs, strict=True):
            self.tensors[made] = replace(self.graph.tensors[name], name=made, type=t)
        blocks = block_of(self.graph, node, self.widths)
        op = node.op.rounded(self.graph.call(node, self.floats.reference)) if blocks else rule.form
        self._append(replace(node, op=op or node.op, inputs=tuple(inputs), outputs=names))
        for name, made, t in zip(node.outputs, names, narrow, strict=True):
            if made != name:
                self.tensors[name] = replace(self.graph.tensors[name], type=t)
                self._append(self._bridge(t.dtype, made, name, node.source))

    def _wide_results(self, node: Node, rule: Scales, narrow: Sequence[TensorType]) -> list[TensorType] | None:
        """The types of 16 bits in which a node with results of 8 bits computes, because it reads 16 bits; None if it
        computes in 8.
        """
        computed = [n for n in node.inputs if n is not None and n in self.tensors and self.graph.type(n).is_float]
        is_wide = any(self.tensors[n].type.dtype == "s16" for n in computed)
        kinds = rule.kind in ("own", "fixed") and not rule.narrows and BITS["s16"] in rule.widths
        has_bits = all(t.dtype == "s8" for t in narrow) and self.widths.of_weights(node.name) == BITS["s8"]
        if not is_wide or not kinds or not has_bits or self.floats.older is not None:
            return None
        found = []
        for name, t in zip(node.outputs, narrow, strict=True):
            fixed = rule.fixed.get(BITS["s16"]) if rule.kind == "fixed" else None
            own = chosen(self.floats.observed()[name], MIN_MAX, BITS["s16"])
            found.append(TensorType(t.shape, "s16", own if fixed is None else QuantParams((fixed[0],), (fixed[1],))))
        return found

    def _bridge(self, dtype: str, x: str, y: str, source: str) -> Node:
        return Node(f"{REQUANTIZE_PREFIX}{len(self.nodes)}", Quantize(dtype), (x,), (y,), source)

    def _take_recurrent(self, node: Node, trace: recurrent_weights.Trace | None) -> None:
        """Add a recurrent layer. trace: its inside, None if its weights are not fitted to the samples."""
        states = range(len(node.inputs) - len(node.outputs) + 1, len(node.inputs))
        outputs = [self._type(name) for name in node.outputs]
        inputs = list(node.inputs)
        inputs[0] = self._operand(node, 0, outputs[0].dtype, None)
        x = str(inputs[0])
        types = self.tensors[x].type, outputs[0]
        bits = self.widths.of_weights(node.name)
        made = recurrent_weights.constants_of(self.graph, node, types, self.values[x], trace, self.recipe, bits)
        for k, (t, data) in made.items():
            label = self.graph.tensors[str(node.inputs[k])].label
            inputs[k] = f"{node.outputs[0]}@{k}"
            self.tensors[str(inputs[k])] = Tensor(str(inputs[k]), t, data, label)
        for k, t in zip(states, outputs[1:], strict=True):
            inputs[k] = self._operand(node, k, t.dtype, t.quant)
        for name, t in zip(node.outputs, outputs, strict=True):
            self.tensors[name] = replace(self.graph.tensors[name], type=t)
        form = recurrent_weights.integer_form(node.op, self.floats.reaches()[node.name])
        self._append(replace(node, op=form, inputs=tuple(inputs)))

    def _append(self, node: Node) -> None:
        self.nodes.append(node)
        known = {**self.graph.tensors, **self.tensors}
        call = replace(self.graph, tensors=known).call(node, self.floats.reference)
        operands = [
            None if n is None else self.values[n] if known[n].data is None else known[n].data for n in node.inputs
        ]
        self.values.update(zip(node.outputs, batch_evaluation.results(call, operands), strict=True))

    def _operand(
        self, node: Node, k: int, dtype: str, shared: QuantParams | None, *, narrows: bool = False
    ) -> str | None:
        """Name of operand k in the integer network, requantized if needed to the node's width and shared scale.

        narrows: whether the operand may have more bits than that width.
        """
        name = node.inputs[k]
        if name is None or not self.graph.type(name).is_float:
            return name
        if self.floats.older is not None:
            before = self.floats.older.operand(node.name, k)
            dtype, shared = (dtype, shared) if before is None else (before.dtype, before.quant)
        if self.graph.tensors[name].data is not None:
            weighted = (node.op.scaled_axis is not None and k in (1, 2)) or k in node.op.kept_floats
            return name if weighted else self._constant(name, dtype, shared, node)
        now = self.tensors[name].type
        dtype = now.dtype if narrows and now.bits > BITS[dtype] else dtype
        wanted = shared or (now.quant if now.dtype == dtype else None)
        if wanted is None:
            seen = self.floats.observed()[name]
            wanted = chosen(seen, MIN_MAX, BITS[dtype])
        if (now.dtype, now.quant) == (dtype, wanted):
            return name
        return self._requantized(node, name, TensorType(now.shape, dtype, wanted))

    def _requantized(self, node: Node, name: str, t: TensorType) -> str:
        """A tensor requantized to another width or scale; once for all readers with the same type."""
        made = f"{name}@{t.dtype}{'' if t.quant is None else f'{t.quant.scale[0]:.9g},{t.quant.zero_point[0]}'}"
        if made not in self.tensors:
            origin = self.graph.tensors[name]
            self.tensors[made] = Tensor(made, t, None, f"{origin.label}_{t.dtype}")
            self._append(self._bridge(t.dtype, name, made, node.source))
        return made

    def _constant(self, name: str, dtype: str, shared: QuantParams | None, reader: Node) -> str:
        """A constant operand as integers with one scale; zeros take the scale of the reader's result."""
        data = self.graph.tensors[name].data
        assert data is not None
        seen, result = observed(data.reshape(1, -1)), self._type(reader.outputs[0])
        if says_nothing(seen.low, seen.high) and result.dtype == dtype:
            shared = shared or result.quant
        params = shared or chosen(seen, MIN_MAX, BITS[dtype])
        t = TensorType(data.shape, dtype, params)
        made = f"{name}@{dtype}{params.scale[0]:.9g},{params.zero_point[0]}"
        self.tensors[made] = Tensor(made, t, to_steps(data, t), self.graph.tensors[name].label)
        return made

    def _weights(self, node: Node, inputs: Sequence[str | None], y: TensorType, sums: layers.Sums) -> list[str | None]:
        x = str(inputs[0])
        bits, older = self.widths.of_weights(node.name), self.floats.older
        one_scale = older is not None and node.name in older.one_scale
        recipe = self.recipe
        if node.name in self.steps:
            recipe = replace(recipe, bias=False, rounding=NEAREST, refit=False)
        block = block_of(self.graph, node, self.widths)
        layer = layers.Layer(self.graph, node, self.floats.reference, recipe, bits, one_scale, block)
        wanted = sums(node.outputs[0]) if recipe.solves else None
        solved = layer.solved(self.tensors[x].type, self.values[x], y, wanted)
        names, made = [f"{node.outputs[0]}@weights", f"{node.outputs[0]}@bias"], list[str]()
        for name, (t, data), k in zip(names, solved, (1, 2), strict=True):
            given = node.inputs[k] if k < len(node.inputs) else None
            label = self.graph.tensors[given].label if given else f"{self.graph.tensors[node.outputs[0]].label}_bias"
            made.append(self.constants.setdefault((t, data.tobytes()), name) if node.name in self.steps else name)
            self.tensors[made[-1]] = Tensor(made[-1], t, data, label)
        return [x, *made]


def solved(floats: FloatRun, recipe: Recipe, widths: Widths) -> Graph:
    """The integer network that a recipe makes of a float network."""
    if floats.older is not None:
        return Solver(floats, recipe, widths, floats.older.stored).run()
    stored = activations(
        floats.graph, floats.reference, floats.observed(), floats.reaches(), recipe, widths, floats.overrides
    )
    return Solver(floats, recipe, widths, stored).run()

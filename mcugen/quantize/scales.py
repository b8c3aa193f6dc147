"""Scale and zero point of every activation, from the operators' rules and the statistics of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcugen.ir.graph import Graph, Node
from mcugen.ir.quant_rule import EVERYTHING, Bounds
from mcugen.ir.types import QuantParams
from mcugen.ops.element_function import ElementFunction
from mcugen.quantize.activation_ranges import MIN_MAX, ON_GRID, Observed, chosen, joined, quant, says_nothing
from mcugen.quantize.layers import with_same_weights
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.recurrent_weights import Reach, with_states

DTYPES = {8: "s8", 16: "s16"}
BITS = {dtype: bits for bits, dtype in DTYPES.items()}


@dataclass(frozen=True)
class StoredType:
    """Storage of an activation: element type, scale and zero point."""

    dtype: str
    quant: QuantParams


def activations(
    graph: Graph,
    reference: str,
    seen: Mapping[str, Observed],
    reaches: Mapping[str, Reach],
    recipe: Recipe,
    widths: Widths,
    overrides: Mapping[str, Bounds],
) -> dict[str, StoredType]:
    """Storage of each float tensor.

    seen: statistics of tensors; reaches: of recurrent layers; overrides: tensor -> range set by the user.

    The node that computes a tensor decides on its bits; for an input, its first reader does.
    """
    rules = {node.name: node.op.quantized(graph.call(node, reference)) for node in graph.nodes}
    shares = {name: rule.kind == "shared" for name, rule in rules.items()}
    bits = _bits(graph, widths)
    states = with_states(graph, shares, reaches)
    found = {name: StoredType(t.dtype, t.quant) for name, t in states.items() if t.quant is not None}
    own = set(graph.inputs) - set(found)
    for node in graph.nodes:
        rule = rules[node.name]
        for name in node.outputs:
            if name in found:
                continue
            if rule.kind == "fixed" and bits[name] in rule.fixed:
                scale, zero = rule.fixed[bits[name]]
                found[name] = StoredType(DTYPES[bits[name]], QuantParams((scale,), (zero,)))
            else:
                own.add(name)
    zeros: list[list[str]] = []
    for group in _groups(graph, shares, bits, own):
        width = bits[group[0]]
        begins = any(name in graph.inputs for name in group)
        ends = begins or any(name in graph.outputs for name in group)
        seen_here = joined(seen[name] for name in group)
        given = [overrides[name] for name in group if name in overrides]
        if not given and says_nothing(seen_here.low, seen_here.high):
            zeros.append(group)
            continue
        known = matters(graph, reference, group, seen) if width == 8 else EVERYTHING
        method = ON_GRID if begins else MIN_MAX if ends else recipe.ranges
        params = chosen(seen_here, method, width, known, 1.0 if begins else recipe.widen)
        params = quant(min(g[0] for g in given), max(g[1] for g in given), width) if given else params
        found.update((name, StoredType(DTYPES[width], params)) for name in group)
    for group in reversed(zeros):
        params = _beside(graph, group, found, bits[group[0]])
        found.update((name, StoredType(DTYPES[bits[group[0]]], params)) for name in group)
    return found


def _beside(graph: Graph, group: list[str], known: Mapping[str, StoredType], bits: int) -> QuantParams:
    """Scale for tensors that are 0 for all samples: the largest scale among the results of their readers.

    An addition loses precision if its scales are very different, or cannot be computed at all.
    """
    results = [name for node in graph.nodes if not set(group).isdisjoint(node.inputs) for name in node.outputs]
    same = [known[name].quant for name in results if name in known and known[name].dtype == DTYPES[bits]]
    return max(same, key=lambda q: q.scale[0], default=quant(0.0, 0.0, bits))


def _bits(graph: Graph, widths: Widths) -> dict[str, int]:
    """Bits of every float tensor, set by the node that computes it; for an input by its name, else by its first
    reader.
    """
    found = {name: bits for name, bits in widths.activations_of if name in graph.inputs}
    for node in graph.nodes:
        for name in node.inputs:
            if name in graph.inputs:
                found.setdefault(str(name), widths.of_data(node.name))
        found.update((name, widths.of_data(node.name)) for name in node.outputs)
    for name in graph.inputs:
        found.setdefault(name, widths.activations)
    return {name: width for name, width in found.items() if graph.type(name).is_float}


def _groups(graph: Graph, shares: Mapping[str, bool], bits: Mapping[str, int], own: set[str]) -> list[list[str]]:
    """Groups of tensors that share a scale, in the order of the graph.

    The rules of operators require shared scales. If layers share weights, as unrolled steps do, then tensors with one
    name in the file also share a scale, so that the steps can share biases and tables.
    """
    leader = {name: name for name in bits if name in own}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for node in graph.nodes:
        if shares[node.name]:
            floats = [n for n in (*node.inputs, *node.outputs) if n in leader and bits[n] == bits.get(node.outputs[0])]
            for name in floats[1:]:
                leader[find(str(name))] = find(str(floats[0]))
    if with_same_weights(graph):
        first: dict[object, str] = {}
        for name in leader:
            tensor = graph.tensors[name]
            if tensor.label:
                leader[find(name)] = find(first.setdefault((tensor.label, tensor.type.shape, bits[name]), name))
    groups: dict[str, list[str]] = {}
    for name in leader:
        groups.setdefault(find(name), []).append(name)
    return list(groups.values())


def matters(graph: Graph, reference: str, group: list[str], seen: Mapping[str, Observed]) -> Bounds:
    """Range of real numbers outside which no reader of these tensors distinguishes values.

    seen: statistics of tensors, from which the step of a function's result follows.
    """
    low, high = float("inf"), float("-inf")
    inside = set(group)
    for node in graph.nodes:
        for k, name in enumerate(node.inputs):
            if name in inside and not set(node.outputs) <= inside:
                first, last = _of_reader(graph, reference, node, k, seen)
                low, high = min(low, first), max(high, last)
    return (low, high) if low < high else EVERYTHING


def _of_reader(graph: Graph, reference: str, node: Node, k: int, seen: Mapping[str, Observed]) -> Bounds:
    call = graph.call(node, reference)
    if isinstance(node.op, ElementFunction):
        result = seen[node.outputs[0]]
        return node.op.bounds_that_matter(max(quant(result.low, result.high, 8).scale) / 2)
    computed = [i for i, c in enumerate(call.constants) if c is None and call.inputs[i] is not None]
    return node.op.quantized(call).matters if computed[0] == k else EVERYTHING

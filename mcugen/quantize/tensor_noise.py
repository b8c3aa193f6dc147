"""Noise of each tensor in 8 bits alone, all else in floats. Such noises add up to nearly the noise of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcugen.ir.graph import Graph
from mcugen.ir.quant_rule import Scales
from mcugen.ir.types import TensorType
from mcugen.quantize import batch_evaluation
from mcugen.quantize.float_values import FloatRun
from mcugen.quantize.noise import powers
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.scales import BITS, activations
from mcugen.quantize.stored_integers import to_real, to_steps

_BYTE, _WIDE = 8, 16
_LEAST = 1e-30


@dataclass(frozen=True)
class TensorNoise:
    """A tensor that may have 16 bits.

    label: its name in the file; noise: its power in 8 bits, as a share of the power of the outputs; names: the nodes,
    or the input of the network, whose bits are the tensor's
    """

    label: str
    noise: float
    names: tuple[str, ...]

    def widened(self, widths: Widths) -> Widths:
        """The bits of all layers, with 16 for this tensor."""
        of = {**dict(widths.activations_of), **dict.fromkeys(self.names, _WIDE)}
        return replace(widths, activations_of=tuple(of.items()))


def noises(floats: FloatRun, judged: FloatRun, recipe: Recipe, widths: Widths) -> list[TensorNoise]:
    """The noise of every tensor of 8 bits that may have 16, the loudest first: one run of the network for each.

    floats: the network on the samples that give the ranges; judged: on those that are run
    """
    graph, reference = floats.graph, floats.reference
    stored = activations(graph, reference, floats.observed(), floats.reaches(), recipe, widths, floats.overrides)
    rules = {node.name: node.op.quantized(graph.call(node, reference)) for node in graph.nodes}
    values = _values(judged)
    wanted = [values[name] for name in graph.outputs]
    found = []
    for name in (*graph.inputs, *(n for node in graph.nodes for n in node.outputs)):
        names = _together(graph, rules, name)
        if name not in stored or BITS[stored[name].dtype] != _BYTE or not names:
            continue
        t = TensorType(graph.type(name).shape, stored[name].dtype, stored[name].quant)
        made = _followed(graph, reference, values, {name: to_real(to_steps(values[name], t), t)})
        signal, noise = powers(wanted, [made.get(n, values[n]) for n in graph.outputs]).sum(axis=1)
        found.append(TensorNoise(graph.tensors[name].label or name, float(noise / max(signal, _LEAST)), names))
    return sorted(found, key=lambda tensor: -tensor.noise)


def _values(floats: FloatRun) -> dict[str, np.ndarray]:
    """All tensors of the float network for the samples, [samples, *shape] each."""
    graph = floats.graph
    values = dict(zip(graph.inputs, floats.given(), strict=True))
    return values | _followed(graph, floats.reference, values, values)


def _followed(
    graph: Graph, reference: str, values: Mapping[str, np.ndarray], changed: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The tensors that change if some have other values; these, too."""
    found = dict(changed)
    for node in graph.nodes:
        if not found.keys().isdisjoint(node.inputs):
            operands = [None if n is None else _operand(graph, {**values, **found}, n) for n in node.inputs]
            results = batch_evaluation.results(graph.call(node, reference), operands)
            found |= {n: a for n, a in zip(node.outputs, results, strict=True) if n not in changed}
    return found


def _operand(graph: Graph, values: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    data = graph.tensors[name].data
    return values[name] if data is None else data


def _together(graph: Graph, rules: Mapping[str, Scales], name: str) -> tuple[str, ...]:
    """The nodes whose bits change with those of a tensor: the one that computes it, or the network's input, and those
    that only move it; empty if an operator that computes or reads it has no form on int16.
    """
    maker = next((node for node in graph.nodes if name in node.outputs), None)
    if maker is not None and (rules[maker.name].kind not in ("own", "fixed") or _WIDE not in rules[maker.name].widths):
        return ()
    found, pending = [name if maker is None else maker.name], [name]
    while pending:
        now = pending.pop()
        for reader in graph.nodes:
            rule = rules[reader.name]
            if now not in reader.inputs:
                continue
            if _WIDE not in rule.widths or rule.kind not in ("own", "fixed", "shared"):
                return ()
            if rule.kind == "shared" and reader.name not in found:
                found.append(reader.name)
                pending += [n for n in reader.outputs if graph.type(n).is_float]
    return tuple(found)

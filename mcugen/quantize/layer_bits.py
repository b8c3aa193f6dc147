"""Bits of single layers, as the user gives them: `NAME=w4`, `NAME=a16`, or both, `NAME=w8a16`. Ternary is `wt`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcugen.errors import UsageError
from mcugen.ir.graph import Graph
from mcugen.quantize.recipe import TERNARY, Widths

_BITS = re.compile(r"(?:w(2|4|8|t))?(?:a(8|16))?")
_SHOWN = 12


def given(graph: Graph, base: Widths, layers: Sequence[str]) -> Widths:
    """The bits of `base` with those of single layers. Raises UsageError for unknown layers and bits."""
    weights, activations = dict(base.weights_of), dict(base.activations_of)
    for text in layers:
        label, _, bits = text.rpartition("=")
        found = _BITS.fullmatch(bits)
        if not label or not bits or found is None:
            hint = "give a layer and its bits, for example conv_3=w4, conv_3=a16 or conv_3=w8a16"
            raise UsageError(f"{text!r} does not give bits to a layer", where="--layer", hint=hint)
        name = node_of(graph, label)
        if found[1]:
            weights[name] = TERNARY if found[1] == "t" else int(found[1])
        if found[2]:
            activations[name] = int(found[2])
    return replace(base, weights_of=tuple(weights.items()), activations_of=tuple(activations.items()))


def label_of(graph: Graph, name: str) -> str:
    """User-visible name of a node: the label of its first result."""
    node = next(node for node in graph.nodes if node.name == name)
    return graph.tensors[node.outputs[0]].label or node.outputs[0]


def node_of(graph: Graph, label: str) -> str:
    """Name of the node that has this name or label. Raises UsageError if there is none."""
    for node in graph.nodes:
        if label in (label_of(graph, node.name), node.name):
            return node.name
    known = [label_of(graph, n.name) for n in graph.nodes if n.op.scaled_axis is not None]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    hint = "give one of " + ", ".join(known[:_SHOWN]) + more
    raise UsageError(f"the model has no layer {label!r}", where="--layer", hint=hint)

"""Ranges of an older quantized model, for a new model of the same structure that can run in the older model's code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.errors import UsageError
from mcugen.formats import registry
from mcugen.formats.read import load
from mcugen.ir.graph import Graph, Node
from mcugen.ir.types import TensorType
from mcugen.ops.dequantize import Dequantize
from mcugen.ops.quantize import Quantize
from mcugen.quantize import float_model
from mcugen.quantize.layers import is_constant
from mcugen.quantize.recipe import Widths
from mcugen.quantize.scales import BITS, StoredType

_FLAG = "--ranges-of"
_HINT = "the older code only runs the same layers; leave --ranges-of out to generate new code"
_INSIDE = (Quantize, Dequantize)


@dataclass(frozen=True, eq=False)
class Older:
    """Types and weights of an older quantized model, by the float network's names.

    stored: types of float inputs and of nodes' results; operands: types of a node's operands, None for absent ones
    weights: a node's weights as real numbers; one_scale: nodes whose weights have one scale for all outputs
    interface: "int8" or "float"; sha256: hash of the file
    """

    name: str
    stored: Mapping[str, StoredType]
    operands: Mapping[str, tuple[TensorType | None, ...]]
    weights: Mapping[str, np.ndarray]
    one_scale: frozenset[str]
    widths: Widths
    interface: str
    sha256: str

    def operand(self, node: str, k: int) -> TensorType | None:
        """Type of operand k of a node; None if the older node does not have it."""
        types = self.operands[node]
        return types[k] if k < len(types) else None


def read(path: Path, graph: Graph) -> Older:
    """Types and weights of a quantized model file, matched to a float network of `float_model.prepared`.

    Raises UsageError for the first layer that differs in operator, shape or type; and all errors of `load`.
    """
    imported = load(path, registry.load(()))
    if all(t.type.quant is None for t in imported.tensors.values()):
        raise UsageError(f"{path.name} is not quantized", where=_FLAG, hint="give the older model in integers")
    return _Match(path.name, graph, float_model.prepared(imported, "", "", all_channels=True)).older()


class _Match:
    """Pairing of a float network's nodes with older nodes that read the same tensors.

    If several older nodes match, a node with the same name is taken, else the first. Quantize and Dequantize nodes of
    the older network are skipped.
    """

    def __init__(self, name: str, graph: Graph, old: Graph) -> None:
        self.name, self.graph, self.old = name, graph, old
        self._origin: dict[str, str] = {}
        for node in old.nodes:
            if isinstance(node.op, _INSIDE):
                self._origin[node.outputs[0]] = self._root(str(node.inputs[0]))
        self._left = [node for node in old.nodes if not isinstance(node.op, _INSIDE)]
        self._partner: dict[str, str] = {}

    def older(self) -> Older:
        """Types and weights of the older network, tensor by tensor."""
        stored = self._inputs()
        pairs = [(node, self._paired(node)) for node in self.graph.nodes]
        if self._left:
            raise _differs(_label(self.old, self._left[0].outputs[0]), f"{self.name} has it, this model has not")
        for node, old in pairs:
            stored.update(self._stored(a, self.old.type(b)) for a, b in self._results(node, old))
        layers = [pair for pair in pairs if pair[0].op.scaled_axis is not None and is_constant(self.graph, pair[0])]
        types = {node.name: self.old.type(str(old.inputs[1])) for node, old in layers}
        wide = [(n.name, BITS[stored[n.outputs[0]].dtype]) for n in self.graph.nodes if n.outputs[0] in stored]
        return Older(
            self.name,
            stored,
            {a.name: tuple(None if n is None else self.old.type(n) for n in b.inputs) for a, b in pairs},
            {node.name: self._real(str(old.inputs[1])) for node, old in layers},
            frozenset(name for name, t in types.items() if t.quant is not None and not t.quant.per_channel),
            Widths(weights_of=tuple((n, t.bits) for n, t in types.items()), activations_of=tuple(wide)),
            self._interface(),
            self.old.sha256,
        )

    def _root(self, name: str) -> str:
        return self._origin.get(name, name)

    def _inputs(self) -> dict[str, StoredType]:
        """Types in which float inputs are stored. Inputs are paired by name if both networks name them alike, else by
        order.
        """
        here, there = list(self.graph.inputs), list(self.old.inputs)
        if len(here) != len(there):
            raise _differs("inputs", f"{len(here)} in this model, {len(there)} in {self.name}")
        by_label = {_label(self.old, name): name for name in there}
        labels = [_label(self.graph, name) for name in here]
        there = [by_label[label] for label in labels] if set(labels) == set(by_label) else there
        found: dict[str, StoredType] = {}
        for name, old in zip(here, there, strict=True):
            self._same_shape(name, old)
            self._partner[name] = old
            if self.graph.type(name).is_float:
                first = [n.outputs[0] for n in self.old.nodes if isinstance(n.op, Quantize) and n.inputs[0] == old]
                is_given = self.old.type(old).is_float and first
                found.update([self._stored(name, self.old.type(first[0] if is_given else old))])
        return found

    def _paired(self, node: Node) -> Node:
        """The older node for a node whose operands are already paired. Raises UsageError if there is none."""
        reads = {k: self._partner[n] for k, n in enumerate(node.inputs) if n in self._partner}
        places = [old for old in self._left if self._reads(old) == reads]
        label = _label(self.graph, node.outputs[0])
        same = [old for old in places if _is_alike(node, old)]
        if not same:
            other = f"{_kind(places[0])} in {self.name}" if places else f"nothing in {self.name}"
            raise _differs(label, f"{_kind(node)} here, {other}")
        old = next((old for old in same if _label(self.old, old.outputs[0]) == label), same[0])
        for a, b in zip(node.outputs, old.outputs, strict=True):
            self._same_shape(a, b)
            self._partner[a] = self._root(b)
        if node.op.scaled_axis is not None and is_constant(self.graph, node):
            self._same_shape(str(node.inputs[1]), str(old.inputs[1]), label)
        self._left.remove(old)
        return old

    def _reads(self, old: Node) -> dict[int, str]:
        """Computed tensors that an older node reads, before any Quantize, by operand index."""
        roots = {k: self._root(n) for k, n in enumerate(old.inputs) if n is not None}
        return {k: n for k, n in roots.items() if self.old.tensors[n].data is None}

    def _results(self, node: Node, old: Node) -> list[tuple[str, str]]:
        return [(a, b) for a, b in zip(node.outputs, old.outputs, strict=True) if self.graph.type(a).is_float]

    def _stored(self, name: str, t: TensorType) -> tuple[str, StoredType]:
        """A float tensor and its stored type. Raises UsageError for types that `mcugen quantize` does not write."""
        if t.dtype not in BITS or t.quant is None or t.quant.per_channel:
            raise _differs(_label(self.graph, name), f"is {t} in {self.name}, not int8 or int16 with one scale")
        return name, StoredType(t.dtype, t.quant)

    def _same_shape(self, name: str, old: str, label: str = "") -> None:
        here, there = self.graph.type(name).shape, self.old.type(old).shape
        if here != there:
            what = "weights" if label else "shape"
            text = f"{what} {_sizes(here)} here, {_sizes(there)} in {self.name}"
            raise _differs(label or _label(self.graph, name), text)

    def _real(self, name: str) -> np.ndarray:
        """Weights of the older model as real numbers, float64."""
        t, data = self.old.type(name), self.old.tensors[name].data
        if t.quant is None or data is None:
            raise _differs(_label(self.old, name), f"weights are {t} in {self.name}")
        shape = [-1 if k == t.quant.axis and t.quant.per_channel else 1 for k in range(data.ndim)]
        scale, zero = (np.reshape(a, shape) for a in (np.array(t.quant.scale), np.array(t.quant.zero_point)))
        return np.asarray((data.astype(np.float64) - zero) * scale)

    def _interface(self) -> str:
        ends = [(*self.graph.inputs, *self.graph.outputs), (*self.old.inputs, *self.old.outputs)]
        real = {self.old.type(b).is_float for a, b in zip(*ends, strict=True) if self.graph.type(a).is_float}
        if len(real) > 1:
            raise _differs("inputs and outputs", f"{self.name} has floats and integers among them, not one kind")
        return "float" if real == {True} else "int8"


def _is_alike(node: Node, old: Node) -> bool:
    """Whether two nodes have the same operator and activation.

    The older node may lack the activation, as in ONNX, where the range of its result clamps instead.
    """
    here, there = (getattr(n.op, "activation", "NONE") for n in (node, old))
    return type(node.op) is type(old.op) and there in (here, "NONE")


def _kind(node: Node) -> str:
    activation = getattr(node.op, "activation", "NONE")
    return type(node.op).__name__ + ("" if activation == "NONE" else f" with {activation}")


def _label(graph: Graph, name: str) -> str:
    return graph.tensors[name].label or name


def _sizes(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "of a scalar"


def _differs(label: str, text: str) -> UsageError:
    return UsageError(f"{label}: {text}", where=_FLAG, hint=_HINT)

"""Stores float tensors as float16 if a device's kernels support that, with casts for other kernels.

Inputs and outputs of the model stay float32, and so do tensors whose values come near the largest float16 for random
inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from mcugen import kernels
from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node, Origin, Tensor
from mcugen.ir.kernel import Grid
from mcugen.ir.op import evaluate
from mcugen.kernels import halves
from mcugen.ops.cast import Cast


def store_halves(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a device with these features."""

    def store(graph: Graph, reference: str) -> Graph:
        if not any(t.type.is_float and not t.is_constant for t in graph.tensors.values()):
            return graph
        walk = _Walk(graph, reference, features)
        nodes = [new for node in graph.nodes for new in walk.stored(node)]
        return graph.updated(tensors=walk.tensors.values(), nodes=nodes)

    store.__name__ = store_halves.__name__
    return store


LARGEST = 2048.0
"""Magnitude for random inputs above which a tensor stays float32: 1/32 of the largest float16."""
MOST_MACS = 2e10
"""Networks with more multiply-accumulates than this are stored as float16 without a check of magnitudes."""


def large(graph: Graph, reference: str) -> frozenset[str]:
    """Names of the float tensors that exceed LARGEST for inputs drawn from a normal distribution."""
    if sum(node.op.macs(graph.call(node, reference)) for node in graph.nodes) > MOST_MACS:
        return frozenset()
    rng = np.random.default_rng(0)
    values = {name: t.data for name, t in graph.tensors.items() if t.data is not None}
    for name in graph.given:
        t = graph.type(name)
        drawn = rng.standard_normal(t.shape) if t.is_float else rng.integers(*t.limits, t.shape, endpoint=True)
        values[name] = np.asarray(drawn).astype(t.np_dtype)
    for node in graph.nodes:
        operands = [None if name is None else values[name] for name in node.inputs]
        values.update(zip(node.outputs, evaluate(graph.call(node, reference), operands), strict=True))
    floats = (name for name, value in values.items() if value.dtype == np.float32)
    return frozenset(name for name in floats if not np.abs(values[name]).max(initial=0.0) <= LARGEST)


class _Walk:
    """The pass over the nodes in order. It records the name of each tensor per element type."""

    def __init__(self, graph: Graph, reference: str, features: frozenset[str]) -> None:
        self._graph, self._reference, self._features = graph, reference, features
        self._large = large(graph, reference)
        self._names: dict[tuple[str, str], str] = {}
        self.tensors: dict[str, Tensor] = {}

    def stored(self, node: Node) -> Iterator[Node]:
        """The node on operands of the element type it needs, with the casts before and after it."""
        call = self._graph.call(node, self._reference)
        is_large = not self._large.isdisjoint((*node.inputs, *node.outputs))
        dtype = "f32" if is_large or not self._takes_halves(call) else "f16"
        inputs: list[str | None] = []
        for name in node.inputs:
            is_computed = name is not None and self._is_float(name) and not self._graph.tensors[name].is_constant
            if name is not None and is_computed and (name, dtype) not in self._names:
                yield self._cast(name, dtype, node.source)
            inputs.append(self._names[name, dtype] if name is not None and is_computed else name)
        outputs_kept = [n for n in node.outputs if dtype == "f16" and self._is_float(n) and n in self._graph.kept]
        outputs = tuple(self._made(name, dtype, is_kept=name in outputs_kept) for name in node.outputs)
        yield replace(node, inputs=tuple(inputs), outputs=outputs)
        yield from (self._cast(name, "f32", node.source) for name in outputs_kept)

    def _is_float(self, name: str) -> bool:
        return self._graph.type(name).dtype == "f32"

    def _takes_halves(self, call: Call) -> bool:
        """Whether a kernel of the device, or one without code, accepts the call on float16."""
        floats = [*(t for t, data in zip(call.inputs, call.constants, strict=True) if data is None), *call.outputs]
        if not any(t is not None and t.is_float for t in floats):
            return False
        stored = halves.halved(call)
        known = (*kernels.on_device(type(call.op)), *(k for k in call.op.kernels if not k.has_code))
        return any(not k.refusals(stored, self._features) for k in known if isinstance(k.form, Grid) or not k.has_code)

    def _made(self, name: str, dtype: str, *, is_kept: bool) -> str:
        """The name of a result that is stored in this element type."""
        if not self._is_float(name):
            return name
        self._names[name, dtype] = new = f"{name}_half" if is_kept else name
        if dtype == "f16":
            self._add(name, new, dtype)
        return new

    def _cast(self, name: str, dtype: str, source: str) -> Node:
        """A node that casts a tensor to this element type."""
        other = "f16" if dtype == "f32" else "f32"
        given = self._names.setdefault((name, other), name)
        new = name if given != name else f"{name}_{'half' if dtype == 'f16' else 'float'}"
        self._names[name, dtype] = new
        self._add(name, new, dtype)
        return Node(f"cast_{new}", Cast(dtype), (given,), (new,), source)

    def _add(self, name: str, new: str, dtype: str) -> None:
        tensor = self._graph.tensors[name]
        t = replace(tensor.type, dtype=dtype)
        self.tensors[new] = replace(tensor, name=new, type=t, origin=tensor.origin or Origin(name))

"""Removes casts and joins that give back a tensor from which slices and casts of equal width took its elements.

TFLM's front ends slice the bins that have energies from a spectrum and concatenate them with zeros, cast to int32 since
concatenation has no uint32. The other bins are zero already, so the result equals the spectrum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from mcugen.ir.call import Call
from mcugen.ir.graph import Graph, Node
from mcugen.ir.op import Op
from mcugen.ops.cast import Cast
from mcugen.ops.concatenation import Concatenation, scales_agree
from mcugen.ops.reshape import Reshape
from mcugen.ops.signal_energy import SignalEnergy
from mcugen.ops.strided_slice import StridedSlice

_WHY = "its elements are those of an earlier tensor, cut out, joined with constants that it has there, and cast back"
_MOST_ELEMENTS = 1 << 20
_SEVERAL = ""
_INTEGERS = frozenset({"s8", "u8", "s16", "s32", "u32", "s64"})


def drop_detours(graph: Graph, reference: str) -> Graph:
    """The graph in which readers of a tensor that only repeats an earlier one read the earlier one."""
    ends = [node.outputs[0] for node in graph.nodes if isinstance(node.op, Cast | Concatenation)]
    if not ends:
        return graph
    places = _Places(graph, reference)
    renamed = {name: places.source(name) for name in ends if name not in graph.kept and places.repeats(name)}
    if not renamed:
        return graph
    nodes = [_reading(node, renamed) for node in graph.nodes if not renamed.keys() & set(node.outputs)]
    return graph.updated(nodes=nodes, removed=graph.removals(renamed, "detours", _WHY))


def _reading(node: Node, renamed: dict[str, str]) -> Node:
    inputs = []
    for name in node.inputs:
        while name in renamed:
            name = renamed[name]
        inputs.append(name)
    return node if tuple(inputs) == node.inputs else replace(node, inputs=tuple(inputs))


@dataclass(frozen=True)
class _Elements:
    """For each element of a tensor, its index in the source tensor, or -1 and the value of a constant."""

    index: np.ndarray
    value: np.ndarray


class _Places:
    """Where the elements of tensors come from, if nodes only moved them."""

    def __init__(self, graph: Graph, reference: str) -> None:
        self._graph, self._reference = graph, reference
        self._makers = {name: node for node in graph.nodes for name in node.outputs}
        self._moving: dict[str, Node] = {}
        self._sources: dict[str, str] = {}
        for node in graph.nodes:
            if keeps_elements(node.op, graph.call(node, reference)):
                name, operands = node.outputs[0], {str(operand) for operand in node.inputs}
                found = {self.source(operand) for operand in operands if not graph.tensors[operand].is_constant}
                self._moving[name] = node
                self._sources[name] = found.pop() if len(found) == 1 else _SEVERAL

    def source(self, name: str) -> str:
        """The computed tensor from which this one has all elements that are not constant; "" if there are several."""
        return self._sources.get(name, name)

    def repeats(self, name: str) -> bool:
        """Whether a tensor is equal to its source, in type and in all values."""
        source = self.source(name)
        if source in (_SEVERAL, name) or self._graph.type(source) != self._graph.type(name):
            return False
        if self._graph.type(name).size > _MOST_ELEMENTS:
            return False
        found = self._elements(name, source)
        index, value = found.index.reshape(-1), found.value.reshape(-1)
        return bool(((index == np.arange(index.size)) | ((index < 0) & self._has(source, value))).all())

    def _has(self, source: str, values: np.ndarray) -> np.ndarray:
        """A mask of the elements of the source that always have these values."""
        maker = self._makers.get(source)
        zeros = None if maker is None else always_zero(maker.op, self._graph.call(maker, self._reference))
        return np.zeros(values.size, bool) if zeros is None else zeros & (values == 0)

    def _elements(self, name: str, source: str) -> _Elements:
        index = np.arange(self._graph.type(source).size).reshape(self._graph.type(source).shape)
        known = {source: _Elements(index, np.zeros_like(index))}
        for node in self._path(name, source):
            given = [known.get(str(operand)) or self._constant(str(operand)) for operand in node.inputs]
            parts = (_moved(node.op, [e.index for e in given]), _moved(node.op, [e.value for e in given]))
            known[node.outputs[0]] = _Elements(*parts)
        return known[name]

    def _path(self, name: str, source: str) -> list[Node]:
        """The nodes from the source to a tensor, in order."""
        needed, waiting = set[str](), [name]
        while waiting:
            at = waiting.pop()
            if at in self._moving and at not in needed and at != source:
                needed.add(at)
                waiting += map(str, self._moving[at].inputs)
        return [node for node in self._graph.nodes if node.outputs[0] in needed]

    def _constant(self, name: str) -> _Elements:
        data = self._graph.tensors[name].data
        assert data is not None
        return _Elements(np.full(data.shape, -1), data.astype(np.int64))


def _moved(op: Op, arrays: Sequence[np.ndarray]) -> np.ndarray:
    return arrays[0] if isinstance(op, Cast) else np.asarray(op.reference(*arrays))


@singledispatch
def keeps_elements(op: Op, call: Call) -> bool:
    """Whether each element of the only result is an element of an operand, with the same bits."""
    return False


@keeps_elements.register(Reshape)
@keeps_elements.register(StridedSlice)
def _(op: Op, call: Call) -> bool:
    return len(call.inputs) == 1


@keeps_elements.register(Concatenation)
def _(op: Concatenation, call: Call) -> bool:
    return scales_agree(call)


@keeps_elements.register(Cast)
def _(op: Cast, call: Call) -> bool:
    types = call.input(0), call.output
    return all(t.dtype in _INTEGERS for t in types) and types[0].np_dtype.itemsize == types[1].np_dtype.itemsize


@singledispatch
def always_zero(op: Op, call: Call) -> np.ndarray | None:
    """A mask of the elements of the first result that are 0 whatever the operands are; None if no element is."""
    return None


@always_zero.register(SignalEnergy)
def _(op: SignalEnergy, call: Call) -> np.ndarray:
    k = np.arange(call.output.size)
    return np.asarray((k < op.start) | (k >= op.end))

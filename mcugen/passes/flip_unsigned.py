"""Turns legacy uint8 into int8: flips the top bit of stored values and moves zero points by 128.

A Quantize that only flips the top bit converts between uint8 and int8:

* at inputs and outputs of the graph, which stay uint8;
* around operators that also use unquantized uint8 numbers, which run on uint8.

Weights become s16 with their zero point subtracted, since the result may not fit int8. Operators whose result depends
on the stored bits have a rule of `flipped`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

import numpy as np

from mcugen.ir.graph import Graph, Node, Origin, State, Tensor
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops.add import Add
from mcugen.ops.average_pool_2d import AveragePool2D
from mcugen.ops.concatenation import Concatenation
from mcugen.ops.l2_normalization import L2Normalization
from mcugen.ops.mul import Mul
from mcugen.ops.quantize import Quantize
from mcugen.ops.resize_bilinear import ResizeBilinear
from mcugen.ops.table import Table


def flip_unsigned(graph: Graph, reference: str) -> Graph:
    """The graph with int8 in place of every quantized uint8 tensor that an operator without uint8 kernels uses."""
    chosen = {name for name, tensor in graph.tensors.items() if _is_unsigned(tensor.type)} - _left_alone(graph)
    chosen |= {name for s in graph.states for name in (s.before, s.after) if chosen & {s.before, s.after}}
    if not chosen:
        return graph
    weights = _weights(graph, chosen)
    renamed = {name: f"{name}_s8" for name in chosen}
    tensors = [_flipped_tensor(graph.tensors[name], renamed[name], name in weights) for name in sorted(chosen)]
    there = {*graph.inputs, *(name for name in chosen if graph.tensors[name].is_constant)}
    nodes = [changed for node in graph.nodes for changed in _changed(graph, node, renamed, there)]
    before = [_convert(name, renamed[name], "input") for name in graph.inputs if name in chosen]
    befores = {state.before for state in graph.states}
    computed = ({name for node in graph.nodes for name in node.outputs} | befores) & chosen
    after = [
        _convert(renamed[name], name, "output") for name in dict.fromkeys(graph.outputs) if name in computed - there
    ]
    states = [_flipped_state(state, renamed) if state.before in chosen else state for state in graph.states]
    return graph.updated(tensors=tensors, nodes=(*before, *nodes, *after), states=states)


def _is_unsigned(t: TensorType) -> bool:
    return t.dtype == "u8" and t.quant is not None


def _left_alone(graph: Graph) -> set[str]:
    """Tensors that are used only by operators with uint8 kernels of their own."""
    touched = dict.fromkeys(graph.tensors, True)
    for node in graph.nodes:
        if not node.op.takes_unsigned:
            touched.update({name: False for name in (*node.inputs, *node.outputs) if name is not None})
    return {name for name, alone in touched.items() if alone}


def _weights(graph: Graph, chosen: set[str]) -> set[str]:
    """Constants that operators read as weights."""
    found = (node.inputs[k] for node in graph.nodes for k in node.op.weight_operands if k < len(node.inputs))
    return {name for name in found if name in chosen and graph.tensors[name].is_constant}


def _flipped_tensor(tensor: Tensor, name: str, is_weight: bool) -> Tensor:
    quant = tensor.type.quant
    if quant is None:
        raise ValueError(f"{tensor.name} has no quantization")
    if is_weight and tensor.data is not None:
        zero = np.asarray(quant.zero_point, np.int16)
        shape = [-1 if d == quant.axis and zero.size > 1 else 1 for d in range(tensor.data.ndim)]
        data = tensor.data.astype(np.int16) - (zero.reshape(shape) if zero.size > 1 else zero[0])
        wide = TensorType(tensor.type.shape, "s16", replace(quant, zero_point=(0,) * len(quant.scale)))
        return Tensor(name, wide, data.astype(np.int16), tensor.label, Origin(tensor.name))
    moved = QuantParams(quant.scale, tuple(z - 128 for z in quant.zero_point), quant.axis)
    flipped = None if tensor.data is None else _flipped_bits(tensor.data)
    return Tensor(name, TensorType(tensor.type.shape, "s8", moved), flipped, tensor.label, Origin(tensor.name, 128))


def _flipped_state(state: State, renamed: dict[str, str]) -> State:
    return State(renamed[state.before], renamed[state.after], _flipped_bits(state.initial))


def _flipped_bits(data: np.ndarray) -> np.ndarray:
    return (data ^ np.uint8(128)).view(np.int8)


def _changed(graph: Graph, node: Node, renamed: dict[str, str], there: set[str]) -> list[Node]:
    """A node on int8 tensors; or, if it also uses unquantized uint8 tensors, the unchanged node between conversions.

    there: changed tensors that also exist as uint8; such tensors of this node are added.
    """
    touched = [name for name in (*node.inputs, *node.outputs) if name is not None]
    plain = [name for name in touched if graph.type(name).dtype == "u8" and name not in renamed]
    if node.op.takes_unsigned or not plain or not any(name in renamed for name in touched):
        return [_renamed(node, renamed)]
    read = [name for name in dict.fromkeys(node.inputs) if name in renamed and name not in there]
    before = [_convert(renamed[name], name, "output") for name in read]
    after = [_convert(name, renamed[name], "input") for name in node.outputs if name in renamed]
    there.update(touched)
    return [*before, node, *after]


def _renamed(node: Node, renamed: dict[str, str]) -> Node:
    return replace(
        node,
        op=flipped(node.op) if any(name in renamed for name in (*node.inputs, *node.outputs)) else node.op,
        inputs=tuple(None if name is None else renamed.get(name, name) for name in node.inputs),
        outputs=tuple(renamed.get(name, name) for name in node.outputs),
    )


def _convert(source: str, result: str, end: str) -> Node:
    return Node(f"flip_{source}", Quantize("s8" if end == "input" else "u8"), (source,), (result,), f"{end} {source}")


@singledispatch
def flipped(op: Op) -> Op:
    """The operator for int8 data that was made from uint8 by flipping the top bit. Most operators stay the same."""
    return op


@flipped.register(Concatenation)
@flipped.register(L2Normalization)
@flipped.register(ResizeBilinear)
def _(op: Concatenation | L2Normalization | ResizeBilinear) -> Op:
    return replace(op, flipped_u8=True)


@flipped.register(Add)
@flipped.register(Mul)
def _(op: Add | Mul) -> Op:
    """Only the rounding "single" depends on the unsigned integers."""
    return replace(op, flipped_u8=True) if op.rounding == "single" else op


@flipped.register(AveragePool2D)
def _(op: AveragePool2D) -> Op:
    return replace(op, flipped_u8=True) if op.rounding in ("", "single") else op


@flipped.register(Table)
def _(op: Table) -> Op:
    if op.dtype != "u8":
        return op
    values = np.frombuffer(op.values, np.uint8)[np.arange(256) ^ 128] ^ np.uint8(128)
    return Table(values.tobytes(), "s8")

"""Stores weights in blocks as floats, where nothing computes with them packed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mcugen import kernels
from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ir.types import TensorType
from mcugen.ops.blocked_fully_connected import BlockedFullyConnected
from mcugen.ops.fully_connected import FullyConnected
from mcugen.oracle import filters


def unpack_blocks(graph: Graph, reference: str) -> Graph:
    """The graph with dense layers on float weights in place of those on packed weights."""
    tensors, nodes = list[Tensor](), list[Node]()
    for node in graph.nodes:
        if not isinstance(node.op, BlockedFullyConnected):
            nodes.append(node)
            continue
        x, w, s, z, b = (*node.inputs, None, None)[:5]
        q, scales, zeros = (None if n is None else graph.tensors[n].data for n in (w, s, z))
        assert q is not None and scales is not None
        real = filters.unblocked(q, scales, zeros, node.op.block).astype(np.float32)
        made = f"{node.outputs[0]}_weights"
        tensors.append(Tensor(made, TensorType(real.shape, "f32"), real, graph.tensors[str(w)].label))
        inputs = (x, made, *(() if b is None else (b,)))
        nodes.append(replace(node, op=FullyConnected(node.op.activation, True), inputs=inputs))
    return graph.updated(tensors=tensors, nodes=nodes) if tensors else graph


def unpack_blocks_for(features: frozenset[str]) -> Callable[[Graph, str], Graph]:
    """The pass for a core with these features: OpenCL devices have no kernel for packed weights."""

    def unpack(graph: Graph, reference: str) -> Graph:
        return unpack_blocks(graph, reference) if features & kernels.device_features() else graph

    unpack.__name__ = unpack_blocks.__name__
    return unpack

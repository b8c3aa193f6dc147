"""Replaces quotients with a constant divisor by products, which runtimes have in integers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcugen.ir.graph import Graph, Node, Tensor
from mcugen.ops.div import Div
from mcugen.ops.mul import Mul


def multiply_instead(graph: Graph, reference: str) -> Graph:
    """The float graph with Mul by the reciprocal in place of Div by a constant, if the reciprocal is finite."""
    tensors, nodes = list[Tensor](), list[Node]()
    for node in graph.nodes:
        factor = _factor(graph, node) if isinstance(node.op, Div) else None
        if factor is None or not isinstance(node.op, Div):
            nodes.append(node)
            continue
        tensors.append(factor)
        nodes.append(replace(node, op=Mul(node.op.activation), inputs=(node.inputs[0], factor.name)))
    return graph.updated(tensors=tensors, nodes=nodes) if tensors else graph


def _factor(graph: Graph, node: Node) -> Tensor | None:
    """The reciprocal of a quotient's divisor; None if that is no constant or has no finite reciprocal."""
    divisor = graph.tensors[str(node.inputs[1])]
    if divisor.data is None or not divisor.type.is_float:
        return None
    with np.errstate(divide="ignore", over="ignore"):
        data = np.asarray(np.float32(1) / divisor.data)
    return replace(divisor, name=f"{node.outputs[0]}_factor", data=data) if np.isfinite(data).all() else None

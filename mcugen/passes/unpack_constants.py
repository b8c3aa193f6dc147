"""Stores constants with elements of less than a byte in whole bytes, if an operator that reads them cannot
unpack them.
"""

from __future__ import annotations

from dataclasses import replace

from mcugen.ir.graph import Graph, Origin, Tensor


def unpack_constants(graph: Graph, reference: str) -> Graph:
    """The graph with packed constants converted to bytes, except those that `Op.packed_operands` names."""
    read = {name for node in graph.nodes for k, name in enumerate(node.inputs) if k not in node.op.packed_operands}
    unpacked = [_in_bytes(t) for t in graph.tensors.values() if t.type.is_packed and t.name in read]
    return graph.updated(tensors=unpacked) if unpacked else graph


def _in_bytes(tensor: Tensor) -> Tensor:
    """The constant in the type of its array, with the same values."""
    dtype = "u8" if tensor.type.limits[0] == 0 else "s8"
    return replace(tensor, type=replace(tensor.type, dtype=dtype), origin=tensor.origin or Origin(tensor.name))

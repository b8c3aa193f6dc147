"""Shapes of results by the inference rules of the onnx package, which share no code with the importer's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from mcugen.errors import CorruptModelError
from mcugen.formats.onnx.container import RawNode, guarded
from mcugen.ir.types import Shape, TensorType

_MAX_ELEMENTS = 64
"""Most elements of a constant that a rule may read, such as axes, sizes or scales."""

Held = Mapping[str, tuple[TensorType, np.ndarray | None]]
"""Value of the file -> its type, and its data if it is constant."""


def agrees(nodes: Sequence[RawNode], held: Held) -> bool:
    """Whether the shapes of all results of these operators agree with ONNX's inference rules; False if no rule
    applies."""
    return all(_agrees(node, held) for node in nodes)


def _agrees(node: RawNode, held: Held) -> bool:
    operands = {name: held[name] for name in node.inputs if name in held}
    types = {name: _type(t) for name, (t, _) in operands.items()}
    data = {
        name: onnx.numpy_helper.from_array(a, name)
        for name, (_, a) in operands.items()
        if a is not None and a.size <= _MAX_ELEMENTS
    }
    try:
        found = guarded("has an operator without a rule", _inferred, node, types, data)
    except CorruptModelError:
        return False
    return all(_fits(held[name][0].shape, found.get(name)) for name in node.outputs if name in held)


def _inferred(node: RawNode, types: Mapping[str, onnx.TypeProto], data: Mapping[str, onnx.TensorProto]) -> Any:
    schema = onnx.defs.get_schema(node.type, node.version, node.domain)
    return onnx.shape_inference.infer_node_outputs(schema, node.proto, dict(types), dict(data))


def _type(t: TensorType) -> onnx.TypeProto:
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(t.np_dtype))
    return onnx.helper.make_tensor_type_proto(kind, t.shape)


def _fits(made: Shape, found: onnx.TypeProto | None) -> bool:
    """Whether a shape agrees with an inferred one, which may leave sizes open, but not the number of axes."""
    if found is None or not found.tensor_type.HasField("shape"):
        return False
    dims = found.tensor_type.shape.dim
    return len(dims) == len(made) and all(
        not d.HasField("dim_value") or d.dim_value == n for d, n in zip(dims, made, strict=True)
    )

"""LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT and exclusive or of booleans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call
from mcugen.ir.element import Element
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Reordered
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _ordered, _tflite
from mcugen.ops._channelwise import Channelwise
from mcugen.ops.arithmetic import plain_types

_SIGNS = {"and": "&", "or": "|", "xor": "^"}
_IMPORTS = {"And": "and", "Or": "or", "Xor": "xor", "LOGICAL_AND": "and", "LOGICAL_OR": "or"}


def build(source: Source) -> Imported:
    return Imported(Logical(_IMPORTS[source.name]))


def element(call: Call) -> Element:
    return Element(f"a {_SIGNS[call.op.kind]} b", commutes=True)


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """The operator of the kind: NOT_EQUAL for exclusive or, LOGICAL_NOT for exclusive or with constant true."""
    first, second = call.constants
    if call.op.kind == "xor" and second is not None and second.all() and call.input(0).shape == call.output.shape:
        return _tflite.operator(call, sink, "LOGICAL_NOT", inputs[:1])
    if call.op.kind == "xor" and first is not None and first.all() and call.input(1).shape == call.output.shape:
        return _tflite.operator(call, sink, "LOGICAL_NOT", inputs[1:])
    name = {"and": "LOGICAL_AND", "or": "LOGICAL_OR", "xor": "NOT_EQUAL"}[call.op.kind]
    return _tflite.operator(call, sink, name, inputs)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator(call.op.kind.capitalize(), inputs, call.outputs)


@dataclass(frozen=True)
class Logical(Channelwise):
    """y = a and b, a or b, or whether exactly one is true, elementwise, broadcasting.

    a, b, y: bool
    Source: TFLite LOGICAL_AND, LOGICAL_OR; ONNX And-7, Or-7, Xor-7.
    """

    kind: str

    is_elementwise = True
    tflm_types = dtypes("bool")
    litert_types = dtypes("bool")
    imports = tuple(Import("tflite" if name.isupper() else "onnx", name, build) for name in _IMPORTS)
    writes = (Write("tflite", to_tflite), Write("onnx", to_onnx))
    element: ClassVar = {"bool": element}
    kernels = _elementwise.all_kernels("mg_logical", element)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        return _ordered.elementwise(self, call, orders)

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        return (plain_types(a, b, ("bool",)),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray({"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[self.kind](a, b))

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.reference(a, b)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [e for k, kind in enumerate(_SIGNS) for e in _elementwise.examples(cls(kind), "bool", [(1, 1, 1)], k)]

"""Resource variables: values that operators read and assign by a name, kept from run to run."""

from __future__ import annotations

from collections.abc import Sequence

from mcugen.errors import CorruptModelError
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.types import TensorType
from mcugen.ops.reshape import Reshape


def handle(source: Source, e: Expansion) -> Sequence[str]:
    """The variable itself. Source: TFLite VAR_HANDLE; TensorFlow Lite Micro's var_handle.cc."""
    names = (source.attributes[part] or b"" for part in ("container", "shared_name"))
    return ["variable " + "/".join(name.decode("utf-8", "replace") for name in names)]


def read(source: Source, e: Expansion) -> Sequence[str]:
    """The value of a variable, in the type that the file declares. Source: TFLite READ_VARIABLE; read_variable.cc."""
    if not e.has_value(_variable(e)):
        e.refuse("litert", "a variable that is read before it is assigned has no value")
    return [_as(e, e.slot(_variable(e), source.outputs[0]), source.outputs[0])]


def assign(source: Source, e: Expansion) -> Sequence[str]:
    """Gives a variable its next value. Source: TFLite ASSIGN_VARIABLE; assign_variable.cc."""
    value = e.inputs[1] if len(e.inputs) > 1 else None
    if value is None:
        raise CorruptModelError("the operator assigns no value")
    known = e.type(e.slot(_variable(e), e.type(value)))
    e.write(_variable(e), _as(e, value, known))
    return []


def initialize(source: Source, e: Expansion) -> Sequence[str]:
    """A subgraph that gives variables their first values. Source: TFLite CALL_ONCE; call_once.cc."""
    e.initialize(source.attributes["init_subgraph_index"])
    return []


def _variable(e: Expansion) -> str:
    found = e.variables[0] if e.variables else None
    if found is None:
        raise CorruptModelError("the operator names no variable")
    return found


def _as(e: Expansion, value: str, t: TensorType) -> str:
    """The stored integers of a value, with the quantization of `t` instead: the runtimes copy bytes."""
    given = e.type(value)
    if (given.shape, given.dtype) != (t.shape, t.dtype):
        raise CorruptModelError(f"a variable of type {given} is used as one of type {t}")
    return value if given == t else e.node(Reshape(t.shape), value, quant=t.quant)


IMPORTS = (
    Import("tflite", "VAR_HANDLE", expand=handle),
    Import("tflite", "READ_VARIABLE", expand=read, halves=True),
    Import("tflite", "ASSIGN_VARIABLE", expand=assign, halves=True),
    Import("tflite", "CALL_ONCE", expand=initialize),
)

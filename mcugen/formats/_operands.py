"""Operands and results of imported operators: checks, constant results, and quantization that results keep."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from mcugen.errors import CorruptModelError, ShapeError, UnsupportedError
from mcugen.ir.call import Call
from mcugen.ir.op import Op
from mcugen.ir.types import QuantParams, Shape, TensorType


def kept_quantization(op: Op, types: Sequence[TensorType | None], made: Sequence[TensorType]) -> QuantParams | None:
    """The quantization of results whose elements are copied from operands.

    None if the operands are not quantized, differ in quantization, or have a scale for each channel.
    """
    found = {t.quant for t in types if t is not None and t.dtype == made[0].dtype}
    if len(found) != 1 or not op.keeps_values(Call(op, tuple(types), tuple(made), (None,) * len(types), "")):
        return None
    quant = found.pop()
    return None if quant is None or quant.per_channel else quant


def constant_results(call: Call) -> tuple[np.ndarray, ...]:
    """Results of a call with constants that is not folded yet (`Dequantize.deferred`); () if it depends on inputs."""
    if not any(data is not None for data in call.constants):
        return ()
    op = replace(call.op, deferred=False) if getattr(call.op, "deferred", False) else call.op
    return op.fold(replace(call, op=op)) or ()


def check_operands(op: type[Op], inputs: Sequence[TensorType | None]) -> None:
    """Raise CorruptModelError if operands are missing, or too many for the signature of the operator's `infer`."""
    least, most = _operand_counts(op.infer)
    if not least <= len(inputs) <= most:
        needs = f"{least}" if least == most else f"{least} or more" if most == sys.maxsize else f"{least} to {most}"
        raise CorruptModelError(f"the operator has {len(inputs)} operands, needs {needs}")
    required = inputs if most == sys.maxsize else inputs[:least]
    if None in required:
        raise CorruptModelError(f"operand {list(required).index(None)} is absent but required")


@cache
def _operand_counts(infer: Callable[..., Any]) -> tuple[int, int]:
    """The least and the most operands of an operator, from the signature of its `infer`."""
    parameters = list(inspect.signature(infer).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return max(len(parameters) - 1, 1), sys.maxsize
    return sum(p.default is p.empty for p in parameters), len(parameters)


def require_runtime(reasons: Mapping[str, str], runtimes: Sequence[str]) -> None:
    """Raise UnsupportedError if every runtime has a reason not to compute an operator: its results are undefined."""
    if all(reasons.get(runtime) for runtime in runtimes):
        raise UnsupportedError(
            "no runtime computes this operator: " + ", ".join(f"{r}: {reasons[r]}" for r in runtimes)
        )


def check_results(op: Op, call: Call, labels: Sequence[str]) -> None:
    """Raise an error if a declared result type differs from the inferred type. labels: the file's names of results."""
    check_operands(type(op), call.inputs)
    inferred = op.infer(*call.inputs)
    if len(inferred) != len(call.outputs):
        raise CorruptModelError(f"the operator has {len(call.outputs)} results, needs {len(inferred)}")
    for label, expected, declared in zip(labels, inferred, call.outputs, strict=True):
        check_result(label, expected, declared, _types(call))


def check_result(label: str, made: TensorType, declared: TensorType, operands: str = "the import") -> None:
    """Raise ShapeError or UnsupportedError if the type of a result is not the type that the file declares."""
    check_shape(label, made.shape, declared.shape)
    if made.dtype != declared.dtype:
        raise UnsupportedError(f"{operands} gives {made.dtype}, but the file declares {declared.dtype}")


def check_shape(label: str, made: Shape, declared: Sequence[int | None]) -> None:
    """Compare a value's shape with the declared one, in which None is any size.

    Raises ShapeError if they contradict each other; runtimes at most warn of that.
    """
    fits = len(made) == len(declared) and all(d in (None, n) for n, d in zip(made, declared, strict=True))
    if not fits:
        shown = ", ".join("?" if d is None else str(d) for d in declared)
        raise ShapeError(
            f"the operator's operands make {label!r} {list(made)}, but the file declares it [{shown}]",
            hint="export the model again with the right shape of this tensor, or with none",
        )


def _types(call: Call) -> str:
    return ", ".join("-" if t is None else t.dtype for t in call.inputs)

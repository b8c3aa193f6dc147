"""Sums and differences of int8 tensors in vectors, 16 elements at a time."""

from __future__ import annotations

from mcugen.errors import InternalError
from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import activation_range
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ops import _elementwise, _linear_sum
from mcugen.ops._linear_sum import Linear
from mcugen.ops.sub import Sub

_IS_INT8 = _elementwise.of_type("s8")


def _form(call: Call) -> Linear | None:
    return _linear_sum.linear(call, -1 if isinstance(call.op, Sub) else 1)


def is_line(call: Call) -> bool:
    "one linear form gives the bits of all roundings"
    return _IS_INT8(call) and _form(call) is not None


def _params(call: Call) -> Params:
    found = _form(call)
    if found is None:
        raise InternalError(f"{call.op}: its kernel was chosen, but no linear form gives the results")
    low, high = activation_range(call.op.activation, call.output)
    return {"sum.a": found.a, "sum.b": found.b, "sum.addend": found.addend, "sum.low": low, "sum.high": high}


def sums(how: str) -> Kernel:
    """The kernel that uses a set of vector operations. how: its feature."""
    return Kernel(
        f"mg_linear_sum_s8__{how}",
        Run(lambda call: call.output.size),
        (_IS_INT8, _elementwise.equal_shapes, is_line),
        _params,
        in_place=(0, 1),
        text=Text(struct=f"mg_linear_sum_s8__{how}"),
        needs=frozenset({how}),
        short=f"sum_{how}",
    )

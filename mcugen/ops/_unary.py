"""Shared recipe of elementwise operators with one operand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.element import TERMS, Stated, Walk, element_of, loop
from mcugen.ir.kernel import Cost, Kernel, Run, Text
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType

_QUANTIZED = ("s8", "u8", "s16")
SHAPES = ((1, 3, 5, 2), (7,), (2, 3, 4, 5), (3, 11), ())
Quant = tuple[float, int]


def same_type(x: TensorType | None, allowed: Sequence[str]) -> tuple[TensorType, ...]:
    """The result type, equal to the operand's. Raises ShapeError, UnsupportedError or QuantizationError."""
    if x is None:
        raise ShapeError("the operand is missing")
    if x.dtype not in allowed:
        raise UnsupportedError(f"{x.dtype} data is not supported")
    if x.dtype in _QUANTIZED and (x.quant is None or x.quant.per_channel):
        raise QuantizationError(f"{x} needs one scale and one zero point for the whole tensor")
    return (TensorType(x.shape, x.dtype),)


def kernel(symbol: str, dtype: str, params: Callable[[Call], Params] | None = None) -> Kernel:
    """A kernel over elements of one type. Its output may overwrite its input."""

    def accepts(call: Call) -> bool:
        return call.input(0).dtype == dtype and call.output.dtype == dtype

    accepts.__doc__ = f"input and output are {dtype}"
    return Kernel(symbol, Run(lambda call: call.output.size), (accepts,), params, operands=(0,), in_place=(0,))


def kernels(symbol: str, elements: Mapping[str, Stated]) -> tuple[Kernel, ...]:
    """The kernels <symbol>_<dtype> of an elementwise operator. elements: element type -> the C expression of a result.
    """
    return tuple(_element_kernel(f"{symbol}_{dtype}", dtype, stated) for dtype, stated in elements.items())


def _element_kernel(symbol: str, dtype: str, stated: Stated) -> Kernel:
    element = partial(element_of, stated)
    return replace(
        kernel(symbol, dtype, lambda call: element(call).constants(call)),
        text=Text(generate=lambda call: loop(element(call), call, Walk.RUN, ["tensor"])),
        cost=Cost(lambda call: element(call).work(call), TERMS),
    )


def examples(op: Op, dtype: str, quants: Sequence[tuple[Quant, Quant]] = (), seed: int = 0) -> list[Example]:
    """One example per entry of quants, (scale, zero point) of operand and of result; or one example without scales."""
    found = []
    for k, pair in enumerate(quants or (None,)):
        a, y = (QuantParams((s,), (z,)) for s, z in pair) if pair else (None, None)
        shape = (16, 16) if k == 0 else SHAPES[(seed + k) % len(SHAPES)]
        found.append(Example(op, (TensorType(shape, dtype, a),), (TensorType(shape, dtype, y),), {}, seed + k))
    return found

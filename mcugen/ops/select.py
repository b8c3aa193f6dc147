"""SELECT_V2: elements of one tensor or of another, selected by booleans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.element import OPERANDS, Line, Loop, Operand, Walk
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Kernel, Run, Text
from mcugen.ir.op import Example, Reordered
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _elementwise, _onnx, _ordered, _tflite
from mcugen.ops._channelwise import Channelwise
from mcugen.ops.broadcast_to import BroadcastTo

_TYPES = ("s8", "u8", "s16", "s32", "s64", "f32", "bool")


def expand(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion to a Select whose operands, except constant numbers, are first broadcast to the result's shape."""
    if len(e.inputs) != 3 or None in e.inputs:
        raise ShapeError("three operands are needed: booleans and two tensors")
    names = [name for name in e.inputs if name is not None]
    try:
        shape = np.broadcast_shapes(*(e.type(name).shape for name in names))
    except ValueError as error:
        raise ShapeError(f"shapes {[list(e.type(n).shape) for n in names]} cannot be broadcast together") from error
    return [e.node(Select(), *(_whole(e, name, shape) for name in names))]


def from_tflite(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of SELECT_V2, of which TFLM supports only some types. Source: TFLite SELECT_V2."""
    chosen = source.inputs[1] if len(source.inputs) > 1 else None
    if chosen is not None and chosen.dtype not in ("s8", "s16", "f32"):
        e.refuse("tflm", f"no kernel for {chosen.dtype}")
    return expand(source, e)


def from_select(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion of SELECT, which TFLM lacks.

    Raises UnsupportedError for a vector of booleans that selects along the first axis. Source: TFLite SELECT.
    """
    e.refuse("tflm", "no kernel for SELECT")
    types = [t for t in source.inputs if t is not None]
    ranks = [len(t.shape) for t in types]
    if len(types) == 3 and ranks[0] == 1 < ranks[1] and types[0].shape[0] == types[1].shape[0]:
        raise UnsupportedError("a vector of booleans that selects along the first axis is not supported")
    return expand(source, e)


def _whole(e: Expansion, name: str, shape: Shape) -> str:
    data, t = e.data(name), e.type(name)
    if t.shape == shape or (data is not None and data.size == 1):
        return name
    return e.node(BroadcastTo(shape), name, quant=t.quant)


def number_of(call: Call, k: int) -> np.ndarray | None:
    """The data of operand k if it is a constant number, else None."""
    data = call.constants[k]
    return data if data is not None and data.size == 1 else None


def whole_operands(call: Call) -> bool:
    "each operand is a constant number, or has the result's shape"
    return all(number_of(call, k) is not None or call.input(k).shape == call.output.shape for k in (0, 1, 2))


def values_are(dtype: str) -> Rule:
    """A rule: the result has this element type."""

    def rule(call: Call) -> bool:
        return call.output.dtype == dtype

    rule.__doc__ = f"the values are {dtype}"
    return rule


def tensors(call: Call) -> tuple[int, ...]:
    """The operands that are tensors, not single numbers."""
    return tuple(k for k in (0, 1, 2) if number_of(call, k) is None)


def params(call: Call) -> Params:
    found = {name: number_of(call, k) for k, name in enumerate(OPERANDS[:3])}
    return {name: _elementwise.number_of(data) for name, data in found.items() if data is not None}


def loop_of(call: Call) -> Loop:
    kinds = ["tensor" if number_of(call, k) is None else "number" for k in (0, 1, 2)]
    dtype = call.output.dtype
    operands = [Operand(n, "bool" if n == "a" else dtype, kind) for n, kind in zip(OPERANDS, kinds, strict=False)]
    return Loop(Walk.RUN, tuple(operands), (), (Line("y0", dtype, "a != 0 ? b : c"),))


def _kernel(dtype: str) -> Kernel:
    elements: Callable[[Call], int] = lambda call: call.output.size  # noqa: E731
    return Kernel(
        f"mg_select_{dtype}",
        Run(elements),
        (values_are(dtype), whole_operands),
        params,
        operands=tensors,
        in_place=(1, 2),
        text=Text(generate=loop_of),
    )


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    y, (test, *parts) = call.output, inputs
    if y.dtype not in _onnx.NARROW or y.quant is not None:
        return sink.operator("Where", inputs, call.outputs)
    wide = [_onnx.cast(sink, str(x), "s32") for x in parts]
    return [_onnx.cast(sink, sink.operator("Where", [test, *wide], [TensorType(y.shape, "s32")])[0], y.dtype)]


class Select(Channelwise):
    """y = b if a is true, else c, elementwise; all of one shape, or single numbers.

    a: bool   b, c, y: one type of s8, u8, s16, s32, s64, f32 and bool, with one scale and zero point
    Source: TFLite SELECT_V2; ONNX Where-16.
    """

    is_elementwise = True
    only_moves = True
    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 s32 s64 f16 f32 bool")
    imports = (
        Import("tflite", "SELECT_V2", expand=from_tflite, halves=True),
        Import("tflite", "SELECT", expand=from_select, halves=True),
        Import("onnx", "Where", expand=expand),
    )
    writes = (_tflite.same("SELECT_V2"), Write("onnx", to_onnx))
    kernels = tuple(_kernel(dtype) for dtype in _TYPES)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        return _ordered.elementwise(self, call, orders)

    def refused_by(self, call: Call, runtime: str) -> str:
        dtype = call.output.dtype
        known = self.tflm_types if runtime == "tflm" else self.litert_types
        return "" if dtype in known else f"no kernel for {dtype}"

    def infer(self, chosen: TensorType | None, yes: TensorType | None, no: TensorType | None) -> tuple[TensorType, ...]:
        if chosen is None or yes is None or no is None:
            raise ShapeError("three operands are needed: booleans and two tensors")
        if chosen.dtype != "bool" or yes.dtype != no.dtype or yes.dtype not in _TYPES:
            raise UnsupportedError(f"selecting {yes.dtype} or {no.dtype} by {chosen.dtype} is not supported")
        if yes.quant != no.quant:
            raise QuantizationError(f"{yes} and {no} must have one scale and zero point: stored values are selected")
        shape = np.broadcast_shapes(chosen.shape, yes.shape, no.shape)
        if any(t.shape != shape and t.size > 1 for t in (chosen, yes, no)):
            raise ShapeError(f"shapes {list(chosen.shape)}, {list(yes.shape)} and {list(no.shape)} must be equal")
        return (TensorType(shape, yes.dtype),)

    def reference(self, chosen: np.ndarray, yes: np.ndarray, no: np.ndarray) -> np.ndarray:
        return np.where(chosen, yes, no)

    def reference_q(self, call: Call, chosen: np.ndarray, yes: np.ndarray, no: np.ndarray) -> np.ndarray:
        return self.reference(chosen, yes, no)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        constants = ((), (2,), (1, 2), (1,), (0,))
        return [_example(k, dtype, constants[k % 5]) for k, dtype in enumerate((*_TYPES, "f32", "s8", "s32", "u8"))]


def _example(k: int, dtype: str, constants: Sequence[int]) -> Example:
    whole: Shape = ((2, 3, 5), (17,), (1, 3, 4, 2))[k % 3]
    quant = QuantParams((0.5,), (3,)) if dtype == "s8" else None
    values = [TensorType(() if n in constants else whole, dtype, quant) for n in (1, 2)]
    inputs = (TensorType(whole, "bool"), *values)
    return Example(Select(), inputs, (TensorType(whole, dtype, quant),), dict.fromkeys(constants), k)

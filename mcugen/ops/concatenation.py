"""CONCATENATION: tensors one after the other along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.axis_order import Order
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Op, Reordered, Scaling, Slimmed
from mcugen.ir.quant_rule import SHARED, Scales
from mcugen.ir.ranges import Range, Removal, chosen
from mcugen.ir.types import MOVABLE, QuantParams, Shape, TensorType, dtypes
from mcugen.ops import _join, _onnx, _ordered, _strided, _tflite
from mcugen.ops._channelwise import alike, sliced
from mcugen.oracle.fixed import each
from mcugen.oracle.rational import binary32, nearest, quotient, scale_of

FLIP = 128


def from_tflite(source: Source) -> Imported:
    """Empty operands are dropped."""
    inputs = tuple(k for k, t in enumerate(source.inputs) if t is None or t.size)
    return Imported(Concatenation(source.attributes["axis"]), inputs=inputs or None)


def from_onnx(source: Source) -> Imported:
    """Empty operands are dropped."""
    inputs = tuple(k for k, t in enumerate(source.inputs) if t is None or t.size)
    return Imported(Concatenation(source.attributes["axis"]), inputs=inputs or None)


def _axis(call: Call) -> int:
    assert isinstance(call.op, Concatenation)
    return call.op.axis % len(call.output.shape)


def _rescales(x: TensorType, y: TensorType) -> bool:
    """Whether 8-bit integers of x must be rescaled for y. Wider integers never are."""
    return (
        x.dtype in ("s8", "u8")
        and x.quant is not None
        and y.quant is not None
        and (x.scale, x.zero_point) != (y.scale, y.zero_point)
    )


def scales_agree(call: Call) -> bool:
    "8-bit operands have the scale and zero point of the result"
    return not any(x is not None and _rescales(x, call.output) for x in call.inputs)


def was_uint8(call: Call) -> bool:
    "the model's data is uint8, the only type that runtimes rescale when they join tensors"
    assert isinstance(call.op, Concatenation)
    return call.op.flipped_u8 and call.output.dtype == "s8"


def joins_in_rows(call: Call) -> bool:
    "images are joined along columns or channels"
    return len(call.output.shape) != 4 or _axis(call) >= 2


def outer(call: Call) -> int:
    """The number of repetitions `outer`, see `_join`."""
    return _join.outer_of(call.output.shape, _axis(call))


def params(call: Call) -> Params:
    shapes = [call.input(k).shape for k in range(len(call.inputs))]
    repeats = outer(call)
    return {"run": _join.runs(shapes, repeats, call.output.np_dtype.itemsize), "outer": repeats}


def scaled_params(call: Call) -> Params:
    values = np.arange(-FLIP, FLIP)
    tables = [_rescaled(values + FLIP, _raw(call.input(k)), _raw(call.output)) - FLIP for k in range(len(call.inputs))]
    return {**params(call), "table": np.concatenate(tables).astype(np.int8)}


def _raw(t: TensorType) -> TensorType:
    """The model's uint8 type, from which the int8 type t was converted."""
    return replace(t, dtype="u8", quant=QuantParams((t.scale,), (t.zero_point + FLIP,)))


def _rescaled(x: np.ndarray, source: TensorType, target: TensorType) -> np.ndarray:
    """uint8 values of one operand, rescaled to the result in float32 as in the runtime.


    Source: reference_ops::ConcatenationWithScaling.
    """
    if not _rescales(source, target):
        return x.astype(np.int64)
    scale = np.float32(source.scale) * (np.float32(1) / np.float32(target.scale))
    bias = np.float32(-source.zero_point) * scale
    real = (x.astype(np.float32) * scale + bias).astype(np.float64)
    rounded = np.sign(real) * np.floor(np.abs(real) + 0.5)
    return np.clip(rounded.astype(np.int64) + target.zero_point, 0, 255)


def _same_steps(a: TensorType, b: TensorType) -> bool:
    return (a.scale, a.zero_point) == (b.scale, b.zero_point)


def _joined(x: np.ndarray, source: TensorType, target: TensorType, flip: int) -> np.ndarray:
    """Stored values of one operand, rescaled to the result, with a rounding to float32 after each operation.

    flip: 128 or 0; stored values and zero points plus flip are the model's uint8 values and zero points.
    Source: reference_ops::ConcatenationWithScaling.
    """
    if source.quant is None or _same_steps(source, target):
        return x.astype(np.int64)
    scale = binary32(scale_of(source) * binary32(quotient(Fraction(1), scale_of(target))))
    bias = binary32(-(source.zero_point + flip) * scale)

    def stored(v: int) -> int:
        raw = nearest(binary32(binary32((v + flip) * scale) + bias)) + target.zero_point + flip
        return max(0, min(255, raw)) - flip

    return each(x, stored)


def _to_onnx(call: Call) -> dict[str, object]:
    return {"axis": call.op.axis}


def _attributes(call: Call) -> dict[str, object]:
    return {"axis": call.op.axis, "fused_activation_function": "NONE"}


@dataclass(frozen=True)
class Concatenation(Op):
    """y = the operands one after the other along `axis`. uint8 operands are rescaled if their scale differs from y's.
    x...: any type, shapes that differ only along the axis   y: as x
    flipped_u8: whether the model's data is uint8   in_place: whether the operands are stored inside the result
    Source: TFLite CONCATENATION; quantization specification, section CONCATENATION.
    """

    axis: int
    flipped_u8: bool = False
    in_place: bool = False

    tflm_types = dtypes("s8 s16 s32 s64 f32 bool")
    litert_types = MOVABLE
    imports = (Import("tflite", "CONCATENATION", from_tflite), Import("onnx", "Concat", from_onnx))
    writes = (
        _tflite.same("CONCATENATION", _attributes, s8=2, s16=3, u32=4),
        _onnx.same("Concat", _to_onnx),
    )
    kernels = (
        *_join.join_kernels("mg_concatenation", (scales_agree,), joins_in_rows, params, outer),
        *_join.join_kernels("mg_concatenation_scaled_s8", (was_uint8,), joins_in_rows, scaled_params, outer),
    )

    def quantized(self, call: Call) -> Scales:
        return SHARED

    def infer(self, *xs: TensorType | None) -> tuple[TensorType, ...]:
        given = [_strided.operand(x) for x in xs]
        if not given:
            raise ShapeError("there are no operands to join")
        first = given[0]
        axis = _strided.axis_of(self.axis, len(first.shape))
        rest = {(x.dtype, len(x.shape), x.shape[:axis], x.shape[axis + 1 :]) for x in given}
        if len(rest) > 1:
            raise ShapeError(f"{', '.join(str(list(x.shape)) for x in given)} cannot be joined along axis {axis}")
        total = sum(x.shape[axis] for x in given)
        return (TensorType((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype),)

    def reordered(self, call: Call, orders: Sequence[Order | None]) -> Reordered | None:
        found = _ordered.joined(call, orders, _axis(call))
        return None if found is None else replace(found[1], op=replace(self, axis=found[0]))

    def keeps_values(self, call: Call) -> bool:
        return True

    def removable(self, call: Call, asked: Removal) -> Removal:
        """If channels are joined, an operand's channel is dropped together with the same channel of the result.

        A constant keeps its first channel, so that it stays an operand.
        If another axis is joined, all operands drop the same channels.
        """
        y = asked.outputs[0]
        if _axis(call) != len(call.output.shape) - 1:
            return alike(call, asked)
        ends = np.cumsum([call.input(k).shape[-1] for k in range(len(call.inputs))])[:-1]
        parts = np.split(y, ends)
        inputs = tuple(None if x is None else x & part for x, part in zip(asked.inputs, parts, strict=True))
        gone = [_but_first(part) if x is None else x for x, part in zip(inputs, parts, strict=True)]
        return Removal(inputs, (np.concatenate(gone),))

    def without(self, call: Call, removed: Removal) -> Slimmed:
        if _axis(call) != len(call.output.shape) - 1:
            return sliced(self, call, removed)
        ends = np.cumsum([call.input(k).shape[-1] for k in range(len(call.inputs))])[:-1]
        keeps = np.split(~removed.outputs[0], ends)
        constants = {
            k: (chosen(call.input(k), -1, keep), data[..., keep])
            for k, (keep, data) in enumerate(zip(keeps, call.constants, strict=True))
            if data is not None
        }
        return Slimmed(self, constants)

    def reference(self, *xs: np.ndarray) -> np.ndarray:
        return np.concatenate(xs, self.axis)

    def reference_q(self, call: Call, *xs: np.ndarray) -> np.ndarray:
        """Stored elements are moved; only uint8 is rescaled."""
        y = call.output
        if y.dtype not in ("s8", "u8") or y.quant is None:
            return self.reference(*xs)
        if y.dtype == "s8" and not self.flipped_u8:
            if any(t is not None and t.quant is not None and not _same_steps(t, y) for t in call.inputs):
                raise UnsupportedError(f"{y.dtype} operands whose scales differ from the result's are not supported")
            return self.reference(*xs)
        flip = FLIP if self.flipped_u8 else 0
        parts = (_joined(x, call.input(k), y, flip) for k, x in enumerate(xs))
        return self.reference(*parts)

    def scaling(self, call: Call) -> Scaling:
        if scales_agree(call) or not was_uint8(call):
            return {}
        return {"tables": scaled_params(call)["table"]}

    def scaling_q(self, call: Call) -> Scaling:
        y = call.output
        if y.dtype != "s8" or not self.flipped_u8 or all(t is None or _same_steps(t, y) for t in call.inputs):
            return {}
        x = np.arange(-FLIP, FLIP)
        return {"tables": np.concatenate([_joined(x, call.input(k), y, FLIP) for k in range(len(call.inputs))])}

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        """The operands' bounds, joined like the channels; the range of the type if operands are rescaled."""
        found = [x for k in range(len(call.inputs)) for x in [call.range_of(k)] if x is not None]
        if not scales_agree(call) or len(found) != len(call.inputs):
            return super().bounds(call)
        lows, highs = [x.low for x in found], [x.high for x in found]
        if _axis(call) == len(call.output.shape) - 1:
            return (Range(np.concatenate(lows), np.concatenate(highs)),)
        return (Range(np.min(lows, axis=0), np.max(highs, axis=0)),)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        types = (*_strided.DTYPES, ("s32", None))
        plain = [_example(k, cls(axis), shapes, *t) for t in types for k, (axis, shapes) in enumerate(_CASES)]
        joined = [_example(0, cls(axis, in_place=True), shapes, *types[k]) for k, (axis, shapes) in enumerate(_JOINED)]
        return [*plain, *joined, *(_scaled(k, axis, shapes) for k, (axis, shapes) in enumerate(_CASES))]


def _but_first(mask: np.ndarray) -> np.ndarray:
    return mask & (np.arange(mask.size) > 0)


_CASES: tuple[tuple[int, tuple[Shape, ...]], ...] = (
    (3, ((1, 3, 4, 2), (1, 3, 4, 5))),
    (1, ((2, 3, 4, 2), (2, 1, 4, 2), (2, 2, 4, 2))),
    (-2, ((1, 3, 2, 2), (1, 3, 1, 2))),
    (0, ((1, 3, 2), (2, 3, 2))),
    (0, ((2, 3),)),
    (1, tuple((3, n) for n in range(1, _join.MAX_PARTS + 1))),
    *((2 + k % 2, ((2, 3, 1, 2),) * k) for k in range(2, _join.MAX_PARTS + 1)),
    *((k % 2, ((2, 1, 3, 1),) * k) for k in range(2, _join.MAX_PARTS + 1)),
)


_JOINED: tuple[tuple[int, tuple[Shape, ...]], ...] = (
    (1, ((1, 4, 3, 1), (1, 8, 3, 1), (1, 1, 3, 1))),
    (0, ((2, 3), (1, 3))),
    (2, ((1, 1, 2, 3), (1, 1, 5, 3))),
)


def _example(k: int, op: Concatenation, shapes: tuple[Shape, ...], dtype: str, quant: QuantParams | None) -> Example:
    inputs = tuple(TensorType(s, dtype, quant) for s in shapes)
    y = TensorType(op.infer(*inputs)[0].shape, dtype, quant)
    constants = {1: None} if k % 3 == 1 and len(shapes) > 1 else {}
    return Example(op, inputs, (y,), constants, k)


def _scaled(k: int, axis: int, shapes: tuple[Shape, ...]) -> Example:
    op = Concatenation(axis, flipped_u8=True)
    quants = [QuantParams((0.03 + 0.01 * j,), (j * 37 % 256 - FLIP,)) for j in range(len(shapes))]
    inputs = tuple(TensorType(s, "s8", q) for s, q in zip(shapes, quants, strict=True))
    return Example(op, inputs, (TensorType(op.infer(*inputs)[0].shape, "s8", quants[-1 if k % 2 else 0]),), {}, k)

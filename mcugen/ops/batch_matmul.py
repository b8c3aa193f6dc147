"""BATCH_MATMUL: a product of two matrices for each batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Param, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import OWN, Scales
from mcugen.ir.ranges import Range, filled
from mcugen.ir.types import QuantParams, Shape, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _accumulators, _filter, _onnx, _rounding, _strided, _tflite
from mcugen.oracle import filters, quantized

MAX_BATCHES = 1 << 12
"""Most batches: each takes eight bytes of flash."""


def from_tflite(source: Source) -> Imported:
    a = source.attributes
    a.ignore("asymmetric_quantize_inputs")  # only for int8 matrices with float data, which are refused
    return Imported(BatchMatmul(bool(a["adj_x"]), bool(a["adj_y"])))


def float_data(call: Call) -> bool:
    "the matrices are float32"
    return data_types(call) == {"f32"}


def int8_data(call: Call) -> bool:
    "the matrices are int8, the operator leaves rounding to the runtime, and all sums stay within 32 bits"
    return data_types(call) == {"s8"} and not _rounding.is_stated(call) and sums_fit(call)


def int8_data_rounded_once(call: Call) -> bool:
    "the matrices are int8; a multiplication, a shift and few exceptions give the results that the operator states"
    return data_types(call) == {"s8"} and sums_fit(call) and _rounding.has_line(call)


def int16_data(call: Call) -> bool:
    "the matrices are int16 with zero points 0, and the multiplier's left shift is less than 15"
    types = (call.input(0), call.input(1), call.output)
    if data_types(call) != {"s16"} or _rounding.is_stated(call) or any(t.zero_point for t in types):
        return False
    return bool(_filter.multipliers(call, 1)[1][0] < _WIDE_SHIFT)


_WIDE_SHIFT = 15
"""Left shifts from which the rounding of 64-bit sums would overflow, in bits."""


def data_types(call: Call) -> set[str]:
    """The element types of both matrices and of the results."""
    return {call.input(0).dtype, call.input(1).dtype, call.output.dtype}


def sums_fit(call: Call) -> bool:
    """Whether all sums of products stay within 32 bits."""
    found = call.accumulators
    return found is not None and -_filter.INT32_END <= found.low[0] <= found.high[0] < _filter.INT32_END


def depth(call: Call) -> int:
    """The number of products of a result."""
    return int(call.input(0).shape[-2 if call.op.transpose_a else -1])


def sizes(call: Call) -> Params:
    """The struct fields that all kernels share: the sizes of the matrices, and where elements and batches lie."""
    op, a, b, y = call.op, call.input(0).shape, call.input(1).shape, call.output.shape
    a_cols, b_cols = a[-1], b[-1]
    a_row, a_col = (1, a_cols) if op.transpose_a else (a_cols, 1)
    b_row, b_col = (1, b_cols) if op.transpose_b else (b_cols, 1)
    first = np.stack([_starts(shape, y[:-2]) for shape in (a, b)], axis=-1)
    return {
        "first": first.reshape(-1).astype(np.uint32),
        "batches": first.shape[0],
        "rows": y[-2],
        "depth": depth(call),
        "cols": y[-1],
        "a_row": a_row,
        "a_col": a_col,
        "b_row": b_row,
        "b_col": b_col,
    }


def zero_points(call: Call) -> Params:
    """The struct fields of the operands' zero points."""
    return {"a_zero_point": call.input(0).zero_point, "b_zero_point": call.input(1).zero_point}


def params(call: Call) -> Params:
    return {**sizes(call), **({} if call.output.is_float else _integer_fields(call))}


def _integer_fields(call: Call) -> dict[str, Param]:
    zeros = dict(zero_points(call))
    if _rounding.is_stated(call):
        return zeros | _rounding.fields(call, "NONE")
    mult, shift = _filter.c_multipliers(call, 1)
    return zeros | {"mult": int(mult[0]), "shift": int(shift[0]), **_filter.clamp_fields("NONE", call.output)}


def _starts(shape: Shape, batches: Shape) -> np.ndarray:
    """The index of the first element of an operand's matrix, for each batch."""
    own = shape[:-2]
    starts = np.arange(int(np.prod(own, dtype=np.int64))).reshape(own) * shape[-2] * shape[-1]
    return np.broadcast_to(starts, batches).reshape(-1)


def _attributes(call: Call) -> dict[str, object]:
    return {"adj_x": call.op.transpose_a, "adj_y": call.op.transpose_b}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    operands = []
    for name, turned in zip(inputs, (call.op.transpose_a, call.op.transpose_b), strict=True):
        rank = len(sink.type(str(name)).shape)
        swapped = (*range(rank - 2), rank - 1, rank - 2)
        operands.append(_onnx.transposed(sink, str(name), swapped) if turned else name)
    return sink.operator("MatMul", operands, call.outputs)


@dataclass(frozen=True)
class BatchMatmul(Op):
    """y[..., i, j] = sum over k of a[..., i, k] * b[..., k, j]; the leading axes are batches and broadcast.

    a, b: [..., I, K], [..., K, J]; with transpose_a [..., K, I], with transpose_b [..., J, K]   y: [..., I, J]
    a, b, y: one type of s8, u8, s16, with one scale each, and f32
    rounding: "even" or "single" if integer results are real numbers rounded once; see _rounding
    Source: TFLite BATCH_MATMUL, ONNX MatMul-13; reference_ops::BatchMatMul.
    """

    transpose_a: bool = False
    transpose_b: bool = False
    rounding: str = ""

    activation: ClassVar[str] = "NONE"
    product_in_float: ClassVar[bool] = True
    """Whether scale_a * scale_b is rounded to float32."""

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 s16 f32")
    imports = (Import("tflite", "BATCH_MATMUL", from_tflite),)
    writes = (_tflite.same("BATCH_MATMUL", _attributes, s8=2, s16=3), Write("onnx", to_onnx))
    kernels = tuple(
        Kernel(f"mg_batch_matmul_{name}", Whole(), (rule,), params, operands=(0, 1))
        for name, rule in {
            "s8": int8_data,
            "s8_line": int8_data_rounded_once,
            "s16": int16_data,
            "f32": float_data,
        }.items()
    )

    def quantized(self, call: Call) -> Scales:
        return OWN

    def infer(self, a: TensorType | None, b: TensorType | None) -> tuple[TensorType, ...]:
        a, b = _strided.operand(a), _strided.operand(b)
        _check_types(a, b)
        _rounding.check(self.rounding)
        if len(a.shape) < 2 or len(b.shape) < 2:
            raise ShapeError(f"operands {list(a.shape)} and {list(b.shape)} need two or more axes each")
        rows, depth = a.shape[:-3:-1] if self.transpose_a else a.shape[-2:]
        inner, cols = b.shape[:-3:-1] if self.transpose_b else b.shape[-2:]
        try:
            batches = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        except ValueError as error:
            raise ShapeError(f"batches of {list(a.shape)} and {list(b.shape)} cannot be broadcast together") from error
        if depth != inner:
            raise ShapeError(f"{list(a.shape)} and {list(b.shape)} cannot be multiplied")
        if np.prod(batches, dtype=np.int64) > MAX_BATCHES:
            raise UnsupportedError(f"{np.prod(batches)} batches are not supported; at most {MAX_BATCHES} are")
        return (TensorType((*batches, rows, cols), a.dtype),)

    def reference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        left = np.swapaxes(a, -1, -2) if self.transpose_a else a
        return np.asarray(left @ (np.swapaxes(b, -1, -2) if self.transpose_b else b))

    def reference_q(self, call: Call, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Source: reference_ops/batch_matmul.h, BatchMatMul of integers; GetQuantizedConvolutionMultipler."""
        products = self.reference(quantized.centred(a, call.input(0)), quantized.centred(b, call.input(1)))
        return filters.results(call, products, None, "NONE")

    def rounds_once(self, call: Call) -> bool:
        """Whether sums are requantized with one rounding; the runtimes round products of int8 matrices twice."""
        return _rounding.is_stated(call)

    def rounded(self, call: Call) -> Op | None:
        return replace(self, rounding="even")

    def scaling(self, call: Call) -> Scaling:
        return _filter.scaling(call, 1, "NONE")

    def scaling_q(self, call: Call) -> Scaling:
        return filters.scaling(call, 1, "NONE")

    def bounds(self, call: Call) -> tuple[Range | None, ...]:
        sums, channels = call.accumulators, call.output.shape[-1]
        if sums is not None:
            sums = filled(channels, int(sums.low[0]), int(sums.high[0]))
        found = _accumulators.results(call, sums, "NONE")[0]
        return (None if found is None else filled(channels, int(found.low.min()), int(found.high.max())),)

    def accumulators(self, call: Call) -> Range | None:
        """One range for all channels: the least and the largest product, times the number of products."""
        ends = []
        for k in (0, 1):
            found = call.range_of(k)
            if found is None:
                return None
            zero = call.input(k).zero_point
            ends.append((int(found.low.min()) - zero, int(found.high.max()) - zero))
        products = [x * y for x in ends[0] for y in ends[1]]
        least, most = depth(call) * min(products), depth(call) * max(products)
        return Range(np.array([least], np.int64), np.array([most], np.int64))

    def macs(self, call: Call) -> int:
        return call.output.size * depth(call)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            (cls(), (2, 3), (3, 4)),
            (cls(True, True), (5, 2), (3, 5)),
            (cls(), (2, 1, 3, 4), (3, 4, 1)),
            (cls(transpose_b=True), (1, 3, 1, 7), (1, 1, 5, 7)),
            (cls(transpose_a=True), (4, 17, 2), (4, 17, 3)),
        )
        found = []
        for k, (op, left, right) in enumerate(cases):
            found += [example(op, "f32", left, right, k), example(op, "s8", left, right, 10 + k, (-7, 120)[k % 2])]
            found += [example(op, "s16", left, right, 20 + k)]
            found += [example(replace(op, rounding="even"), "s8", left, right, 30 + k, (100, -128)[k % 2])]
        fours = (
            (cls(), (2, 8, 12), (12, 4)),
            (cls(True, True), (12, 8), (4, 12)),
            (cls(transpose_b=True), (1, 8), (4, 8)),
        )
        found += [example(op, "f32", left, right, 50 + k) for k, (op, left, right) in enumerate(fours)]
        long = (
            (cls(transpose_b=True), (2, 5, 163), (2, 9, 163)),
            (cls(), (1, 1, 2, 302), (1, 3, 302, 6)),
            (cls(), (3, 4), (2, 4, 35)),
        )
        found += [example(op, "s8", left, right, 60 + k, -9) for k, (op, left, right) in enumerate(long)]
        found += [example(replace(long[0][0], rounding="even"), "s8", *long[0][1:], 63, 11)]
        found += [example(cls(rounding=how), "s8", (3, 8), (8, 6), 64, 9, gain=1e-7) for how in ("", "even")]
        steep = example(cls(), "s8", (2, 9), (9, 4), 40, 5, gain=4.0)
        return [*found, steep, example(cls(rounding="single"), "s8", (3, 40), (40, 5), 41, -5, gain=0.003)]


def _check_types(a: TensorType, b: TensorType) -> None:
    """Raise UnsupportedError or QuantizationError for types that cannot be multiplied."""
    if a.dtype != b.dtype or a.dtype not in ("s8", "u8", "s16", "f32"):
        raise UnsupportedError(f"products of {a.dtype} and {b.dtype} matrices are not supported")
    for t in (a, b):
        if not t.is_float and (t.quant is None or t.quant.per_channel):
            raise QuantizationError(f"the matrix {t} must have one scale for the whole tensor")


def example(
    op: BatchMatmul, dtype: str, left: Shape, right: Shape, seed: int, zero: int = 0, gain: float = 0.02
) -> Example:
    """An example. gain: scale of the products divided by the scale of the results, for int8."""
    step = gain if dtype == "s8" else gain / 1000
    steps = ((0.05, zero), (0.03, zero // 3), (0.05 * 0.03 / step, -zero // 2))
    quants = [None if dtype == "f32" else QuantParams((scale,), (z,)) for scale, z in steps]
    a, b = TensorType(left, dtype, quants[0]), TensorType(right, dtype, quants[1])
    return Example(op, (a, b), tuple(replace(t, quant=quants[2]) for t in op.infer(a, b)), {}, seed)

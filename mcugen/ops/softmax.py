"""SOFTMAX over the last axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import quantize_multiplier, rounding_doubling_high_mul
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import Scales, fixed
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _gemmlowp, _interpolated, _onnx, _tflite
from mcugen.ops.table_softmax import TableSoftmax
from mcugen.oracle import byte_tables, gemmlowp, quantized
from mcugen.oracle.fixed import divided, each, high_product, scaled_twice
from mcugen.oracle.rational import binary32, binary64, exact, multiplier, power, scale_of

_DIFF_BITS = 5  # integer bits of scaled differences
_SUM_BITS = 12  # integer bits of sums of exponentials
_MAX_CLASSES_S8 = 4095  # each exponential adds at most 2**19 to an int32 sum
_MAX_CLASSES_S16 = 65535  # each exponential adds at most 2**15
_NEAR = 1e-3  # relative tolerance of scales. Source: softmax_common.cc, CalculateSoftmaxParams
_TYPES = {("f32", "f32"), ("s8", "s8"), ("u8", "u8"), ("s16", "s16"), ("s8", "s16")}


def from_tflite(source: Source) -> Imported:
    types = (source.inputs[0].dtype if source.inputs and source.inputs[0] else "", source.outputs[0].dtype)
    return Imported(Softmax(float(source.attributes["beta"]), widen=types == ("s8", "s16")))


def _beta(call: Call) -> float:
    return float(call.op.beta)


def exponentials(call: Call) -> np.ndarray:
    """exp of each difference 0, -1, ... -255 from the maximum, in Q0, int32; 0 below the runtime's limit.

    Source: quantization_util.cc PreprocessSoftmaxScaling, CalculateInputRadius; reference_ops::Softmax.
    """
    real = min(_beta(call) * float(np.float32(call.input(0).scale)) * (1 << (31 - _DIFF_BITS)), 2.0**31 - 1)
    mult, shift = quantize_multiplier(real)
    if shift < 0:
        raise QuantizationError(f"the input scale {call.input(0).scale:.3g} * beta {_beta(call):.3g} is below 2^-27")
    limit = math.floor(((1 << _DIFF_BITS) - 1) * (1 << (31 - _DIFF_BITS)) / (1 << shift))
    diff = -np.arange(256, dtype=np.int64)
    inside = diff >= -limit
    scaled = rounding_doubling_high_mul(np.where(inside, diff, 0) << shift, mult)
    return np.where(inside, _gemmlowp.exp_on_negative_values(scaled, _DIFF_BITS), 0).astype(np.int32)


def s16_tables(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """Interpolation tables: (exp on [-10, 0], 1 / (1 + x) on [0, 1]).

    LiteRT computes them in float64, TFLM in float32: a few entries differ. Source: softmax_common.cc, activations.cc.
    """
    precision: type[np.floating[Any]] = np.float32 if call.reference == "tflm" else np.float64
    scale = precision(2**16) / (precision(32767) * precision(2.0 / 65535) - precision(-32768) * precision(2.0 / 65535))
    tenth = precision(10.0) / precision(65535)
    unit = precision(1.0) / precision(65535)
    exp = _interpolated.populate(_exp, (float(tenth * precision(-65535)), 0.0), float(scale), precision)
    inverse = _interpolated.populate(_one_over_one_plus, (0.0, float(unit * precision(65535))), float(scale), precision)
    return exp, inverse


def _exp(x: np.ndarray) -> np.ndarray:
    """exp, rounded once to x's precision."""
    return np.exp(x.astype(np.float64)).astype(x.dtype)


def _one_over_one_plus(x: np.ndarray) -> np.ndarray:
    one = x.dtype.type(1)
    return np.asarray(one / (one + x))


def s16_multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) that scale stored differences so that [-65535, 0] stands for [-10, 0]."""
    x = np.float32(call.input(0).scale)
    if call.reference == "tflm":
        return quantize_multiplier(float(x) * _beta(call) / (10.0 / 65535.0))
    return quantize_multiplier(float(x * np.float32(_beta(call))) / (10.0 / 65535.0))


def small_enough(call: Call) -> bool:
    "a row has at most 4095 (int16: 65535) classes, so that sums of exponentials stay within 32 bits"
    most = _MAX_CLASSES_S16 if call.input(0).dtype == "s16" else _MAX_CLASSES_S8
    return call.input(0).shape[-1] <= most


def int8_to_int8(call: Call) -> bool:
    "input and output are int8"
    return (call.input(0).dtype, call.output.dtype) == ("s8", "s8")


def int8_to_int16(call: Call) -> bool:
    "the input is int8, the output int16"
    return (call.input(0).dtype, call.output.dtype) == ("s8", "s16")


def int16_data(call: Call) -> bool:
    "input and output are int16"
    return (call.input(0).dtype, call.output.dtype) == ("s16", "s16")


def float_data(call: Call) -> bool:
    "input and output are float32"
    return (call.input(0).dtype, call.output.dtype) == ("f32", "f32")


def params_s8(call: Call) -> Params:
    table = exponentials(call)
    length = int(np.count_nonzero(table))
    return {"exp": table[:length], "exp_length": length, "classes": call.input(0).shape[-1]}


def params_s16(call: Call) -> Params:
    exp, inverse = s16_tables(call)
    mult, shift = s16_multiplier(call)
    return {"exp": exp, "inverse": inverse, "mult": mult, "shift": shift, "classes": call.input(0).shape[-1]}


def params_f32(call: Call) -> Params:
    return {"beta": _beta(call), "classes": call.input(0).shape[-1]}


def rows(call: Call) -> int:
    """The number of vectors along the last axis."""
    return call.output.size // call.output.shape[-1]


def _attributes(call: Call) -> dict[str, object]:
    return {"beta": call.op.beta}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x = str(inputs[0])
    if call.op.beta != 1.0:
        x = sink.operator("Mul", [x, _onnx.constant(sink, call.op.beta)], [_onnx.real(call.input(0))])[0]
    return sink.operator("Softmax", [x], call.outputs, {"axis": len(call.output.shape) - 1})


@dataclass(frozen=True)
class Softmax(Op):
    """y[i] = exp(beta * x[i]) / sum over k of exp(beta * x[k]), over the last axis.

    x: s8, u8, s16 or f32, rank 1 or more   y: as x, or s16 from s8
    Quantized results have fixed scales and zero points: s8 1/256 and -128, u8 1/256 and 0, s16 1/32768 and 0; s16 from
    s8 1/65536 and -32768.
    Source: TFLite SOFTMAX; reference_ops::Softmax, SoftmaxInt16.
    """

    beta: float = 1.0
    widen: bool = False
    """Whether y is s16 with s8 data."""
    steps: bool = False
    """Whether the file states that 8-bit results are those of IntegerSoftmax."""

    tflm_types = dtypes("s8 s16 f32")
    litert_types = dtypes("s8 u8 s16 f16 f32")
    imports = (Import("tflite", "SOFTMAX", from_tflite),)
    writes = (_tflite.same("SOFTMAX", _attributes, s8=2, s16=3), Write("onnx", to_onnx))
    kernels = (
        Kernel("mg_softmax_s8", Run(rows), (int8_to_int8, small_enough), params_s8, in_place=(0,)),
        Kernel("mg_softmax_s8_s16", Run(rows), (int8_to_int16, small_enough), params_s8),
        Kernel("mg_softmax_s16", Run(rows), (int16_data, small_enough), params_s16, in_place=(0,)),
        Kernel("mg_softmax_f32", Run(rows), (float_data,), params_f32, in_place=(0,)),
    )

    def refused_by(self, call: Call, runtime: str) -> str:
        y = call.output
        if runtime == "tflm" and self.widen and (abs(y.scale * 65536 - 1) > _NEAR or y.zero_point != -32768):
            return "int16 results need a scale of about 1/65536 and the zero point -32768"
        return super().refused_by(call if not self.widen else replace(call, outputs=()), runtime)

    def quantized(self, call: Call) -> Scales:
        return fixed((1 / 256, -128), (1 / 32768, 0))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or not x.shape:
            raise ShapeError(f"softmax needs an input of rank 1 or more, not {x}")
        if not math.isfinite(self.beta) or self.beta <= 0:
            raise UnsupportedError(f"beta {self.beta} must be positive and finite")
        if self.widen and x.dtype != "s8":
            raise UnsupportedError(f"softmax from {x.dtype} to s16 is not supported")
        return (TensorType(x.shape, "s16" if self.widen else x.dtype),)

    def rounded(self, call: Call) -> Op | None:
        return TableSoftmax() if self.beta == 1.0 else None

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # an infinite element gives NaN, as in the kernels
            e = np.exp((x - x.max(axis=-1, keepdims=True)) * self.beta)
            return np.asarray(e / e.sum(axis=-1, keepdims=True))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        types = (call.input(0).dtype, call.output.dtype)
        if types not in _TYPES:
            raise UnsupportedError(f"softmax from {types[0]} to {types[1]} is not supported")
        diff = x.astype(np.int64) - x.astype(np.int64).max(axis=-1, keepdims=True)
        return _softmax_s16(call, diff) if types[0] == "s16" else _softmax_s8(call, diff)

    def scaling(self, call: Call) -> Scaling:
        if call.input(0).is_float:
            return {}
        if call.input(0).dtype != "s16":
            return {"exponentials": exponentials(call)}
        exp, inverse = s16_tables(call)
        return {"exponentials": exp, "reciprocals": inverse, "scale": s16_multiplier(call)}

    def scaling_q(self, call: Call) -> Scaling:
        if call.input(0).is_float:
            return {}
        if call.input(0).dtype != "s16":
            exponential = exponential_of(call)
            return {"exponentials": np.array([exponential(-k) for k in range(256)])}
        exp, inverse = byte_tables.softmax_tables(quantized.is_tflm(call))
        return {"exponentials": exp, "reciprocals": inverse, "scale": _int16_multiplier(call)}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [_example(k, **case) for k, case in enumerate(_CASES)]


def exponential_of(call: Call) -> Callable[[int], int]:
    """A function that maps a stored difference from the maximum to its exponential in Q0; 0 below the runtime's limit.

    Source: quantization_util.cc, PreprocessSoftmaxScaling, CalculateInputRadius; reference_ops::Softmax.
    """
    real = scale_of(call.input(0)) * exact(_beta(call)) * power(31 - _DIFF_BITS)
    mult, left = multiplier(min(binary64(real), Fraction(2**31 - 1)))
    if left < 0:
        raise QuantizationError(f"the input scale {call.input(0).scale:.3g} * beta {_beta(call):.3g} is below 2^-27")
    furthest = math.floor(((1 << _DIFF_BITS) - 1) * power(31 - _DIFF_BITS - left))

    def exponential(steps: int) -> int:
        scaled = gemmlowp.product(steps << left, mult) if steps >= -furthest else None
        return 0 if scaled is None else gemmlowp.exp_on_negative(scaled, _DIFF_BITS)

    return exponential


def _softmax_s8(call: Call, diff: np.ndarray) -> np.ndarray:
    """The results for int8: exponentials in Q0, their sum in Q12, its reciprocal in Q0."""
    e = each(diff, exponential_of(call))
    total = divided(e, _SUM_BITS).sum(axis=-1, keepdims=True)
    scale = each(total, lambda v: gemmlowp.reciprocal(v, _SUM_BITS)[0])
    over_unit = each(total, lambda v: gemmlowp.reciprocal(v, _SUM_BITS)[1])
    least, most = quantized.ends(call.output)
    y = divided(high_product(scale, e), over_unit + 31 - 8 * call.output.np_dtype.itemsize)
    return np.asarray(np.clip(y + least, least, most))


def _int16_multiplier(call: Call) -> tuple[int, int]:
    """(mult, shift) that scale stored differences so that [-65535, 0] stands for [-10, 0]."""
    product = scale_of(call.input(0)) * exact(_beta(call))
    rounded = (binary64 if quantized.is_tflm(call) else binary32)(product)
    return multiplier(binary64(rounded / binary64(Fraction(10) / 65535)))


def _softmax_s16(call: Call, diff: np.ndarray) -> np.ndarray:
    """The results for int16: exponentials and the reciprocal of their sum from interpolation tables, in Q0.15."""
    exp, inverse = byte_tables.softmax_tables(quantized.is_tflm(call))
    scaled = scaled_twice(diff, *_int16_multiplier(call))
    e = byte_tables.look_up(exp, np.clip(scaled + 32767, -32768, 32767))
    total = e.sum(axis=-1, keepdims=True)
    length = np.frompyfunc(int.bit_length, 1, 1)(total.astype(object)).astype(np.int64)
    normal = ((total << (31 - length)) + (1 << 13)) >> 14
    scale = byte_tables.look_up(inverse, np.clip(normal - (2**15 + 2**16), -32768, 32767))
    right = length - 1
    return np.asarray(np.clip((e * scale + (np.int64(1) << (right - 1))) >> right, 0, 32767))


_Q = {
    "s8": QuantParams((1 / 256,), (-128,)),
    "u8": QuantParams((1 / 256,), (0,)),
    "s16": QuantParams((1 / 32768,), (0,)),
    "s8 s16": QuantParams((1 / 65536,), (-32768,)),
    "f32": None,
}
_CASES: tuple[dict[str, Any], ...] = (
    {"shape": (1, 10), "scale": 0.1},
    {"shape": (3, 7), "scale": 1.0, "zero": -128},
    {"shape": (1, 3, 5, 2), "scale": 0.003, "zero": 127},
    {"shape": (1, 1), "scale": 0.5},
    {"shape": (2, 301), "scale": 0.02, "beta": 2.0},
    {"shape": (1, 17), "scale": 8.0},
    {"shape": (4, 5), "scale": 0.05, "out": "s16"},
    {"shape": (3, 10), "scale": 0.0005, "dtype": "s16"},
    {"shape": (2, 3, 4, 5), "scale": 0.00001, "dtype": "s16"},
    {"shape": (2, 33), "scale": 0.01, "dtype": "s16", "beta": 0.5},
    {"shape": (1, 1), "scale": 0.01, "dtype": "s16"},
    {"shape": (1, 9), "dtype": "f32"},
    {"shape": (1, 2, 3, 4), "dtype": "f32", "beta": 0.25},
)


def _example(
    seed: int,
    shape: tuple[int, ...],
    scale: float = 1.0,
    zero: int = 0,
    dtype: str = "s8",
    out: str = "",
    beta: float = 1.0,
) -> Example:
    x = TensorType(shape, dtype, None if dtype == "f32" else QuantParams((scale,), (zero,)))
    y = TensorType(shape, out or dtype, _Q[f"{dtype} {out}" if out else dtype])
    return Example(Softmax(beta, widen=out == "s16"), (x,), (y,), {}, seed)

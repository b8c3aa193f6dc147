"""LOG_SOFTMAX of int8 and uint8 over the last axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import multiply_double_rounding, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.quant_rule import Scales, fixed
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ops import _gemmlowp, _onnx, _tflite
from mcugen.ops.softmax import rows
from mcugen.oracle import gemmlowp
from mcugen.oracle.fixed import scaled_twice
from mcugen.oracle.rational import binary64, multiplier, power, scale_of

_BITS = 5  # integer bits of scaled differences
_SUM_BITS = 12  # integer bits of sums of exponentials
_MOST_CLASSES = 4095  # each exponential adds at most 2**19 to an int32 sum
_SIXTEENTHS = {"s8": QuantParams((1 / 16,), (127,)), "u8": QuantParams((1 / 16,), (255,))}


def _is_integer(source: Source) -> bool:
    x = source.inputs[0] if source.inputs else None
    return x is not None and x.dtype in _SIXTEENTHS


def from_tflite(source: Source) -> Imported:
    y = source.outputs[0]
    if y.quant != _SIXTEENTHS.get(y.dtype):
        raise QuantizationError(f"the result {y} must have {_SIXTEENTHS.get(y.dtype, 'the scale 1/16')}")
    return Imported(LogSoftmax())


def _scale(call: Call) -> tuple[int, int]:
    """(mult, shift) that scale differences from the maximum to Q5.

    Source: quantization_util.cc, PreprocessSoftmaxScaling.
    """
    mult, shift = quantize_multiplier(min(float(np.float32(call.input(0).scale)) * (1 << (31 - _BITS)), 2.0**31 - 1))
    if shift < 1:
        raise QuantizationError(f"the input scale {call.input(0).scale:.3g} must be at least 2^-26")
    return mult, shift


def _back(call: Call) -> tuple[int, int]:
    """(mult, shift) that scale Q5 back to stored differences.

    Source: quantization_util.cc, PreprocessLogSoftmaxScalingExp.
    """
    mult, shift = _scale(call)
    return quantize_multiplier((1 << (31 - shift)) / mult)


def _tables(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """(exp in Q12, difference in Q5) of a row's values.

    Entry k is for values k stored units below the row's maximum. The runtime ignores values below the last entry.
    """
    mult, shift = _scale(call)
    limit = math.floor(((1 << _BITS) - 1) * (1 << (31 - _BITS)) / (1 << shift))
    scaled = multiply_double_rounding(-np.arange(min(limit, 255) + 1, dtype=np.int64), mult, shift)
    exp = _gemmlowp.exp_on_negative_values(scaled, _BITS)
    return (exp + (1 << (_SUM_BITS - 1))) >> _SUM_BITS, scaled


def small_enough(call: Call) -> bool:
    "a row has at most 4095 classes, so that sums of exponentials stay within 32 bits"
    return call.input(0).shape[-1] <= _MOST_CLASSES


def params(call: Call) -> Params:
    (exp, scaled), (mult, shift) = _tables(call), _back(call)
    return {
        "exp": exp.astype(np.int32),
        "scaled": scaled.astype(np.int32),
        "mult": mult,
        "shift": shift,
        "exp_length": len(exp),
        "classes": call.input(0).shape[-1],
    }


def _last_axis(call: Call) -> dict[str, object]:
    return {"axis": len(call.output.shape) - 1}


@dataclass(frozen=True)
class LogSoftmax(Op):
    """y[i] = x[i] - log(sum over k of exp(x[k])), over the last axis, in steps of 1/16.

    x: s8 or u8, rank 1 or more   y: as x, with the scale 1/16 and the zero point 127 (255 for u8)
    Source: TFLite LOG_SOFTMAX; reference_integer_ops::LogSoftmax.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 f32")
    imports = (Import("tflite", "LOG_SOFTMAX", from_tflite, when=_is_integer),)
    writes = (
        _tflite.same("LOG_SOFTMAX", s8=2),
        _onnx.same("LogSoftmax", _last_axis),
    )
    kernels = (Kernel("mg_log_softmax_s8", Run(rows), (small_enough,), params, in_place=(0,)),)

    def quantized(self, call: Call) -> Scales:
        return fixed((16 / 256, 127))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or not x.shape:
            raise ShapeError(f"log-softmax needs an input of rank 1 or more, not {x}")
        if x.dtype not in _SIXTEENTHS:
            raise UnsupportedError(f"log-softmax of {x.dtype} is not supported")
        if x.quant is None or x.quant.per_channel:
            raise QuantizationError(f"{x} needs one scale for the whole tensor")
        return (TensorType(x.shape, x.dtype),)

    def reference(self, x: np.ndarray) -> np.ndarray:
        below = x - x.max(axis=-1, keepdims=True)
        return np.asarray(below - np.log(np.exp(below).sum(axis=-1, keepdims=True)))

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        (mult, left), (back, right) = _scales_q(call)
        least = -math.floor(((1 << _BITS) - 1) * power(31 - _BITS - left))
        made = []
        for row in x.astype(np.int64).reshape(-1, x.shape[-1]):
            steps = row - row.max()
            scaled = scaled_twice(np.maximum(steps, least), mult, left)
            parts = [gemmlowp.divided(gemmlowp.exp_on_negative(int(v), _BITS), _SUM_BITS) for v in scaled]
            total = gemmlowp.logarithm(sum(np.array(parts)[steps >= least].tolist()), _SUM_BITS, _BITS)
            end = max(least - 1, int(scaled_twice(np.array(total - (1 << 31)), back, right)))
            found = [gemmlowp.divided(int(v) - total, 22) + 127 for v in scaled]
            made.append(np.where(steps > end, np.clip(found, -128, 127), -128))
        flip = 128 if x.dtype == np.uint8 else 0
        return np.stack(made).reshape(x.shape) + flip

    def scaling(self, call: Call) -> Scaling:
        return {"steps": _scale(call), "back": _back(call), "exp_length": len(_tables(call)[0])}

    def scaling_q(self, call: Call) -> Scaling:
        (mult, left), back = _scales_q(call)
        least = math.floor(((1 << _BITS) - 1) * power(31 - _BITS - left))
        return {"steps": (mult, left), "back": back, "exp_length": min(least, 255) + 1}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (
            ((1, 10), 0.1, 0),
            ((3, 7), 1.0, -128),
            ((1, 3, 5, 2), 0.003, 127),
            ((2, 301), 0.02, 5),
            ((1, 1), 0.5, 3),
        )
        found = []
        for k, (shape, scale, zero) in enumerate((*cases, ((2, 17), 8.0, -9), ((1, 4000), 0.05, 9))):
            x = TensorType(shape, "s8", QuantParams((scale,), (zero,)))
            found.append(Example(cls(), (x,), (TensorType(shape, "s8", _SIXTEENTHS["s8"]),), {}, k))
        return found


def _scales_q(call: Call) -> tuple[tuple[int, int], tuple[int, int]]:
    """((mult, shift) from stored differences to Q5, (mult, shift) from Q5 back to stored differences)."""
    mult, left = multiplier(min(binary64(scale_of(call.input(0)) * power(31 - _BITS)), Fraction(2**31 - 1)))
    if left < 1:
        raise QuantizationError(f"the input scale {call.input(0).scale:.3g} must be at least 2^-26")
    return (mult, left), multiplier(binary64(power(31 - left) / mult))

"""L2_NORMALIZATION of int8 and uint8: vectors are scaled to length one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import Scales, fixed
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _strided, _tflite
from mcugen.oracle import gemmlowp
from mcugen.oracle.fixed import scaled_twice

_MOST = 1 << 15
"""The most elements of a vector whose sum of squares fits 31 bits."""


_ZEROS = {"s8": 0, "u8": 128}
"""Element type of results -> their zero point."""


def _is_byte(source: Source) -> bool:
    x = source.inputs[0] if source.inputs else None
    return x is not None and x.dtype in _ZEROS


def from_tflite(source: Source) -> Imported:
    y = source.outputs[0]
    if y.quant != QuantParams((1 / 128,), (_ZEROS.get(y.dtype, 0),)):
        raise QuantizationError(f"the result {y} must have the scale 1/128 and the zero point {_ZEROS.get(y.dtype, 0)}")
    if source.attributes.get("fused_activation_function", "NONE") != "NONE":
        raise UnsupportedError("the fused activation is not supported: use NONE")
    return Imported(L2Normalization())


def params(call: Call) -> Params:
    x = call.input(0)
    up = 0 if call.op.flipped_u8 else 7
    return {"rows": x.size // x.shape[-1], "length": x.shape[-1], "zero": x.zero_point, "up": up}


def _attributes(call: Call) -> dict[str, object]:
    return {"fused_activation_function": "NONE"}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("LpNormalization", inputs, call.outputs, {"axis": len(call.output.shape) - 1, "p": 2})


@dataclass(frozen=True)
class L2Normalization(Op):
    """y = x / square root of the sum of squares of x along the last axis, in steps of 1/128.

    x: s8 or u8 per tensor, any shape   y: as x, with the scale 1/128 and the zero point 0 (128 for u8)
    The inverse root is computed by five steps of Newton's method, with 28 fractional bits.
    flipped_u8: whether the model's data is uint8; values are then multiplied by 128 before rounding
    Source: TFLite L2_NORMALIZATION; reference_integer_ops::L2Normalization, reference_ops::L2Normalization,
    GetInvSqrtQuantizedMultiplierExp.
    """

    flipped_u8: bool = False

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 u8 f32")
    imports = (Import("tflite", "L2_NORMALIZATION", from_tflite, when=_is_byte),)
    writes = (_tflite.same("L2_NORMALIZATION", _attributes, s8=2), Write("onnx", to_onnx))
    kernels = (Kernel("mg_l2_normalization_s8", Whole(), params=params, short="l2_norm_s8"),)

    def quantized(self, call: Call) -> Scales:
        return fixed((1 / 128, 0))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if x.dtype not in _ZEROS or not x.shape or x.shape[-1] > _MOST:
            raise UnsupportedError(f"{x} must be int8 or uint8, with at most {_MOST} elements along the last axis")
        if x.quant is None or x.quant.per_channel:
            raise QuantizationError(f"{x} needs one scale and one zero point for the whole tensor")
        return (TensorType(x.shape, x.dtype),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        centred = x.astype(np.int64) - call.input(0).zero_point
        rows = centred.reshape(-1, x.shape[-1])
        first = 7 if self.flipped_u8 or x.dtype == np.uint8 else 0
        made = [np.clip(_in_128ths(row, first), -128, 127) for row in rows]
        return np.stack(made).reshape(x.shape) + (call.output.zero_point if x.dtype == np.uint8 else 0)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        y = QuantParams((1 / 128,), (0,))
        cases = (((3, 7), -3), ((1, 300), 127), ((2, 1, 1, 5), -128), ((4, 1), 0), ((3, 9), -3))
        data = [TensorType(shape, "s8", QuantParams((0.1,), (zero,))) for shape, zero in cases]
        return [Example(cls(k == 4), (x,), (TensorType(x.shape, "s8", y),), {}, k) for k, x in enumerate(data)]


def _in_128ths(row: np.ndarray, first: int) -> np.ndarray:
    """row * 128 / square root of its sum of squares. first: bits of the shift by 7 that precede the rounding."""
    mult, shift = gemmlowp.inverse_root(int((row**2).sum()))
    return np.asarray(scaled_twice(row << first, mult, shift + 7 - first))

"""L2_NORMALIZATION of int8: vectors of length one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.call import Call, Params
from mcugen.errors import QuantizationError, UnsupportedError
from mcugen.imports import Import, Imported, Source
from mcugen.kernel import Form, Kernel
from mcugen.op import Example, Op
from mcugen.ops import _strided, _tflite
from mcugen.oracle import gemmlowp
from mcugen.oracle.fixed import scaled_twice
from mcugen.scales import Scales, fixed
from mcugen.types import QuantParams, TensorType, dtypes
from mcugen.writes import Sink, Write

_MOST = 1 << 15
"""Elements of a vector whose squares fit 31 bits."""


def _is_int8(source: Source) -> bool:
    x = source.inputs[0] if source.inputs else None
    return x is not None and x.dtype == "s8"


def from_tflite(source: Source) -> Imported:
    if source.outputs[0].quant != QuantParams((1 / 128,), (0,)):
        raise QuantizationError(f"the result {source.outputs[0]} must have the scale 1/128 and the zero point 0")
    if source.attributes.get("fused_activation_function", "NONE") != "NONE":
        raise UnsupportedError("a fused activation is not supported")
    return Imported(L2Normalization())


def params(call: Call) -> Params:
    x = call.input(0)
    return {"rows": x.size // x.shape[-1], "length": x.shape[-1], "zero": x.zero_point}


def _attributes(call: Call) -> dict[str, object]:
    return {"fused_activation_function": "NONE"}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    return sink.operator("LpNormalization", inputs, call.outputs, {"axis": len(call.output.shape) - 1, "p": 2})


@dataclass(frozen=True)
class L2Normalization(Op):
    """y = x / root of the sum of squares of x along the last axis, in 128ths.

    x: s8 per tensor, any shape   y: s8 of the scale 1/128 and the zero point 0
    The root's inverse is found by five steps of Newton's method, with 28 bits after the point.
    Source: TFLite L2_NORMALIZATION; reference_integer_ops::L2Normalization, GetInvSqrtQuantizedMultiplierExp.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 f32")
    imports = (Import("tflite", "L2_NORMALIZATION", from_tflite, when=_is_int8),)
    writes = (_tflite.same("L2_NORMALIZATION", _attributes, s8=2), Write("onnx", to_onnx))
    kernels = (Kernel("mg_l2_normalization_s8", Form.WHOLE, params=params, short="l2_norm_s8"),)

    def quantized(self, call: Call) -> Scales:
        return fixed((1 / 128, 0))

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        x = _strided.operand(x)
        if x.dtype != "s8" or not x.shape or x.shape[-1] > _MOST:
            raise UnsupportedError(f"normalizing {x} is not supported")
        if x.quant is None or x.quant.per_channel:
            raise QuantizationError(f"{x} needs one scale and one zero point for the whole tensor")
        return (TensorType(x.shape, "s8"),)

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        centred = x.astype(np.int64) - call.input(0).zero_point
        rows = centred.reshape(-1, x.shape[-1])
        made = [np.clip(_in_128ths(row), -128, 127) for row in rows]
        return np.stack(made).reshape(x.shape)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        y = QuantParams((1 / 128,), (0,))
        return [
            Example(
                cls(), (TensorType(shape, "s8", QuantParams((0.1,), (zero,))),), (TensorType(shape, "s8", y),), {}, k
            )
            for k, (shape, zero) in enumerate((((3, 7), -3), ((1, 300), 127), ((2, 1, 1, 5), -128), ((4, 1), 0)))
        ]


def _in_128ths(row: np.ndarray) -> np.ndarray:
    mult, shift = gemmlowp.inverse_root(int((row**2).sum()))
    return np.asarray(scaled_twice(row, mult, shift + 7))

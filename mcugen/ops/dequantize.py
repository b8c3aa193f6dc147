"""DEQUANTIZE: conversion of stored integers to float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Import
from mcugen.ir.kernel import Kernel, Run
from mcugen.ir.op import Example, has_int16_zero_point
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _tflite
from mcugen.ops._channelwise import Channelwise


def params(call: Call) -> Params:
    return {"scale": call.input(0).scale, "zero_point": call.input(0).zero_point}


def elements(call: Call) -> int:
    """The number of elements of the output."""
    return call.output.size


def per_tensor(call: Call) -> bool:
    "the input has one scale for the whole tensor"
    quant = call.input(0).quant
    return quant is not None and not quant.per_channel


def _from(dtype: str) -> Kernel:
    def accepts(call: Call) -> bool:
        return call.input(0).dtype == dtype

    accepts.__doc__ = f"the input is {dtype}"
    return Kernel(f"mg_dequantize__{dtype}", Run(elements), (accepts, per_tensor), params)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """An Identity: the writer itself adds the DequantizeLinear of a quantized operand."""
    return sink.operator("Identity", inputs, call.outputs)


@dataclass(frozen=True)
class Dequantize(Channelwise):
    """y = scale * (x - zero_point), in float32; half-precision numbers of files are float32 already.

    x: s8, u8, s16 or s32, per tensor (constants also s4, and per channel)   y: f32, same shape
    deferred: whether constants stay unfolded for now, so that operators that read stored integers can still be found
    Source: TFLite DEQUANTIZE; reference_ops::Dequantize.
    """

    deferred: bool = False

    only_moves = True
    tflm_types = dtypes("s8 u8 s16")
    litert_types = dtypes("s8 u8 s16 f16")
    imports = (Import("tflite", "DEQUANTIZE"),)
    writes = (_tflite.same("DEQUANTIZE", s8=2, s16=3), Write("onnx", to_onnx))
    takes_unsigned = True
    kernels = tuple(_from(dtype) for dtype in ("s8", "u8", "s16", "s32"))

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "litert" and has_int16_zero_point(call):
            return "int16 data with a zero point other than 0"
        return super().refused_by(call, runtime)

    def keeps_values(self, call: Call) -> bool:
        return False

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None:
            raise ShapeError("the operand to dequantize is missing")
        if x.dtype not in ("s4", "s8", "u8", "s16", "s32"):
            raise UnsupportedError(f"dequantizing {x.dtype} is not supported")
        if x.quant is None:
            raise QuantizationError(f"the input {x} has no scale")
        return (TensorType(x.shape, "f32"),)

    def fold(self, call: Call) -> tuple[np.ndarray, ...] | None:
        return None if self.deferred else super().fold(call)

    def reference(self, x: np.ndarray) -> np.ndarray:
        return x

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        quant = call.input(0).quant
        if quant is None:
            raise QuantizationError(f"the input {call.input(0)} has no scale")
        along = [1] * x.ndim
        if quant.per_channel:
            along[quant.axis] = len(quant.scale)
        scale = np.asarray(quant.scale, np.float32).astype(np.float64).reshape(along)
        zero = np.asarray(quant.zero_point, np.int64).reshape(along)
        return np.asarray((scale * (x.astype(np.int64) - zero)).reshape(x.shape).astype(np.float32))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (("s8", 0.05, -128), ("s8", 3.7e-5, 127), ("u8", 1.3, 255), ("s16", 0.0001, 0), ("s32", 1e-7, 5))
        shapes = ((1, 3, 5, 2), (7,), (), (2, 3, 2, 4), (3, 4))
        return [
            Example(
                cls(),
                (TensorType(shape, dtype, QuantParams((scale,), (zero,))),),
                (TensorType(shape, "f32"),),
                {},
                seed,
            )
            for seed, ((dtype, scale, zero), shape) in enumerate(zip(cases, shapes, strict=True))
        ]

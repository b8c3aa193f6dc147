"""Functions of one float32 number: for each its C expression, its name in each format, and its NumPy function."""

from __future__ import annotations

import math

import numpy as np

from mcugen.ir.imports import Import
from mcugen.ir.types import dtypes
from mcugen.ops._float_function import FloatFunction


class Acos(FloatFunction, c="acos(a)", onnx="Acos"):
    """y = acos(x); NaN outside [-1, 1].

    x, y: f32
    Source: ONNX Acos-7.
    """

    function = np.arccos


class Acosh(FloatFunction, c="acosh(a)", onnx="Acosh"):
    """y = acosh(x); NaN below 1.

    x, y: f32
    Source: ONNX Acosh-9.
    """

    function = np.arccosh


class Asin(FloatFunction, c="asin(a)", onnx="Asin"):
    """y = asin(x); NaN outside [-1, 1].

    x, y: f32
    Source: ONNX Asin-7.
    """

    function = np.arcsin


class Asinh(FloatFunction, c="asinh(a)", onnx="Asinh"):
    """y = asinh(x).

    x, y: f32
    Source: ONNX Asinh-9.
    """

    function = np.arcsinh


class Atan(FloatFunction, c="atan(a)", onnx="Atan"):
    """y = atan(x).

    x, y: f32
    Source: ONNX Atan-7.
    """

    function = np.arctan


class Atanh(FloatFunction, c="atanh(a)", onnx="Atanh"):
    """y = atanh(x); NaN outside [-1, 1].

    x, y: f32
    Source: ONNX Atanh-9.
    """

    function = np.arctanh


class Ceil(FloatFunction, c="ceil(a)", tflite="CEIL", onnx="Ceil"):
    """y = x rounded up.

    x, y: f32
    Source: TFLite CEIL.
    """

    function = np.ceil


class Cos(FloatFunction, c="cos(a)", tflite="COS", onnx="Cos"):
    """y = cos(x).

    x, y: f32
    Source: TFLite COS.
    """

    litert_types = dtypes("f16 f32")
    function = np.cos


class Cosh(FloatFunction, c="cosh(a)", onnx="Cosh"):
    """y = cosh(x).

    x, y: f32
    Source: ONNX Cosh-9.
    """

    function = np.cosh


class Elu(FloatFunction, c="a < 0.0f ? expm1(a) : a", tflite="ELU", onnx="Elu"):
    """y = x if x >= 0, else exp(x) - 1.

    x, y: f32; s8 in files is computed by a table of bytes
    Source: TFLite ELU.
    """

    tflm_types = dtypes("s8 f32")
    litert_types = dtypes("s8 f32")
    imports = (Import("tflite", "ELU"),)

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(x < 0, np.expm1(np.minimum(x, 0.0)), x))


class Erf(FloatFunction, c="erf(a)", onnx="Erf"):
    """y = erf(x).

    x, y: f32
    Source: ONNX Erf-13.
    """

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


class Exp(FloatFunction, c="exp(a)", tflite="EXP", onnx="Exp"):
    """y = exp(x).

    x, y: f32; s8 in files is computed by a table of bytes, s16 by a Curve
    Source: TFLite EXP.
    """

    litert_types = dtypes("s8 s16 f32")
    function = np.exp


class Floor(FloatFunction, c="floor(a)", tflite="FLOOR", onnx="Floor"):
    """y = x rounded down.

    x, y: f32
    Source: TFLite FLOOR.
    """

    litert_types = dtypes("f16 f32")
    function = np.floor


class Log(FloatFunction, c="log(a)", tflite="LOG", onnx="Log"):
    """y = log(x); NaN below 0.

    x, y: f32; s8 in files is computed by a table of bytes, s16 by a Curve
    Source: TFLite LOG.
    """

    litert_types = dtypes("s8 s16 f32")
    function = np.log


class Reciprocal(FloatFunction, c="1.0f / a", onnx="Reciprocal"):
    """y = 1 / x.

    x, y: f32
    Source: ONNX Reciprocal-13.
    """

    function = np.reciprocal


class Round(FloatFunction, c="rint(a)", tflite="ROUND", onnx="Round"):
    """y = x to the nearest integer, halves to even.

    x, y: f32
    Source: TFLite ROUND.
    """

    litert_types = dtypes("f16 f32")
    function = np.rint


class Sign(FloatFunction, c="a > 0.0f ? 1.0f : (a < 0.0f ? -1.0f : a)", tflite="SIGN", onnx="Sign"):
    """y = -1 if x is negative, 1 if x is positive, else x (zero or NaN).

    x, y: f32
    Source: TFLite SIGN; ONNX Sign-13.
    """

    tflm_types = frozenset()
    litert_types = dtypes("s32 f32")
    imports = (Import("tflite", "SIGN"),)
    function = np.sign


class Sin(FloatFunction, c="sin(a)", tflite="SIN", onnx="Sin"):
    """y = sin(x).

    x, y: f32
    Source: TFLite SIN.
    """

    litert_types = dtypes("f16 f32")
    function = np.sin


class Sinh(FloatFunction, c="sinh(a)", onnx="Sinh"):
    """y = sinh(x).

    x, y: f32
    Source: ONNX Sinh-9.
    """

    function = np.sinh


class Softplus(FloatFunction, c="(a > 0.0f ? a : 0.0f) + log1p(exp(-fabs(a)))", onnx="Softplus"):
    """y = log(1 + exp(x)), computed without overflow.

    x, y: f32
    Source: ONNX Softplus-22.
    """

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


class Softsign(FloatFunction, c="a / (1.0f + fabs(a))", onnx="Softsign"):
    """y = x / (1 + |x|).

    x, y: f32
    Source: ONNX Softsign-22.
    """

    @staticmethod
    def function(x: np.ndarray) -> np.ndarray:
        return np.asarray(x / (1.0 + np.abs(x)))


class Tan(FloatFunction, c="tan(a)", onnx="Tan"):
    """y = tan(x).

    x, y: f32
    Source: ONNX Tan-7.
    """

    function = np.tan

"""Functions of float32 data, element by element: exponentials, roots, trigonometry, rounding, and the like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.imports import Import
from mcugen.kernel import Kernel
from mcugen.op import Example, Op
from mcugen.ops import _unary
from mcugen.types import TensorType, dtypes


def _kernel(name: str) -> tuple[Kernel]:
    return (_unary.kernel(f"mg_unary_f32__{name}", "f32"),)


class _FloatFunction(Op):
    """What all of them share: f32 in, f32 of the same shape out."""

    tflm_types = dtypes("f32")

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("f32",))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [*_unary.examples(cls(), "f32"), *_unary.examples(cls(), "f32", seed=3)]


@dataclass(frozen=True)
class Exp(_FloatFunction):
    """y = exp(x).

    x, y: f32
    Source: TFLite EXP.
    """

    imports = (Import("tflite", "EXP"), Import("onnx", "Exp"))
    kernels = _kernel("exp")

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(x))


@dataclass(frozen=True)
class Log(_FloatFunction):
    """y = log(x); not a number below 0.

    x, y: f32
    Source: TFLite LOG.
    """

    imports = (Import("tflite", "LOG"), Import("onnx", "Log"))
    kernels = _kernel("log")

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(x))


@dataclass(frozen=True)
class Sqrt(_FloatFunction):
    """y = sqrt(x); not a number below 0.

    x, y: f32
    Source: TFLite SQRT.
    """

    imports = (Import("tflite", "SQRT"), Import("onnx", "Sqrt"))
    kernels = _kernel("sqrt")

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(x))


@dataclass(frozen=True)
class Rsqrt(_FloatFunction):
    """y = 1 / sqrt(x); not a number below 0.

    x, y: f32
    Source: TFLite RSQRT.
    """

    imports = (Import("tflite", "RSQRT"),)
    kernels = _kernel("rsqrt")

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1.0 / np.sqrt(x))


@dataclass(frozen=True)
class Sin(_FloatFunction):
    """y = sin(x).

    x, y: f32
    Source: TFLite SIN.
    """

    imports = (Import("tflite", "SIN"), Import("onnx", "Sin"))
    kernels = _kernel("sin")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(x))


@dataclass(frozen=True)
class Cos(_FloatFunction):
    """y = cos(x).

    x, y: f32
    Source: TFLite COS.
    """

    imports = (Import("tflite", "COS"), Import("onnx", "Cos"))
    kernels = _kernel("cos")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.cos(x))


@dataclass(frozen=True)
class Square(_FloatFunction):
    """y = x * x.

    x, y: f32
    Source: TFLite SQUARE.
    """

    imports = (Import("tflite", "SQUARE"),)
    kernels = _kernel("square")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x * x)


@dataclass(frozen=True)
class Abs(_FloatFunction):
    """y = |x|.

    x, y: f32
    Source: TFLite ABS.
    """

    imports = (Import("tflite", "ABS"), Import("onnx", "Abs"))
    kernels = _kernel("abs")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(x))


@dataclass(frozen=True)
class Neg(_FloatFunction):
    """y = -x.

    x, y: f32
    Source: TFLite NEG.
    """

    imports = (Import("tflite", "NEG"), Import("onnx", "Neg"))
    kernels = _kernel("neg")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(-x)


@dataclass(frozen=True)
class Floor(_FloatFunction):
    """y = x rounded down.

    x, y: f32
    Source: TFLite FLOOR.
    """

    imports = (Import("tflite", "FLOOR"), Import("onnx", "Floor"))
    kernels = _kernel("floor")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.floor(x))


@dataclass(frozen=True)
class Ceil(_FloatFunction):
    """y = x rounded up.

    x, y: f32
    Source: TFLite CEIL.
    """

    imports = (Import("tflite", "CEIL"), Import("onnx", "Ceil"))
    kernels = _kernel("ceil")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.ceil(x))


@dataclass(frozen=True)
class Round(_FloatFunction):
    """y = x to the nearest integer, halves to even.

    x, y: f32
    Source: TFLite ROUND.
    """

    imports = (Import("tflite", "ROUND"), Import("onnx", "Round"))
    kernels = _kernel("round")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.rint(x))


@dataclass(frozen=True)
class Elu(_FloatFunction):
    """y = x where x >= 0, exp(x) - 1 elsewhere.

    x, y: f32
    Source: TFLite ELU.
    """

    imports = (Import("tflite", "ELU"),)
    kernels = _kernel("elu")

    def reference(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(x < 0, np.expm1(np.minimum(x, 0.0)), x))

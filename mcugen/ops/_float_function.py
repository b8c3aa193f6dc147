"""Base of functions of float32 data: one tensor in, one of the same shape out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mcugen.ir.element import Element, Stated
from mcugen.ir.imports import Import
from mcugen.ir.op import Example
from mcugen.ir.types import TensorType, dtypes
from mcugen.ops import _onnx, _tflite, _unary
from mcugen.ops._channelwise import Pointwise


class FloatFunction(Pointwise):
    """y = f(x) for each element of float32 data.

    A subclass defines the NumPy `function` and has these class arguments:

    c             C expression of the result in the variable `a`
    tflite, onnx  names of the operator in these formats

    A subclass without them defines `element`, `kernels`, `imports`, `writes` and `reference` itself.
    """

    tflm_types = dtypes("f32")
    litert_types = dtypes("f32")
    element: ClassVar[Mapping[str, Stated]]
    function: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, *, c: str = "", tflite: str = "", onnx: str = "") -> None:
        super().__init_subclass__()
        if not c:
            return
        symbol = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        cls.element = {"f32": Element(c)}
        cls.kernels = _unary.kernels(f"mg_{symbol}", cls.element)
        names = (("tflite", tflite, _tflite), ("onnx", onnx, _onnx))
        cls.writes = tuple(recipes.same(name) for _, name, recipes in names if name)
        if "imports" not in vars(cls):
            cls.imports = tuple(Import(file_format, name) for file_format, name, _ in names if name)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        return _unary.same_type(x, ("f32",))

    def reference(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(type(self).function(x))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [*_unary.examples(cls(), "f32"), *_unary.examples(cls(), "f32", seed=3)]

"""Curve: functions of int16 data that runtimes compute in integers, most of them by an interpolated table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.fixed_point import INT_RANGE, quantize_multiplier
from mcugen.ir.imports import Import, Imported, Source
from mcugen.ir.op import Example, Scaling, has_int16_zero_point
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _interpolated, _tflite, _unary
from mcugen.ops._channelwise import Pointwise
from mcugen.oracle import curves

FUNCTIONS = ("exp", "log", "gelu", "gelu_by_tanh", "rsqrt")
_LEAST, _MOST = INT_RANGE["s16"]
_F = np.float32


def _is_int16(source: Source) -> bool:
    return bool(source.inputs) and source.inputs[0] is not None and source.inputs[0].dtype == "s16"


def from_tflite(source: Source) -> Imported:
    return Imported(Curve(source.name.lower()))


def erf_gelu(x: np.ndarray) -> np.ndarray:
    """x * erfc(-x / sqrt 2) / 2 in float32. Source: gelu.h, GeluTransform."""
    inner = (x * _F(-math.sqrt(0.5))).tolist()
    return np.asarray(_F(0.5) * x * np.array([math.erfc(v) for v in inner], _F))


def tanh_gelu(x: np.ndarray) -> np.ndarray:
    """x * (1 + tanh of a cubic) / 2 in float32. Source: gelu.h, GeluTransformApproximate."""
    inner = _F(math.sqrt(2.0 / math.pi)) * (x + _F(0.044715) * x * x * x)
    return np.asarray(_F(0.5) * x * (_F(1) + np.tanh(inner.astype(np.float64)).astype(_F)))


def _exp(x: np.ndarray) -> np.ndarray:
    return np.exp(x.astype(np.float64)).astype(_F)


def _log(least: np.floating, x: np.ndarray) -> np.ndarray:
    """log(x), or `least` for x <= 0."""
    return np.where(x > 0, np.log(np.where(x > 0, x, 1).astype(np.float64)).astype(_F), least)


def _inverse_root(most: np.floating, x: np.ndarray) -> np.ndarray:
    """1 / sqrt(x), or `most` for x <= 0."""
    return np.where(x > 0, _F(1) / np.sqrt(np.where(x > 0, x, _F(1))), most)


@cache
def _table(function: str, x_scale: float, y_scale: float) -> np.ndarray:
    """The 513 entries of the interpolation table; an empty array if a value overflows float32."""
    x, y = _F(x_scale), _F(y_scale)
    low, high = y * _F(_LEAST), y * _F(_MOST)
    functions: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "exp": _exp, "gelu": erf_gelu, "gelu_by_tanh": tanh_gelu,
        "log": partial(_log, low), "rsqrt": partial(_inverse_root, high),
    }  # fmt: skip
    of = functions[function]
    ends = (float(x * _F(_LEAST)), float(x * _F(_MOST)))
    with np.errstate(over="ignore", invalid="ignore"):
        scale = float(_F(65536) / (high - low))
        if not np.isfinite(of(np.array(ends, _F)) * _F(scale)).all():
            return np.zeros(0, np.int16)
    return _interpolated.populate(of, ends, scale, np.float32)


def table(call: Call) -> np.ndarray:
    """LiteRT's interpolation table; empty if a value overflows float32. Source: common.h, LUTPopulate."""
    return _table(call.op.function, call.input(0).scale, call.output.scale)


def by_newton(call: Call) -> bool:
    "the function is 1 / sqrt(x), which TensorFlow Lite Micro computes by Newton's method"
    return call.op.function == "rsqrt" and call.reference == "tflm"


def by_table(call: Call) -> bool:
    "the runtime interpolates the function from a table"
    return not by_newton(call) and table(call).size > 0


def root_factor(x: TensorType, y: TensorType) -> float:
    """The result of rsqrt in steps of y for a stored x of 1: 1 / (sqrt(scale_x) * scale_y)."""
    return 1.0 / (math.sqrt(x.scale) * y.scale)


def shifts_too_far(factor: float) -> bool:
    """Whether the runtimes shift a word of 32 bits by more than 31 for a `root_factor`, which has no defined result.

    Source: elementwise.cc, RsqrtEvalQuantized; its roots have 20 bits of fraction.
    """
    mult, shift = quantize_multiplier(factor)
    return factor >= 2.0**30 or (mult > 0 and shift - 20 < -31)


def multiplier(call: Call) -> tuple[int, int]:
    """`root_factor` as (mult, shift). Source: elementwise.cc, SetRsqrtOutputMultiplier."""
    return quantize_multiplier(root_factor(call.input(0), call.output))


def newton_params(call: Call) -> Params:
    mult, shift = multiplier(call)
    return {"mult": mult, "shift": shift}


def table_params(call: Call) -> Params:
    return {"table": table(call)}


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    name, _, by_tanh = call.op.function.partition("_")
    attributes = {"approximate": bool(by_tanh)} if name == "gelu" else {}
    return _tflite.operator(call, sink, name.upper(), inputs, attributes, {"rsqrt": 3}.get(name, 2))


@dataclass(frozen=True)
class Curve(Pointwise):
    """y = f(x), a function of int16 data.

    x, y: s16 per tensor   function: exp, log, gelu, gelu_by_tanh or rsqrt
    LiteRT interpolates between 513 values computed in float32. TFLM has only rsqrt, by Newton's method. For x <= 0 log
    gives the least y, and rsqrt the largest; runtimes abort on rsqrt of a negative x.
    Source: TFLite EXP, LOG, GELU, RSQRT; common.h, LUTPopulate, LUTLookup; elementwise.cc, RsqrtEvalQuantized.
    """

    function: str

    litert_types = frozenset()
    """Empty: the float operators that are imported by these names, such as Exp, list the types that LiteRT supports."""

    imports = tuple(Import("tflite", name, from_tflite, when=_is_int16) for name in ("EXP", "LOG", "RSQRT"))
    writes = (Write("tflite", to_tflite),)
    kernels = (
        replace(_unary.kernel("mg_curve_s16", "s16", table_params), accepts=(by_table,)),
        replace(_unary.kernel("mg_rsqrt_s16", "s16", newton_params), accepts=(by_newton,)),
    )

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if self.function not in FUNCTIONS:
            raise ShapeError(f"the function {self.function} is not one of {', '.join(FUNCTIONS)}")
        return _unary.same_type(x, ("s16",))

    def refused_by(self, call: Call, runtime: str) -> str:
        if runtime == "tflm" and self.function != "rsqrt":
            return "no kernel for s16"
        if runtime == "litert" and not table(call).size:
            return f"the values of its table are not finite for an input scale of {call.input(0).scale:.3g}"
        if runtime == "tflm" and shifts_too_far(root_factor(call.input(0), call.output)):
            return f"it shifts by more than 31 bits for the result's scale {call.output.scale:.3g}"
        return "int16 data with a zero point other than 0" if has_int16_zero_point(call) else ""

    def reference_q(self, call: Call, x: np.ndarray) -> np.ndarray:
        return curves.inverse_root(call, x) if by_newton(call) else curves.interpolated(call, x)

    def scaling(self, call: Call) -> Scaling:
        return {"scale": multiplier(call)} if by_newton(call) else {"table": table(call)}

    def scaling_q(self, call: Call) -> Scaling:
        return {"scale": curves.multiplier(call)} if by_newton(call) else {"table": curves.table(call)}

    @classmethod
    def examples(cls) -> Sequence[Example]:
        scales = {
            "exp": [(3e-4, 1e-3), (2e-5, 6e-5)],
            "log": [(1e-3, 2e-4), (0.3, 1e-4)],
            "gelu": [(3e-4, 1e-4)],
            "gelu_by_tanh": [(2e-4, 3e-4)],
            "rsqrt": [(3e-4, 1e-3), (0.02, 4e-4), (1e-5, 0.05)],
        }
        return [
            example
            for k, (name, pairs) in enumerate(scales.items())
            for example in _unary.examples(cls(name), "s16", [((x, 0), (y, 0)) for x, y in pairs], 10 * k)
        ]

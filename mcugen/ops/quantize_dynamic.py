"""QuantizeDynamic: quantization with scales computed at run time, for hybrid layers (float data, int8 weights)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops import _tflite
from mcugen.ops._tflite import TfliteTarget
from mcugen.oracle import hybrid, near_ties
from mcugen.oracle.near_ties import Flip


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, QuantizeDynamic)
    return {"groups": op.groups, "length": call.input(0).size // op.groups, "symmetric": int(op.symmetric)}


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """No operator: the layer that reads the results quantizes its data itself."""
    return sink.pending(call, inputs)


@dataclass(frozen=True)
class QuantizeDynamic(Op):
    """q = clamp(round(x * (1 / s)) + z), with s and z from the least and largest of 0 and the x of each group.

    x: f32, any shape, divided into `groups` equal parts   q: s8, as x   s: f32 [groups]   z: s8 [groups]
    symmetric: whether s = max|x| / 127 and z = 0; else the range has 255 steps of s. If all x are 0, s = 1.
    Source: LiteRT portable_tensor_utils.cc, PortableAsymmetricQuantizeFloats, PortableSymmetricQuantizeFloats.
    """

    groups: int = 1
    symmetric: bool = False

    exact_floats = True
    writes = (_tflite.to_target(to_tflite),)
    kernels = (Kernel("mg_quantize_dynamic", Whole(), params=params),)

    def infer(self, x: TensorType | None) -> tuple[TensorType, ...]:
        if x is None or x.dtype != "f32" or self.groups < 1 or x.size % self.groups:
            raise ShapeError(f"{x} must be float data that divides into {self.groups} equal parts")
        each = (self.groups,)
        return TensorType(x.shape, "s8"), TensorType(each, "f32"), TensorType(each, "s8")

    def refused_by(self, call: Call, runtime: str) -> str:
        return "no kernel for float data with int8 weights" if runtime == "tflm" else ""

    def reference_q(self, call: Call, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Computed in float32, except the zero point, which is computed in float64."""
        q, scale, zero = hybrid.quantized(x.reshape(self.groups, -1), self.symmetric)
        return q.reshape(x.shape), scale, zero

    @classmethod
    def examples(cls) -> Sequence[Example]:
        cases = (((1, 7), 1), ((3, 5), 3), ((2, 3, 4, 5), 2), ((1,), 1))
        return [
            Example(op, (x,), op.infer(x), {}, 2 * k + int(symmetric))
            for k, (shape, groups) in enumerate(cases)
            for symmetric in (False, True)
            for op, x in [(cls(groups, symmetric), TensorType(shape, "f32"))]
        ]


@near_ties.of_call.register(QuantizeDynamic)
def flips_of(op: QuantizeDynamic, call: Call, x: np.ndarray) -> Sequence[Flip]:
    places = hybrid.near_ties(x.reshape(op.groups, -1), op.symmetric)
    return [Flip(0, tuple(map(int, np.unravel_index(at, x.shape))), value, away) for at, value, away in places]

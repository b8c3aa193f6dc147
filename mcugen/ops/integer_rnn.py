"""RNN on integers: int8 data and weights with a scale per row, an int16 state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.op import Example
from mcugen.ir.types import QuantParams
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _integer_recurrent, _recurrent
from mcugen.oracle import integer_gates
from mcugen.oracle.fixed import Ints, int64


def params(call: Call) -> Params:
    kind = _recurrent.KINDS[call.op.activation]
    return {**_integer_recurrent.params(call), "kind": kind}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x, w, r, b, h = (str(n) for n in inputs)
    zeros = _integer_recurrent.zero_bias(sink, b)
    stated = {"activations": (call.op.activation,), "clip": call.op.clip}
    return _recurrent.to_onnx(call, sink, "RNN", ((x, w, r), (b, zeros), (h,)), stated)


@dataclass(frozen=True)
class IntegerRnn(_integer_recurrent.IntegerRecurrent):
    """h = act(W x + b + R h), step by step.

    x: s8 [T, B, I]   w, r: s8 or s4 [H, I] and [H, H], both with a scale per row
    b: s32 [H], in steps of the products of the scales   h: s16 [B, H]
    y: s8 [T, B, H], the upper byte of h after each step; and h after the last step
    In integers, with steps of 2**-p for sums (p = 12, or 15 before a ReLU, or less, so that int16 holds the clip), each
    line rounded once, halves up: sum = clip(sat16(W x + b) + sat16(R h8)) with h8 = min((h + 128) >> 8, 127). Sigmoid
    and tanh of the sum are those of TensorFlow Lite Micro on int16, with h in steps of 2**-15; after a ReLU, h is in
    the steps of sums.
    activation: Tanh, Sigmoid or Relu
    Source: none; mcugen's form of ONNX RNN-14 between DequantizeLinear and QuantizeLinear, with `clip`.
    """

    activation: str = "Tanh"

    writes = (Write("onnx", to_onnx),)
    kernels = _integer_recurrent.kernels("mg_rnn_s8", params, (0, 4))

    @property
    def fraction_bits(self) -> int:
        finest = 15 if self.activation == "Relu" else _integer_recurrent.FINEST
        return _integer_recurrent.fraction_bits(self.clip, finest)

    @property
    def factor(self) -> int:
        return 1 if self.activation == "Relu" else super().factor

    @property
    def state_quant(self) -> QuantParams:
        steps = 2.0**-self.fraction_bits
        return QuantParams((steps,), (0,)) if self.activation == "Relu" else super().state_quant

    def reference_q(self, call: Call, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, r, _, h = operands
        g, y = integer_gates, []
        first, second = g.first_sums(call)
        data = g.scaled(g.sums(x, w, first), g.row_multipliers(call, 1, g.data_scale(call)))
        rows = g.row_multipliers(call, 2, g.read_scale(call))
        h = int64(h)
        for row in data:
            h = self._activated(call, row + g.scaled(g.sums(g.upper_byte(h), r, second), rows))
            y.append(g.upper_byte(h))
        return np.stack(y), h

    def _activated(self, call: Call, sums: Ints) -> Ints:
        if self.activation == "Relu":
            return np.asarray(np.clip(sums, 0, integer_gates.limits(call)[1]))
        return (integer_gates.tanh if self.activation == "Tanh" else integer_gates.logistic)(call, sums)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            _integer_recurrent.example(cls(clip, activation), seed, sizes, zero)
            for seed, (clip, activation, sizes, zero) in enumerate(_CASES)
        ] + [_integer_recurrent.example(cls(8.0, "Tanh"), 7, (3, 2, 7, 5), -3, dtype="s4")]


_CASES = (
    (8.0, "Tanh", (5, 1, 6, 4), -128),
    (4.0, "Relu", (3, 2, 9, 7), 3),
    (0.6, "Sigmoid", (2, 1, 1, 9), 0),
    (1.0, "Relu", (2, 1, 33, 8), -5),
)
"""(clip, activation, (steps, batches, inputs, hidden), zero point of the data) of each example."""

"""LSTM on integers: int8 data and weights with a scale per row, an int16 state and an int16 cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.op import Example
from mcugen.ir.types import QuantParams
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _integer_recurrent, _recurrent
from mcugen.oracle import integer_gates
from mcugen.oracle.fixed import int64

GATES = 4


def params(call: Call) -> Params:
    bits = _integer_recurrent.cell_bits(call.input(5).quant) or 0
    right = max(bits - _integer_recurrent.FINEST, 0)
    return {
        **_integer_recurrent.params(call),
        "cell_factor": 3 << max(_integer_recurrent.FINEST - bits, 0),
        "cell_half": 1 << right >> 1,
        "cell_right": right,
        "enter": 30 - bits,
    }


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x, w, r, b, h, c = (str(n) for n in inputs)
    zeros = _integer_recurrent.zero_bias(sink, b)
    return _recurrent.to_onnx(call, sink, "LSTM", ((x, w, r), (b, zeros), (h, c)), {"clip": call.op.clip})


@dataclass(frozen=True)
class IntegerLstm(_integer_recurrent.IntegerRecurrent):
    """c = f * c + i * g and h = o * tanh(c), step by step: i, o, f = sigmoid(W x + b + R h), g = tanh(W x + b + R h).

    x: s8 [T, B, I]   w, r: s8 or s4 [4 * H, I] and [4 * H, H], both with a scale per row
    b: s32 [4 * H], in steps of the products of the scales   gates in the order i, o, f, g
    h: s16 [B, H], in steps of 2**-15   c: s16 [B, H], in steps of 2**-m, 1 <= m <= 15
    y: s8 [T, B, H], the upper byte of h after each step; and h and c after the last step
    In integers, with steps of 2**-p for sums (p = 12, or less, so that int16 holds the clip), each line rounded once,
    halves up: sums = clip(sat16(W x + b) + sat16(R h8)) with h8 = min((h + 128) >> 8, 127), gates with 15 fraction
    bits, c = sat16((f c 2**(15 - m) + i g) >> (30 - m)), h = o tanh(c) >> 15, where tanh reads c in steps of 1 / 12288.
    Sigmoid and tanh are those of TensorFlow Lite Micro on int16.
    Source: none; mcugen's form of ONNX LSTM-14 between DequantizeLinear and QuantizeLinear, with `clip`.
    """

    gates: ClassVar[int] = GATES
    has_cell: ClassVar[bool] = True

    writes = (Write("onnx", to_onnx),)
    kernels = _integer_recurrent.kernels("mg_lstm_rows_s8", params, (0, 4, 5))

    def reference_q(self, call: Call, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, r, _, h, c = operands
        g, y = integer_gates, []
        first, second = g.first_sums(call)
        data = g.scaled(g.sums(x, w, first), g.row_multipliers(call, 1, g.data_scale(call)))
        rows = g.row_multipliers(call, 2, g.read_scale(call))
        h, c = int64(h), int64(c)
        for row in data:
            i, o, f, new = np.split(row + g.scaled(g.sums(g.upper_byte(h), r, second), rows), GATES, axis=1)
            entered, finer = g.logistic(call, i) * g.tanh(call, new), 15 - g.cell_bits(call)
            total = (g.logistic(call, f) * c << finer) + entered
            c = np.clip(g.halves_up(total, 15 + finer), -(1 << 15), (1 << 15) - 1)
            h = g.halves_up(g.logistic(call, o) * g.tanh_of_cell(call, c), 15)
            y.append(g.upper_byte(h))
        return np.stack(y), h, c

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            _integer_recurrent.example(cls(clip), seed, sizes, zero, QuantParams((2.0**-bits,), (0,)))
            for seed, (clip, bits, sizes, zero) in enumerate(_CASES)
        ] + [_integer_recurrent.example(cls(), 7, (3, 2, 7, 5), -3, QuantParams((2.0**-12,), (0,)), "s4")]


_CASES = (
    (8.0, 12, (5, 1, 6, 4), -128),
    (16.0, 15, (3, 2, 9, 7), 3),
    (0.6, 9, (2, 1, 1, 9), 0),
    (2.0**15, 1, (2, 1, 33, 8), -5),
)
"""(clip, fraction bits of the cell, (steps, batches, inputs, hidden), zero point of the data) of each example."""

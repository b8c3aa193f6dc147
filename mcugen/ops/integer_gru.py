"""GRU on integers: int8 data and weights, an int16 state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.op import Example
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _integer_recurrent, _recurrent
from mcugen.oracle import integer_gates
from mcugen.oracle.fixed import int64


def params(call: Call) -> Params:
    return {**_integer_recurrent.params(call), "after": int(call.op.after)}


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x, w, r, b, a, h = (str(n) for n in inputs)
    stated = {"linear_before_reset": int(call.op.after), "clip": call.op.clip}
    return _recurrent.to_onnx(call, sink, "GRU", ((x, w, r), (b, a), (h,)), stated)


@dataclass(frozen=True)
class IntegerGru(_integer_recurrent.IntegerRecurrent):
    """h = n + z * (h - n), step by step: z, r = sigmoid(W x + b + R h + a), n = tanh(W x + b + r * (R h + a)).

    x: s8 [T, B, I]   w, r: s8 or s4 [3 * H, I] and [3 * H, H], both with a scale per row
    b, a: s32 [3 * H], in steps of the products of the scales   gates in the order z, r, n
    h: s16 [B, H], in steps of 2**-15
    y: s8 [T, B, H], the upper byte of h after each step; and h after the last step
    In integers, with steps of 2**-p for sums (p = 12, or less, so that int16 holds the clip), each line rounded once,
    halves up: g_x = sat16(W x + b), g_h = sat16(R h8 + a) with h8 = min((h + 128) >> 8, 127); z and r =
    sigmoid(clip(g_x + g_h)), n = tanh(clip(g_x + (r g_h >> 15))), h = n + (z (h - n) >> 15), with 15 fraction bits.
    Sigmoid and tanh are those of TensorFlow Lite Micro on int16.
    after: whether the reset gate is applied after the product; if not, R for n reads (r h >> 23) in int8
    Source: none; mcugen's form of ONNX GRU-14 between DequantizeLinear and QuantizeLinear, with `clip`.
    """

    after: bool = True

    gates: ClassVar[int] = 3
    state_bias: ClassVar[int | None] = 4
    state: ClassVar[int] = 5

    writes = (Write("onnx", to_onnx),)
    kernels = _integer_recurrent.kernels("mg_gru_s8", params, (0, 5))

    def reference_q(self, call: Call, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, r, _, _, h = operands
        g, size, y = integer_gates, h.shape[1], []
        first, second = g.first_sums(call)
        data = g.scaled(g.sums(x, w, first), g.row_multipliers(call, 1, g.data_scale(call)))
        rows = g.row_multipliers(call, 2, g.read_scale(call))
        gates, last, h = slice(0, 2 * size), slice(2 * size, None), int64(h)
        for row in data:
            read = g.upper_byte(h)
            state = g.scaled(g.sums(read, r[gates], second[gates]), rows[gates])
            z, reset = np.split(g.logistic(call, row[:, gates] + state), 2, axis=1)
            met = read if self.after else np.minimum(g.halves_up(reset * h, 23), 127)
            added = g.scaled(g.sums(met, r[last], second[last]), rows[last])
            added = g.halves_up(reset * added, 15) if self.after else added
            n = g.tanh(call, row[:, last] + added)
            h = n + g.halves_up(z * (h - n), 15)
            y.append(g.upper_byte(h))
        return np.stack(y), h

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            _integer_recurrent.example(cls(clip, after), seed, sizes, zero)
            for seed, (clip, after, sizes, zero) in enumerate(_CASES)
        ] + [_integer_recurrent.example(cls(8.0, after), 7, (3, 2, 7, 5), -3, dtype="s4") for after in (True, False)]


_CASES = (
    (8.0, True, (5, 1, 6, 4), -128),
    (16.0, True, (3, 2, 9, 7), 3),
    (8.0, False, (4, 2, 4, 5), 127),
    (0.6, False, (2, 1, 1, 9), 0),
    (2.0**15, True, (2, 1, 33, 8), -5),
)
"""(clip, after, (steps, batches, inputs, hidden), zero point of the data) of each example."""

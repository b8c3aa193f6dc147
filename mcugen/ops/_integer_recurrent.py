"""Shared recipe of recurrent layers on integers: int8 data, int8 weights with a scale per row, and an int16 state.

The sums of gates are int16 with 12 fraction bits, or fewer if the layer's clip is above 8. Products read the upper byte
of the state. See `mcugen.oracle.integer_gates` for the same numbers, derived anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir import subbyte
from mcugen.ir.call import Call, Param, Params, fact
from mcugen.ir.fixed_point import quantize_multiplier, round_half_away
from mcugen.ir.kernel import Cost, Kernel, Text, Whole
from mcugen.ir.op import Example, Op, Scaling
from mcugen.ir.types import QuantParams, TensorType, dtypes
from mcugen.ir.writes import Sink
from mcugen.ops import _sigmoid
from mcugen.oracle import integer_gates

FINEST = 12
"""The most fraction bits of a sum of gates that sigmoid or tanh reads."""
STATE = QuantParams((2.0**-15,), (0,))
"""The quantization of a state in int16, whose magnitude is at most 1."""
WIDEST_CLIP = 2.0**15
WEIGHTS = "s8 s4"
"""Element types of weights."""
_MOST_LEFT, _LEAST = 15, -8


def fraction_bits(clip: float, finest: int = FINEST) -> int:
    """Fraction bits of the sums of gates that reach up to `clip`."""
    mantissa, exponent = math.frexp(clip)
    return min(finest, 15 - exponent + (mantissa == 0.5))


def limits(op: IntegerRecurrent) -> tuple[int, int]:
    """The least and the greatest sum of a gate, as stored integers."""
    bound = round_half_away(op.clip * 2.0**op.fraction_bits)
    return -min(bound, 1 << 15), min(bound, (1 << 15) - 1)


@dataclass(frozen=True, eq=False)
class GateRows:
    """The constants of rows of weights: their first sums, and their scales as mg_gate_sum takes them.

    fits: whether all sums, shifted left, fit 32 bits, and all right shifts are at least 1
    """

    weights: np.ndarray
    bias: np.ndarray
    mult: np.ndarray
    shift: np.ndarray
    left: int
    fits: bool

    def fields(self, name: str) -> Params:
        return {
            name: self.weights.reshape(-1),
            f"{name}_bias": self.bias.astype(np.int32),
            f"{name}_mult": self.mult.astype(np.int32),
            f"{name}_shift": (self.shift - 1).astype(np.uint8),
            f"{name}_left": self.left,
        }


def multipliers(call: Call, k: int, data: float) -> list[tuple[int, int]]:
    """(mult, shift) for the sums of each row of operand k. data: the scale of what the rows are multiplied with."""
    w = call.input(k)
    scales = () if w.quant is None else w.quant.scale
    every = scales if len(scales) == w.shape[0] else scales * w.shape[0]
    steps = 2.0**call.op.fraction_bits
    return [quantize_multiplier(float(np.float32(data)) * float(np.float32(s)) * steps) for s in every]


def _rows(weights: np.ndarray, bias: np.ndarray, pairs: Sequence[tuple[int, int]]) -> GateRows:
    sums = np.abs(bias) + 128 * np.abs(weights.astype(np.int64)).sum(axis=1)
    largest = int(sums.max(initial=1))
    left = min(_MOST_LEFT, max(0, 31 - largest.bit_length()))
    mult = np.array([m for m, _ in pairs], np.int64)
    shift = np.array([left - 1 - s for _, s in pairs], np.int64)
    fits = largest < 1 << 31 and bool((shift[mult > 0] >= 1).all())
    mult = np.where(shift > 31, 0, mult)  # such products are below half a step
    return GateRows(weights, bias, mult, np.clip(shift, 1, 31), left, fits)


@fact
def rows_of(call: Call) -> tuple[GateRows, GateRows]:
    """The rows of the data and of the state."""
    w, r, (first, second) = call.constant(1), call.constant(2), biases(call)
    data, state = multipliers(call, 1, call.input(0).scale), multipliers(call, 2, call.op.read_quant.scale[0])
    return _rows(w, first, data), _rows(r, second, state)


def biases(call: Call) -> tuple[np.ndarray, np.ndarray]:
    """The first sums over the data, with its zero point folded in, and over the state."""
    k = call.op.state_bias
    first = call.constant(3).astype(np.int64) - call.input(0).zero_point * call.constant(1).astype(np.int64).sum(axis=1)
    return first, np.zeros(first.shape, np.int64) if k is None else call.constant(k).astype(np.int64)


def constant_weights(call: Call) -> bool:
    "weights and biases are constant"
    return all(call.constants[k] is not None for k in (1, 2, 3, call.op.state_bias) if k is not None)


def fixed_scales(call: Call) -> bool:
    "the state has the scale 2^-15, or that of the sums after a ReLU; a cell has a power of two from 2^-15 to 1/2"
    op, y, states = call.op, call.outputs[0], call.outputs[1:]
    cells = [t.quant for t in (call.inputs[-1], states[-1]) if op.has_cell and t is not None]
    return (
        y.quant == op.read_quant
        and {t.quant for t in (call.input(op.state), states[0])} == {op.state_quant}
        and (not cells or (cells[0] == cells[1] and cell_bits(cells[0]) is not None))
    )


def cell_bits(quant: QuantParams | None) -> int | None:
    """Fraction bits of a cell, 1 to 15; None if its scale is no such power of two, or it has a zero point."""
    if quant is None or quant.per_channel or quant.zero_point[0]:
        return None
    mantissa, exponent = math.frexp(quant.scale[0])
    return 1 - exponent if mantissa == 0.5 and -14 <= exponent <= 0 else None


def fits(call: Call) -> bool:
    "the sums of gates, scaled to their steps, fit 32 bits"
    return all(rows.fits for rows in rows_of(call))


RULES = (constant_weights, fixed_scales, fits)


def params(call: Call) -> Params:
    """The fields that all these layers have."""
    steps, batches, inputs = call.input(0).shape
    low, high = limits(call.op)
    data, state = rows_of(call)
    sizes: dict[str, Param] = {"steps": steps, "batches": batches, "inputs": inputs, "hidden": call.input(2).shape[1]}
    return {
        **data.fields("w"),
        **state.fields("r"),
        **sizes,
        "low": low,
        "high": high,
        "factor": call.op.factor,
        "table": _sigmoid.table(),
    }


def gate_bytes(call: Call) -> int:
    """Bytes of the sums of all gates over the data and over the state."""
    return 2 * 2 * int(call.op.gates) * call.input(2).shape[1]


def scratch(call: Call) -> int:
    """Scratch in bytes: the sums of gates, and the state's upper bytes."""
    return gate_bytes(call) + call.input(2).shape[1]


def work(call: Call) -> dict[str, float]:
    """The cost terms, summed over all sequences: steps, and hidden units computed."""
    count = call.input(0).shape[0] * call.input(0).shape[1]
    return {"steps": count, "units": count * call.input(2).shape[1]}


TERMS = ("steps", "units")


def kernels(symbol: str, fields: Callable[[Call], Params], operands: tuple[int, ...]) -> tuple[Kernel, Kernel]:
    """The portable kernels of a layer, with weights in bytes and in nibbles. fields: the parameters of the first;
    operands: the data and the states.
    """
    plain = Kernel(symbol, Whole(), RULES, fields, operands=operands, scratch=scratch, cost=Cost(work, TERMS))
    return plain, in_nibbles(plain)


def four_bits(call: Call) -> bool:
    "all weights are within -8 and 7"
    ends = [(int(rows.weights.min(initial=0)), int(rows.weights.max(initial=0))) for rows in rows_of(call)]
    return all(low >= _LEAST and high < -_LEAST for low, high in ends)


def in_nibbles(portable: Kernel) -> Kernel:
    """The variant of a portable kernel that stores weights as nibbles, rows in whole bytes."""

    def fields(call: Call) -> Params:
        assert portable.params is not None
        found = zip("wr", (rows.weights for rows in rows_of(call)), strict=True)
        packed = {k: subbyte.packed(np.pad(w, ((0, 0), (0, w.shape[1] % 2))), 4).view(np.int8) for k, w in found}
        return {**portable.params(call), **packed}

    text = Text(struct=portable.symbol.replace("mg_", "mg_nibble_"))
    accepts = (*portable.accepts, four_bits)
    return replace(portable, symbol=f"{portable.symbol}__nibbles", accepts=accepts, params=fields, text=text)


def zero_bias(sink: Sink, bias: str) -> str:
    """Zeros of the type of a bias, for the second one that ONNX has."""
    t = sink.type(bias)
    return sink.constant(np.zeros(t.shape, np.int32), t.quant)


@dataclass(frozen=True)
class IntegerRecurrent(Op):
    """Base of recurrent layers on integers.

    clip: bound of the sums of gates; its power of two decides on their fraction bits
    gates: number of gates   state_bias: operand with the bias of the state's sums, or None   state: operand with h
    has_cell: whether a cell follows the state, as operand and as result
    """

    clip: float = 8.0

    gates: ClassVar[int] = 1
    state_bias: ClassVar[int | None] = None
    state: ClassVar[int] = 4
    has_cell: ClassVar[bool] = False
    litert_types = dtypes("")

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of the sums of gates."""
        return fraction_bits(self.clip)

    @property
    def factor(self) -> int:
        """The factor that brings sums to steps of 1 / (3 * 4096), in which sigmoid and tanh read them."""
        return 3 << (FINEST - self.fraction_bits)

    @property
    def state_quant(self) -> QuantParams:
        return STATE

    @property
    def widest_state(self) -> float:
        """The largest magnitude of a state that is stored unclipped."""
        return 2.0**15 * self.state_quant.scale[0]

    @property
    def read_quant(self) -> QuantParams:
        """The quantization of the state's upper byte."""
        return QuantParams((256 * self.state_quant.scale[0],), (0,))

    def infer(self, *operands: TensorType | None) -> tuple[TensorType, ...]:
        states = 2 if self.has_cell else 1
        if any(t is None for t in operands) or len(operands) != self.state + states:
            raise ShapeError(f"an operand of {type(self).__name__} is missing")
        x, w, r, *rest = (t for t in operands if t is not None)
        if len(x.shape) != 3 or len(w.shape) != 2 or len(r.shape) != 2:
            raise ShapeError(f"data {x} with weights {w} and {r} must have 3, 2 and 2 axes")
        (steps, batches, inputs), hidden, count = x.shape, r.shape[1], self.gates * r.shape[1]
        wanted: list[tuple[str, tuple[int, ...]]] = [(WEIGHTS, (count, inputs)), (WEIGHTS, (count, hidden))]
        wanted += [("s32", (count,))] * (self.state - 3) + [("s16", (batches, hidden))] * states
        for t, (kinds, shape) in zip((w, r, *rest), wanted, strict=True):
            if t.dtype not in kinds.split() or t.shape != shape:
                raise ShapeError(f"an operand {t} of a layer on {x} must be {kinds} {list(shape)}")
        if x.dtype != "s8" or not 0 < self.clip <= WIDEST_CLIP:
            raise UnsupportedError(f"data {x} with a clip of {self.clip:g} is not supported")
        state = TensorType((batches, hidden), "s16")
        return TensorType((steps, batches, hidden), "s8"), *([state] * states)

    def reference(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        raise UnsupportedError("a recurrent layer on integers is defined on stored integers only, not on real numbers")

    def scaling(self, call: Call) -> Scaling:
        data, state = multipliers(call, 1, call.input(0).scale), multipliers(call, 2, call.op.read_quant.scale[0])
        return {"w": data, "r": state, "limits": limits(self), "biases": np.concatenate(biases(call))}

    def scaling_q(self, call: Call) -> Scaling:
        return {
            "w": integer_gates.row_multipliers(call, 1, integer_gates.data_scale(call)),
            "r": integer_gates.row_multipliers(call, 2, integer_gates.read_scale(call)),
            "limits": integer_gates.limits(call),
            "biases": np.concatenate(integer_gates.first_sums(call)),
        }

    def macs(self, call: Call) -> int:
        steps, batches, inputs = call.input(0).shape
        hidden = call.input(2).shape[1]
        return steps * batches * self.gates * hidden * (inputs + hidden)

    def in_words(self, call: Call) -> str:
        steps, batches, inputs = call.input(0).shape
        return f"{inputs} to {call.input(2).shape[1]}, {steps} steps" + (f", {batches} times" if batches > 1 else "")


def example(
    op: IntegerRecurrent,
    seed: int,
    sizes: tuple[int, int, int, int],
    zero: int,
    cell: QuantParams | None = None,
    dtype: str = "s8",
) -> Example:
    """An example on random data. sizes: (steps, batches, inputs, hidden); zero: the data's zero point; cell: the
    quantization of the cell, if the layer has one; dtype: of the weights.
    """
    steps, batches, inputs, hidden = sizes
    count, rng = op.gates * hidden, np.random.default_rng(seed)

    def rows(n: int, usual: float) -> TensorType:
        scales = tuple(float(np.float32(s)) for s in usual * rng.uniform(0.2, 2.0, count) / np.sqrt(n))
        return TensorType((count, n), dtype, QuantParams(scales, (0,) * count))

    x = TensorType((steps, batches, inputs), "s8", QuantParams((0.04,), (zero,)))
    w, r, h = rows(inputs, 0.02), rows(hidden, 0.03), TensorType((batches, hidden), "s16", op.state_quant)

    def bias(step: float, rows: TensorType) -> TensorType:
        assert rows.quant is not None
        scales = tuple(float(np.float32(step) * np.float32(s)) for s in rows.quant.scale)
        return TensorType((count,), "s32", QuantParams(scales, (0,) * count))

    biases = [bias(x.scale, w), bias(op.read_quant.scale[0], r)][: op.state - 3]
    states = (h,) if cell is None else (h, replace(h, quant=cell))
    inputs_ = (x, w, r, *biases, *states)
    constants: dict[int, np.ndarray | None] = {1: None, 2: None}
    constants |= {k: rng.integers(-3000, 3000, count).astype(np.int32) for k in range(3, op.state)}
    y = TensorType((steps, batches, hidden), "s8", op.read_quant)
    return Example(op, inputs_, (y, *states), constants, seed)

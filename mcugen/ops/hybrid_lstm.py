"""LSTM over float sequences with int8 weights: the state is quantized at run time before each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import QuantizationError, ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import QuantParams, TensorType
from mcugen.ops import _hybrid, _recurrent
from mcugen.ops.lstm import GATES
from mcugen.oracle import actual_states, hybrid


def constant_weights(call: Call) -> bool:
    "weights, biases and peephole weights are constant"
    return all(call.constants[k] is not None for k in (3, 4, 5, 8) if call.has(k))


def params(call: Call) -> Params:
    op, (steps, batches, inputs), hidden = call.op, call.input(0).shape, call.input(4).shape[1]
    assert isinstance(op, HybridLstm)
    scales = {"w": _gate_scales(call.input(3)), "r": _gate_scales(call.input(4))}
    return {
        **({"p": call.constant(8)} if call.has(8) else {}),
        **dict(zip(("steps", "batches", "inputs", "hidden"), (steps, batches, inputs, hidden), strict=True)),
        **{f"kinds[{k}]": _recurrent.KINDS[name] for k, name in enumerate(("Sigmoid", "Tanh", "Tanh"))},
        "coupled": int(op.coupled),
        "cell_clip": op.cell_clip,
        **_hybrid.recurrent_weights(call),
        "b": call.constant(5),
        **{f"{name}_scale[{k}]": float(s) for name, each in scales.items() for k, s in enumerate(each)},
        "symmetric": int(op.symmetric),
    }


def scratch(call: Call) -> int:
    """Scratch in bytes: the float sums of all gates, and the quantized state."""
    return (4 * GATES + 1) * call.input(4).shape[1]


def work(call: Call) -> dict[str, float]:
    """The cost terms of a float layer, and `ranges`, the number of states that are quantized asymmetrically."""
    found = _recurrent.work(call, call.input(4).shape[1], ("Sigmoid", "Tanh"))
    return {**found, "ranges": 0 if call.op.symmetric else found["steps"]}


def _gate_scales(w: TensorType) -> np.ndarray:
    """The scale of each gate's weights. w: the gates' weights, joined along the first axis."""
    if w.quant is None or any(w.quant.zero_point) or len(w.quant.scale) != w.shape[0]:
        raise QuantizationError(f"the weights {w} need one scale for each row, and the zero point 0")
    return np.array(w.quant.scale[:: w.shape[0] // GATES], np.float32)


@dataclass(frozen=True)
class HybridLstm(Op):
    """c = f * c + i * g and h = o * tanh(c), step by step, with the gates i, o, f, g of Lstm.

    The gates' sums: b + f32(W (q - z)) * f32(s * w_scale) + f32(R (hq - hz)) * f32(hs * r_scale), where QuantizeDynamic
    gives hq, hs and hz (data, scale, zero point) for h.
    q: s8 [T, B, I]   s: f32 [T * B]   z: s8 [T * B]   w: s8 [4 * H, I]   r: s8 [4 * H, H], one scale for each gate
    b: f32 [4 * H]   h, c: f32 [B, H], the state before the first step   p: f32 [3 * H] for i, o, f, or absent
    y: [T, B, H], and the state [B, H] twice: h and c after the last step
    coupled: whether i = 1 - f   cell_clip: bound of |c|, 0 for none   symmetric: how h is quantized
    Source: LiteRT lstm_eval.cc, LstmStepHybrid.
    """

    coupled: bool = False
    cell_clip: float = 0.0
    symmetric: bool = False

    litert_types = frozenset()
    kernels = (
        Kernel(
            "mg_hybrid_lstm",
            Whole(),
            (constant_weights, _hybrid.recurrent_sums_fit),
            params,
            operands=(0, 1, 2, 6, 7),
            scratch=scratch,
            cost=Cost(work, (*_recurrent.TERMS, "ranges")),
        ),
    )

    def infer(self, q: TensorType | None, s: TensorType | None, z: TensorType | None, w: TensorType | None,
              r: TensorType | None, b: TensorType | None, h: TensorType | None, c: TensorType | None,
              p: TensorType | None = None) -> tuple[TensorType, ...]:  # fmt: skip
        if q is None or w is None or r is None or any(len(t.shape) != n for t, n in ((q, 3), (w, 2), (r, 2))):
            raise ShapeError(f"a recurrent layer needs data of three axes and weights of two, but has {q}, {w} and {r}")
        (steps, batches, inputs), hidden = q.shape, r.shape[1]
        for weights in (w, r):
            _hybrid.check(q, s, z, weights, steps * batches)
            if weights.dtype != "s8":
                raise UnsupportedError(f"weights {weights} must be int8")
            _gate_scales(weights)
        _recurrent.check("weights", w, (GATES * hidden, inputs))
        _recurrent.check("weights", r, (GATES * hidden, hidden))
        _recurrent.check("bias", b, (GATES * hidden,))
        _recurrent.check("state", h, (batches, hidden))
        _recurrent.check("cell", c, (batches, hidden))
        if p is not None:
            _recurrent.check("peephole weights", p, (3 * hidden,))
        if any(t is not None and t.dtype != "f32" for t in (b, h, c, p)):
            raise UnsupportedError(f"bias {b}, state {h}, cell {c} and peephole weights {p} must be f32")
        state = TensorType((batches, hidden), "f32")
        return TensorType((steps, batches, hidden), "f32"), state, state

    def refused_by(self, call: Call, runtime: str) -> str:
        return _hybrid.refused_by(runtime)

    def reference_q(self, call: Call, q: np.ndarray, s: np.ndarray, z: np.ndarray, w: np.ndarray, r: np.ndarray,
                    b: np.ndarray, h: np.ndarray, c: np.ndarray, p: np.ndarray | None = None
                    ) -> tuple[np.ndarray, ...]:  # fmt: skip
        return self._sequence(call, None, q, s, z, w, r, b, h, c, p)

    def _sequence(self, call: Call, states: np.ndarray | None, q: np.ndarray, s: np.ndarray, z: np.ndarray,
                  w: np.ndarray, r: np.ndarray, b: np.ndarray, h: np.ndarray, c: np.ndarray,
                  p: np.ndarray | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
        """Sums in float32, in the runtime's order; sigmoid and tanh in float64.

        states: h [T, B, H] after each step, from which the next step starts; None: the h computed here.
        """
        steps, hidden = len(q), h.shape[1]
        w_scale, r_scale = (np.array(call.input(k).quant.scale, np.float32) for k in (3, 4))  # type: ignore[union-attr]
        peepholes = np.zeros((3, hidden)) if p is None else p.reshape(3, -1)
        y: list[np.ndarray] = []
        for t, (data, scale, zero) in enumerate(zip(q, s.reshape(steps, -1), z.reshape(steps, -1), strict=True)):
            state = hybrid.quantized(h if states is None or t == 0 else states[t - 1], self.symmetric)
            sums = b + hybrid.products(data, scale, zero, w, w_scale) + hybrid.products(*state, r, r_scale)
            h, c = (a.astype(np.float32) for a in self._step(sums, peepholes, c))
            y.append(h)
        return np.stack(y), h, c

    def _step(self, sums: np.ndarray, peepholes: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        i, o, f, g = np.split(sums.astype(np.float64), GATES, axis=1)
        forget = _sigmoid(f + peepholes[2] * c)
        enter = 1.0 - forget if self.coupled else _sigmoid(i + peepholes[0] * c)
        cell = forget * c + enter * np.tanh(g)
        cell = np.clip(cell, -self.cell_clip, self.cell_clip) if self.cell_clip else cell
        return _sigmoid(o + peepholes[1] * cell) * np.tanh(cell), cell

    def macs(self, call: Call) -> int:
        steps, batches, inputs = call.input(0).shape
        hidden = call.input(4).shape[1]
        return steps * batches * GATES * hidden * (inputs + hidden)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            example(cls(), (3, 1, 5, 4), 1),
            example(cls(coupled=True, symmetric=True), (2, 2, 3, 5), 2),
            example(cls(cell_clip=0.2), (1, 2, 1, 6), 3, peepholes=True),
        ]


@actual_states.of_call.register(HybridLstm)
def outputs_on(op: HybridLstm, call: Call, y: np.ndarray, *inputs: np.ndarray) -> tuple[np.ndarray, ...]:
    return op._sequence(call, y, *inputs)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return _recurrent.activated("Sigmoid", x, 0.0)


def example(op: HybridLstm, sizes: tuple[int, int, int, int], seed: int, *, peepholes: bool = False) -> Example:
    steps, batches, inputs, hidden = sizes
    scales = tuple(0.005 * (1 + gate) for gate in range(GATES) for _ in range(hidden))
    weights = [TensorType((GATES * hidden, n), "s8", QuantParams(scales, (0,) * len(scales))) for n in (inputs, hidden)]
    each, shapes = (steps * batches,), ((GATES * hidden,), (batches, hidden), (batches, hidden))
    floats = [TensorType(shape, "f32") for shape in (*shapes, *([(3 * hidden,)] if peepholes else []))]
    data = (TensorType((steps, batches, inputs), "s8"), TensorType(each, "f32"), TensorType(each, "s8"))
    operands = (*data, *weights, *floats)
    constants = dict.fromkeys((3, 4, 5, *([8] if peepholes else [])))
    return Example(op, operands, op.infer(*operands), constants, seed)

"""RNN over float sequences with int8 weights: the state is quantized at run time before each step."""

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
from mcugen.oracle import actual_states, hybrid


def constant_weights(call: Call) -> bool:
    "weights and bias are constant"
    return all(call.constants[k] is not None for k in (3, 4, 5))


def params(call: Call) -> Params:
    op, (steps, batches, inputs), hidden = call.op, call.input(0).shape, call.input(4).shape[1]
    assert isinstance(op, HybridRnn)
    return {
        **_hybrid.recurrent_weights(call),
        "b": call.constant(5),
        "w_scale": call.input(3).scale,
        "r_scale": call.input(4).scale,
        **dict(zip(("steps", "batches", "inputs", "hidden"), (steps, batches, inputs, hidden), strict=True)),
        "kind": _recurrent.KINDS[op.activation],
        "symmetric": int(op.symmetric),
    }


def scratch(call: Call) -> int:
    """Scratch in bytes: the quantized state."""
    return call.input(4).shape[1]


def work(call: Call) -> dict[str, float]:
    """The cost terms. curved: number of tanhs; ranges: number of states that are quantized asymmetrically."""
    op, (steps, batches, _) = call.op, call.input(0).shape
    assert isinstance(op, HybridRnn)
    made = steps * batches
    curved = made * call.input(4).shape[1] if op.activation == "Tanh" else 0
    return {"curved": curved, "ranges": 0 if op.symmetric else made}


@dataclass(frozen=True)
class HybridRnn(Op):
    """h = act(b + f32(W (q - z)) * f32(s * w_scale) + f32(R (hq - hz)) * f32(hs * r_scale)), step by step.

    QuantizeDynamic gives hq, hs and hz (data, scale, zero point) for h.
    q: s8 [T, B, I]   s: f32 [T * B]   z: s8 [T * B]   w: s8 [H, I]   r: s8 [H, H], each of one scale
    b: f32 [H]   h: f32 [B, H], the state before the first step
    y: [T, B, H], and the state [B, H] after the last step   symmetric: how h is quantized
    Source: LiteRT kernel_utils.cc, RnnBatchStep.
    """

    activation: str = "Tanh"
    symmetric: bool = False

    litert_types = frozenset()
    kernels = (
        Kernel(
            "mg_hybrid_rnn",
            Whole(),
            (constant_weights, _hybrid.recurrent_sums_fit),
            params,
            operands=(0, 1, 2, 6),
            scratch=scratch,
            cost=Cost(work, ("curved", "ranges")),
        ),
    )

    def infer(self, q: TensorType | None, s: TensorType | None, z: TensorType | None, w: TensorType | None,
              r: TensorType | None, b: TensorType | None, h: TensorType | None) -> tuple[TensorType, ...]:  # fmt: skip
        _recurrent.check_activations((self.activation,), 1)
        if q is None or w is None or r is None or any(len(t.shape) != n for t, n in ((q, 3), (w, 2), (r, 2))):
            raise ShapeError(f"data {q} with weights {w} and {r}: a recurrent layer needs 3 axes, 2 and 2")
        (steps, batches, inputs), hidden = q.shape, r.shape[1]
        for weights in (w, r):
            _hybrid.check(q, s, z, weights, steps * batches)
            if weights.dtype != "s8":
                raise UnsupportedError(f"weights {weights} must be int8")
            if weights.quant is None or weights.quant.per_channel:
                raise QuantizationError(f"the weights {weights} must have one scale")
        _recurrent.check("weights", w, (hidden, inputs))
        _recurrent.check("weights", r, (hidden, hidden))
        _recurrent.check("bias", b, (hidden,))
        _recurrent.check("state", h, (batches, hidden))
        if any(t is not None and t.dtype != "f32" for t in (b, h)):
            raise UnsupportedError(f"bias {b} and state {h} must be f32")
        return TensorType((steps, batches, hidden), "f32"), TensorType((batches, hidden), "f32")

    def refused_by(self, call: Call, runtime: str) -> str:
        return _hybrid.refused_by(runtime)

    def reference_q(self, call: Call, q: np.ndarray, s: np.ndarray, z: np.ndarray, w: np.ndarray, r: np.ndarray,
                    b: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:  # fmt: skip
        return self._sequence(call, None, q, s, z, w, r, b, h)

    def _sequence(self, call: Call, states: np.ndarray | None, q: np.ndarray, s: np.ndarray, z: np.ndarray,
                  w: np.ndarray, r: np.ndarray, b: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:  # fmt: skip
        """Sums in float32, in the runtime's order; the activation in float64.

        states: h [T, B, H] after each step, from which the next step starts; None: the h computed here.
        """
        steps = len(q)
        scales = [np.full(len(w), call.input(k).scale, np.float32) for k in (3, 4)]
        y: list[np.ndarray] = []
        for t, (data, scale, zero) in enumerate(zip(q, s.reshape(steps, -1), z.reshape(steps, -1), strict=True)):
            state = hybrid.quantized(h if states is None or t == 0 else states[t - 1], self.symmetric)
            sums = b + hybrid.products(data, scale, zero, w, scales[0]) + hybrid.products(*state, r, scales[1])
            h = _recurrent.activated(self.activation, sums.astype(np.float64), 0.0).astype(np.float32)
            y.append(h)
        return np.stack(y), h

    def macs(self, call: Call) -> int:
        steps, batches, inputs = call.input(0).shape
        hidden = call.input(4).shape[1]
        return steps * batches * hidden * (inputs + hidden)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            example(cls(), (3, 1, 5, 4), 1),
            example(cls("Relu", symmetric=True), (2, 2, 3, 5), 2),
            example(cls("Tanh", symmetric=True), (1, 2, 1, 6), 3),
            example(cls(), (4, 1, 16, 12), 4),
            example(cls("Relu"), (1, 1, 40, 20), 5),
        ]


@actual_states.of_call.register(HybridRnn)
def outputs_on(op: HybridRnn, call: Call, y: np.ndarray, *inputs: np.ndarray) -> tuple[np.ndarray, ...]:
    return op._sequence(call, y, *inputs)


def example(op: HybridRnn, sizes: tuple[int, int, int, int], seed: int) -> Example:
    """An example. sizes: (steps, batches, inputs, hidden)."""
    steps, batches, inputs, hidden = sizes
    weights = [TensorType((hidden, n), "s8", QuantParams((0.005 * n,), (0,))) for n in (inputs, hidden)]
    floats = [TensorType(shape, "f32") for shape in ((hidden,), (batches, hidden))]
    each = (steps * batches,)
    data = (TensorType((steps, batches, inputs), "s8"), TensorType(each, "f32"), TensorType(each, "s8"))
    operands = (*data, *weights, *floats)
    return Example(op, operands, op.infer(*operands), dict.fromkeys((3, 4, 5)), seed)

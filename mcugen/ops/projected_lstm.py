"""LSTM over float sequences, with layer normalization of the gates, a projection of the results, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.errors import ShapeError, UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.types import TensorType
from mcugen.ops import _recurrent
from mcugen.ops.lstm import GATES

_FURTHER = {6: "p", 7: "j", 8: "d", 9: "n"}
"""Index of each optional operand -> its field in the C struct."""

_LEAST_VARIANCE = 1e-8


def params(call: Call) -> Params:
    op, (steps, batches, inputs), (rows, outputs) = call.op, call.input(0).shape, call.input(2).shape
    assert isinstance(op, ProjectedLstm)
    return {
        **{name: call.constant(k) for k, name in _FURTHER.items() if call.has(k)},
        "steps": steps,
        "batches": batches,
        "inputs": inputs,
        "hidden": rows // GATES,
        "outputs": outputs,
        "coupled": int(op.coupled),
        "cell_clip": op.cell_clip,
        "state_clip": op.state_clip,
    }


def scratch(call: Call) -> int:
    return 4 * call.input(2).shape[0]


def work(call: Call) -> dict[str, float]:
    """The cost terms of a float layer, and `normal`, the number of units with a layer norm."""
    hidden = call.input(2).shape[0] // GATES
    found = _recurrent.work(call, hidden, ("Sigmoid", "Tanh"))
    return {**found, "normal": found["units"] * call.has(9)}


def constant_parts(call: Call) -> bool:
    "weights of peepholes, projection and layer norms are constant"
    return all(call.constants[k] is not None for k in _FURTHER if call.has(k))


@dataclass(frozen=True)
class ProjectedLstm(Op):
    """c = f * c + i * g and h = j (o * tanh(c)) + d, step by step, with gates i, o, f, g = act(norm(W x + R h + p c)).

    x: f32 [T, B, I]   w: [4 * H, I]   r: [4 * H, P]   b: [4 * H], gates in the order i, o, f, g; g has no p
    h: [B, P], c: [B, H], the state before the first step   p: [3 * H] for i, o, f   j: [P, H]   d: [P]   n: [4 * H]
    norm(x) = (x - mean) / sqrt(variance + 1e-8) * n + b over the units of a gate, or x + b without n
    y: [T, B, P], and h and c after the last step   coupled: whether i = 1 - f
    cell_clip, state_clip: bounds of |c| and of the projected |h|, 0 for none. p, j, d and n may be absent.
    Source: TFLite UNIDIRECTIONAL_SEQUENCE_LSTM; LiteRT lstm_eval.cc, LstmStepFloat.
    """

    coupled: bool = False
    cell_clip: float = 0.0
    state_clip: float = 0.0

    kernels = (
        Kernel(
            "mg_projected_lstm_f32",
            Whole(),
            (constant_parts,),
            params,
            operands=(0, 1, 2, 3, 4, 5),
            scratch=scratch,
            cost=Cost(work, (*_recurrent.TERMS, "normal")),
        ),
    )

    def infer(self, x: TensorType | None, w: TensorType | None, r: TensorType | None, b: TensorType | None,
              h: TensorType | None, c: TensorType | None, p: TensorType | None = None, j: TensorType | None = None,
              d: TensorType | None = None, n: TensorType | None = None) -> tuple[TensorType, ...]:  # fmt: skip
        if x is None or w is None or r is None or tuple(len(t.shape) for t in (x, w, r)) != (3, 2, 2):
            raise ShapeError(f"data {x} with weights {w} and {r}: a recurrent layer needs 3 axes, 2 and 2")
        if any(t is not None and t.dtype != "f32" for t in (x, w, r, b, h, c, p, j, d, n)):
            raise UnsupportedError(f"data {x}, weights {w} and {r} and all other operands must be f32")
        (steps, batches, inputs), (rows, outputs) = x.shape, r.shape
        hidden = rows // GATES
        _recurrent.check("weights", w, (GATES * hidden, inputs))
        _recurrent.check("weights", r, (GATES * hidden, outputs))
        _recurrent.check("bias", b, (GATES * hidden,))
        _recurrent.check("state", h, (batches, outputs))
        _recurrent.check("cell", c, (batches, hidden))
        if j is None and (outputs != hidden or d is not None):
            raise ShapeError(f"{hidden} hidden units with {outputs} results need projection weights")
        shapes = ((p, 3 * hidden), (j, (outputs, hidden)), (d, outputs), (n, GATES * hidden))
        for t, shape in shapes:
            if t is not None:
                _recurrent.check("an operand", t, shape if isinstance(shape, tuple) else (shape,))
        types = ((steps, batches, outputs), (batches, outputs), (batches, hidden))
        y, state, cell = (TensorType(shape, "f32") for shape in types)
        return y, state, cell

    def refused_by(self, call: Call, runtime: str) -> str:
        return "no kernel for an LSTM with a projection or layer norms" if runtime == "tflm" else ""

    def reference(self, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray, h: np.ndarray, c: np.ndarray,
                  p: np.ndarray | None = None, j: np.ndarray | None = None, d: np.ndarray | None = None,
                  n: np.ndarray | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
        peepholes = np.zeros((3, c.shape[1])) if p is None else p.reshape(3, -1)
        biases = b.reshape(GATES, -1)
        norms = None if n is None else n.reshape(GATES, -1)

        def gate(k: int, sums: np.ndarray) -> np.ndarray:
            seen = (sums if norms is None else _normal(sums) * norms[k]) + biases[k]
            return _recurrent.activated("Tanh" if k == 3 else "Sigmoid", seen, 0.0)

        y = []
        for row in x:
            i, o, f, g = np.split(row @ w.T + h @ r.T, GATES, axis=1)
            forget = gate(2, f + peepholes[2] * c)
            enter = 1.0 - forget if self.coupled else gate(0, i + peepholes[0] * c)
            c = _within(forget * c + enter * gate(3, g), self.cell_clip)
            h = gate(1, o + peepholes[1] * c) * np.tanh(c)
            if j is not None:
                h = _within(h @ j.T + (0.0 if d is None else d), self.state_clip)
            y.append(h)
        return np.stack(y), h, c

    def macs(self, call: Call) -> int:
        (steps, batches, inputs), (rows, outputs) = call.input(0).shape, call.input(2).shape
        projected = rows // GATES * outputs if call.has(7) else 0
        return steps * batches * (rows * (inputs + outputs) + projected)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return [
            example(cls(), (3, 1, 5, 6, 4), "jd", 1),
            example(cls(state_clip=0.3), (2, 2, 3, 5, 7), "pj", 2),
            example(cls(), (3, 1, 4, 5, 5), "n", 3),
            example(cls(True, 0.2), (2, 2, 4, 6, 3), "pjdn", 5),
        ]


def _normal(x: np.ndarray) -> np.ndarray:
    apart = x - x.mean(axis=1, keepdims=True)
    return np.asarray(apart / np.sqrt((apart**2).mean(axis=1, keepdims=True) + _LEAST_VARIANCE))


def _within(x: np.ndarray, limit: float) -> np.ndarray:
    return np.clip(x, -limit, limit) if limit else x


def example(op: ProjectedLstm, sizes: tuple[int, int, int, int, int], parts: str, seed: int) -> Example:
    """An example. sizes: (steps, batches, inputs, hidden, results). parts: letters of the optional operands."""
    t, b, i, h, p = sizes
    further = {"p": (3 * h,), "j": (p, h), "d": (p,), "n": (4 * h,)}
    fixed = ((t, b, i), (4 * h, i), (4 * h, p), (4 * h,), (b, p), (b, h))
    shapes = (*fixed, *(further[name] if name in parts else None for name in further))
    inputs = tuple(None if shape is None else TensorType(shape, "f32") for shape in shapes)
    constants: dict[int, np.ndarray | None] = {k: None for k in range(6, 10) if inputs[k] is not None}
    return Example(op, inputs, op.infer(*inputs), constants | ({1: None, 2: None} if seed % 2 else {}), seed)

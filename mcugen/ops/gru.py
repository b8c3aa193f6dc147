"""GRU: a layer of gated recurrent units over float sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import Scales
from mcugen.ir.types import TensorType
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _recurrent, _unrolled
from mcugen.ops.integer_gru import IntegerGru

GATES = 3


def from_onnx(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion to one Gru per direction. Source: ONNX GRU-14."""
    after = bool(source.attributes["linear_before_reset"])

    def layer(d: _recurrent.Direction) -> Sequence[str]:
        names, clip = d.activations(("Sigmoid", "Tanh")), d.clip()
        op = Gru((names[0], names[1]), clip, after)
        return e.nodes(op, d.x, d.w, d.r, *d.biases(e, GATES), d.state(e, 5))

    return _recurrent.directions(source, e, layer)


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, Gru)
    steps, batches, inputs, hidden = _recurrent.operands(call.input(0), call.input(1), call.input(2), GATES)
    return {
        "steps": steps,
        "batches": batches,
        "inputs": inputs,
        "hidden": hidden,
        **{f"kinds[{k}]": _recurrent.KINDS[name] for k, name in enumerate(op.activations)},
        "after": int(op.after),
        "clip": op.clip,
    }


def scratch(call: Call) -> int:
    return 4 * GATES * call.input(2).shape[1]


def work(call: Call) -> dict[str, float]:
    gates, new = call.op.activations
    return _recurrent.work(call, call.input(2).shape[1], (gates, gates, new))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x, w, r, b, a, h = (str(n) for n in inputs)
    stated = {"activations": call.op.activations, "linear_before_reset": int(call.op.after)}
    return _recurrent.to_onnx(
        call, sink, "GRU", ((x, w, r), (b, a), (h,)), {**stated, **_recurrent.clipped(call.op.clip)}
    )


def to_tflite(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    """The steps, unrolled, because TensorFlow Lite has no GRU."""
    op, (x, w, r, b, a, h) = call.op, (str(n) for n in inputs)
    v = _unrolled.FloatVectors(sink)
    hidden = sink.type(h).shape[1]
    ends = ((0, 2 * hidden), (2 * hidden, 3 * hidden))
    (w_gates, w_new), (r_gates, r_new) = ([v.data(n)[slice(*end)] for end in ends] for n in (w, r))
    (b_gates, b_new), (a_gates, a_new) = ([v.part(n, *end) for end in ends] for n in (b, a))

    def step(row: str, states: Sequence[str]) -> Sequence[str]:
        (before,) = states
        sums = v.add(v.dense(row, w_gates, b_gates), v.dense(before, r_gates, a_gates))
        z, reset = v.parts(v.activated(op.activations[0], sums, op.clip), 2)
        after = v.mul(reset, v.dense(before, r_new, a_new)) if op.after else ""
        state = after or v.dense(v.mul(reset, before), r_new, a_new)
        new = v.activated(op.activations[1], v.add(v.dense(row, w_new, b_new), state), op.clip)
        return [v.add(v.mul(v.rest(z), new), v.mul(z, before))]

    return _unrolled.unrolled(call, sink, x, (h,), step)


@dataclass(frozen=True)
class Gru(Op):
    """h = (1 - z) * n + z * h, step by step: z, r = act(W x + b + R h + a), n = act(W x + b + R (r * h) + a).

    x: f32 [T, B, I]   w: [3 * H, I]   r: [3 * H, H]   b, a: [3 * H], gates in the order z, r, n   h: [B, H]
    y: [T, B, H], and the state [B, H] after the last step
    activations: of the gates z and r, and of n   clip: bound of the sums, 0 for none
    after: whether the reset gate is applied after the product: n = act(W x + b + r * (R h + a))
    Source: ONNX GRU-14.
    """

    activations: tuple[str, str] = ("Sigmoid", "Tanh")
    clip: float = 0.0
    after: bool = False

    imports = (Import("onnx", "GRU", expand=from_onnx),)
    writes = (Write("onnx", to_onnx), Write("tflite", to_tflite))
    kernels = (
        Kernel(
            "mg_gru_f32",
            Whole(),
            (),
            params,
            operands=(0, 1, 2, 3, 4, 5),
            scratch=scratch,
            cost=Cost(work, _recurrent.TERMS),
        ),
    )

    def rounded(self, call: Call) -> Op | None:
        return IntegerGru(self.clip, self.after) if self.clip and self.activations == ("Sigmoid", "Tanh") else None

    def quantized(self, call: Call) -> Scales:
        return _recurrent.on_integers(call, self.activations == ("Sigmoid", "Tanh"), (1, 2, 3, 4))

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        r: TensorType | None,
        b: TensorType | None,
        a: TensorType | None,
        h: TensorType | None,
    ) -> tuple[TensorType, ...]:
        _recurrent.check_activations(self.activations, 2)
        steps, batches, _, hidden = _recurrent.operands(x, w, r, GATES)
        _recurrent.check("bias", b, (GATES * hidden,))
        _recurrent.check("bias of the state", a, (GATES * hidden,))
        _recurrent.check("state", h, (batches, hidden))
        return TensorType((steps, batches, hidden), "f32"), TensorType((batches, hidden), "f32")

    def reference(
        self, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray, a: np.ndarray, h: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        size, y = h.shape[1], []
        gates, cell = slice(0, 2 * size), slice(2 * size, None)
        for row in x:
            data = row @ w.T + b
            z, reset = np.split(self._act(0, data[:, gates] + h @ r[gates].T + a[gates]), 2, axis=1)
            state = reset * (h @ r[cell].T + a[cell]) if self.after else (reset * h) @ r[cell].T + a[cell]
            h = (1.0 - z) * self._act(1, data[:, cell] + state) + z * h
            y.append(h)
        return np.stack(y), h

    def _act(self, k: int, sums: np.ndarray) -> np.ndarray:
        return _recurrent.activated(self.activations[k], sums, self.clip)

    def macs(self, call: Call) -> int:
        steps, batches, inputs, hidden = _recurrent.operands(call.input(0), call.input(1), call.input(2), GATES)
        return steps * batches * GATES * hidden * (inputs + hidden)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: Gru, sizes: tuple[int, int, int, int], seed: int) -> Example:
            bias = (GATES * sizes[3],)
            return _recurrent.example(op, GATES, sizes, (bias, bias, (sizes[1], sizes[3])), seed)

        return [
            one(cls(), (3, 1, 3, 2), 1),
            one(cls(after=True), (2, 2, 3, 5), 2),
            one(cls(("Relu", "Tanh"), 0.6), (1, 2, 1, 7), 3),
        ]

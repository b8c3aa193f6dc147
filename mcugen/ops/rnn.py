"""RNN: a recurrent layer without gates over float sequences."""

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
from mcugen.ops import _recurrent, _tflite, _unrolled
from mcugen.ops._activation import clamp_of
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops.add import Add
from mcugen.ops.integer_rnn import IntegerRnn


def from_onnx(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion to one Rnn per direction. Source: ONNX RNN-14."""

    def layer(d: _recurrent.Direction) -> Sequence[str]:
        op = Rnn(d.activations(("Tanh",))[0], d.clip())
        return e.nodes(op, d.x, d.w, d.r, e.node(Add(), *d.biases(e, 1)), d.state(e, 5))

    return _recurrent.directions(source, e, layer)


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, Rnn)
    steps, batches, inputs, hidden = _recurrent.operands(call.input(0), call.input(1), call.input(2), 1)
    return {
        "steps": steps,
        "batches": batches,
        "inputs": inputs,
        "hidden": hidden,
        "kind": _recurrent.KINDS[op.activation],
        "clip": op.clip,
    }


def work(call: Call) -> dict[str, float]:
    return _recurrent.work(call, call.input(2).shape[1], (call.op.activation,))


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    x, w, r, b, h = (str(n) for n in inputs)
    zeros = sink.constant(np.zeros(sink.type(b).shape, np.float32))
    stated = {"activations": (call.op.activation,), **_recurrent.clipped(call.op.clip)}
    return _recurrent.to_onnx(call, sink, "RNN", ((x, w, r), (b, zeros), (h,)), stated)


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """UNIDIRECTIONAL_SEQUENCE_RNN if its state can be a variable of the layer; else the unrolled steps."""
    op, (x, w, r, b, h) = call.op, (str(n) for n in inputs)
    v = _unrolled.FloatVectors(sink)
    arrays = [v.data(n) for n in (w, r)]
    if not op.clip and op.activation != "Sigmoid" and sink.data(b) is not None and _tflite.keeps(sink, (h,)):
        attributes = {"fused_activation_function": op.activation.upper(), "time_major": True}
        made = sink.operator("UNIDIRECTIONAL_SEQUENCE_RNN", [x, w, r, b, h], call.outputs[:1], attributes, 1)
        return [*made, h]

    def step(row: str, states: Sequence[str]) -> Sequence[str]:
        (before,) = states
        sums = v.add(v.dense(row, arrays[0], b), v.dense(before, arrays[1]))
        return [v.activated(op.activation, sums, op.clip)]

    return _unrolled.unrolled(call, sink, x, (h,), step)


@dataclass(frozen=True)
class Rnn(Op):
    """h = act(W x + R h + b), step by step.

    x: f32 [T, B, I]   w: [H, I]   r: [H, H]   b: [H]   h: [B, H], the state before the first step
    y: [T, B, H], and the state [B, H] after the last step   clip: bound of the sums, 0 for none
    Source: ONNX RNN-14.
    """

    activation: str = "Tanh"
    clip: float = 0.0

    imports = (Import("onnx", "RNN", expand=from_onnx),)
    writes = (Write("onnx", to_onnx), _tflite.to_target(to_tflite))
    kernels = (Kernel("mg_rnn_f32", Whole(), (), params, operands=(0, 1, 2, 3, 4), cost=Cost(work, _recurrent.TERMS)),)

    def rounded(self, call: Call) -> Op | None:
        return IntegerRnn(self.clip, self.activation) if self.clip else None

    def quantized(self, call: Call) -> Scales:
        return _recurrent.on_integers(call, True, (1, 2, 3))

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        r: TensorType | None,
        b: TensorType | None,
        h: TensorType | None,
    ) -> tuple[TensorType, ...]:
        _recurrent.check_activations((self.activation,), 1)
        steps, batches, _, hidden = _recurrent.operands(x, w, r, 1)
        _recurrent.check("bias", b, (hidden,))
        _recurrent.check("state", h, (batches, hidden))
        return TensorType((steps, batches, hidden), "f32"), TensorType((batches, hidden), "f32")

    def reference(
        self, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray, h: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        y = []
        for row in x:
            h = _recurrent.activated(self.activation, row @ w.T + h @ r.T + b, self.clip)
            y.append(h)
        return np.stack(y), h

    def macs(self, call: Call) -> int:
        steps, batches, inputs, hidden = _recurrent.operands(call.input(0), call.input(1), call.input(2), 1)
        return steps * batches * hidden * (inputs + hidden)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: Rnn, sizes: tuple[int, int, int, int], seed: int) -> Example:
            return _recurrent.example(op, 1, sizes, ((sizes[3],), (sizes[1], sizes[3])), seed)

        return [
            one(cls(), (3, 1, 5, 4), 1),
            one(cls("Relu"), (2, 2, 3, 6), 2),
            one(cls("Sigmoid", 0.5), (1, 3, 1, 1), 3),
        ]


@clamp_of.register
def _(op: Rnn) -> tuple[float, float] | None:
    """None: the activation is no clamp of the results, as the next step reads what it gives."""
    return None

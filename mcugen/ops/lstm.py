"""LSTM (long short-term memory) over float sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mcugen.errors import UnsupportedError
from mcugen.ir.call import Call, Params
from mcugen.ir.imports import Expansion, Import, Source
from mcugen.ir.kernel import Cost, Kernel, Whole
from mcugen.ir.op import Example, Op
from mcugen.ir.quant_rule import Scales, refused
from mcugen.ir.types import TensorType, dtypes
from mcugen.ir.writes import Sink, Write
from mcugen.ops import _recurrent, _tflite, _unrolled
from mcugen.ops._tflite import TfliteTarget
from mcugen.ops.add import Add
from mcugen.ops.integer_lstm import IntegerLstm

GATES = 4
COUPLED = ("", "input", "forget")
"""Values of Lstm.coupled; lstm_step_f32.h numbers them in this order."""


def params(call: Call) -> Params:
    op = call.op
    assert isinstance(op, Lstm)
    steps, batches, inputs, hidden = _recurrent.operands(call.input(0), call.input(1), call.input(2), GATES)
    found: Params = {
        "steps": steps,
        "batches": batches,
        "inputs": inputs,
        "hidden": hidden,
        **{f"kinds[{k}]": _recurrent.KINDS[name] for k, name in enumerate(op.activations)},
        "coupled": COUPLED.index(op.coupled),
        "clip": op.clip,
        "cell_clip": op.cell_clip,
    }
    return {**found, "p": call.constant(6)} if call.has(6) else found


def scratch(call: Call) -> int:
    return 4 * GATES * call.input(2).shape[1]


def work(call: Call) -> dict[str, float]:
    gates, new, cell = call.op.activations
    return _recurrent.work(call, call.input(2).shape[1], (gates,) * 3 + (new, cell))


def constant_peepholes(call: Call) -> bool:
    "peephole weights are constant"
    return not call.has(6) or call.constants[6] is not None


def from_onnx(source: Source, e: Expansion) -> Sequence[str]:
    """The expansion to one Lstm per direction.

    Source: ONNX LSTM-14; onnxruntime uni_directional_lstm.cc, which ignores the sums of a coupled forget gate.
    """
    coupled = "forget" if source.attributes["input_forget"] else ""

    def layer(d: _recurrent.Direction) -> Sequence[str]:
        bias = e.node(Add(), *d.biases(e, GATES))
        names, clip = d.activations(("Sigmoid", "Tanh", "Tanh")), d.clip()
        stated = d.peepholes(e)
        peepholes = [] if stated is None else [stated]
        op = Lstm((names[0], names[1], names[2]), clip, coupled)
        return e.nodes(op, d.x, d.w, d.r, bias, d.state(e, 5), d.state(e, 6), *peepholes)

    return _recurrent.directions(source, e, layer)


def to_onnx(call: Call, sink: Sink, inputs: Sequence[str | None]) -> Sequence[str]:
    if call.op.cell_clip:
        raise UnsupportedError(f"cell_clip={call.op.cell_clip:g}: the LSTM of ONNX cannot clip its cell")
    if call.op.coupled == "input":
        raise UnsupportedError("the input gate is 1 - f: ONNX can only derive the forget gate from the input gate")
    x, w, r, b = (str(n) for n in inputs[:4])
    zeros = sink.constant(np.zeros(sink.type(b).shape, np.float32))
    stated = {"activations": call.op.activations, **({"input_forget": 1} if call.op.coupled else {})}
    return _recurrent.to_onnx(
        call, sink, "LSTM", ((x, w, r), (b, zeros), inputs[4:]), {**stated, **_recurrent.clipped(call.op.clip)}
    )


def to_tflite(call: Call, sink: TfliteTarget, inputs: Sequence[str | None]) -> Sequence[str]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM if state and cell can be variables of the layer; else the unrolled steps."""
    op, (x, w, r, b, h, c) = call.op, (str(n) for n in inputs[:6])
    v = _unrolled.FloatVectors(sink)
    arrays, bias = [v.data(n) for n in (w, r)], sink.data(b)
    p = v.data(inputs[6]).reshape(3, -1) if call.has(6) else None
    plain = not op.clip and op.activations == ("Sigmoid", "Tanh", "Tanh") and op.coupled != "forget"
    if plain and bias is not None and _tflite.keeps(sink, (h, c)):
        return _sequence(call, sink, (x, h, c), [np.split(a, GATES) for a in (*arrays, bias)], p)
    peepholes = None if p is None else [v.constant(row) for row in p]
    return _unrolled.unrolled(call, sink, x, (h, c), partial(_step, op, v, (arrays[0], arrays[1], b), peepholes))


def _sequence(
    call: Call,
    sink: TfliteTarget,
    values: tuple[str, str, str],
    gates: Sequence[Sequence[np.ndarray]],
    peepholes: np.ndarray | None,
) -> Sequence[str]:
    """The results of a UNIDIRECTIONAL_SEQUENCE_LSTM with its state and cell as variables.

    values: names of the data, the state and the cell. gates: input weights, recurrent weights, bias, each by gate.
    """
    (x, h, c), coupled = values, call.op.coupled == "input"
    order = (0, 2, 3, 1)  # TensorFlow Lite's order of gates: i, f, g, o
    operands: list[str | None] = [x]
    absent = [coupled, False, False, False]
    for arrays in gates[:2]:
        operands += [None if gone else sink.constant(arrays[k]) for k, gone in zip(order, absent, strict=True)]
    rows = [None if peepholes is None else sink.constant(peepholes[k]) for k in (0, 2, 1)]
    operands += [None if coupled else rows[0], *rows[1:]]
    operands += [None if gone else sink.constant(gates[2][k]) for k, gone in zip(order, absent, strict=True)]
    operands += [None, None, h, c, None, None, None, None]
    attributes = {"fused_activation_function": "TANH", "cell_clip": call.op.cell_clip, "time_major": True}
    made = sink.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, call.outputs[:1], attributes, 1)
    return [*made, h, c]


def _step(
    op: Lstm,
    v: _unrolled.FloatVectors,
    weights: tuple[np.ndarray, np.ndarray, str],
    peepholes: Sequence[str] | None,
    x: str,
    states: Sequence[str],
) -> Sequence[str]:
    (w, r, b), (h, c) = weights, states

    def gate(k: int, sums: str, cell: str) -> str:
        seen = sums if peepholes is None else v.add(sums, v.mul(cell, peepholes[k]))
        return v.activated(op.activations[0], seen, op.clip)

    sums = v.add(v.dense(x, w, b), v.dense(h, r))
    i, o, f, g = v.parts(sums, GATES)
    if op.coupled == "forget":
        enter = gate(0, i, c)
        forget = v.rest(enter)
    else:
        forget = gate(2, f, c)
        enter = v.rest(forget) if op.coupled else gate(0, i, c)
    new = v.mul(enter, v.activated(op.activations[1], g, op.clip))
    cell = v.within(v.add(v.mul(forget, c), new), op.cell_clip)
    return v.mul(gate(1, o, cell), v.activated(op.activations[2], cell)), cell


@dataclass(frozen=True)
class Lstm(Op):
    """c = f * c + i * g and h = o * act(c), step by step, with gates i, o, f = act(W x + R h + b + P c), g without P.

    x: f32 [T, B, I]   w: [4 * H, I]   r: [4 * H, H]   b: [4 * H], gates in the order i, o, f, g
    h, c: [B, H], the state before the first step   p: [3 * H] for i, o, f, or absent
    y: [T, B, H], and the state [B, H] twice: h and c after the last step
    activations: of the gates i, o, f; of g; of c
    clip: bound of the sums, 0 for none   cell_clip: bound of |c|, 0 for none
    coupled: "input" if i = 1 - f, "forget" if f = 1 - i, "" if i and f have sums of their own
    Source: ONNX LSTM-14; TFLite UNIDIRECTIONAL_SEQUENCE_LSTM on float data.
    """

    activations: tuple[str, str, str] = ("Sigmoid", "Tanh", "Tanh")
    clip: float = 0.0
    coupled: str = ""
    cell_clip: float = 0.0

    tflm_types = dtypes("f32")
    imports = (Import("onnx", "LSTM", expand=from_onnx),)
    writes = (Write("onnx", to_onnx), _tflite.to_target(to_tflite))
    kernels = (
        Kernel(
            "mg_lstm_f32",
            Whole(),
            (constant_peepholes,),
            params,
            operands=(0, 1, 2, 3, 4, 5),
            scratch=scratch,
            cost=Cost(work, _recurrent.TERMS),
        ),
    )

    @property
    def _is_usual(self) -> bool:
        return self.activations == ("Sigmoid", "Tanh", "Tanh")

    def rounded(self, call: Call) -> Op | None:
        plain = self._is_usual and not (self.coupled or self.cell_clip or call.has(6))
        return IntegerLstm(self.clip) if self.clip and plain else None

    def quantized(self, call: Call) -> Scales:
        if self.coupled or self.cell_clip or call.has(6):
            return refused("its integer form has no coupled gates, no peepholes and no bound of the cell")
        return _recurrent.on_integers(call, self._is_usual, (1, 2, 3))

    def infer(
        self,
        x: TensorType | None,
        w: TensorType | None,
        r: TensorType | None,
        b: TensorType | None,
        h: TensorType | None,
        c: TensorType | None,
        p: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        _recurrent.check_activations(self.activations, 3)
        if self.coupled not in COUPLED:
            raise UnsupportedError(f"coupled {self.coupled!r} does not exist", hint=f"choose one of {COUPLED}")
        steps, batches, _, hidden = _recurrent.operands(x, w, r, GATES)
        _recurrent.check("bias", b, (GATES * hidden,))
        _recurrent.check("state", h, (batches, hidden))
        _recurrent.check("cell", c, (batches, hidden))
        if p is not None:
            _recurrent.check("peephole weights", p, (3 * hidden,))
        state = TensorType((batches, hidden), "f32")
        return TensorType((steps, batches, hidden), "f32"), state, state

    def reference(
        self,
        x: np.ndarray,
        w: np.ndarray,
        r: np.ndarray,
        b: np.ndarray,
        h: np.ndarray,
        c: np.ndarray,
        p: np.ndarray | None = None,
    ) -> tuple[np.ndarray, ...]:
        peepholes = np.zeros((3, h.shape[1])) if p is None else p.reshape(3, -1)
        y = []
        for row in x:
            i, o, f, g = np.split(row @ w.T + h @ r.T + b, GATES, axis=1)
            enter, forget = self._gate(i + peepholes[0] * c), self._gate(f + peepholes[2] * c)
            if self.coupled == "input":
                enter = 1.0 - forget
            elif self.coupled:
                forget = 1.0 - enter
            c = forget * c + enter * _recurrent.activated(self.activations[1], g, self.clip)
            c = np.clip(c, -self.cell_clip, self.cell_clip) if self.cell_clip else c
            h = self._gate(o + peepholes[1] * c) * _recurrent.activated(self.activations[2], c, 0.0)
            y.append(h)
        return np.stack(y), h, c

    def _gate(self, sums: np.ndarray) -> np.ndarray:
        return _recurrent.activated(self.activations[0], sums, self.clip)

    def macs(self, call: Call) -> int:
        steps, batches, inputs, hidden = _recurrent.operands(call.input(0), call.input(1), call.input(2), GATES)
        return steps * batches * GATES * hidden * (inputs + hidden)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        def one(op: Lstm, sizes: tuple[int, int, int, int], seed: int, *more: tuple[int, ...]) -> Example:
            state = (sizes[1], sizes[3])
            return _recurrent.example(op, GATES, sizes, ((GATES * sizes[3],), state, state, *more), seed)

        return [
            one(cls(), (3, 1, 5, 4), 1),
            one(cls(("Relu", "Sigmoid", "Tanh"), clip=0.7, coupled="input"), (2, 2, 3, 5), 2),
            one(cls(), (1, 2, 1, 6), 3, (18,)),
            one(cls(cell_clip=0.2), (3, 1, 4, 3), 5),
            one(cls(coupled="forget"), (3, 2, 4, 3), 7, (9,)),
        ]

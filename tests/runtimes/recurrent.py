# SPDX-License-Identifier: Apache-2.0
"""Random models of operators with a memory: several share it, so that one run has several steps."""

from __future__ import annotations

from collections.abc import Callable

from tests.runtimes.sketch import ACTIVATIONS, Quant, Shape, Sketch

Draw = Callable[[Sketch], None]
Weights = Callable[[Sketch, Shape], int]


def _of(s: Sketch, scale: float, zero: int = 0) -> Quant:
    """A quantization, none for floats."""
    return None if s.dtype == "f32" else (scale, zero)


def svdf(s: Sketch) -> None:
    """A few layers one after the other on one memory, whose type is that of the sketch; integer data is s8."""
    batches, inputs, rank, units, steps = (
        s.rng.choice(v) for v in ((1, 1, 2), (1, 3, 8), (1, 2), (1, 2, 4), (1, 2, 5, 8))
    )
    data, fine = ("f32", 1.0) if s.dtype == "f32" else ("s8", 256.0 if s.dtype == "s16" else 1.0)
    filters, zero = units * rank, 0 if s.dtype == "s16" else s.rng.choice((0, 0, -128, 100, 37))
    x_scale, w_scale = 10 ** s.rng.uniform(-3, 0), 10 ** s.rng.uniform(-3, -1)
    kept = x_scale * w_scale * 80 * inputs**0.5 * 10 ** s.rng.uniform(-0.7, 0.5)
    features = s.constant((filters, inputs), data, _of(s, w_scale))
    times = s.constant((filters, steps), None, _of(s, w_scale / fine))
    numbers = s.data.integers(-4000, 4000, units)
    per_step = (kept * w_scale / fine**2, 0)
    bias = s.constant((units,)) if s.dtype == "f32" else s.tensor((units,), "s32", per_step, numbers)
    memory = s.tensor((batches, filters * steps), s.dtype, _of(s, kept / fine, zero), is_variable=True)
    size = kept * w_scale * 80 * (rank * steps) ** 0.5 * 10 ** s.rng.uniform(-0.7, 0.7)
    quant = _of(s, size, s.rng.choice((-128, 0, 9)))
    allowed = ("RELU",) if s.dtype == "s16" and s.chance(0.5) else ACTIVATIONS  # on s16 all that LiteRT runs is RELU
    options = {"rank": rank, "fused_activation_function": s.rng.choice(allowed)}
    x_quant = _of(s, x_scale, s.rng.choice((-128, 0, 5)))
    for _ in range(s.rng.randint(2, 4)):
        x = s.x((batches, inputs), data, x_quant)
        s.result("SVDF", [x, features, times, bias, memory], (batches, units), data, quant, options)


def _floats(s: Sketch, shape: Shape) -> int:
    return s.constant(shape)


def rnn(name: str, weights: Weights = _floats) -> Draw:
    """Two layers in a row on one state. weights: makes constant weights of a shape."""

    def draw(s: Sketch) -> None:
        batches, steps, inputs, hidden = (s.rng.choice(v) for v in ((1, 1, 2), (1, 2, 5), (1, 3, 9), (1, 2, 5)))
        first, several = s.chance(0.3), name != "RNN"
        ends = () if not several else (steps,)
        shape = (*ends, batches) if first else (batches, *ends)
        w, r, b = weights(s, (hidden, inputs)), weights(s, (hidden, hidden)), s.constant((hidden,))
        h = s.tensor((batches, hidden), s.dtype, is_variable=True)
        options = {"fused_activation_function": s.rng.choice(("TANH", "RELU"))}
        options |= {"time_major": first} if several else {}
        options["asymmetric_quantize_inputs"] = s.chance(0.5)
        for _ in range(2):
            s.result(name, [s.x((*shape, inputs)), w, r, b, h], (*shape, hidden), None, None, options)

    return draw


def bidirectional_rnn(weights: Weights = _floats) -> Draw:
    """Two layers in a row on the states of both directions."""

    def draw(s: Sketch) -> None:
        batches, steps, inputs, hidden = (s.rng.choice(v) for v in ((1, 1, 2), (1, 2, 5), (1, 3, 9), (1, 2, 5)))
        first, merged = s.chance(0.3), s.chance(0.5)
        shape = (steps, batches) if first else (batches, steps)
        operands: list[int] = []
        for _ in range(2):
            operands += [weights(s, (hidden, inputs)), weights(s, (hidden, hidden)), s.constant((hidden,))]
            operands.append(s.tensor((batches, hidden), s.dtype, is_variable=True))
        options = {"fused_activation_function": s.rng.choice(("TANH", "RELU")), "time_major": first}
        options |= {"merge_outputs": merged, "asymmetric_quantize_inputs": s.chance(0.5)}
        for _ in range(2):
            made = [s.tensor((*shape, hidden * (1 + merged)), s.dtype) for _ in range(2 - merged)]
            x = s.x((*shape, inputs))
            s.writer.op("BIDIRECTIONAL_SEQUENCE_RNN", [x, *operands, -1, -1, -1], made, options)
            s.outputs += made

    return draw


def single_lstm(s: Sketch) -> None:
    _lstm(s, "LSTM", ())


def lstm(s: Sketch) -> None:
    _lstm(s, "UNIDIRECTIONAL_SEQUENCE_LSTM", (s.rng.choice((1, 2, 5)),))


def _lstm(s: Sketch, name: str, steps: tuple[int, ...]) -> None:
    """Two layers in a row on one state and cell, so that the second finds what the first one leaves."""
    batches, inputs, hidden = (s.rng.choice(v) for v in ((1, 1, 2), (1, 3, 9, 20), (1, 2, 5, 12)))
    first = s.chance(0.3)
    ends = (*steps, batches) if first else (batches, *steps)
    fine = 256.0 if s.dtype == "s16" else 1.0
    x_quant = _of(s, 10 ** s.rng.uniform(-2.5, -0.5) / fine, s.rng.choice((-128, 0, 127, -3)) if fine == 1.0 else 0)
    h_quant = _of(s, s.rng.choice((1 / 128, 0.0076, 0.004)) / fine, s.rng.choice((0, 0, -4, 30)) if fine == 1.0 else 0)
    wide = s.dtype == "f32"
    cell = None if wide else (2.0 ** s.rng.choice((-12, -12, -11, -13, -10, -9, -15)), 0)
    gain = s.rng.choice((1.0, 3.0, 30.0))
    whole = range(4) if not (wide and s.chance(0.3)) else range(1, 4)
    gates: dict[int, int] = {}
    for k in whole:
        w, r = (_of(s, gain * 10 ** s.rng.uniform(-2.6, -1.8)) for _ in range(2))
        kind = "f32" if wide else "s8"
        gates[1 + k] = s.constant((hidden, inputs), kind, w)
        gates[5 + k] = s.constant((hidden, hidden), kind, r)
        if wide:
            gates[12 + k] = s.constant((hidden,))
        else:
            data = s.data.integers(-3000, 3000, hidden) * int(fine)
            kind = "s32" if fine == 1.0 else "s64"
            gates[12 + k] = s.tensor((hidden,), kind, (x_quant[0] * w[0], 0) if x_quant and w else None, data)
    if wide and s.chance(0.3):
        gates |= {place: s.constant((hidden,)) for k, place in ((0, 9), (1, 10), (3, 11)) if k in whole}
    h = s.tensor((batches, hidden), s.dtype, h_quant, is_variable=True)
    c = s.tensor((batches, hidden), "f32" if wide else "s16", cell, is_variable=True)
    inner = [s.tensor((0,), "f32") for _ in range(4)] + [s.tensor((0,), s.dtype, h_quant)]
    options = {"fused_activation_function": "TANH", "cell_clip": s.rng.choice((10.0, 0.0, 0.7))}
    options |= {"time_major": first} if steps else {}
    for _ in range(2):
        x = s.x((*ends, inputs), None, x_quant)
        y = s.tensor((*ends, hidden), s.dtype, h_quant)
        operands = [x, *(gates.get(k, -1) for k in range(1, 18)), h, c, -1, -1, -1, -1]
        s.writer.op(name, operands, [y], options, intermediates=[] if wide else inner)
        s.outputs.append(y)


def bidirectional(s: Sketch) -> None:
    """Two layers in a row on the states and cells of both directions."""
    batches, steps, inputs, hidden = (s.rng.choice(v) for v in ((1, 1, 2), (1, 2, 5), (1, 3, 9), (1, 2, 5)))
    first, merged = s.chance(0.3), s.chance(0.5)
    batches = 1 if merged and not first else batches  # LiteRT leaves parts of the others unwritten
    ends = (steps, batches) if first else (batches, steps)
    peepholes, coupled = s.chance(0.3), s.chance(0.3)
    given: dict[int, int] = {}
    for at in (0, 17):
        for k in range(1 if coupled else 0, 4):
            given[at + 1 + k] = s.constant((hidden, inputs))
            given[at + 5 + k] = s.constant((hidden, hidden))
            given[at + 12 + k] = s.constant((hidden,))
        for k in (9, 10, 11) if peepholes else ():
            if k > 9 or not coupled:
                given[at + k] = s.constant((hidden,))
    given |= {k: s.tensor((batches, hidden), s.dtype, is_variable=True) for k in range(35, 39)}
    options = {"fused_activation_function": "TANH", "cell_clip": s.rng.choice((10.0, 0.0, 0.7))}
    options |= {"time_major": first, "merge_outputs": merged}
    for _ in range(2):
        x = s.x((*ends, inputs))
        made = [s.tensor((*ends, hidden * (2 if merged else 1)), s.dtype) for _ in range(1 if merged else 2)]
        s.writer.op("BIDIRECTIONAL_SEQUENCE_LSTM", [x, *(given.get(k, -1) for k in range(1, 48))], made, options)
        s.outputs += made


OPERATORS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "SVDF": (("s8", "s16", "f32"), svdf),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (("s8", "s16", "f32"), lstm),
    "LSTM": (("s8", "f32"), single_lstm),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (("f32",), bidirectional),
    "BIDIRECTIONAL_SEQUENCE_RNN": (("f32",), bidirectional_rnn()),
    "RNN": (("f32",), rnn("RNN")),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (("f32",), rnn("UNIDIRECTIONAL_SEQUENCE_RNN")),
}
"""Operator: (element types that are drawn, how a model of one is drawn)."""

# SPDX-License-Identifier: Apache-2.0
"""Random models of one LSTM on float data, with a projection, norms, or both."""

from __future__ import annotations

from collections.abc import Iterator

from tests.runtimes.sketch import Drawn, Sketch

MODELS = 10


def models() -> Iterator[Drawn]:
    """All of them; their labels begin with `projected`."""
    for seed in range(MODELS):
        s = Sketch(f"projected LSTM {seed}", "f32")
        _layers(s)
        yield s.drawn()


def _layers(s: Sketch) -> None:
    """Two layers in a row on one state and cell."""
    batches, steps, inputs, hidden, results = (s.rng.choice(v) for v in ((1, 2), (1, 2, 4), (1, 5), (2, 5), (1, 3, 6)))
    projected, normalized = s.rng.choice(((True, False), (False, True), (True, True)))
    results = results if projected else hidden
    first, coupled, peepholes = s.chance(0.3), s.chance(0.3), s.chance(0.3)
    ends = (steps, batches) if first else (batches, steps)
    given: dict[int, int] = {}
    for k in range(1 if coupled else 0, 4):
        given[1 + k] = s.constant((hidden, inputs))
        given[5 + k] = s.constant((hidden, results))
        given[12 + k] = s.constant((hidden,))
        if normalized:
            given[20 + k] = s.constant((hidden,))
    for k in (9, 10, 11) if peepholes else ():
        if k > 9 or not coupled:
            given[k] = s.constant((hidden,))
    if projected:
        given[16] = s.constant((results, hidden))
        given |= {17: s.constant((results,))} if s.chance(0.5) else {}
    given[18] = s.tensor((batches, results), "f32", is_variable=True)
    given[19] = s.tensor((batches, hidden), "f32", is_variable=True)
    options = {"fused_activation_function": "TANH", "cell_clip": s.rng.choice((10.0, 0.0, 0.7)), "time_major": first}
    options["proj_clip"] = s.rng.choice((0.0, 0.6))
    for _ in range(2):
        y = s.tensor((*ends, results), "f32")
        operands = [s.x((*ends, inputs)), *(given.get(k, -1) for k in range(1, 24))]
        s.writer.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options)
        s.outputs.append(y)

# SPDX-License-Identifier: Apache-2.0
"""Random models of one LSTM on int8 data: with projections, norms, weights of the cell, coupled gates, or several."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.runtimes.sketch import Drawn, Quant, Sketch

MODELS = 12
_PARTS = tuple(parts for parts in product((True, False), repeat=3) if any(parts))
"""Projection, norms, weights of the cell."""


def models() -> Iterator[Drawn]:
    """The recorded models."""
    yield from (drawn(seed) for seed in range(MODELS))


def drawn(seed: int) -> Drawn:
    """The model of this seed: its label begins with `full LSTM`."""
    s = Sketch(f"full LSTM {seed}", "s8")
    layers(s, *_PARTS[seed % len(_PARTS)])
    return s.drawn()


def _scale(s: Sketch, usual: float, spread: float = 0.5) -> Quant:
    return usual * 10.0 ** s.rng.uniform(-spread, spread), 0


def _zero(s: Sketch, quant: Quant) -> Quant:
    return (quant[0], s.rng.choice((0, -128, 37, -4))) if quant else None


def layers(s: Sketch, projected: bool, normalized: bool, peepholes: bool, results: int = 0) -> None:
    """Two layers in a row on one state and cell."""
    batches, steps, inputs, hidden, made_of = (
        s.rng.choice(v) for v in ((1, 1, 2), (1, 2, 4), (1, 5, 9), (2, 5, 8, 16), (1, 3, 6))
    )
    results = results or (made_of if projected and not peepholes else hidden)  # LiteRT misreads the weights of others
    first, coupled = s.chance(0.3), s.chance(0.3)
    ends = (steps, batches) if first else (batches, steps)
    x_quant, h_quant = _zero(s, _scale(s, 0.02)), _zero(s, _scale(s, 0.008, 0.2))
    made: dict[int, int] = {}
    for k in range(1 if coupled else 0, 4):
        made[1 + k] = s.constant((hidden, inputs), "s8", _scale(s, 0.006))
        made[5 + k] = s.constant((hidden, results), "s8", _scale(s, 0.006))
        kind = _scale(s, 1e-4)
        if normalized:
            weights = _scale(s, 2.0**-14, 0.3)
            made[20 + k] = s.tensor((hidden,), "s16", weights, s.data.integers(1000, 32768, hidden))
            kind = (weights[0] / 1024 if weights else 1.0, 0)
        reach = 2**22 if normalized else 3000
        made[12 + k] = s.tensor((hidden,), "s32", kind, s.data.integers(-reach, reach, hidden))
    for k in (9, 10, 11) if peepholes else ():
        if k > 9 or not coupled:
            made[k] = s.constant((hidden,), "s16", _scale(s, 3e-5))
    if projected:
        made[16] = s.constant((results, hidden), "s8", _scale(s, 0.006))
        made |= (
            {17: s.tensor((results,), "s32", (1e-5, 0), s.data.integers(-3000, 3000, results))} if s.chance(0.7) else {}
        )
    made[18] = s.tensor((batches, results), "s8", h_quant, is_variable=True)
    made[19] = s.tensor((batches, hidden), "s16", (2.0 ** s.rng.choice((-12, -11, -13, -15)), 0), is_variable=True)
    inner = [s.tensor((0,), "s16", _scale(s, 2.0**-12, 0.3)) for _ in range(4)]
    inner.append(s.tensor((0,), "s8", _zero(s, _scale(s, 0.008, 0.2)) if projected else h_quant))
    options = {"fused_activation_function": "TANH", "cell_clip": s.rng.choice((10.0, 0.0, 0.7)), "time_major": first}
    options["proj_clip"] = s.rng.choice((0.0, 0.6)) if projected else 0.0
    for _ in range(2):
        y = s.tensor((*ends, results), "s8", h_quant)
        operands = [s.x((*ends, inputs), None, x_quant), *(made.get(k, -1) for k in range(1, 24))]
        s.writer.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options, intermediates=inner)
        s.outputs.append(y)

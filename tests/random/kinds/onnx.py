# SPDX-License-Identifier: Apache-2.0
"""Float ONNX graphs of 1 to 12 operators, judged by ONNX Runtime."""

from __future__ import annotations

import numpy as np

from mcugen.ir.graph import Graph
from tests.random import operators, ort
from tests.random.drawing import Drawn, Sets, options
from tests.random.sketch import OPSETS, ImpossibleError, Sketch

LIKELY = 0.25
LOADS = ("onnxruntime",)
MOST_NODES = 12
_TRIES = 40


def draw(seed: int) -> Drawn:
    """The graph of a seed; the seed's first operator goes round all of them, so that each comes as often."""
    for attempt in range(_TRIES):
        rng = np.random.default_rng([seed, attempt])
        sketch = Sketch(rng, int(rng.integers(OPSETS[0], OPSETS[1] + 1)))
        try:
            return _drawn(sketch, seed + attempt)
        except ImpossibleError:
            continue
    raise RuntimeError(f"seed {seed} gives no graph in {_TRIES} tries")


def _drawn(s: Sketch, first: int) -> Drawn:
    known = operators.known()
    name = list(known)[first % len(known)]
    drawer = known[name]
    s.opset = min(max(s.opset, drawer.since), drawer.until)
    before = s.number(0, 4) if s.chance(0.7) else 0
    _append(s, before)
    drawer.draw(s)
    _append(s, s.number(0, MOST_NODES - before - 1) // 2 if s.chance(0.7) else 0)
    model = s.model()
    label = f"{name} in opset {s.opset}: {' '.join(node.op_type for node in s.nodes if node.op_type != 'Constant')}"
    return Drawn(label, "net.onnx", model.SerializeToString(), s.feeds, options(s.rng))


def _append(s: Sketch, count: int) -> None:
    """Append up to so many operators that the opset has."""
    usable = [drawer for drawer in operators.known().values() if drawer.since <= s.opset <= drawer.until]
    for _ in range(count):
        try:
            s.pick(usable).draw(s)
        except ImpossibleError:
            continue


def differs(drawn: Drawn, graph: Graph, oracle: Sets) -> str:
    return ort.differs(drawn, graph, oracle)

# SPDX-License-Identifier: Apache-2.0
"""A sample of random models with what ONNX Runtime computes of them: `python -m tests.random.recording`.

Writes tests/random/recorded.npz, which tests judge where the runtime is not installed.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mcugen.ir.graph import Graph
from tests.random import drawing, ort
from tests.random.drawing import Drawn, Sets

FILE = Path(__file__).with_name("recorded.npz")
SAMPLE = [("onnx", seed) for seed in range(0, 180, 6)] + [("classical", seed) for seed in range(0, 28, 4)]
"""The kinds and seeds that are recorded."""


class Recorded:
    """The recorded models as a kind, whose seeds count from 0."""

    LIKELY = 0.25

    def __init__(self) -> None:
        with np.load(FILE) as file:
            self._arrays = {name: file[name] for name in file.files}
        self.models = json.loads(str(self._arrays["models"]))

    def draw(self, seed: int) -> Drawn:
        model = self.models[seed]
        sets = [[self._arrays[f"m{seed}_{k}_in{j}"] for j in range(model["inputs"])] for k in range(model["sets"])]
        return Drawn(model["label"], "net.onnx", self._arrays[f"m{seed}"].tobytes(), sets, model["choices"])

    def differs(self, drawn: Drawn, graph: Graph, oracle: Sets) -> str:
        seed = next(k for k, model in enumerate(self.models) if model["label"] == drawn.label)
        outputs = len(graph.outputs)
        wanted = [[self._arrays[f"m{seed}_{k}_out{j}"] for j in range(outputs)] for k in range(len(drawn.sets))]
        return ort.compared(drawn, graph, oracle, wanted)


def main() -> None:
    arrays: dict[str, np.ndarray] = {}
    models = []
    for n, (kind, seed) in enumerate(SAMPLE):
        drawn = drawing.kind(kind).draw(seed)
        arrays[f"m{n}"] = np.frombuffer(drawn.data, np.uint8)
        for k, (given, found) in enumerate(zip(drawn.sets, ort.plain_outputs(drawn), strict=True)):
            arrays |= {f"m{n}_{k}_in{j}": a for j, a in enumerate(given)}
            arrays |= {f"m{n}_{k}_out{j}": a for j, a in enumerate(found)}
        choices, label = dict(drawn.choices), f"{kind} {seed}: {drawn.label}"
        models.append({"label": label, "choices": choices, "inputs": len(drawn.sets[0]), "sets": len(drawn.sets)})
    np.savez_compressed(FILE, models=np.array(json.dumps(models)), **arrays)
    print(f"{len(models)} models, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

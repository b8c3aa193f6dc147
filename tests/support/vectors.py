"""The recorded vectors of the test models: what the reference runtimes computed, as conformance cases."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcugen
from mcugen.formats import read, registry
from mcugen.ir.graph import Graph
from mcugen.oracle import interpreter
from mcugen.pipeline import Artifact
from tests.support import program
from tests.support.cases import Arrays, Case

MODELS = Path(__file__).resolve().parent.parent / "models"


@dataclass(frozen=True, eq=False)
class Vectors:
    """The sets of inputs of one model, and its outputs by runtime.

    refused: why TFLM refuses the model, "" where it runs it; outputs has no "tflm" then.
    """

    inputs: list[Arrays]
    outputs: dict[str, list[Arrays]]
    refused: str


def model_names() -> list[str]:
    return sorted(path.stem for path in MODELS.glob("*.tflite"))


def load(name: str) -> Vectors:
    """The vectors of a model; where TFLM's are not recorded they equal LiteRT's."""
    with np.load(MODELS / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    inputs = _sets(arrays, "in")
    litert = _sets(arrays, "litert")
    tflm = [[arrays.get(f"tflm{k}_{j}", a) for j, a in enumerate(outputs)] for k, outputs in enumerate(litert)]
    state = str(arrays["tflm_state"])
    refused = state if state.startswith("refused") else ""
    return Vectors(inputs, {"litert": litert} if refused else {"litert": litert, "tflm": tflm}, refused)


def _sets(arrays: dict[str, np.ndarray], kind: str) -> list[Arrays]:
    sets: list[Arrays] = []
    while f"{kind}{len(sets)}_0" in arrays:
        k = len(sets)
        count = sum(key.startswith(f"{kind}{k}_") for key in arrays)
        sets.append([arrays[f"{kind}{k}_{j}"] for j in range(count)])
    return sets


def imported(name: str) -> Graph:
    return read.load(MODELS / f"{name}.tflite", registry.load())


def oracle_differences(name: str) -> list[str]:
    """The differences between the oracle and the results of a runtime."""
    graph, vectors = imported(name), load(name)
    found = []
    for which, sets in vectors.outputs.items():
        for k, (inputs, expected) in enumerate(zip(vectors.inputs, sets, strict=True)):
            values = interpreter.run(graph, inputs, which)
            for j, (output, want) in enumerate(zip(graph.outputs, expected, strict=True)):
                difference = program.first_difference(values[output], want)
                if difference:
                    found.append(f"{which} set {k} output {j}: {difference}")
    return found


def group(name: str) -> program.Group:
    """The model as C under each reference, with the recorded vectors as cases."""
    vectors = load(name)
    path = MODELS / f"{name}.tflite"
    builds = {which: mcugen.compile(path, reference=which, name=f"m_{which}") for which in vectors.outputs}
    return program.Group(name, tuple(_case(name, which, built, vectors) for which, built in builds.items()))


def _case(name: str, which: str, built: Artifact, vectors: Vectors) -> Case:
    return Case(
        built.name,
        f"{name} as {which}",
        built.view,
        dict(built.files),
        zones=(),
        set_names=tuple(f"set {k}" for k in range(len(vectors.inputs))),
        inputs=tuple(vectors.inputs),
        expected={which: tuple(vectors.outputs[which])},
        cancels=False,
    )

"""The whole of a quantization: a float model file and samples to a model file of integers, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mcugen import samples, writers
from mcugen.errors import UsageError
from mcugen.graph import Graph
from mcugen.quantize import float_model, guard
from mcugen.quantize.bench import Bench, pool
from mcugen.quantize.calibration import calibrated
from mcugen.quantize.diagnosis import Diagnosis, diagnosis
from mcugen.quantize.effort import effort_of
from mcugen.quantize.floats import Floats
from mcugen.quantize.guard import Guard, Judged
from mcugen.quantize.interface import with_floats
from mcugen.quantize.recipe import Recipe, Widths
from mcugen.quantize.scores import Score, score
from mcugen.types import Shape

METHODS = ("full", "min-max")
INTERFACES = ("int8", "float")
FORMATS = {".tflite": "tflite", ".onnx": "onnx"}


@dataclass(frozen=True)
class Choices:
    """What the user asked for.

    widths: bits of weights and activations; method: "full", each step tried by the guard, or plain "min-max";
    interface: "int8" or "float"; limit: the first so many samples; preprocess: how files become samples
    jobs: processes, 0 for one a core; cache: a calibration cache, read where it is there, else written
    shapes, signature, input_layout, output_layout: as for a build
    """

    widths: Widths = field(default_factory=Widths)
    method: str = "full"
    interface: str = "int8"
    limit: int | None = None
    preprocess: str = ""
    jobs: int = 0
    cache: Path | None = None
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    signature: str = ""
    input_layout: str = ""
    output_layout: str = ""


@dataclass(frozen=True, eq=False)
class Quantized:
    """A quantized network, as a graph, and what led to it.

    graph: with the interface that was asked for; floats: the float network it stands for, with the samples; judged: the
    trials of the guard; diagnosis: what integers cost each layer, and what is wrong; score: on the samples of a test,
    None without them
    """

    graph: Graph
    floats: Floats
    judged: Judged
    diagnosis: Diagnosis
    samples: int
    notes: tuple[str, ...]
    score: Score | None = None

    def written(self, format_name: str) -> bytes:
        """The network as a model file."""
        return writers.write(self.graph, format_name)


def quantize(
    path: Path,
    data: Path,
    choices: Choices,
    *,
    test: Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Quantized:
    """Quantize a float model file with the samples in `data`, and score it on those in `test`.

    tell: is given lines of progress. Raises McugenError for what cannot be read, or has no form on integers.
    """
    tell("reading the model")
    imported = float_model.load(path, choices.shapes, choices.signature)
    found = samples.load(data, imported, limit=choices.limit, preprocess=choices.preprocess)
    held = None if test is None else samples.load(test, imported, preprocess=choices.preprocess, with_labels=True)
    graph = float_model.prepared(imported, choices.input_layout, choices.output_layout, choices.widths)
    floats = Floats(graph, float_model.REFERENCE, _in_interface(graph, found.arrays))
    tell(f"running the float model on {floats.count} samples")
    if choices.cache is not None:
        floats = calibrated(floats, choices.cache, imported.sha256, found.sha256)
    judged, solved, integer = _solved(floats, choices, tell)
    final = with_floats(integer) if choices.interface == "float" else integer
    of_test = None if held is None else Floats(graph, float_model.REFERENCE, _in_interface(graph, held.arrays))
    tell("looking at each layer")
    told = diagnosis(floats, solved, integer, choices.method, judged.recipe, of_test)
    made = Quantized(final, floats, judged, told, found.count, (*imported.notes, *found.notes))
    if held is None or of_test is None:
        return made
    tell(f"testing on {held.count} samples")
    return replace(made, score=score(of_test, final, held.labels), notes=(*made.notes, *held.notes))


def format_of(path: Path) -> str:
    """The format that a file is to be written in, by its suffix. Raises UsageError for any other."""
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"{path.name!r} names no format", hint=f"end it in {' or '.join(FORMATS)}")
    return found


def _solved(floats: Floats, choices: Choices, tell: Callable[[str], None]) -> tuple[Judged, Floats, Graph]:
    """The recipe that the guard chooses, the float network that it leads to, and the integers that it makes of it."""
    effort = effort_of(floats.graph, floats.count)
    tried = floats if effort.samples == floats.count else floats.part(np.arange(effort.samples))
    bench = Bench(tried, guard.folds(effort.samples, effort.folds))
    if choices.method == "min-max" or floats.count == 1:
        judged = Judged(Recipe(), ())
    else:
        with pool(bench, choices.jobs) as workers:
            judged = Guard(workers, choices.widths, tell).judged()
    tell("solving with all samples")
    whole, recipe = Bench(floats, ()), judged.recipe
    solved = whole.part(-1, recipe.floor if recipe.balanced else None)
    return judged, solved, whole.network(recipe, choices.widths)


def _in_interface(graph: Graph, arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Samples in the layouts that the file has as those of the interface: [samples, *shape]."""
    moved = {name: (0, *(k + 1 for k in axes)) for name, axes in graph.layouts.items()}
    pairs = zip(graph.inputs, arrays, strict=True)
    return tuple(np.ascontiguousarray(a.transpose(moved[n])) if n in moved else a for n, a in pairs)

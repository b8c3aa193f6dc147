"""Accuracy and speed of a model on labelled samples: on this computer, and for a few samples on an emulated core."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen import samples
from mcugen.errors import UsageError
from mcugen.machines.native import End, Model, all_of, processor
from mcugen.pipeline import Artifact
from mcugen.quantize.scores import LabelledTest, labelled_test
from mcugen.samples import Samples, metrics
from mcugen.samples.metrics import Scores
from mcugen.verify import emulated
from mcugen.verify.cases import Case
from mcugen.verify.emulated import Simulation
from mcugen.verify.evaluation import streamed_model
from mcugen.verify.evaluation.streamed_model import Streamed


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of an evaluation on samples.

    scores: by name. confusion: [label, answer] counts; None if labels are not classes, or too many. seconds: time on
    this computer for all samples. emulated: the first samples on the board's emulated core. answers: (label, class) of
    these samples, from the core's outputs; empty if labels are not classes. ran_as: how the C ran on this computer.
    """

    name: str
    board: str
    samples: int
    scores: Scores
    confusion: np.ndarray | None
    seconds: float
    emulated: Simulation | None
    answers: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    called: str
    ran_as: str

    @property
    def agrees(self) -> bool:
        """Whether the emulated core's outputs equal the reference's."""
        return self.emulated is None or (self.emulated.agrees and self.emulated.repeatable)


def evaluate(
    artifact: Artifact,
    data: Path,
    *,
    metric: str = "",
    task: str = "",
    states: Sequence[str] = (),
    limit: int | None = None,
    preprocess: str = "",
    on_core: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Evaluation:
    """Run a build on labelled samples. Raises McugenError.

    metric, task: see `mcugen.samples.metrics`; by default the metric that fits the labels. states: OUTPUT=INPUT for
    outputs that are the next frame's inputs. on_core: number of samples to run on the emulated core as well.
    """
    graph = artifact.imported
    streamed = streamed_model.of(data, graph, states)
    if streamed is None:
        found = samples.load(data, graph, limit=limit, preprocess=preprocess, with_labels=True, to_run=True)
        network = metrics.interface_of(graph)
    else:
        found = streamed.load(data, graph, limit)
        network = streamed.interface(graph, found)
    test = labelled_test(graph, found.labels, metric, task, network)
    if test is None:
        raise UsageError(
            "has no labels", where=data.name, hint="add an array with the key 'y', or one folder per class"
        )
    progress("compiling")
    model = artifact.load()
    progress(f"{found.count} {'samples' if streamed is None else 'sequences'}")
    started = time.perf_counter()
    outputs = run_all(model, found.arrays, real=True) if streamed is None else streamed.run(model, found.arrays)
    outputs = tuple(map(_strongest, outputs, model.outputs)) if model.takes_signals else outputs
    seconds = time.perf_counter() - started
    simulated = _on_core(artifact, model, found, on_core, streamed, progress) if on_core else None
    scores = test.metric.score(outputs, test.truth, network)
    there: tuple[tuple[int, int], ...] = ()
    if simulated and not model.takes_signals:  # on a core, a signal ends after a few decisions
        there = _answers(model, simulated, test)
    named = (artifact.name, artifact.target.name, found.count)
    table = test.confusion(outputs)
    ran_as = processor.in_words(artifact.schedule)
    return Evaluation(*named, scores, table, seconds, simulated, there, found.notes, artifact.called, ran_as)


def _strongest(decisions: np.ndarray, end: End) -> np.ndarray:
    """One result [n, ...] for signals, from an output [n, decisions, ...]: the greatest value of each element or, of
    an output that numbers classes, the newest.
    """
    numbers_classes = end.dtype.kind in "iu" and not end.is_quantized
    return np.asarray(decisions[:, -1] if numbers_classes else decisions.max(axis=1))


def _answers(model: Model, found: Simulation, test: LabelledTest) -> tuple[tuple[int, int], ...]:
    """(label, class) of the samples that ran on the core; none if labels are no classes of samples."""
    if test.metric.answers is None or not isinstance(test.truth, np.ndarray):
        return ()
    columns = zip(model.outputs, zip(*found.outputs, strict=True), strict=True)
    classes = test.metric.answers(tuple(end.real(np.stack(column)) for end, column in columns))
    return tuple((int(label), int(answer)) for label, answer in zip(test.truth, classes, strict=False))


def run_all(model: Model, arrays: Sequence[np.ndarray], *, real: bool | None) -> tuple[np.ndarray, ...]:
    """The outputs for independent samples. A model with states is reset before each sample.

    arrays: [n, *shape of the input]. If all inputs have a first axis of 1, it is left out of all outputs. A stream of
    samples takes signals, [n, time], and gives the outputs of each decision, [n, decisions, *shape of the output].
    """
    if model.takes_signals:
        return all_of(model.run(*arrays, real=real))
    flat = all(end.shape[:1] == (1,) for end in model.inputs)
    given = [a.reshape(len(a), *a.shape[2:]) if flat else a for a in arrays]
    if not model.has_states:
        return all_of(model.run(*given, real=real))
    rows = []
    for k in range(len(given[0])):
        model.reset()
        rows.append(all_of(model.run(*(a[k : k + 1] for a in given), real=real)))
    return tuple(np.concatenate(column) for column in zip(*rows, strict=True))


def _on_core(
    artifact: Artifact,
    model: Model,
    found: Samples,
    count: int,
    streamed: Streamed | None,
    progress: Callable[[str], None],
) -> Simulation:
    """Run the first samples on the board's emulated core, each as a sequence of its own; or the first frames."""
    n = min(count, found.count)
    progress(f"{n} samples on {artifact.target.name}")
    if streamed is not None:
        return emulated.simulate(artifact, streamed.cases(model, found.arrays, count))
    stored = model.stored(*(a[:n] for a in found.arrays))
    cases = [Case(f"sample {k}", [array[k] for array in stored]) for k in range(n)]
    return emulated.simulate(artifact, cases)

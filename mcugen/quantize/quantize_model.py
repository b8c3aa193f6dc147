"""Quantization as a whole: from a float model file and samples to an integer model file, with a diagnosis."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mcugen import __version__, samples
from mcugen.errors import UsageError
from mcugen.formats import write
from mcugen.ir.graph import Graph
from mcugen.ir.types import Shape
from mcugen.quantize import balance, cluster, float_model, frame_sequences, guard, layer_bits, older, prune, wide_kinds
from mcugen.quantize.blocks_of_layers import blocks_of
from mcugen.quantize.calibration import calibrated
from mcugen.quantize.cross_validation import Bench, TaskPool, pool
from mcugen.quantize.diagnosis import Diagnosis, diagnosis
from mcugen.quantize.effort import effort_of
from mcugen.quantize.float_values import FloatRun, require_bounded, require_finite, require_stored_states
from mcugen.quantize.frame_sequences import States
from mcugen.quantize.guard import Guard, Judged
from mcugen.quantize.interface import with_floats
from mcugen.quantize.kept import ResultCache, opened
from mcugen.quantize.offered import reasons_of, require_offered
from mcugen.quantize.prune import Pruned
from mcugen.quantize.recipe import Widths
from mcugen.quantize.recurrent_weights import notes_of
from mcugen.quantize.scores import LabelledTest, Score, labelled_test, score
from mcugen.quantize.solve import REQUANTIZE_PREFIX
from mcugen.samples import Samples

Choose = Callable[[TaskPool, Widths, Callable[[str], None]], Widths]
"""Function (pool for trials, initial bits, progress) -> chosen bits of all layers."""

_TASKS = 64
"""Limit of trials in parallel while bits are chosen."""
FORMATS = {".tflite": "tflite", ".onnx": "onnx"}


@dataclass(frozen=True)
class QuantizeOptions:
    """Options of a quantization.

    widths: bits of weights and activations; method: "full", each step tried by the guard, or plain "min-max";
    interface: "int8" or "float"; limit: number of samples to use; preprocess: how files become samples
    jobs: processes, 0 for one per core; scheduler: address of a Dask scheduler whose workers run trials instead
    cache: calibration cache, read if it exists, else written
    layers: bits of single layers, as NAME=w4; resume: file of trials, to continue after an interrupt
    ranges_of: an older quantized model, whose bits, scales and zero points of activations are taken
    macs: multiply-accumulates left after channels are removed, as `70%` or `8M`; "" to remove none
    shapes, signature, input_layout, output_layout: as for a build
    file_format: of the file to write, which decides on the operators that the network may have
    states: OUTPUT=INPUT for each output that is the next frame's input; samples are then sequences
    metric, task: how a test compares outputs with labels, see `mcugen.samples.metrics`; "" for what the labels ask for
    """

    widths: Widths = field(default_factory=Widths)
    method: str = "full"
    interface: str = "int8"
    limit: int | None = None
    preprocess: str = ""
    jobs: int = 0
    scheduler: str = ""
    cache: Path | None = None
    layers: tuple[str, ...] = ()
    resume: Path | None = None
    macs: str = ""
    ranges_of: Path | None = None
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    signature: str = ""
    input_layout: str = ""
    output_layout: str = ""
    file_format: str = "tflite"
    states: tuple[str, ...] = ()
    metric: str = ""
    task: str = ""


@dataclass(frozen=True, eq=False)
class QuantizeInputs:
    """Inputs of a quantization.

    imported: the network as read; graph: simplified; found: the samples; tested: samples of a test, or None
    states: of a network that is run over sequences; `found` are then the frames, and `tested` whole sequences
    test: the labels of `tested` with their metric; None without labels
    """

    imported: Graph
    graph: Graph
    found: Samples
    tested: Samples | None
    states: States | None = None
    test: LabelledTest | None = None


def given(path: Path, data: Path | None, choices: QuantizeOptions, test: Path | None) -> QuantizeInputs:
    """Read a float model file and its samples, or one sample of zeros if no data are given.

    Raises McugenError for files that cannot be read or do not fit the model.
    """
    imported = float_model.load(path, choices.shapes, choices.signature)
    states = frame_sequences.states_of(imported, choices.states) if choices.states else None
    found, tested = _zeros(imported), None
    if states is not None:
        found = found if data is None else frame_sequences.load(data, imported, states, limit=choices.limit)
        tested = None if test is None else frame_sequences.load(test, imported, states, with_labels=True)
    else:
        if data is not None:
            found = samples.load(data, imported, limit=choices.limit, preprocess=choices.preprocess)
        if test is not None:
            tested = samples.load(test, imported, preprocess=choices.preprocess, with_labels=True)
    layouts, keeps = (choices.input_layout, choices.output_layout), choices.ranges_of is not None
    graph = float_model.prepared(
        imported,
        *layouts,
        all_channels=keeps,
        file_format=choices.file_format,
        activations=choices.widths.activations,
    )
    if states is not None and data is not None:
        frames = frame_sequences.frames_of(graph, float_model.REFERENCE, states, found.arrays)
        found = replace(found, arrays=frames)
    network = None if states is None or tested is None else frame_sequences.interface_of(graph, states, tested)
    truth = None if tested is None else tested.labels
    labelled = labelled_test(graph, truth, choices.metric, choices.task, network)
    return QuantizeInputs(imported, graph, found, tested, states, labelled)


def _zeros(imported: Graph) -> Samples:
    types = [imported.type(name) for name in imported.inputs]
    return Samples(tuple(np.zeros((1, *t.shape), t.np_dtype) for t in types), None, "", ())


@dataclass(frozen=True, eq=False)
class Quantized:
    """A quantized network with the trials and findings of its quantization.

    graph: with the requested interface; floats: the float network that it approximates, with the samples
    judged: trials of the guard; diagnosis: facts of layers, and findings; samples: number of samples, 0 if none were
    given: then nothing is diagnosed; widths: the bits of all layers
    bridges: number of Quantize nodes between different widths or scales; score: result of a test, or None
    pruned: the float network before and after pruning, None if it was not requested
    """

    graph: Graph
    floats: FloatRun
    judged: Judged
    diagnosis: Diagnosis
    samples: int
    notes: tuple[str, ...]
    widths: Widths
    bridges: int
    score: Score | None = None
    pruned: Pruned | None = None

    def written(self, format_name: str) -> bytes:
        """The network as bytes of a model file."""
        return write.write(self.graph, format_name)


def quantize(
    path: Path,
    data: Path | None,
    choices: QuantizeOptions,
    *,
    test: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
    choose: Choose | None = None,
) -> Quantized:
    """Quantize a float model file with the samples in `data`, and score it on the samples in `test`.

    data: None only with the ranges of an older model; progress: called with lines of text; choose: chooses the bits of
    layers. Raises McugenError for files that cannot be read, or networks without an integer form.
    """
    progress("reading the model")
    read = given(path, data, choices, test)
    imported, found, held, whole = read.imported, read.found, read.tested, read.graph
    arrays = in_interface(whole, found.arrays)
    before = None if choices.ranges_of is None else older.read(choices.ranges_of, whole)
    widths = _widths(whole, choices, read.states) if before is None else before.widths
    float_model.require_integers(whole, widths, choices.file_format)
    pruned, graph = _pruned(whole, arrays, choices, progress)
    graph = graph if before is None else balance.as_large_as(graph, float_model.REFERENCE, before.weights)
    floats = _run_in_floats(read, FloatRun(graph, float_model.REFERENCE, arrays, older=before), data, choices, progress)
    require_offered(floats, widths)
    blocks = blocks_of(graph, widths, choices.file_format)
    kept = None if choices.resume is None else opened(choices.resume, _origin(imported, found, floats))
    judged, solved, integer, widths = _solved(floats, choices, widths, kept, choose, progress)
    frame_sequences.require_one_type(integer, read.states)
    as_floats = (choices.interface if before is None else before.interface) == "float"
    final = with_floats(integer) if as_floats else integer
    of_test = None
    if held is not None and read.states is None:
        of_test = FloatRun(whole, float_model.REFERENCE, in_interface(whole, held.arrays))
    diagnosed = Diagnosis((), ())
    if data is not None:
        progress("looking at each layer")
        diagnosed = diagnosis(floats, solved, integer, choices.method, judged.recipe, of_test)
    own = (*blocks, *_runtime_notes(integer), *notes_of(integer, floats.reaches()))
    notes = (*imported.notes, *found.notes, *own)
    made = Quantized(
        replace(final, features=found.features or imported.features),
        floats,
        judged,
        diagnosed,
        0 if data is None else found.count,
        notes,
        widths,
        _requantize_count(integer),
        None,
        pruned,
    )
    if held is None:
        return made
    progress(f"testing on {held.count} {'samples' if read.states is None else 'sequences'}")
    return _tested(replace(made, notes=(*made.notes, *held.notes)), read, held, of_test, final)


def _widths(graph: Graph, choices: QuantizeOptions, states: States | None) -> Widths:
    """The bits that the user gives, and 16 for what needs them by its kind."""
    widths = layer_bits.given(graph, choices.widths, choices.layers)
    widths = widths if states is None else frame_sequences.widened(graph, widths, states)
    return wide_kinds.widened(graph, widths)


def _tested(made: Quantized, read: QuantizeInputs, held: Samples, of_test: FloatRun | None, final: Graph) -> Quantized:
    """The result with its score. held: the test samples; of_test: the float network on them, None for sequences."""
    if of_test is None and read.states is not None:
        reference, graphs = float_model.REFERENCE, (read.graph, final)
        return replace(made, score=frame_sequences.score(graphs, reference, read.states, held.arrays, read.test))
    assert of_test is not None
    pruned = None if made.pruned is None else prune.tested(made.pruned, of_test, read.test)
    return replace(made, score=score(of_test, final, read.test), pruned=pruned)


def _run_in_floats(
    read: QuantizeInputs,
    floats: FloatRun,
    data: Path | None,
    choices: QuantizeOptions,
    progress: Callable[[str], None],
) -> FloatRun:
    """The float network with the ranges of its states and of the calibration cache, if these are given."""
    if data is not None:
        progress(f"running the float model on {floats.count} samples")
        require_finite(floats)
        require_bounded(floats)
    require_stored_states(floats)
    floats = floats if read.states is None else frame_sequences.with_ranges(floats, read.states)
    if choices.cache is None:
        return floats
    return calibrated(floats, choices.cache, _model_hash(read.imported, choices), read.found.sha256)


def _pruned(
    graph: Graph, arrays: tuple[np.ndarray, ...], choices: QuantizeOptions, progress: Callable[[str], None]
) -> tuple[Pruned | None, Graph]:
    """Result of pruning and the float network after it; (None, graph) if not requested."""
    if not choices.macs:
        return None, graph
    prune.require_moderate(FloatRun(graph, float_model.REFERENCE, arrays))
    if choices.scheduler:
        cluster.require(choices.scheduler)
    found = prune.pruned(graph, float_model.REFERENCE, arrays, choices.macs, progress)
    return found, found.graph


def format_of(path: Path) -> str:
    """Format to write a file in, by its suffix. Raises UsageError for any other."""
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        hint = f"end the name in {' or '.join(FORMATS)}"
        raise UsageError(f"{path.name!r} has no suffix of a format that can be written", hint=hint)
    return found


def format_for(path: Path, choices: QuantizeOptions) -> str:
    """The format that can hold the integer form of a float model file: "tflite", or "onnx" if only that can."""
    imported = float_model.load(path, choices.shapes, choices.signature)
    graph = float_model.prepared(imported, choices.input_layout, choices.output_layout)
    return "onnx" if float_model.needs_onnx(graph, choices.widths) else "tflite"


def _solved(
    floats: FloatRun,
    choices: QuantizeOptions,
    widths: Widths,
    kept: ResultCache | None,
    choose: Choose | None,
    progress: Callable[[str], None],
) -> tuple[Judged, FloatRun, Graph, Widths]:
    """The guard's recipe and trials, the float network after them, its integer network, and the bits of layers."""
    effort = effort_of(floats.graph, floats.count)
    tried = floats.first(effort.samples)
    bench = Bench(tried, guard.folds(effort.samples, effort.folds))
    judged = Judged(guard.plainest(tried), ())
    is_plain = choices.method == "min-max" or floats.count == 1
    if choose is not None or not is_plain:
        at_a_time = 0 if choose is None else _TASKS
        address = choices.scheduler
        with cluster.pool(bench, address, kept) if address else pool(bench, choices.jobs, kept, at_a_time) as workers:
            widths = widths if choose is None else choose(workers, widths, progress)
            judged = judged if is_plain else Guard(workers, widths, progress).judged()
    progress("solving with all samples")
    whole, recipe = Bench(floats, ()), judged.recipe
    solved = whole.part(-1, recipe.floor if recipe.balanced else None)
    return judged, solved, whole.network(recipe, widths), widths


def _model_hash(imported: Graph, choices: QuantizeOptions) -> str:
    """Hash of the model for its calibration cache. It covers the pruning budget, which changes the ranges."""
    asked = f"{imported.sha256} {choices.macs}"
    return hashlib.sha256(asked.encode()).hexdigest() if choices.macs else imported.sha256


def _origin(imported: Graph, found: samples.Samples, floats: FloatRun) -> str:
    """Identity of the trials: this version, the model, the samples and their number, the ranges."""
    before = "" if floats.older is None else f" {floats.older.sha256}"
    return f"{__version__} {imported.sha256} {found.sha256} {found.count} {_ranges_of(floats)}{before}"


def _ranges_of(floats: FloatRun) -> str:
    """Hash of the measured ranges of all tensors, and of the ranges that the user set."""
    seen = repr(([(name, o.low, o.high) for name, o in floats.observed().items()], sorted(floats.overrides.items())))
    return hashlib.sha256(seen.encode()).hexdigest()


def _runtime_notes(graph: Graph) -> tuple[str, ...]:
    """Notes for a network that TensorFlow Lite Micro does not run, but LiteRT does."""
    reasons = reasons_of(graph, float_model.REFERENCE)
    if not reasons or reasons_of(graph, "litert"):
        return ()
    name, why = next(iter(reasons.items()))
    more = f", and {len(reasons) - 1} more layers" if len(reasons) > 1 else ""
    return (f"TensorFlow Lite Micro does not run it, LiteRT does: {layer_bits.label_of(graph, name)}: {why}{more}",)


def _requantize_count(graph: Graph) -> int:
    return sum(node.name.startswith(REQUANTIZE_PREFIX) for node in graph.nodes)


def in_interface(graph: Graph, arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Samples [samples, *shape] converted from the layouts of the file to those of the interface."""
    moved = {name: (0, *(k + 1 for k in axes)) for name, axes in graph.layouts.items()}
    pairs = zip(graph.inputs, arrays, strict=True)
    return tuple(np.ascontiguousarray(a.transpose(moved[n])) if n in moved else a for n, a in pairs)

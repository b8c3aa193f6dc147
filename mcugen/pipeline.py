"""The build pipeline: a model file becomes an Artifact."""

from __future__ import annotations

import dataclasses
import functools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from mcugen import kernels, passes, report, samples, solve
from mcugen.boards import target
from mcugen.boards.target import Target
from mcugen.emit import files_of, tflm
from mcugen.emit import view as emit_view
from mcugen.emit.output_layout import PLAIN, BuildFolders
from mcugen.emit.view import ModelView
from mcugen.errors import UsageError
from mcugen.formats import chain, read, registry, write
from mcugen.ir import streams
from mcugen.ir.graph import Graph, verify
from mcugen.machines.native import Model as Native
from mcugen.machines.native.model import Outputs
from mcugen.options import (
    MAX_PREFIX,
    RUNTIMES,
    SAMPLES,
    TFLM,
    Options,
    is_shortened,
    name_of,
    named,
    samples_of,
    shape_texts,
    stem_of,
)
from mcugen.passes import layouts
from mcugen.report import exports, host_steps
from mcugen.report import page as report_page
from mcugen.report.facts import NoiseFacts, Report
from mcugen.report.output import ReportedModel
from mcugen.samples import decide, firmware, microfrontend, preprocess
from mcugen.solve import Solution
from mcugen.solve.budget import staged
from mcugen.solve.plan import MemoryPlan, check
from mcugen.solve.schedule import Schedule
from mcugen.solve.weights import weight_regions_of
from mcugen.system import output_folder, plugins, tabular


@dataclass(frozen=True, eq=False)
class Artifact:
    """Result of a build: the files as bytes, the report, and every intermediate stage.

    files: every file of the build, by path. emitted: only the model's C, by the path used in `#include`. kernels: the
    files for a kernel folder that several models share.
    """

    name: str
    files: Mapping[str, bytes]
    emitted: Mapping[str, bytes]
    report: Report
    imported: Graph
    graph: Graph
    schedule: Schedule
    plan: MemoryPlan
    view: ModelView
    target: Target
    kernels: output_folder.SharedFiles = output_folder.NOTHING_SHARED

    def __repr__(self) -> str:
        """A short text, without the megabytes of constants, files and stages."""
        size = f"{len(self.files)} files, {self.report.ram_bytes:,} bytes of RAM"
        return f"<Artifact {self.name} for {self.target.name}: {size}>"

    @property
    def called(self) -> str:
        """The model's name for texts: its title, followed by its C name if that differs."""
        return tabular.called(self.report.title, self.name)

    def _repr_html_(self) -> str:
        """The summary at the top of the report, which notebooks show."""
        return report_page.head(report.as_dict(self.report))

    def write(self, folder: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write all files into `folder`, or none: they are staged, and moved when complete.

        An edited file of an earlier build is renamed, e.g. to `kws.c.edited`. Returns these new names. Raises
        UsageError if the folder cannot be written, or holds files that do not belong to a build.
        """
        return output_folder.write(Path(folder), self.files, self.kernels)

    def load(self) -> Native:
        """An object that runs the C on this computer and owns its memory. Raises ToolError if gcc fails."""
        if self.target.device is not None:
            message = f"{self.target.name} runs OpenCL kernels; load and run need a build in C"
            raise UsageError(message, where="--board", hint="choose a core, or a board without OpenCL")
        return Native(self.name, self.emitted, self.view, self.imported)

    def run(self, *inputs: object, real: bool | None = None) -> Outputs:
        """The results of the C for these inputs, computed on this computer; see `mcugen.machines.native.Model.run`."""
        return self._loaded.run(*inputs, real=real)

    @functools.cached_property
    def _loaded(self) -> Native:
        return self.load()


def options_of(choices: Mapping[str, Any]) -> Options:
    """Options from keyword arguments. Raises UsageError for an unknown name."""
    known = {item.name for item in dataclasses.fields(Options)}
    unknown = sorted(set(choices) - known)
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r}", hint="options: " + ", ".join(sorted(known)))
    given = choices.get("input_shape", ())
    return Options(**{**choices, "input_shape": shape_texts(given)})


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model after all passes, with the board and options to build it for.

    name: prefixes the C symbols. title: the name for texts. noise: quantization noise, if the build quantized it.
    """

    name: str
    board: Target
    options: Options
    imported: Graph
    graph: Graph
    notes: tuple[str, ...]
    noise: tuple[NoiseFacts, ...] = ()
    title: str = ""

    @property
    def called(self) -> str:
        """The model's name for texts: its title, followed by its C name if that differs."""
        return tabular.called(self.title, self.name)


def build(path: Path, options: Options, ops: Sequence[ModuleType] = ()) -> Artifact:
    """Runs all stages in order: import, passes, kernels and memory, C. Unknown exports are refused first."""
    exports.layout_of(options)
    prepared = prepare(path, options, ops)
    solution = solve.solve(prepared.graph, prepared.board, prepared.options)
    if options.keep_input and TFLM in options.export:
        prepared = dataclasses.replace(prepared, notes=(*prepared.notes, _price_of_inputs(prepared, solution)))
    return finish(prepared, solution)


def _price_of_inputs(model: Prepared, kept: Solution) -> str:
    """A note on the RAM that --keep-input costs, compared with the same build without it."""
    without = solve.solve(model.graph, model.board, dataclasses.replace(model.options, keep_input=False))
    return f"--keep-input takes {max(kept.ram_bytes - without.ram_bytes, 0):,} bytes of RAM"


def inspect(path: Path, options: Options, ops: Sequence[ModuleType] = ()) -> Artifact:
    """All stages but the last: the facts of a build, without files."""
    prepared = prepare(path, options, ops)
    return _measured(prepared, solve.solve(prepared.graph, prepared.board, prepared.options))


def prepare(path: Path, options: Options, ops: Sequence[ModuleType] = ()) -> Prepared:
    """Import and passes. path: the file, or NAME=path; with options.chain, the first of several."""
    last = Path(options.chain[-1]) if options.chain else path
    name = options.name or name_of(last)
    given, last = named(last)
    given, stem = options.name or given, stem_of(last)
    known, path = registry.load(ops), named(path)[1]
    imported, noise = _quantized(path, known, options) if options.quantize else (_read(path, known, options), ())
    own = read.layout(imported.format)
    imported = layouts.applied(imported, options.input_layout, options.output_layout, own)
    imported = _with_front_end(imported, options)
    imported, options = _with_decisions(imported, options)
    imported, options = _streamed(imported, options)
    missing = tuple(f"left out: {why}" for why in (*known.missing, *plugins.failures(kernels.GROUP)))
    name_notes = _name_notes(name, stem, is_given=bool(given))
    prepared = prepare_graph(imported, options, name, (*name_notes, *missing))
    title = given or tabular.title_of(stem)
    graph = dataclasses.replace(prepared.graph, name=tabular.called(title, name))  # for error texts
    return dataclasses.replace(prepared, noise=noise, title=title, graph=graph)


def _streamed(imported: Graph, options: Options) -> tuple[Graph, Options]:
    """The graph with its stream of samples, and --input-mode samples, if one is asked for or the file states one."""
    if imported.stream and options.input_mode == "whole":
        options = dataclasses.replace(options, input_mode=SAMPLES)
    if options.input_mode != SAMPLES and imported.stream:
        hint = "leave it out: the input is a stream of samples"
        raise UsageError(f"--input-mode {options.input_mode} contradicts the front end of the model", hint=hint)
    if options.input_mode != SAMPLES:
        return imported, options
    known = _at_hop(options) if options.preprocess and imported.stream is None else options
    made = streams.streamed(imported, known.hop_samples, known.stride_windows, known.rate_hz, known.queue_samples)
    if options.rate and made.stream and options.rate_hz != made.stream.rate:
        hint = f"leave it out: the front end takes {made.stream.rate:,} samples a second"
        raise UsageError(f"--rate {options.rate} contradicts the front end of the model", hint=hint)
    return made, known


def _at_hop(options: Options) -> Options:
    """The options with the hop and rate of the words' windows. Raises UsageError for another --hop."""
    hop, rate = firmware.hop_of(preprocess.parse(options.preprocess, samples.words()), options.raw)
    if options.hop and samples_of(options.hop, rate) != hop:
        hint = f"leave --hop out: the words begin a window every {hop} samples"
        raise UsageError(f"--hop {options.hop} contradicts --preprocess", hint=hint)
    return dataclasses.replace(options, hop=str(hop), rate=str(rate))


def _read(path: Path, known: registry.Registry, options: Options) -> Graph:
    """The model of a file, or several files as one model with --chain."""
    first = read.load(path, known, options.shapes, options.signature)
    if not options.chain:
        return first
    paths = [path, *(named(Path(further))[1] for further in options.chain)]
    graphs = [first, *(read.load(further, known) for further in paths[1:])]
    titles = (tabular.title_of(stem_of(each)) for each in paths)
    return chain.chained([dataclasses.replace(g, name=title) for g, title in zip(graphs, titles, strict=True)])


def _with_front_end(network: Graph, options: Options) -> Graph:
    """The network behind the operators of --preprocess. Raises UsageError."""
    if not options.preprocess:
        return network
    named = microfrontend.named(options.preprocess, network)
    if named is not None and options.raw:
        raise UsageError("--raw contradicts --preprocess " + options.preprocess, hint="leave --raw out")
    if named is not None and named.stream is not None:
        joined = verify(chain.joined(chain.renamed(named, "front_"), network), "front end")
        return streams.streamed(joined, named.stream.hop, None, named.stream.rate)
    plan, by_windows = preprocess.parse(options.preprocess, samples.words()), options.input_mode == SAMPLES
    front = firmware.graph_for(plan, options.raw, network, by_windows=by_windows)
    joined = chain.joined(chain.renamed(front, "front_"), network)
    return verify(dataclasses.replace(joined, front_end=front.front_end), "front end")


def _with_decisions(network: Graph, options: Options) -> tuple[Graph, Options]:
    """The network before the operators of --decide, at the network's own stride in a stream. Raises UsageError."""
    if not options.decide:
        return network, options
    if options.input_mode == SAMPLES and not options.stride and network.stream is None:
        options = dataclasses.replace(options, stride=str(streams.own_stride(network)))
    after = decide.graph_for(options.decide, network)
    joined = chain.joined(network, chain.renamed(after, "decide_"))
    kept = {name: getattr(network, name) for name in ("stream", "features", "front_end")}
    return verify(dataclasses.replace(joined, **kept), "decisions"), options


def _quantized(path: Path, known: registry.Registry, options: Options) -> tuple[Graph, tuple[NoiseFacts, ...]]:
    """The quantized model that `mcugen quantize` would write for a float one, read back from a file, and its noise."""
    from mcugen.quantize import quantization_report, quantize_model
    from mcugen.report import quantization_page

    choices = quantize_model.QuantizeOptions(
        shapes=options.shapes,
        signature=options.signature,
        input_layout=options.input_layout,
        output_layout=options.output_layout,
        preprocess=options.preprocess,
    )
    file_format = quantize_model.format_for(path, choices)
    found = quantize_model.quantize(path, Path(options.quantize), dataclasses.replace(choices, file_format=file_format))
    graph = read_back(found.graph, known, file_format)
    note = f"quantized with {found.samples} samples of {Path(options.quantize).name}: {found.judged.recipe}"
    findings = quantization_report.findings_lines(found.diagnosis.findings)
    more = ("`mcugen quantize` has these options; build the file that it writes",) if findings else ()
    return dataclasses.replace(
        graph, notes=(*graph.notes, note, *found.notes, *findings, *more)
    ), quantization_page.noise(found)


def read_back(graph: Graph, known: registry.Registry | None = None, file_format: str = "tflite") -> Graph:
    """A graph written to a file and read back."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"model.{file_format}"
        file.write_bytes(write.write(graph, file_format))
        return read.load(file, known or registry.load(()))


def prepare_graph(imported: Graph, options: Options, name: str, notes: Sequence[str] = ()) -> Prepared:
    """Only the passes, for an existing graph. name: prefixes the C symbols. notes: for the report."""
    board = target.load(options.board_name, [f for f in options.features.split(",") if f])
    _require_backend(board, options)
    board = dataclasses.replace(board, clock_hz=options.clock_hz or board.clock_hz)
    board = target.with_regions(board, options.regions, options.weight_regions)
    options, reference_notes = _settle_reference(imported, options)
    halves = options.precision == "f16"
    graph = passes.run(
        imported,
        options.reference,
        board.features,
        simplify=not options.no_simplify,
        halves=halves,
        all_channels=options.weights_blob,
    )
    graph = streams.hops_first(graph) if graph.stream else graph
    return Prepared(name, board, options, imported, graph, (*imported.notes, *reference_notes, *notes))


_NOT_ON_DEVICES = ("amalgamate", "selftest", "region", "weights_in")


def _require_backend(board: Target, options: Options) -> None:
    """Raise UsageError if the board cannot use the backend, or if an option has no effect on OpenCL devices."""
    if options.backend and (options.backend == "opencl") != (board.device is not None):
        kind = "an OpenCL device" if board.device else "no OpenCL device"
        raise UsageError(
            f"--backend {options.backend}: {board.name} is {kind}",
            hint="leave --backend out, or choose a board for this backend",
        )
    if board.device is None:
        if options.precision:
            hint = "use --backend opencl, or leave it out"
            raise UsageError(f"--precision {options.precision} is for OpenCL devices", hint=hint)
        return
    given = [name for name in _NOT_ON_DEVICES if getattr(options, name)]
    given += ["input_mode"] if options.input_mode != "whole" else []
    if given:
        flag = given[0].replace("_", "-")
        raise UsageError(f"--{flag} has no effect on OpenCL devices", hint="leave it out, or build for a core")


def finish(model: Prepared, solution: Solution) -> Artifact:
    """The C and the report of a solution. Raises MemoryBudgetError if it does not fit the board."""
    layout = exports.layout_of(model.options)
    made = coded(model, solution, layout)
    models = (ReportedModel(made.view, made.schedule, made.plan),)
    out = exports.folder(model.name, models, made.emitted, report.as_dict(made.report), model.options, layout)
    facts = dataclasses.replace(made.report, files=tuple(sorted(out.files)), sums=out.sums)
    kernels = output_folder.SharedFiles(model.options.kernels_dir, out.kernels)
    return dataclasses.replace(made, files=out.files, report=facts, kernels=kernels)


def coded(model: Prepared, solution: Solution, layout: BuildFolders = PLAIN) -> Artifact:
    """Only the C of a solution, without pages and exports: for compiling, and for counting on an emulated core.

    Raises MemoryBudgetError if it does not fit the board.
    """
    made = _measured(model, solution)
    emitted = files_of(made.view, made.imported, model.options, layout)
    return dataclasses.replace(made, files=emitted, emitted=emitted)


def _measured(model: Prepared, solution: Solution) -> Artifact:
    """A solution with its report, without files. Raises MemoryBudgetError if it does not fit the board."""
    schedule, memory = solution.schedule, solution.plan
    check(schedule.buffers(), memory)
    weight_regions = weight_regions_of(model.options, model.board, solution)
    on_device = model.board.device is not None
    choices = (schedule, memory, model.options, model.name, weight_regions)
    view = emit_view.build(*choices, imported=model.imported, on_device=on_device)
    if view.blob and any(view.blob.stage_bytes) and not schedule.staged:
        return _measured(model, staged(solution, view.blob.stage_bytes))
    notes = (*model.notes, weight_regions.note) if weight_regions.note and view.weight_places else model.notes
    notes = (*notes, *host_steps.notes(schedule, model.board), *tflm.notes(model.options))
    facts = report.facts_of(view, solution, model.board, model.imported, notes)
    facts = dataclasses.replace(facts, quantization=model.noise, title=model.title or model.name)
    report.require_fit(facts, model.board, solution, model.options, weight_regions)
    return Artifact(model.name, {}, {}, facts, model.imported, model.graph, schedule, memory, view, model.board)


def _name_notes(name: str, stem: str, *, is_given: bool) -> tuple[str, ...]:
    """Notes that the prefix of the C names was shortened, or is long."""
    if len(name) > MAX_PREFIX:
        return (
            f"--name {name} has over {MAX_PREFIX} characters: some C names may exceed the 31 that C99 distinguishes",
        )
    if not is_given and is_shortened(stem):
        return (f"the C names begin with {name}, short for {stem[:40]!a}; --name gives another",)
    return ()


def _settle_reference(imported: Graph, options: Options) -> tuple[Options, tuple[str, ...]]:
    """The options with a reference runtime that applies to the model, by default the first of its format.

    If the chosen runtime refuses an operator of the model, another one of the format replaces it, with a note. Raises
    UsageError for a runtime that does not run the format.
    """
    known = read.references(imported.format)
    if options.reference and options.reference not in known:
        raise UsageError(
            f"{options.reference} does not run .{imported.format} models",
            where="--reference",
            hint=f"leave the option out, or choose {' or '.join(known)}",
        )
    options = dataclasses.replace(options, reference=options.reference or known[0])
    refused = {name: listed for name, listed in imported.refusals.items() if listed}
    if options.reference not in refused:
        return options, ()
    why = "; ".join(f"{RUNTIMES[name]} does not run {_shortened(listed)}" for name, listed in refused.items())
    other = next(name for name in known if name != options.reference)
    if other not in refused:
        note = f"{why}: results reproduce {RUNTIMES[other]} bit for bit"
        return dataclasses.replace(options, reference=other), (note,)
    note = f"no runtime runs the whole model ({why}): the arithmetic is {RUNTIMES['litert']}'s"
    return dataclasses.replace(options, reference="litert"), (note,)


def _shortened(places: Sequence[str]) -> str:
    return places[0] + (f" and {len(places) - 1} more" if len(places) > 1 else "")

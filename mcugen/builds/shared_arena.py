"""Several models that share memory: built separately and overlaid by a C union, for firmware that runs one at a
time.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcugen import __version__, pipeline
from mcugen.emit import EXAMPLE
from mcugen.emit.environment import render
from mcugen.emit.view import ModelView
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.options import Options, name_of
from mcugen.pipeline import Artifact
from mcugen.report import exports
from mcugen.report.output import ReportedModel
from mcugen.system import output_folder, tabular

DEFAULT_NAME = "models"


@dataclass(frozen=True)
class Member:
    """A model's share of one memory: its C type, and its size in bytes."""

    model: str
    c_type: str
    nbytes: int


@dataclass(frozen=True)
class SharedRegion:
    """One memory, as large as its largest member. region: "" if there is only one memory."""

    name: str
    macro: str
    variable: str
    region: str
    members: tuple[Member, ...]

    @property
    def used_bytes(self) -> int:
        return max(m.nbytes for m in self.members)

    @property
    def apart_bytes(self) -> int:
        return sum(m.nbytes for m in self.members)


@dataclass(frozen=True, eq=False)
class Shared:
    """Models that share their memory: the files of all, and the artifact of each."""

    name: str
    regions: tuple[SharedRegion, ...]
    artifacts: tuple[Artifact, ...]
    files: Mapping[str, bytes]
    kernels: output_folder.SharedFiles = output_folder.NOTHING_SHARED

    def __repr__(self) -> str:
        """A line without the megabytes of constants, files and stages."""
        return f"<Shared {self.name}: {', '.join(map(repr, self.artifacts))}>"

    @property
    def ram_bytes(self) -> int:
        """Size of the shared memories in bytes."""
        return sum(region.used_bytes for region in self.regions)

    def write(self, folder: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write all files into `folder`, or none; see `Artifact.write`. Raises UsageError."""
        return output_folder.write(Path(folder), self.files, self.kernels)


def build(paths: Sequence[Path], options: Options) -> Shared:
    """Build each model with the same options, and a header that overlays their arenas.

    options.name: name of the header. Models are named after their files. Raises UsageError for fewer than two models,
    for two models of one name, and for a model that keeps rows or states between calls.
    """
    name = options.name or DEFAULT_NAME
    if len(paths) < 2:
        raise UsageError("--share-arena needs two models or more", hint="give all models that share the memory")
    if options.input_mode == "frames":
        raise UsageError(
            "--share-arena: models fed by frames keep rows between frames, which other models would overwrite",
            hint="build these models separately, each with its own memory",
        )
    if options.weights_blob or options.fetch_weights:
        hint = "build these models separately, each with its own memory"
        raise UsageError("--share-arena does not work with --weights-blob or --fetch-weights", hint=hint)
    # RAM that one model leaves free may be in use by another, so constants must not go there.
    each = dataclasses.replace(options, name="", weights_in=options.weights_in or "none")
    symbols = _symbols_of(paths, options)
    artifacts = tuple(
        pipeline.build(path, dataclasses.replace(each, **names)) for path, names in zip(paths, symbols, strict=True)
    )
    _require_no_states(artifacts)
    names = [artifact.name for artifact in artifacts]
    if len({*names, name}) <= len(names):
        hint = "rename a file, or choose another --name"
        raise UsageError(f"--share-arena: two of the names {', '.join([name, *names])} are the same", hint=hint)
    _require_flash(artifacts, options)
    regions = _regions(name, [a.view for a in artifacts])
    emitted = _emitted(name, regions, artifacts)
    models = tuple(ReportedModel(a.view, a.schedule, a.plan) for a in artifacts)
    facts = _facts(name, regions, artifacts)
    out = exports.folder(name, models, emitted, facts, options, exports.layout_of(options))
    return Shared(name, regions, artifacts, out.files, output_folder.SharedFiles(options.kernels_dir, out.kernels))


def _symbols_of(paths: Sequence[Path], options: Options) -> list[dict[str, Any]]:
    """Per model, the options --symbol and --length-symbol for it.

    Raises UsageError for a name that is not written as MODEL=NAME.
    """
    names = [name_of(path) for path in paths]
    given = {"symbol": options.symbol, "length_symbol": options.length_symbol}
    for option, entries in given.items():
        for entry in entries:
            if entry.rpartition("=")[0] not in names:
                raise UsageError(
                    f"{entry!r} does not say which model it is",
                    where=f"--{option.replace('_', '-')}",
                    hint=f"write MODEL=NAME, where MODEL is one of {', '.join(names)}",
                )
    return [
        {option: tuple(e for e in entries if e.startswith(f"{name}=")) for option, entries in given.items()}
        for name in names
    ]


def _require_no_states(artifacts: Sequence[Artifact]) -> None:
    """Raise UsageError if a model keeps values from run to run. Runs of other models would overwrite them."""
    for artifact in artifacts:
        if artifact.graph.stream:
            raise UsageError(
                f"--share-arena: {artifact.name} keeps samples from push to push, which others would overwrite",
                hint="build it separately, with its own memory",
            )
        if artifact.graph.states:
            kept = ", ".join(repr(artifact.graph.tensors[s.before].label) for s in artifact.graph.states[:3])
            raise UsageError(
                f"--share-arena: {artifact.name} keeps states from run to run ({kept}), which others would overwrite",
                hint="build it separately, with its own memory",
            )


def _require_flash(artifacts: Sequence[Artifact], options: Options) -> None:
    """Raise MemoryBudgetError if the constants of all models together exceed --flash or the board's flash."""
    board = artifacts[0].target
    needed = sum(a.report.weights_bytes for a in artifacts)
    limits = (("--flash", options.flash_bytes), (f"flash of {board.name}", board.flash_bytes))
    for what, available in limits:
        if available is not None and needed > available:
            lines = [f"  {a.report.weights_bytes:>10,}  {a.name}" for a in artifacts]
            raise MemoryBudgetError(
                f"{what}: the constants of the models need {needed:,} bytes, {available:,} are there: "
                f"{needed - available:,} over\n" + "\n".join(lines),
                hint="try --optimize flash, which does not widen weights; or choose a larger board",
            )


def _regions(name: str, views: Sequence[ModelView]) -> tuple[SharedRegion, ...]:
    members: dict[str, list[Member]] = {}
    for v in views:
        for r in v.regions:
            c_type = f"{v.name}_{r.name}_t" if v.spread else f"{v.name}_t"
            members.setdefault(r.name, []).append(Member(v.name, c_type, r.size))
    if len(members) == 1:
        (only,) = members.values()
        return (SharedRegion(name, f"{name.upper()}_ARENA", "arena", "", tuple(only)),)
    return tuple(
        SharedRegion(f"{name}_{region}", f"{name.upper()}_{region.upper()}", f"arena_{region}", region, tuple(found))
        for region, found in members.items()
    )


def _emitted(name: str, regions: Sequence[SharedRegion], artifacts: Sequence[Artifact]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for artifact in artifacts:
        for path, content in artifact.emitted.items():
            if path != EXAMPLE and files.setdefault(path, content) != content:
                raise UsageError(f"two models have a file {path} with different text", hint="build them separately")
    views = [a.view for a in artifacts]
    values: dict[str, Any] = {
        "g": {"name": name, "macro": name.upper(), "version": __version__},
        "models": views,
        "unions": regions,
        "variables": {r.region: r.variable for r in regions},
        "objects_of": {v.name: _object(v, regions) for v in views},
    }
    files[f"{name}.h"] = render("shared.h.j2", **values)
    files[EXAMPLE] = render("shared_main.c.j2", **values)
    return files


def _object(view: ModelView, regions: Sequence[SharedRegion]) -> str:
    """C text of the model object in the example: a member of the union or, with several regions, a variable."""
    if view.spread:
        return view.name
    owner = next(r for r in regions if view.name in [m.model for m in r.members])
    return f"{owner.variable}.{view.name}"


def _facts(name: str, regions: Sequence[SharedRegion], artifacts: Sequence[Artifact]) -> dict[str, Any]:
    return {
        "name": name,
        "board": artifacts[0].report.board,
        "ram_bytes": sum(r.used_bytes for r in regions),
        "ram_bytes_apart": sum(r.apart_bytes for r in regions),
        "weights_bytes": sum(a.report.weights_bytes for a in artifacts),
        "regions": [
            {"name": r.region, "used_bytes": r.used_bytes, "members": [dataclasses.asdict(m) for m in r.members]}
            for r in regions
        ],
        "models": [dataclasses.asdict(a.report) for a in artifacts],
    }


def as_dict(shared: Shared) -> dict[str, Any]:
    """The result as a dictionary with stable keys for JSON."""
    return _facts(shared.name, shared.regions, shared.artifacts) | {"files": sorted(shared.files)}


def as_parts(shared: Shared) -> tabular.Parts:
    """Summary for the user: RAM of all models together, and of each model."""
    apart = sum(r.apart_bytes for r in shared.regions)
    models = ", ".join(a.name for a in shared.artifacts)
    lines = [
        f"{shared.name} for {shared.artifacts[0].report.board}: {models} share their memory, one at a time",
        f"  RAM      {shared.ram_bytes:>10,} bytes  in all; {apart:,} where each has its own",
    ]
    for r in shared.regions:
        lines += [
            f"           {m.nbytes:>10,} bytes  {m.model}{f', in {r.region}' if r.region else ''}" for m in r.members
        ]
    weights = [(a.name, a.report.weights_bytes) for a in shared.artifacts]
    lines.append(f"  weights  {sum(n for _, n in weights):>10,} bytes  constants")
    lines += [f"           {n:>10,} bytes  {model}" for model, n in weights]
    lines += [f"  note: {a.name}: {note}" for a in shared.artifacts for note in a.report.notes]
    return lines

"""Several models in one memory: built separately and overlaid by a union, for firmware that runs one at a time."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcugen import __version__, pipeline
from mcugen.emit import EXAMPLE
from mcugen.emit import folder as emit_folder
from mcugen.emit.environment import render
from mcugen.emit.view import ModelView
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.options import Options, name_of
from mcugen.pipeline import Artifact
from mcugen.report import exports
from mcugen.report.output import ReportedModel
from mcugen.system import tabular

DEFAULT_NAME = "models"


@dataclass(frozen=True)
class Member:
    """A model's share of one memory: its C type and size in bytes."""

    model: str
    c_type: str
    nbytes: int


@dataclass(frozen=True)
class SharedRegion:
    """One memory, as large as the largest of its members. region is "" if there is only one memory."""

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
    kernels: emit_folder.SharedFiles = emit_folder.NOTHING_SHARED

    def __repr__(self) -> str:
        """One line, without the megabytes of constants, files and stages."""
        return f"<Shared {self.name}: {', '.join(map(repr, self.artifacts))}>"

    @property
    def ram_bytes(self) -> int:
        """Bytes of the shared memories."""
        return sum(region.used_bytes for region in self.regions)

    def write(self, folder: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write all files into `folder`, or none; see `Artifact.write`. Raises UsageError."""
        return emit_folder.write(Path(folder), self.files, self.kernels)


def build(paths: Sequence[Path], options: Options) -> Shared:
    """Build each model with the same options, and the header that overlays their arenas.

    options.name names the header; the models are named after their files. Raises UsageError for models that cannot
    share: fewer than two, two of one name, or one that keeps rows from call to call.
    """
    name = options.name or DEFAULT_NAME
    if len(paths) < 2:
        raise UsageError("--share-arena needs two models or more", hint="give all that are to share one memory")
    if options.input_mode == "frames":
        raise UsageError(
            "--share-arena: models that take frames keep rows from one frame to the next, which others would overwrite",
            hint="build these apart, each with its own memory",
        )
    if options.weights_blob or options.fetch_weights:
        hint = "build these apart, each with its own memory"
        raise UsageError("--share-arena: constants as a block go with a model object of their own", hint=hint)
    # RAM that one model leaves free is not free for the constants of the others.
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
    return Shared(name, regions, artifacts, out.files, emit_folder.SharedFiles(options.kernels_dir, out.kernels))


def _symbols_of(paths: Sequence[Path], options: Options) -> list[dict[str, Any]]:
    """The options of each model that name variables of the firmware.

    Raises UsageError for a name that is not marked with one of the models.
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
    """Raise UsageError if a model keeps values from run to run, which a run of another model would overwrite."""
    for artifact in artifacts:
        if artifact.graph.states:
            kept = ", ".join(repr(artifact.graph.tensors[s.before].label) for s in artifact.graph.states[:3])
            raise UsageError(
                f"--share-arena: {artifact.name} hands values on from run to run ({kept}): others would overwrite them",
                hint="build it apart, with a memory of its own",
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
                hint="--optimize flash keeps weights as wide as the models'",
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
                raise UsageError(f"two of the models bring a file {path}, with different text", hint="build them apart")
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
    """The model object in the example: a member of the union or, with several regions, a variable."""
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
    """Stable keys: name, board, ram_bytes, ram_bytes_apart, weights_bytes, regions, models, files."""
    return _facts(shared.name, shared.regions, shared.artifacts) | {"files": sorted(shared.files)}


def as_parts(shared: Shared) -> tabular.Parts:
    """Summary for the user: RAM of all models together, and of each one."""
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

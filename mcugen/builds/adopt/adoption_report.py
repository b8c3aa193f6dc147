"""The report of a switch: arenas, flash and operators of each program, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcugen.builds.adopt.adoption import AdoptedProgram, Adoption
from mcugen.builds.adopt.programs import FirmwareModel, FirmwareProgram, registration
from mcugen.system.tabular import Parts, TableColumn, TextTable


def as_dict(adoption: Adoption, patch: str, *, written: bool) -> dict[str, Any]:
    """Stable keys: folder, patch, written, programs, refused, left_out."""
    return {
        "folder": str(adoption.tree.folder),
        "patch": patch,
        "written": written,
        "programs": [_program_facts(each) for each in adoption.adopted],
        "refused": [{"program": each.called, "reasons": each.refusals} for each in adoption.refused],
        "left_out": list(adoption.tree.left_out),
    }


def _program_facts(each: AdoptedProgram) -> dict[str, Any]:
    program = each.program
    return {
        "program": program.called,
        "systems": list(program.systems),
        "code": each.place,
        "sources": each.code.paths(program.folder),
        "changed": list(each.changed),
        "lines": list(each.lines),
        "arenas": [{"file": a.file, "size": a.expression, "bytes": a.nbytes} for a in program.arenas],
        "registered": program.registered,
        "unused": program.unused,
        "idle_kernels": [{"place": place, "operator": name} for place, name in program.idle_kernels],
        "missing": program.missing,
        "models": [_model_facts(program, model) for model in program.models],
    }


def _model_facts(program: FirmwareProgram, model: FirmwareModel) -> dict[str, Any]:
    return {
        "symbol": model.symbol,
        "name": model.name,
        "file": model.arrays[0].file if model.arrays else model.file,
        "operators": list(model.operators),
        "asked_bytes": asked(program, model),
        "arena_bytes": needed(model),
        "flatbuffer_bytes": len(model.data),
        "constant_bytes": model.built.report.weights_bytes,
    }


def asked(program: FirmwareProgram, model: FirmwareModel) -> int | None:
    """Bytes of the largest arena in the sources that call GetModel with this model; None if no size is known."""
    return max((arena.nbytes for arena in program.arenas_of(model) if arena.nbytes is not None), default=None)


def needed(model: FirmwareModel) -> int:
    """Bytes of a tensor arena that suffice for a model on a 32-bit core."""
    view = model.built.view.tflm
    assert view is not None
    return view.arena_bytes


def as_parts(adoption: Adoption, patch: str, *, written: bool) -> Parts:
    """The report as text: a table of the models, then each program, the programs left as they are, and the patch."""
    count = sum(len(each.program.models) for each in adoption.adopted)
    parts: list[str | TextTable] = [f"{adoption.tree.folder.name}: programs: {len(adoption.adopted)}, models: {count}"]
    parts.append(_table(adoption))
    for each in adoption.adopted:
        parts += _program_lines(each)
    parts += [f"refused: {reason}" for each in adoption.refused for reason in _reasons(each)]
    parts += [f"left out, a link out of the folder: {path}" for path in adoption.tree.left_out]
    applied = "is applied; --undo takes it back" if written else "--write applies it, or git apply"
    return [*parts, f"{patch}: {len(adoption.patched)} files; {applied}"]


def _table(adoption: Adoption) -> TextTable:
    columns = (
        TableColumn("program", shrinks=True, ends=True),
        TableColumn("model", shrinks=True),
        TableColumn("arena asked", right=True),
        TableColumn("needed", right=True),
        TableColumn("flatbuffer", right=True),
        TableColumn("constants", right=True),
    )
    rows = []
    for each in adoption.adopted:
        for model in each.program.models:
            asked_bytes = asked(each.program, model)
            asked_text = "not known" if asked_bytes is None else f"{asked_bytes:,}"
            figures = (needed(model), len(model.data), model.built.report.weights_bytes)
            rows.append((each.program.called, model.name, asked_text, *(f"{size:,}" for size in figures)))
    return TextTable(columns, tuple(rows))


def _program_lines(each: AdoptedProgram) -> Iterator[str]:
    program = each.program
    built_by = ", ".join(program.systems) or "no build file names its sources"
    yield f"{program.called} ({built_by}): the C goes to {each.place}; changes {', '.join(each.changed) or 'nothing'}"
    saved = sum(len(model.data) - model.built.report.weights_bytes for model in program.models)
    less = f"{saved:,} fewer" if saved >= 0 else f"{-saved:,} more, which --optimize flash avoids"
    yield (
        f"  flash: the flatbuffers of {sum(len(m.data) for m in program.models):,} bytes go and constants of "
        f"{sum(m.built.report.weights_bytes for m in program.models):,} come, {less}; the interpreter goes, and "
        f"the kernels of {len(program.registered) or 'all'} registered operators: not measured here, 33 to 99 KB "
        "in the examples of docs/tflm.md; the size of the linked firmware before and after says how much"
    )
    for arena in program.arenas:
        most = max((needed(model) for model in program.models if arena.file in model.callers), default=0)
        where = f"{arena.file}: the arena {arena.expression}"
        if arena.nbytes is None:
            yield f"  {where} cannot be evaluated here; {most:,} bytes are needed"
        elif arena.nbytes < most:
            yield f"  {where} has {arena.nbytes:,} bytes, and {most:,} are needed"
    if program.unused:
        yield f"  registered for nothing: {', '.join(program.unused)}"
    for place, name in program.idle_kernels:
        call = registration(name)
        yield f"  registered for nothing: {place}: {call}; its kernel may go, and must if it does not compile now"
    if program.missing:
        yield f"  not registered, and needed no more: {', '.join(program.missing)}"
    if each.code.keeps_library:
        yield "  TensorFlow Lite Micro's library stays in the build: its microfrontend is used"
    yield from (f"  {line}" for line in each.lines)


def _reasons(program: FirmwareProgram) -> list[str]:
    return program.refusals or [f"{program.called}: no model"]

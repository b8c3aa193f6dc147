# SPDX-License-Identifier: Apache-2.0
"""Many built models in one C program, each run with every byte poisoned that the plan gives to nobody at an event."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcugen.emit.view import ModelView
from mcugen.ir.graph import Graph
from mcugen.ir.types import row_count
from mcugen.machines.toolchain.host_gcc import SANITIZE, STRICT_WARNINGS
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.oracle import interpreter
from mcugen.solve.plan import Buffer, MemoryPlan
from mcugen.solve.schedule import INPUT, Step
from mcugen.solve.schedule.trace import Trace
from tests.support.program import first_difference, write_runtime

HERE = Path(__file__).resolve().parent
FLAGS = ("-O0", "-g1", *SANITIZE, "-include", str(HERE / "harness.h"))
INPUT_STEP = 0xFFFFFFFF
Arrays = list[np.ndarray]
_STATES = {
    1: "bytes that are nobody's were written",
    2: "the events are not those of the trace",
    3: "an input was lost",
    4: "the last row is not the one that completes the outputs",
}


@dataclass(frozen=True, eq=False)
class Model:
    """A model to run: its C as built, and the plan's content of each byte at each event.

    buffers, plan, trace: what the harness holds the C to; for a planted fault they are those of the sound model.
    """

    label: str
    view: ModelView
    files: dict[str, bytes]
    imported: Graph
    graph: Graph
    steps: Sequence[Step]
    buffers: Sequence[Buffer]
    plan: MemoryPlan
    trace: Trace

    @property
    def results(self) -> list[tuple[int, int, str]]:
        """(step, number, tensor) of everything that is computed in integers, and so has one right checksum."""
        named = [(s.index, k, name) for s in self.steps for k, name in enumerate(s.choice.node.outputs)]
        return [(step, k, name) for step, k, name in named if not self.graph.type(name).is_float]


@dataclass(frozen=True)
class Workshop:
    """A folder with objects of kernels compiled before; several processes may share it."""

    folder: Path

    def program(self, models: Sequence[Model], folder: Path) -> Path:
        """The program of these models. Raises ToolError where the C does not compile."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        kernels = write_runtime((m.view for m in models), self.folder)
        units = [_write_unit(m, folder) for m in models]
        units += [_write_table(models, folder), HERE / "harness.c"]
        jobs = [(path, path.with_suffix(".o")) for path in kernels]
        jobs = [(source, out) for source, out in jobs if not out.exists()]
        jobs += [(unit, folder / f"{unit.stem}.o") for unit in units]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda job: _compile(*job, folder, self.folder), jobs))
        objects = [*(path.with_suffix(".o") for path in kernels), *(folder / f"{unit.stem}.o" for unit in units)]
        run_checked(["gcc", *SANITIZE, *objects, "-o", folder / "program", "-lm"], timeout_s=300)
        return folder / "program"


def _compile(source: Path, out: Path, folder: Path, runtime: Path) -> None:
    part = out.with_suffix(f".{os.getpid()}.part")
    include = [f"-I{p}" for p in (runtime, folder, HERE)]
    run_checked(["gcc", *STRICT_WARNINGS, *FLAGS, *include, "-c", source, "-o", part], timeout_s=300)
    plain = folder / f"{source.stem.removesuffix('_unit')}.c"
    if plain != source and source.parent == folder:  # as its users compile it: without hooks
        run_checked(["gcc", *STRICT_WARNINGS, *include, "-fsyntax-only", plain], timeout_s=300)
    part.replace(out)


def _write_unit(model: Model, folder: Path) -> Path:
    """The model and its way to be called in one translation unit."""
    name = model.view.name
    for path, content in model.files.items():
        if path.startswith(name):
            (folder / path).write_bytes(content)
    unit = folder / f"{name}_unit.c"
    unit.write_text("\n".join([f'#include "{name}_weights.c"', f'#include "{name}.c"', *_adapter(model), ""]), "ascii")
    return unit


def _adapter(model: Model) -> Iterator[str]:
    name, push = model.view.name, model.view.push
    if push is None:
        yield from (f"void {name}_call(void *m);", f"void {name}_call(void *m)", "{", f"    {name}_run(m);", "}")
        members = f"{name}_call, NULL, NULL, sizeof({name}_t), 0u, 0u"
    else:
        yield f"static bool {name}_pushed(void *m, const void *row)"
        what = "frame" if model.view.streams else "row"
        yield from ("{", f"    return {name}_push_{what}(m, row);", "}")
        yield f"static void {name}_again(void *m)"
        yield from ("{", f"    {name}_reset(m);", "}")
        members = f"NULL, {name}_pushed, {name}_again, sizeof({name}_t), {push.rows}u, {push.row_nbytes}u"
    yield f"extern const rows_model {name}_model;"
    yield f"const rows_model {name}_model = {{{members}}};"


def _write_table(models: Sequence[Model], folder: Path) -> Path:
    names = [m.view.name for m in models]
    lines = [f"extern const rows_model {name}_model;" for name in names]
    lines += ["const rows_model *const rows_models[] = {", *(f"    &{name}_model," for name in names), "};"]
    table = folder / "table.c"
    table.write_text("\n".join([*lines, f"const uint32_t rows_model_count = {len(names)}u;", ""]), "ascii")
    return table


@dataclass(frozen=True, eq=False)
class Wanted:
    """The oracle's results of one input set: every tensor, and which of them the model returns."""

    values: dict[str, np.ndarray]
    outputs: Arrays


def problem(program: Path, index: int, model: Model, sets: Sequence[Arrays], wanted: Sequence[Wanted]) -> str:
    """The fault of model `index` of the program on these inputs; "" if there is none.

    wanted: of each set; of a model that streams, of each frame that completes a window.
    """
    done = run([program], stdin=_request(index, model, sets), timeout_s=120)
    if done.returncode != 0:
        text = done.stderr.decode(errors="replace")
        said = [line for line in text.splitlines() if "ERROR" in line or "error:" in line]
        return f"ended with {done.returncode}: {said[0] if said else text[:500]}"
    at = 0
    for k, right in enumerate(wanted):
        words = struct.unpack_from(f"<{1 + len(model.results)}I", done.stdout, at)
        at += 4 * len(words)
        what = _wrong_sum(model, words[1:], right.values)
        for number, want in enumerate(right.outputs):
            what = what or _wrong_output(number, np.frombuffer(done.stdout, want.dtype, want.size, at), want)
            at += want.nbytes
        what = what or _STATES.get(words[0], "")
        if what:
            return f"set {k}: {what}"
    return "" if at == len(done.stdout) else f"{len(done.stdout) - at} bytes too many"


def _wrong_sum(model: Model, sums: Sequence[int], values: dict[str, np.ndarray]) -> str:
    for (step, _, name), got in zip(model.results, sums, strict=True):
        origin = model.graph.tensors[name].origin
        data = origin.stored_part(values[origin.tensor]) if origin else values[name]
        newest = data.nbytes // row_count(data.shape) if model.view.streams else data.nbytes
        if got != _checksum(data, newest):
            return f"step {step} computes another {name}"
    return ""


def _wrong_output(number: int, got: np.ndarray, want: np.ndarray) -> str:
    difference = first_difference(got, want)
    return f"output {number}: {difference}" if difference else ""


def _checksum(values: np.ndarray, last: int) -> int:
    """The harness's checksum: each of the `last` bytes weighted by its position."""
    data = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8).astype(np.uint64)[-last:]
    weight = (
        np.arange(values.nbytes - last + 1, values.nbytes + 1, dtype=np.uint64) * np.uint64(2654435761)
    ) & np.uint64(0xFFFFFFFF)
    return int(((data + np.uint64(1)) * (weight | np.uint64(1)) & np.uint64(0xFFFFFFFF)).sum()) & 0xFFFFFFFF


def wanted_of(imported: Graph, sets: Sequence[Arrays], which: str) -> list[Wanted]:
    """The oracle's outputs of each input set."""
    found = []
    for inputs in sets:
        values = interpreter.run(imported, inputs, which)
        found.append(Wanted(values, [values[name] for name in imported.outputs]))
    return found


def _request(index: int, model: Model, sets: Sequence[Arrays]) -> bytes:
    view = model.view
    frames = len(sets[0][0]) if view.streams else 0
    words = [index, len(sets), model.plan.nbytes, int(view.keep_input), frames]
    for ends in ([] if view.push else view.inputs, view.outputs):
        words += [len(ends), *(n for end in ends for n in (end.offset, end.nbytes))]
    rows = {(step, k): model.graph.type(name) for step, k, name in model.results}
    sizes = [(256 * step + k, t.nbytes // row_count(t.shape)) for (step, k), t in rows.items()]
    words += [len(sizes), *(n for pair in sizes for n in pair)]
    events = [(INPUT_STEP if e.step == INPUT else e.step, _live(model, t)) for t, e in enumerate(model.trace)]
    events[:0] = [(INPUT_STEP, _kept(model))] if view.streams else []
    words.append(len(events))
    for step, live in events:
        words += [step, len(live), *(n for part in live for n in part)]
    data = [np.ascontiguousarray(a).tobytes() for inputs in sets for k, a in enumerate(inputs) if _is_given(view, k)]
    return struct.pack(f"<{len(words)}I", *words) + b"".join(data)


def _is_given(view: ModelView, k: int) -> bool:
    return view.push is None or view.push.input == k


def _live(model: Model, time: int) -> list[tuple[int, int]]:
    """(offset, bytes) of what is in use at an event, ascending and joined."""
    return _joined(
        (model.plan.offset[b.name] + p.offset, p.nbytes)
        for b in model.buffers
        for p in b.pieces
        if p.first <= time <= p.last and p.nbytes
    )


def _kept(model: Model) -> list[tuple[int, int]]:
    """Bytes kept between two frames: those in use at every event, and those of the pushed frame."""
    assert model.view.push is not None
    given, last = model.graph.inputs[model.view.push.input], len(model.trace) - 1
    kept = (b for b in model.buffers if (b.first, b.last) == (0, last) or b.name == given)
    return _joined((model.plan.offset[b.name], b.nbytes) for b in kept if b.nbytes)


def _joined(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    spans = sorted(found)
    joined: list[tuple[int, int]] = []
    for start, size in spans:
        if joined and start <= sum(joined[-1]):
            joined[-1] = (joined[-1][0], max(sum(joined[-1]), start + size) - joined[-1][0])
        else:
            joined.append((start, size))
    return joined
